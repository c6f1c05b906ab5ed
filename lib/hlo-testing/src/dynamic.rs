//! Random modules over arrays whose sizes are known at run time only, for the property that padding never gets into
//! results: what is beyond the sizes of inputs is NaN, what is there is small integers, which every operation here keeps
//! exact.

use crate::Numbers;
use std::fmt::Write;

/// A module and inputs for it.
#[derive(Clone, Debug)]
pub struct DynamicModule {
    /// The module's text.
    pub text: String,
    /// A literal for each parameter, of its real size.
    pub inputs: Vec<String>,
}

/// A dimension: what is declared, and how large it is with these inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim {
    bound: i64,
    dynamic: bool,
    /// True if what does not know the inputs must take it for smaller than its bound, declared so or not.
    open: bool,
    real: i64,
}

impl Dim {
    fn fixed(size: i64) -> Self {
        Self { bound: size, dynamic: false, open: false, real: size }
    }

    /// The dimension of two that an operation pairs, if it may.
    fn paired(self, other: Dim) -> Option<Dim> {
        let real = self.real.min(other.real);
        let fits = |d: Dim| d.real == real || (!d.dynamic && d.real == d.bound);
        let pairs = self.bound == other.bound && fits(self) && fits(other);
        pairs.then_some(Dim {
            bound: self.bound,
            dynamic: self.dynamic || other.dynamic,
            open: self.open || other.open,
            real,
        })
    }
}

#[derive(Clone, Debug)]
struct Value {
    name: String,
    dims: Vec<Dim>,
}

const MAX_RANK: usize = 3;
const MAX_ELEMENTS: i64 = 400;

/// The module of a seed.
pub fn dynamic_module(seed: u64) -> DynamicModule {
    let mut maker = Maker { numbers: Numbers::new(seed), body: String::new(), values: Vec::new(), next: 0 };
    let inputs = maker.inputs();
    let count = maker.numbers.between(3, 12);
    for _ in 0..count {
        maker.operation();
    }
    let from = maker.values.len().saturating_sub(4);
    let results: Vec<Value> = maker.values[from..].to_vec();
    let shapes: Vec<String> = results.iter().map(|v| shape(&v.dims)).collect();
    let names: Vec<&str> = results.iter().map(|v| v.name.as_str()).collect();
    let root = format!("  ROOT root = ({}) tuple({})\n", shapes.join(", "), names.join(", "));
    DynamicModule {
        text: format!("HloModule dynamic\n{FUNCTIONS}ENTRY main {{\n{}{root}}}\n", maker.body),
        inputs,
    }
}

/// The functions that reductions and sorts use; the last but one is none that a compiler knows an identity of.
const FUNCTIONS: &str = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }
min { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] minimum(a, b) }
largest { a = f32[] parameter(0)\n b = f32[] parameter(1)\n x = f32[] abs(a)\n y = f32[] abs(b)
 ROOT c = f32[] maximum(x, y) }
less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT }
";

fn shape(dims: &[Dim]) -> String {
    let dims: Vec<String> =
        dims.iter().map(|d| format!("{}{}", if d.dynamic { "<=" } else { "" }, d.bound)).collect();
    format!("f32[{}]", dims.join(","))
}

/// Elements as HLO text: NaN beyond `real`.
fn literal(numbers: &mut Numbers, dims: &[(i64, i64)], inside: bool) -> String {
    match dims {
        [] if inside => numbers.between(-4, 4).to_string(),
        [] => "nan".to_string(),
        [(size, real), rest @ ..] => {
            let parts: Vec<String> =
                (0..*size).map(|i| literal(numbers, rest, inside && i < *real)).collect();
            format!("{{{}}}", parts.join(", "))
        }
    }
}

struct Maker {
    numbers: Numbers,
    body: String,
    values: Vec<Value>,
    next: usize,
}

impl Maker {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    /// Adds an instruction without making it an operand for later ones.
    fn helper(&mut self, shape: &str, right: &str) -> String {
        let name = self.name();
        let _ = writeln!(self.body, "  {name} = {shape} {right}");
        name
    }

    /// Adds an instruction that gives an array, and keeps its elements small.
    fn push(&mut self, dims: Vec<Dim>, right: &str) {
        let shape = shape(&dims);
        let raw = self.helper(&shape, right);
        let name = self.helper(&shape, &format!("clamp(low, {raw}, high)"));
        self.values.push(Value { name, dims });
    }

