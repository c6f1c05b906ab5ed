//! Calls, branches and loops with arrays whose sizes are only known at run time.

use super::{Dim, Maker, Value, list, shape};
use std::fmt::Write;

/// Maximum nesting depth of computations.
const MAX_DEPTH: usize = 2;

impl Maker {
    /// Adds a computation. `fill` receives its parameters and returns the root and additional data, which is
    /// returned together with the name.
    fn computation<T>(
        &mut self,
        parameters: &[Value],
        fill: impl FnOnce(&mut Self, Vec<Value>) -> (String, T),
    ) -> (String, T) {
        let name = self.name().replace('v', "fn");
        let body = std::mem::take(&mut self.body);
        let values = std::mem::take(&mut self.values);
        self.depth += 1;
        self.limits();
        let mut given = Vec::new();
        for (n, v) in parameters.iter().enumerate() {
            let name = self.helper(&shape(&v.dims), &format!("parameter({n})"));
            given.push(Value { name, dims: v.dims.clone() });
        }
        self.values.clone_from(&given);
        let (root, told) = fill(self, given);
        let instructions = std::mem::replace(&mut self.body, body);
        let _ = writeln!(self.computations, "{name} {{\n{instructions}  {root}\n}}");
        self.values = values;
        self.depth -= 1;
        (name, told)
    }

    /// Adds some operations and returns one result whose shape shows all of its dynamic dimensions.
    fn some_operations(&mut self) -> Option<Value> {
        for _ in 0..self.numbers.between(1, 3) {
            self.operation();
        }
        let told = |v: &&Value| !v.dims.iter().any(|d| d.is_hidden());
        self.values.iter().rev().find(told).cloned()
    }

    /// Adds a call, possibly asynchronous.
    pub(super) fn call(&mut self, v: &Value) -> Option<()> {
        if self.depth >= MAX_DEPTH || v.dims.iter().any(|d| d.is_hidden()) {
            return None;
        }
        let (w, _) = self.partner(v, None);
        let arguments = [v.clone(), w.clone()];
        let (name, result) = self.computation(&arguments, |m, given| {
            let result = m.some_operations().unwrap_or_else(|| given[0].clone());
            let of = shape(&result.dims);
            (format!("ROOT root = {of} copy({})", result.name), result)
        });
        let of = shape(&result.dims);
        if self.numbers.one_in(2) {
            self.push(result.dims, &format!("call({}, {}), to_apply={name}", v.name, w.name));
            return Some(());
        }
        let state = format!("(({}, {}), {of}, s32[])", shape(&v.dims), shape(&w.dims));
        let start = self.helper(&state, &format!("async-start({}, {}), calls={name}", v.name, w.name));
        self.push(result.dims, &format!("async-done({start}), calls={name}"));
        Some(())
    }

    /// Adds a conditional that depends on a size. Its branches return arrays of different sizes.
    pub(super) fn conditional(&mut self, v: &Value) -> Option<()> {
        let d = self.dim(v)?;
        if self.depth >= MAX_DEPTH || v.dims.iter().enumerate().any(|(k, dim)| k != d && dim.is_hidden()) {
            return None;
        }
        let bound = v.dims[d].bound;
        let mut dims = v.dims.clone();
        dims[d] = Dim { dynamic: true, open: true, ..dims[d] };
        let mut branches = Vec::new();
        for op in ["negate", "abs"] {
            let real = self.numbers.between(0, bound);
            let of = shape(&dims);
            let (name, ()) = self.computation(std::slice::from_ref(v), |m, given| {
                let n = m.integer(real);
                let set = format!("set-dimension-size({}, {n}), dimensions={{{d}}}", given[0].name);
                let set = m.helper(&of, &set);
                (format!("ROOT root = {of} {op}({set})"), ())
            });
            branches.push((name, real));
        }
        let than = self.numbers.between(0, bound);
        let size = self.helper("s32[]", &format!("get-dimension-size({}), dimensions={{{d}}}", v.name));
        let limit = self.integer(than);
        let which = self.helper("pred[]", &format!("compare({size}, {limit}), direction=LT"));
        // A dimension that is declared static has its declared size.
        let size = if v.dims[d].dynamic { v.dims[d].real } else { bound };
        dims[d].real = if size < than { branches[0].1 } else { branches[1].1 };
        let attributes = format!("true_computation={}, false_computation={}", branches[0].0, branches[1].0);
        self.push(dims, &format!("conditional({which}, {0}, {0}), {attributes}", v.name));
        Some(())
    }

