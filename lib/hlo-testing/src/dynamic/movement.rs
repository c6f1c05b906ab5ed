//! Elementwise operations, data movement, and reading and setting sizes.

use super::{Dim, MAX_ELEMENTS, MAX_RANK, Maker, Value, elements, list, shape};

impl Maker {
    pub(super) fn unary(&mut self, v: &Value) -> Option<()> {
        let op = self.numbers.pick(&["negate", "abs", "sign"]);
        self.push(v.dims.clone(), &format!("{op}({})", v.name));
        Some(())
    }

    pub(super) fn binary(&mut self, v: &Value) -> Option<()> {
        let (w, dims) = self.partner(v, None);
        let op = self.numbers.pick(&["add", "subtract", "multiply", "maximum", "minimum"]);
        self.push(dims, &format!("{op}({}, {})", v.name, w.name));
        Some(())
    }

    pub(super) fn broadcast(&mut self, v: &Value) -> Option<()> {
        let at = self.numbers.below(v.dims.len() + 1);
        let mut dims = v.dims.clone();
        dims.insert(at, Dim::fixed(2));
        if dims.len() > MAX_RANK || elements(&dims) > MAX_ELEMENTS {
            return None;
        }
        let map: Vec<String> = (0..dims.len()).filter(|&d| d != at).map(|d| d.to_string()).collect();
        self.push(dims, &format!("broadcast({}), dimensions={{{}}}", v.name, map.join(",")));
        Some(())
    }

    pub(super) fn rearranged(&mut self, v: &Value) -> Option<()> {
        if self.numbers.one_in(2) {
            let order = self.numbers.permutation(v.dims.len());
            let dims = order.iter().map(|&d| v.dims[d as usize]).collect();
            self.push(dims, &format!("transpose({}), dimensions={{{}}}", v.name, list(&order)));
        } else {
            let which = self.numbers.subset(v.dims.len());
            self.push(v.dims.clone(), &format!("reverse({}), dimensions={{{}}}", v.name, list(&which)));
        }
        Some(())
    }

    pub(super) fn slice(&mut self, v: &Value) -> Option<()> {
        let mut dims = Vec::new();
        let mut ranges = Vec::new();
        for d in &v.dims {
            let whole = self.numbers.one_in(2);
            let start = if whole { 0 } else { self.numbers.between(0, d.bound - 1) };
            let limit = if whole { d.bound } else { self.numbers.between(start, d.bound) };
            let stride = if whole { 1 } else { self.numbers.between(1, 2) };
            let whole = start == 0 && limit == d.bound && stride == 1;
            let length = |limit: i64| ((limit - start).max(0) + stride - 1) / stride;
            dims.push(Dim {
                bound: length(limit),
                dynamic: whole && d.dynamic,
                open: d.open,
                real: length(limit.min(d.real)),
            });
            ranges.push(format!("[{start}:{limit}:{stride}]"));
        }
        self.push(dims, &format!("slice({}), slice={{{}}}", v.name, ranges.join(", ")));
        Some(())
    }

    pub(super) fn pad(&mut self, v: &Value) -> Option<()> {
        let mut dims = Vec::new();
        let mut paddings = Vec::new();
        for d in &v.dims {
            let (low, high, inside) =
                (self.numbers.between(-1, 2), self.numbers.between(-2, 2), self.numbers.between(0, 1));
            let size = |n: i64| n + (n - 1).max(0) * inside + low + high;
            if size(d.bound) < 0 {
                return None;
            }
            dims.push(Dim {
                bound: size(d.bound),
                dynamic: d.dynamic,
                open: d.open,
                real: size(d.real).max(0),
            });
            paddings.push(format!("{low}_{high}_{inside}"));
        }
        if elements(&dims) > MAX_ELEMENTS || v.dims.is_empty() {
            return None;
        }
        self.push(dims, &format!("pad({}, high), padding={}", v.name, paddings.join("x")));
        Some(())
    }

    pub(super) fn concatenate(&mut self, v: &Value) -> Option<()> {
        let along = self.dim(v)?;
        let (w, mut dims) = self.partner(v, Some(along));
        let (a, b) = (v.dims[along], w.dims[along]);
        dims[along] = Dim {
            bound: 2 * a.bound + b.bound,
            dynamic: a.dynamic || b.dynamic,
            open: a.open || b.open,
            real: 2 * a.real + b.real,
        };
        if elements(&dims) > MAX_ELEMENTS {
            return None;
        }
        let operands = format!("{}, {}, {}", v.name, w.name, v.name);
        self.push(dims, &format!("concatenate({operands}), dimensions={{{along}}}"));
        Some(())
    }

    pub(super) fn merge(&mut self, v: &Value) -> Option<()> {
        let d = self.numbers.below(v.dims.len().checked_sub(1)?);
        let (a, b) = (*v.dims.get(d)?, *v.dims.get(d + 1)?);
        let mut dims = v.dims.clone();
        let open = a.open || b.open;
        dims[d] = Dim { bound: a.bound * b.bound, dynamic: open, open, real: a.real * b.real };
        dims.remove(d + 1);
        if elements(&dims) == 0 {
            return None;
        }
        self.push(dims, &format!("reshape({})", v.name));
        Some(())
    }

