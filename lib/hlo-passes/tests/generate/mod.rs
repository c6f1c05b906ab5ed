//! Random modules, valid by construction: values of a few shapes, combined by operations that passes rewrite.

use hlo_testing::Numbers;
use std::fmt::Write;

/// A value so far: its name, element type and sizes.
#[derive(Clone)]
struct Value {
    name: String,
    ty: &'static str,
    dims: Vec<i64>,
}

struct Builder<'a> {
    numbers: &'a mut Numbers,
    text: String,
    values: Vec<Value>,
}

const FLOATS: &[&str] = &["f32", "bf16", "f64"];
const INTEGERS: &[&str] = &["s32", "u8", "s8", "u32"];

/// The text of a module of some thirty instructions.
pub fn module(numbers: &mut Numbers) -> String {
    let mut b = Builder { numbers, text: String::new(), values: Vec::new() };
    let mut parameters = 0;
    for ty in ["f32", "s32", "pred"] {
        for dims in [vec![2, 3], vec![], vec![3]] {
            b.add(ty, dims, format!("parameter({parameters})"));
            parameters += 1;
        }
    }
    for value in ["0", "1", "2", "-1"] {
        for ty in ["f32", "s32"] {
            b.add(ty, vec![], format!("constant({value})"));
        }
    }
    for _ in 0..30 {
        b.step();
    }
    let results: Vec<Value> = (0..3).map(|n| b.values[b.values.len() - 1 - n].clone()).collect();
    let shapes: Vec<String> = results.iter().map(shape).collect();
    let names: Vec<&str> = results.iter().map(|r| r.name.as_str()).collect();
    let _ = writeln!(b.text, "  ROOT result = ({}) tuple({})", shapes.join(", "), names.join(", "));
    let mut combiners = String::new();
    for ty in FLOATS.iter().chain(INTEGERS) {
        for op in ["add", "maximum"] {
            let _ = writeln!(
                combiners,
                "{op}_{ty} {{\n  a = {ty}[] parameter(0)\n  b = {ty}[] parameter(1)\n  ROOT r = {ty}[] {op}(a, b)\n}}\n"
            );
        }
    }
    format!("HloModule random\n\n{combiners}ENTRY e {{\n{}}}\n", b.text)
}

fn shape(v: &Value) -> String {
    shape_of(v.ty, &v.dims)
}

fn shape_of(ty: &str, dims: &[i64]) -> String {
    format!("{ty}[{}]", list(dims))
}