    /// A parameter of dynamic sizes, and one that is made dynamic, with NaN beyond its sizes.
    fn inputs(&mut self) -> Vec<String> {
        self.body
            .push_str("  low = f32[] constant(-8)\n  high = f32[] constant(8)\n  zero = f32[] constant(0)\n");
        let mut size = || {
            let bound = self.numbers.between(1, 4) * 2;
            Dim { bound, dynamic: true, open: true, real: self.numbers.between(0, bound / 2) * 2 }
        };
        let given = [size(), size()];
        let made = [size(), Dim::fixed(4)];
        let sizes = |dims: &[Dim]| dims.iter().map(|d| (d.real, d.real)).collect::<Vec<_>>();
        let padded = |dims: &[Dim]| dims.iter().map(|d| (d.bound, d.real)).collect::<Vec<_>>();
        let first = literal(&mut self.numbers, &sizes(&given), true);
        let first = format!("f32[{},{}] {first}", given[0].real, given[1].real);
        let second = literal(&mut self.numbers, &padded(&made), true);
        let second = format!("f32[{},4] {second}", made[0].bound);
        let name = self.helper(&shape(&given), "parameter(0)");
        self.values.push(Value { name, dims: given.to_vec() });
        let whole = self.helper(&format!("f32[{},4]", made[0].bound), "parameter(1)");
        let n = self.helper("s32[]", "parameter(2)");
        let name = self.helper(&shape(&made), &format!("set-dimension-size({whole}, {n}), dimensions={{0}}"));
        self.values.push(Value { name, dims: made.to_vec() });
        let fixed = vec![Dim::fixed(made[0].bound), Dim::fixed(4)];
        let constant = literal(&mut self.numbers, &padded(&fixed), true);
        let name = self.helper(&shape(&fixed), &format!("constant({constant})"));
        self.values.push(Value { name, dims: fixed });
        vec![first, second, format!("s32[] {}", made[0].real)]
    }

    fn any(&mut self) -> Value {
        let of = self.values.clone();
        self.numbers.pick(&of)
    }

    /// A value that may be paired with `v` in all dimensions but one, with the dimensions paired.
    fn partner(&mut self, v: &Value, but: Option<usize>) -> (Value, Vec<Dim>) {
        let pair = |w: &Value| -> Option<Vec<Dim>> {
            if w.dims.len() != v.dims.len() {
                return None;
            }
            let both = v.dims.iter().zip(&w.dims).enumerate();
            both.map(|(d, (a, b))| if Some(d) == but { Some(*a) } else { a.paired(*b) }).collect()
        };
        let fitting: Vec<(Value, Vec<Dim>)> =
            self.values.iter().filter_map(|w| Some((w.clone(), pair(w)?))).collect();
        if fitting.is_empty() { (v.clone(), v.dims.clone()) } else { self.numbers.pick(&fitting) }
    }

    /// A dimension of a value; `None` for a scalar.
    fn dim(&mut self, v: &Value) -> Option<usize> {
        (!v.dims.is_empty()).then(|| self.numbers.below(v.dims.len()))
    }

    /// Adds a random operation; nothing if it does not fit what it is tried on.
    fn operation(&mut self) -> Option<()> {
        let v = self.any();
        let which = self.numbers.below(17);
        match which {
            0 => self.unary(&v),
            1..=2 => self.binary(&v),
            3 => self.broadcast(&v),
            4 => self.rearranged(&v),
            5 => self.slice(&v),
            6 => self.pad(&v),
            7 => self.concatenate(&v),
            8 => self.merge(&v),
            9 => self.split(&v),
            10 => self.reduce(&v),
            11 => self.dot(&v),
            12 => self.sort(&v),
            13 => self.dynamic_slice(&v),
            14 => self.update(&v),
            15 => self.set_size(&v),
            _ => self.window(&v),
        }
    }

    fn unary(&mut self, v: &Value) -> Option<()> {
        let op = self.numbers.pick(&["negate", "abs", "sign"]);
        self.push(v.dims.clone(), &format!("{op}({})", v.name));
        Some(())
    }

    fn binary(&mut self, v: &Value) -> Option<()> {
        let (w, dims) = self.partner(v, None);
        let op = self.numbers.pick(&["add", "subtract", "multiply", "maximum", "minimum"]);
        self.push(dims, &format!("{op}({}, {})", v.name, w.name));
        Some(())
    }