    /// Adds a loop that sums results of operations, shrinks an array, or both. Its condition may read arrays.
    pub(super) fn looped(&mut self, v: &Value) -> Option<()> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        let turns = self.numbers.between(0, 3);
        let shrinks = v.dims.first().is_some_and(|d| d.dynamic) && self.numbers.one_in(2);
        let of = shape(&v.dims);
        let state = format!("(s32[], f32[], {of})");
        let parameter = |m: &mut Self| -> [String; 3] {
            let p = m.helper(&state, "parameter(0)");
            let part = |m: &mut Self, of: &str, n: usize| {
                m.helper(of, &format!("get-tuple-element({p}), index={n}"))
            };
            [part(m, "s32[]", 0), part(m, "f32[]", 1), part(m, &of, 2)]
        };
        let looks = self.numbers.one_in(2);
        let all: Vec<i64> = (0..v.dims.len() as i64).collect();
        let sum = |m: &mut Self, of: &Value| {
            let all: Vec<i64> = (0..of.dims.len() as i64).collect();
            m.helper(
                "f32[]",
                &format!("reduce({}, zero), dimensions={{{}}}, to_apply=add", of.name, list(&all)),
            )
        };
        let (condition, ()) = self.computation(&[], |m, _| {
            let [i, _, x] = parameter(m);
            let limit = m.integer(turns);
            if !looks {
                return (format!("ROOT root = pred[] compare({i}, {limit}), direction=LT"), ());
            }
            let twice = m.helper(&of, &format!("add({x}, {x})"));
            let right = format!("reduce({twice}, zero), dimensions={{{}}}, to_apply=add", list(&all));
            let total = m.helper("f32[]", &right);
            let far = m.helper("f32[]", "constant(100000)");
            let near = m.helper("pred[]", &format!("compare({total}, {far}), direction=LT"));
            let more = m.helper("pred[]", &format!("compare({i}, {limit}), direction=LT"));
            (format!("ROOT root = pred[] and({near}, {more})"), ())
        });
        let (body, ()) = self.computation(&[], |m, _| {
            let [i, total, x] = parameter(m);
            let one = m.integer(1);
            let next = m.helper("s32[]", &format!("add({i}, {one})"));
            let given = Value { name: x.clone(), dims: v.dims.clone() };
            let mut x = x;
            let part = if shrinks {
                let size = m.helper("s32[]", &format!("get-dimension-size({x}), dimensions={{0}}"));
                let less = m.helper("s32[]", &format!("subtract({size}, {one})"));
                let none = m.integer(0);
                let left = m.helper("s32[]", &format!("maximum({less}, {none})"));
                x = m.helper(&of, &format!("set-dimension-size({x}, {left}), dimensions={{0}}"));
                sum(m, &given)
            } else {
                m.values.push(given.clone());
                let result = m.some_operations().unwrap_or(given);
                sum(m, &result)
            };
            let both = m.helper("f32[]", &format!("add({total}, {part})"));
            let both = m.helper("f32[]", &format!("clamp(low, {both}, high)"));
            (format!("ROOT root = {state} tuple({next}, {both}, {x})"), ())
        });
        let zero = self.integer(0);
        let init = self.helper(&state, &format!("tuple({zero}, zero, {})", v.name));
        let done = self.helper(&state, &format!("while({init}), condition={condition}, body={body}"));
        let mut dims = v.dims.clone();
        if shrinks {
            dims[0].real = (dims[0].real - turns).max(0);
        }
        self.push(vec![], &format!("get-tuple-element({done}), index=1"));
        self.push(dims, &format!("get-tuple-element({done}), index=2"));
        Some(())
    }

    /// Adds a scan that sums over rows.
    pub(super) fn scan(&mut self, v: &Value) -> Option<()> {
        let (&first, rest) = v.dims.split_first()?;
        if rest.iter().any(|d| d.is_hidden()) || self.depth >= MAX_DEPTH {
            return None;
        }
        let row = Value { name: String::new(), dims: rest.to_vec() };
        let carry = Value { name: String::new(), dims: vec![] };
        let of = shape(rest);
        let (name, ()) = self.computation(&[row, carry], |m, given| {
            let all: Vec<i64> = (0..rest.len() as i64).collect();
            let right =
                format!("reduce({}, zero), dimensions={{{}}}, to_apply=add", given[0].name, list(&all));
            let sum = m.helper("f32[]", &right);
            let total = m.helper("f32[]", &format!("add({}, {sum})", given[1].name));
            let total = m.helper("f32[]", &format!("clamp(low, {total}, high)"));
            let bounds: Vec<i64> = rest.iter().map(|d| d.bound).collect();
            let spread =
                m.helper(&format!("f32[{}]", list(&bounds)), &format!("broadcast({total}), dimensions={{}}"));
            let out = m.helper(&of, &format!("add({}, {spread})", given[0].name));
            (format!("ROOT root = ({of}, f32[]) tuple({out}, {total})"), ())
        });
        let mut dims = vec![Dim { dynamic: false, ..first }];
        // Without a step, the actual sizes of rows are unknown, so they are the bounds.
        dims.extend(rest.iter().map(|&d| if first.real == 0 { Dim { real: d.bound, ..d } } else { d }));
        let out = shape(&dims);
        let is_reverse = self.numbers.one_in(2);
        let attributes = format!("dimensions={{0}}, num_carries=1, is_reverse={is_reverse}, to_apply={name}");
        let both = self.helper(&format!("({out}, f32[])"), &format!("scan({}, zero), {attributes}", v.name));
        self.push(vec![], &format!("get-tuple-element({both}), index=1"));
        self.push(dims, &format!("get-tuple-element({both}), index=0"));
        Some(())
    }
}