    pub(super) fn split(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        let from = v.dims[d];
        if from.bound < 4
            || from.bound % 2 != 0
            || from.real % 2 != 0
            || v.dims.len() == MAX_RANK
            || elements(&v.dims) == 0
        {
            return None;
        }
        let half = Dim { bound: from.bound / 2, dynamic: from.open, open: from.open, real: from.real / 2 };
        let mut dims = v.dims.clone();
        dims[d] = half;
        dims.insert(d + self.numbers.below(2), Dim::fixed(2));
        self.push(dims, &format!("reshape({})", v.name));
        Some(())
    }

    pub(super) fn dynamic_slice(&mut self, v: &Value) -> Option<()> {
        let sizes: Vec<i64> = v.dims.iter().map(|d| self.numbers.between(0, d.bound)).collect();
        let dims = v.dims.iter().zip(&sizes);
        let dims = dims
            .map(|(d, &bound)| Dim { bound, dynamic: false, open: d.open, real: bound.min(d.real) })
            .collect();
        let starts = self.starts(v);
        self.push(
            dims,
            &format!("dynamic-slice({}{starts}), dynamic_slice_sizes={{{}}}", v.name, list(&sizes)),
        );
        Some(())
    }

    /// Adds a start index for each dimension, some of them out of bounds.
    pub(super) fn starts(&mut self, v: &Value) -> String {
        let mut starts = String::new();
        for d in &v.dims {
            let at = self.numbers.between(-1, d.bound + 1);
            let start = self.helper("s32[]", &format!("constant({at})"));
            starts.push_str(&format!(", {start}"));
        }
        starts
    }

    pub(super) fn update(&mut self, v: &Value) -> Option<()> {
        let fits = |w: &&Value| {
            let same_rank = w.dims.len() == v.dims.len();
            same_rank && w.dims.iter().zip(&v.dims).all(|(a, b)| a.bound <= b.bound)
        };
        let fitting: Vec<Value> = self.values.iter().filter(fits).cloned().collect();
        let update = self.numbers.pick(&fitting);
        let starts = self.starts(v);
        self.push(v.dims.clone(), &format!("dynamic-update-slice({}, {}{starts})", v.name, update.name));
        Some(())
    }

    pub(super) fn set_size(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        let real = self.numbers.between(0, v.dims[d].bound);
        let n = self.helper("s32[]", &format!("constant({real})"));
        let mut dims = v.dims.clone();
        dims[d] = Dim { dynamic: true, open: true, real, ..dims[d] };
        self.push(dims, &format!("set-dimension-size({}, {n}), dimensions={{{d}}}", v.name));
        Some(())
    }

    /// Adds the size of a dimension, converted to an element.
    pub(super) fn size_of(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        let n = self.helper("s32[]", &format!("get-dimension-size({}), dimensions={{{d}}}", v.name));
        self.push(vec![], &format!("convert({n})"));
        Some(())
    }

    /// Adds an operation that returns its operand under another name.
    pub(super) fn forwarding_operation(&mut self, v: &Value) -> Option<()> {
        let of = shape(&v.dims);
        let name = &v.name;
        match self.numbers.below(4) {
            0 => {
                let start = self.helper(&format!("({of}, {of}, u32[])"), &format!("copy-start({name})"));
                self.push(v.dims.clone(), &format!("copy-done({start})"));
            }
            1 => self.push(v.dims.clone(), &format!("custom-call({name}), custom_call_target=\"Sharding\"")),
            2 => self.push(v.dims.clone(), &format!("all-reduce({name}), replica_groups={{}}, to_apply=add")),
            _ => {
                let all: Vec<i64> = (0..v.dims.len() as i64).collect();
                let attributes = format!("dimensions={{{}}}, to_apply=max", list(&all));
                self.push(v.dims.clone(), &format!("map({name}, {name}), {attributes}"));
            }
        }
        Some(())
    }

    /// Adds a reshape to sizes that instructions compute.
    pub(super) fn dynamic_reshape(&mut self, v: &Value) -> Option<()> {
        let bounds = elements(&v.dims);
        let count: i64 = v.dims.iter().map(|d| d.real).product();
        if bounds == 0 {
            return None;
        }
        let outer = self.numbers.between(1, bounds);
        if bounds % outer != 0 {
            return None;
        }
        let inner = bounds / outer;
        let fitting: Vec<i64> = match count {
            0 => vec![0],
            _ => (1..=outer).filter(|n| count % n == 0 && count / n <= inner).collect(),
        };
        if fitting.is_empty() {
            return None;
        }
        let real = self.numbers.pick(&fitting);
        let rest = if real == 0 { self.numbers.between(0, inner) } else { count / real };
        let dim = |bound: i64, real: i64| Dim { bound, dynamic: true, open: true, real };
        let (a, b) = (self.integer(real), self.integer(rest));
        let dims = vec![dim(outer, real), dim(inner, rest)];
        self.push(dims, &format!("dynamic-reshape({}, {a}, {b})", v.name));
        Some(())
    }
}