    fn broadcast(&mut self, v: &Value) -> Option<()> {
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

    fn rearranged(&mut self, v: &Value) -> Option<()> {
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

    fn slice(&mut self, v: &Value) -> Option<()> {
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

    fn pad(&mut self, v: &Value) -> Option<()> {
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

    fn concatenate(&mut self, v: &Value) -> Option<()> {
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

    fn merge(&mut self, v: &Value) -> Option<()> {
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

    fn split(&mut self, v: &Value) -> Option<()> {
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

    fn reduce(&mut self, v: &Value) -> Option<()> {
        let reduced = self.numbers.subset(v.dims.len());
        let kept = (0..v.dims.len()).filter(|&d| !reduced.contains(&(d as i64))).map(|d| v.dims[d]).collect();
        let f = self.numbers.pick(&["add", "max", "min", "largest"]);
        self.push(
            kept,
            &format!("reduce({}, zero), dimensions={{{}}}, to_apply={f}", v.name, list(&reduced)),
        );
        Some(())
    }

    fn dot(&mut self, v: &Value) -> Option<()> {
        let w = self.any();
        let (a, b) = (self.dim(v)?, self.dim(&w)?);
        v.dims[a].paired(w.dims[b])?;
        let free = |v: &Value, but: usize| -> Vec<Dim> {
            v.dims.iter().enumerate().filter(|&(d, _)| d != but).map(|(_, &d)| d).collect()
        };
        let mut dims = free(v, a);
        dims.extend(free(&w, b));
        if dims.len() > MAX_RANK || elements(&dims) > MAX_ELEMENTS {
            return None;
        }
        let attributes = format!("lhs_contracting_dims={{{a}}}, rhs_contracting_dims={{{b}}}");
        self.push(dims, &format!("dot({}, {}), {attributes}", v.name, w.name));
        Some(())
    }

    fn sort(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        self.push(v.dims.clone(), &format!("sort({}), dimensions={{{d}}}, to_apply=less", v.name));
        Some(())
    }

    fn dynamic_slice(&mut self, v: &Value) -> Option<()> {
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

    /// A start index for each dimension, some of them outside.
    fn starts(&mut self, v: &Value) -> String {
        let mut starts = String::new();
        for d in &v.dims {
            let at = self.numbers.between(-1, d.bound + 1);
            let start = self.helper("s32[]", &format!("constant({at})"));
            starts.push_str(&format!(", {start}"));
        }
        starts
    }

    fn update(&mut self, v: &Value) -> Option<()> {
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

    fn set_size(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        let real = self.numbers.between(0, v.dims[d].bound);
        let n = self.helper("s32[]", &format!("constant({real})"));
        let mut dims = v.dims.clone();
        dims[d] = Dim { dynamic: true, open: true, real, ..dims[d] };
        self.push(dims, &format!("set-dimension-size({}, {n}), dimensions={{{d}}}", v.name));
        Some(())
    }

    fn window(&mut self, v: &Value) -> Option<()> {
        let mut dims = Vec::new();
        let (mut sizes, mut strides, mut pads) = (Vec::new(), Vec::new(), Vec::new());
        for d in &v.dims {
            let (size, stride) = (self.numbers.between(1, 3), self.numbers.between(1, 2));
            let (low, high) = (self.numbers.between(0, 1), self.numbers.between(0, 1));
            let places = |n: i64| {
                let room = n + low + high - size;
                if room < 0 { 0 } else { room / stride + 1 }
            };
            dims.push(Dim { bound: places(d.bound), dynamic: d.dynamic, open: d.open, real: places(d.real) });
            sizes.push(size.to_string());
            strides.push(stride.to_string());
            pads.push(format!("{low}_{high}"));
        }
        if v.dims.is_empty() {
            return None;
        }
        let window = format!("size={} stride={} pad={}", sizes.join("x"), strides.join("x"), pads.join("x"));
        let f = self.numbers.pick(&["add", "max", "largest"]);
        self.push(dims, &format!("reduce-window({}, zero), window={{{window}}}, to_apply={f}", v.name));
        Some(())
    }
}

fn elements(dims: &[Dim]) -> i64 {
    dims.iter().map(|d| d.bound).product()
}

fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}
