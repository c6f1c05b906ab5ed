//! Random modules with arrays whose sizes are only known at run time. They test that padding never affects
//! results. The elements beyond the sizes of inputs are NaN. The others are small integers, for which every
//! operation here is exact.

mod control;
mod indexing;
mod movement;
mod reduction;

use crate::Numbers;
use std::fmt::Write;

/// A module and its inputs.
#[derive(Clone, Debug)]
pub struct DynamicModule {
    /// The module's text.
    pub text: String,
    /// A literal for each parameter, of its actual size.
    pub inputs: Vec<String>,
    /// Whether operands may have sizes that do not match, so that the program may fail.
    pub may_fail: bool,
}

/// A dimension: its declaration, and its actual size with these inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dim {
    bound: i64,
    dynamic: bool,
    /// Whether the dimension may be smaller than its bound as far as the compiler knows, even if it is
    /// declared static.
    open: bool,
    real: i64,
}

impl Dim {
    fn fixed(size: i64) -> Self {
        Self { bound: size, dynamic: false, open: false, real: size }
    }

    /// Whether the dimension may be smaller than its bound although it is declared static.
    fn is_hidden(self) -> bool {
        self.open && !self.dynamic
    }

    /// Returns the dimension of the result when an operation combines two dimensions, if it may. `any` allows
    /// different sizes, so that the program fails.
    fn paired(self, other: Dim, any: bool) -> Option<Dim> {
        let real = self.real.min(other.real);
        let fits = |d: Dim| any || d.real == real || (!d.dynamic && d.real == d.bound);
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

/// Returns the module for a seed.
pub fn dynamic_module(seed: u64) -> DynamicModule {
    let mut numbers = Numbers::new(seed);
    let may_fail = numbers.one_in(8);
    let mut maker = Maker {
        numbers,
        may_fail,
        body: String::new(),
        computations: String::new(),
        values: Vec::new(),
        depth: 0,
        next: 0,
    };
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
        text: format!(
            "HloModule dynamic\n{FUNCTIONS}{}ENTRY main {{\n{}{root}}}\n",
            maker.computations, maker.body
        ),
        inputs,
        may_fail,
    }
}

/// The functions for reductions and sorts. No compiler knows an identity of `largest`.
const FUNCTIONS: &str = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] maximum(a, b) }
min { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] minimum(a, b) }
largest { a = f32[] parameter(0)\n b = f32[] parameter(1)\n x = f32[] abs(a)\n y = f32[] abs(b)
 ROOT c = f32[] maximum(x, y) }
less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=LT }
not_less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = pred[] compare(a, b), direction=GE }
less_of_two { a = f32[] parameter(0)\n b = f32[] parameter(1)\n k = f32[] parameter(2)\n l = f32[] parameter(3)
 ROOT c = pred[] compare(a, b), direction=LT }
first_largest { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] parameter(3)
 p = pred[] compare(a, b), direction=GE\n x = f32[] select(p, a, b)\n y = s32[] select(p, i, j)
 ROOT c = (f32[], s32[]) tuple(x, y) }
";

fn shape(dims: &[Dim]) -> String {
    let dims: Vec<String> =
        dims.iter().map(|d| format!("{}{}", if d.dynamic { "<=" } else { "" }, d.bound)).collect();
    format!("f32[{}]", dims.join(","))
}

/// Returns elements as HLO text, with NaN beyond the actual sizes.
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
    may_fail: bool,
    /// The instructions of the current computation, and the previous computations.
    body: String,
    computations: String,
    /// The values that instructions can use as operands.
    values: Vec<Value>,
    /// The nesting depth of the current computation.
    depth: usize,
    next: usize,
}

impl Maker {
    fn name(&mut self) -> String {
        self.next += 1;
        format!("v{}", self.next)
    }

    /// Adds an instruction that later instructions do not use as an operand.
    fn helper(&mut self, shape: &str, right: &str) -> String {
        let name = self.name();
        let _ = writeln!(self.body, "  {name} = {shape} {right}");
        name
    }

    /// Adds an instruction that returns an array, and clamps its elements.
    fn push(&mut self, dims: Vec<Dim>, right: &str) {
        let shape = shape(&dims);
        let raw = self.helper(&shape, right);
        self.push_named(dims, &raw);
    }

    /// Adds the instructions that every computation needs.
    fn limits(&mut self) {
        self.body
            .push_str("  low = f32[] constant(-8)\n  high = f32[] constant(8)\n  zero = f32[] constant(0)\n");
    }

    /// Adds an array of small integers.
    fn constant(&mut self, dims: &[i64]) -> String {
        let sizes: Vec<(i64, i64)> = dims.iter().map(|&d| (d, d)).collect();
        let elements = literal(&mut self.numbers, &sizes, true);
        self.helper(&format!("f32[{}]", list(dims)), &format!("constant({elements})"))
    }

    /// Adds an integer constant.
    fn integer(&mut self, value: i64) -> String {
        self.helper("s32[]", &format!("constant({value})"))
    }

    /// Adds an array with any elements, and clamps them.
    fn push_named(&mut self, dims: Vec<Dim>, raw: &str) {
        let name = self.helper(&shape(&dims), &format!("clamp(low, {raw}, high)"));
        self.values.push(Value { name, dims });
    }

    /// Adds a parameter with dynamic sizes, and one that is made dynamic, with NaN beyond its sizes.
    fn inputs(&mut self) -> Vec<String> {
        self.limits();
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

    /// Returns a value that may be combined with `v` in all dimensions except `but`, and the resulting
    /// dimensions.
    fn partner(&mut self, v: &Value, but: Option<usize>) -> (Value, Vec<Dim>) {
        let any = self.may_fail && self.numbers.one_in(6);
        let pair = |w: &Value| -> Option<Vec<Dim>> {
            if w.dims.len() != v.dims.len() {
                return None;
            }
            let both = v.dims.iter().zip(&w.dims).enumerate();
            both.map(|(d, (a, b))| if Some(d) == but { Some(*a) } else { a.paired(*b, any) }).collect()
        };
        let fitting: Vec<(Value, Vec<Dim>)> =
            self.values.iter().filter_map(|w| Some((w.clone(), pair(w)?))).collect();
        if fitting.is_empty() { (v.clone(), v.dims.clone()) } else { self.numbers.pick(&fitting) }
    }

    /// Returns a dimension of a value, or `None` for a scalar.
    fn dim(&mut self, v: &Value) -> Option<usize> {
        (!v.dims.is_empty()).then(|| self.numbers.below(v.dims.len()))
    }

    /// Adds a random operation. Adds nothing if it is not valid for the selected value.
    fn operation(&mut self) -> Option<()> {
        let v = self.any();
        let which = self.numbers.below(36);
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
            16..=17 => self.window(&v),
            18 => self.dynamic_reshape(&v),
            19..=20 => self.gather(&v),
            21..=22 => self.scatter(&v),
            23 => self.convolution(&v),
            24 => self.sort_two(&v),
            25 => self.first_largest(&v),
            26 => self.topk(&v),
            27 => self.select_and_scatter(&v),
            28 => self.ragged_dot(&v),
            29 => self.forwarding_operation(&v),
            30 => self.size_of(&v),
            31 => self.scan(&v),
            32 => self.call(&v),
            33 => self.conditional(&v),
            _ => self.looped(&v),
        }
    }
}

fn elements(dims: &[Dim]) -> i64 {
    dims.iter().map(|d| d.bound).product()
}

fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}