fn list(dims: &[i64]) -> String {
    dims.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

impl Builder<'_> {
    fn add(&mut self, ty: &'static str, dims: Vec<i64>, what: String) -> Value {
        let value = Value { name: format!("v{}", self.values.len()), ty, dims };
        let _ = writeln!(self.text, "  {} = {} {what}", value.name, shape(&value));
        self.values.push(value.clone());
        value
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.numbers.below(from.len())]
    }

    /// A value, later ones more often.
    fn value(&mut self, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        let fitting: Vec<&Value> = self.values.iter().filter(|v| fits(v)).collect();
        let n = fitting.len();
        let from = if self.numbers.below(2) == 0 { n / 2 } else { 0 };
        fitting.get(from + self.numbers.below(n - from)).map(|v| (*v).clone())
    }

    /// A value of the given type and sizes: one that is there, or a broadcast.
    fn value_of(&mut self, ty: &'static str, dims: &[i64]) -> Value {
        if self.numbers.below(3) > 0
            && let Some(v) = self.value(|v| v.ty == ty && v.dims == dims)
        {
            return v;
        }
        let scalar = match self.value(|v| v.ty == ty && v.dims.is_empty()) {
            Some(v) => v,
            None => self.add(ty, vec![], "constant(1)".into()),
        };
        if dims.is_empty() {
            scalar
        } else {
            self.add(ty, dims.to_vec(), format!("broadcast({}), dimensions={{}}", scalar.name))
        }
    }

    fn step(&mut self) {
        let Some(x) = self.value(|_| true) else { return };
        match self.numbers.below(12) {
            0..=3 => self.elementwise(&x),
            4 => self.compare_and_select(&x),
            5 => self.convert(&x),
            6 => self.reshape(&x),
            7 => self.transpose_or_reverse(&x),
            8 => self.broadcast(&x),
            9 => self.slice_or_pad(&x),
            10 => self.reduce(&x),
            _ => self.dynamic(&x),
        };
    }

    fn elementwise(&mut self, x: &Value) -> Value {
        if x.ty == "pred" {
            let op = self.pick(&["and", "or", "xor", "not"]);
            if op == "not" {
                return self.add(x.ty, x.dims.clone(), format!("not({})", x.name));
            }
            let y = self.value_of(x.ty, &x.dims);
            return self.add(x.ty, x.dims.clone(), format!("{op}({}, {})", x.name, y.name));
        }
        if self.numbers.below(4) == 0 {
            let op = match FLOATS.contains(&x.ty) {
                true => self.pick(&["negate", "abs", "floor", "sign", "exponential"]),
                false => self.pick(&["negate", "abs", "sign", "not"]),
            };
            // Of unsigned numbers neither exists everywhere.
            let op = if x.ty.starts_with('u') { "not" } else { op };
            return self.add(x.ty, x.dims.clone(), format!("{op}({})", x.name));
        }
        let mut ops = vec!["add", "subtract", "multiply", "maximum", "minimum", "divide"];
        match FLOATS.contains(&x.ty) {
            true => ops.push("power"),
            false => ops.extend(["and", "or", "xor", "remainder", "shift-left"]),
        }
        let op = self.pick(&ops);
        let y = self.value_of(x.ty, &x.dims);
        let (a, b) = if self.numbers.below(2) == 0 { (x, &y) } else { (&y, x) };
        let (a, b) = (a.name.clone(), b.name.clone());
        self.add(x.ty, x.dims.clone(), format!("{op}({a}, {b})"))
    }

    fn compare_and_select(&mut self, x: &Value) -> Value {
        let y = self.value_of(x.ty, &x.dims);
        let direction = self.pick(&["EQ", "NE", "LT", "GE"]);
        let p = self.add(
            "pred",
            x.dims.clone(),
            format!("compare({}, {}), direction={direction}", x.name, y.name),
        );
        let p = self.value_of("pred", &p.dims);
        self.add(x.ty, x.dims.clone(), format!("select({}, {}, {})", p.name, x.name, y.name))
    }

    fn convert(&mut self, x: &Value) -> Value {
        let all: Vec<&'static str> = FLOATS.iter().chain(INTEGERS).copied().collect();
        let ty = self.pick(&all);
        self.add(ty, x.dims.clone(), format!("convert({})", x.name))
    }

    fn reshape(&mut self, x: &Value) -> Value {
        let n: i64 = x.dims.iter().product();
        let mut dims = match self.numbers.below(3) {
            0 => vec![n],
            1 => x.dims.iter().copied().filter(|&d| d != 1).collect(),
            _ => x.dims.clone(),
        };
        let at = self.numbers.below(dims.len() + 1);
        if dims.len() < 4 {
            dims.insert(at, 1);
        }
        self.add(x.ty, dims, format!("reshape({})", x.name))
    }

    fn transpose_or_reverse(&mut self, x: &Value) -> Value {
        let mut permutation: Vec<i64> = (0..x.dims.len() as i64).collect();
        if self.numbers.below(3) == 0 {
            return self.add(
                x.ty,
                x.dims.clone(),
                format!("reverse({}), dimensions={{{}}}", x.name, list(&permutation)),
            );
        }
        for i in (1..permutation.len()).rev() {
            let j = self.numbers.below(i + 1);
            permutation.swap(i, j);
        }
        let dims = permutation.iter().map(|&d| x.dims[d as usize]).collect();
        self.add(x.ty, dims, format!("transpose({}), dimensions={{{}}}", x.name, list(&permutation)))
    }

    fn broadcast(&mut self, x: &Value) -> Value {
        if x.dims.len() > 3 {
            return x.clone();
        }
        let at = self.numbers.below(x.dims.len() + 1);
        let mut dims = x.dims.clone();
        let size = 1 + self.numbers.below(3) as i64;
        dims.insert(at, size);
        let map: Vec<i64> = (0..dims.len() as i64).filter(|&d| d != at as i64).collect();
        self.add(x.ty, dims, format!("broadcast({}), dimensions={{{}}}", x.name, list(&map)))
    }

    fn slice_or_pad(&mut self, x: &Value) -> Value {
        match self.numbers.below(3) {
            0 => {
                let zero = self.value_of(x.ty, &[]);
                let mut dims = Vec::new();
                let mut padding = Vec::new();
                for &d in &x.dims {
                    let (low, high) = (self.numbers.below(3) as i64 - 1, self.numbers.below(2) as i64);
                    padding.push(format!("{low}_{high}"));
                    dims.push((d + low + high).max(0));
                }
                if dims.is_empty() || dims.contains(&0) {
                    return x.clone();
                }
                self.add(x.ty, dims, format!("pad({}, {}), padding={}", x.name, zero.name, padding.join("x")))
            }
            1 if !x.dims.is_empty() => {
                let y = self.value_of(x.ty, &x.dims);
                let mut dims = x.dims.clone();
                dims[0] *= 2;
                self.add(x.ty, dims, format!("concatenate({}, {}), dimensions={{0}}", x.name, y.name))
            }
            _ => {
                let mut dims = Vec::new();
                let mut ranges = Vec::new();
                for &d in &x.dims {
                    let start = self.numbers.below(d as usize) as i64;
                    let limit = start + 1 + self.numbers.below((d - start) as usize) as i64;
                    ranges.push(format!("[{start}:{limit}]"));
                    dims.push(limit - start);
                }
                self.add(x.ty, dims, format!("slice({}), slice={{{}}}", x.name, ranges.join(", ")))
            }
        }
    }

    fn reduce(&mut self, x: &Value) -> Value {
        if x.ty == "pred" || x.dims.is_empty() {
            return x.clone();
        }
        // Sums of floats depend on the order, which is not defined.
        let op = if FLOATS.contains(&x.ty) || self.numbers.below(2) == 0 { "maximum" } else { "add" };
        let init = self.value_of(x.ty, &[]);
        let d = self.numbers.below(x.dims.len());
        let mut dims = x.dims.clone();
        dims.remove(d);
        let what = format!("reduce({}, {}), dimensions={{{d}}}, to_apply={op}_{}", x.name, init.name, x.ty);
        self.add(x.ty, dims, what)
    }

    fn dynamic(&mut self, x: &Value) -> Value {
        let starts: Vec<String> = x.dims.iter().map(|_| self.value_of("s32", &[]).name).collect();
        let sizes: Vec<i64> = x.dims.iter().map(|&d| 1 + self.numbers.below(d as usize) as i64).collect();
        let starts: String = starts.iter().map(|s| format!(", {s}")).collect();
        let part = self.add(
            x.ty,
            sizes.clone(),
            format!("dynamic-slice({}{starts}), dynamic_slice_sizes={{{}}}", x.name, list(&sizes)),
        );
        if self.numbers.below(2) == 0 {
            return part;
        }
        let changed = self.elementwise(&part);
        self.add(x.ty, x.dims.clone(), format!("dynamic-update-slice({}, {}{starts})", x.name, changed.name))
    }
}
