//! The state of the generator: the computations under construction, and values of requested types.

use super::program::{Computation, Line, Program};
use super::types::{Array, Type, braced};
use super::{Options, attributes, header, is_exact, runs_alone};
use crate::Numbers;
use hlo_ir::{ElementType, Family, Opcode};

/// Maximum nesting depth of computations.
const MAX_DEPTH: usize = 4;

/// The types that are selected most of the time.
const COMMON: &[ElementType] = &[
    ElementType::F32,
    ElementType::F32,
    ElementType::S32,
    ElementType::Pred,
    ElementType::F64,
    ElementType::Bf16,
    ElementType::U8,
    ElementType::U32,
    ElementType::C64,
];

/// Builds a random module.
pub struct Generator {
    /// The source of all random decisions.
    pub numbers: Numbers,
    /// The complete computations, callees first.
    done: Vec<Computation>,
    /// The computations under construction. The last one is the current one; its callers precede it.
    open: Vec<Computation>,
    /// The number of names used.
    names: usize,
    /// See [`Options::executable`].
    pub(super) executable: bool,
    /// See [`Options::empty`].
    pub(super) empty: usize,
}

impl Generator {
    /// Creates a generator without a computation. The numbers in its names are larger than `first_name`.
    pub fn new(numbers: Numbers, first_name: usize) -> Self {
        Self { numbers, done: Vec::new(), open: Vec::new(), names: first_name, executable: false, empty: 0 }
    }

    /// Starts a computation and makes it the current one.
    pub fn begin(&mut self, name: &str) {
        self.names += 1;
        let name = format!("{name}.{}", self.names);
        self.open.push(Computation { name, ..Computation::default() });
    }

    /// Ends the current computation. Returns its name, including `%`.
    pub fn end(&mut self, root: usize) -> String {
        let mut computation = self.open.pop().unwrap_or_default();
        computation.root = root;
        let name = format!("%{}", computation.name);
        self.done.push(computation);
        name
    }

    /// Sets the thread of the computation that ended last.
    pub fn set_thread(&mut self, thread: &str) {
        if let Some(c) = self.done.last_mut() {
            c.thread = Some(thread.into());
        }
    }

    fn current(&mut self) -> &mut Computation {
        if self.open.is_empty() {
            self.begin("entry");
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// Whether the computation under construction is not the entry.
    pub(super) fn is_called(&self) -> bool {
        self.open.len() > 1
    }

    /// Whether the computation under construction is fused, or called from a fused one.
    fn is_fused(&self) -> bool {
        self.open.iter().any(|c| c.name.starts_with("fused"))
    }

    /// Returns the instructions of the current computation so far.
    pub fn lines(&self) -> &[Line] {
        self.open.last().map_or(&[], |c| &c.lines)
    }

    /// Returns the type of a value in the current computation.
    pub fn ty(&self, value: usize) -> Type {
        self.lines()[value].ty.clone()
    }

    /// Returns the array type of a value, which must be an array.
    pub fn array_type(&self, value: usize) -> Array {
        match self.ty(value) {
            Type::Array(a) => a,
            Type::Tuple(_) | Type::Token | Type::Opaque => Array::new(ElementType::Pred, &[]),
        }
    }

    /// Adds an instruction.
    pub fn add(
        &mut self,
        ty: impl Into<Type>,
        opcode: Opcode,
        operands: &[usize],
        attributes: &[(&str, String)],
    ) -> usize {
        self.names += 1;
        let name = format!("{}.{}", opcode.name(), self.names);
        let layout = self.numbers.bits();
        let attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone())).collect();
        let line = Line {
            name,
            ty: ty.into(),
            opcode,
            spelling: None,
            payload: String::new(),
            operands: operands.to_vec(),
            attributes,
            control: Vec::new(),
            layout,
        };
        let lines = &mut self.current().lines;
        lines.push(line);
        lines.len() - 1
    }

    /// Changes an instruction.
    pub fn edit(&mut self, value: usize, change: impl FnOnce(&mut Line)) {
        if let Some(line) = self.current().lines.get_mut(value) {
            change(line);
        }
    }

    /// Adds an attribute to an instruction.
    pub fn attribute(&mut self, value: usize, name: &str, text: impl Into<String>) {
        let text = text.into();
        self.edit(value, |line| line.attributes.push((name.into(), text)));
    }

    /// Adds the next parameter.
    pub fn parameter(&mut self, ty: impl Into<Type>) -> usize {
        let number = self.lines().iter().filter(|l| l.opcode == Opcode::Parameter).count();
        let value = self.add(ty, Opcode::Parameter, &[], &[]);
        self.edit(value, |line| line.payload = number.to_string());
        value
    }

    /// Adds a constant.
    pub fn constant(&mut self, ty: impl Into<Type>) -> usize {
        let ty = ty.into();
        let literal = super::literal::literal(&ty, &mut self.numbers);
        let value = self.add(ty, Opcode::Constant, &[], &[]);
        self.edit(value, |line| line.payload = literal);
        value
    }

    /// Adds a scalar constant with the value `text`.
    pub fn number(&mut self, element: ElementType, text: &str) -> usize {
        let value = self.add(Array::new(element, &[]), Opcode::Constant, &[], &[]);
        self.edit(value, |line| line.payload = text.into());
        value
    }

    /// Returns an element type that satisfies `fits`.
    pub fn element(&mut self, fits: impl Fn(ElementType) -> bool) -> ElementType {
        let from = if self.numbers.one_in(3) { ElementType::ALL } else { COMMON };
        let fitting = |from: &[ElementType]| from.iter().copied().filter(|&t| fits(t)).collect::<Vec<_>>();
        let mut types = fitting(from);
        if types.is_empty() {
            types = fitting(ElementType::ALL);
        }
        self.numbers.pick(&types)
    }

    /// Returns the size of a dimension, which may be zero.
    pub(super) fn size(&mut self, low: i64, high: i64) -> i64 {
        if self.empty > 0 && self.numbers.one_in(self.empty) { 0 } else { self.numbers.between(low, high) }
    }

    /// Returns random sizes.
    pub fn dims(&mut self, low: i64, high: i64) -> Vec<i64> {
        let rank = self.numbers.between(low, high);
        if self.executable && rank > 0 && rank <= 2 && self.numbers.one_in(12) {
            // Large enough for vectors with a remainder, and for more than one thread.
            return (0..rank).map(|_| self.numbers.between(15, 70)).collect();
        }
        (0..rank).map(|_| self.size(1, 4)).collect()
    }

    /// Returns a value of a type: an existing or a new one.
    pub fn value(&mut self, ty: &Type) -> usize {
        let there: Vec<usize> = (0..self.lines().len()).filter(|&i| self.lines()[i].ty == *ty).collect();
        if !there.is_empty() && !self.numbers.one_in(4) {
            return self.numbers.pick(&there);
        }
        self.fresh(ty)
    }

    /// Adds a new value of a type.
    fn fresh(&mut self, ty: &Type) -> usize {
        let may_have_parameters = self.open.len() == 1 && !(self.executable && *ty == Type::Token);
        if may_have_parameters && self.numbers.one_in(2) {
            return self.parameter(ty.clone());
        }
        match ty {
            Type::Token => {
                let tokens: Vec<usize> =
                    (0..self.lines().len()).filter(|&i| self.lines()[i].ty == Type::Token).collect();
                let operands: Vec<usize> = tokens.into_iter().filter(|_| self.numbers.one_in(3)).collect();
                self.add(Type::Token, Opcode::AfterAll, &operands, &[])
            }
            Type::Tuple(parts) => {
                let parts: Vec<usize> = parts.iter().map(|p| self.value(p)).collect();
                self.tuple(&parts)
            }
            Type::Opaque => self.made_outside(ty),
            Type::Array(a) if a.dims.contains(&Array::UNBOUNDED) => self.made_outside(ty),
            Type::Array(a) if !a.is_static() => self.dynamic(a),
            Type::Array(a) if a.elements() <= 40 && !self.numbers.one_in(3) => self.constant(a.clone()),
            Type::Array(a) if a.rank() == 0 => self.constant(a.clone()),
            Type::Array(a) => {
                let scalar = self.value(&Type::scalar(a.element));
                self.add(a.clone(), Opcode::Broadcast, &[scalar], &[("dimensions", "{}".into())])
            }
        }
    }

    /// Adds a value that only a custom call can return.
    fn made_outside(&mut self, ty: &Type) -> usize {
        self.add(ty.clone(), Opcode::CustomCall, &[], &[("custom_call_target", "\"make\"".into())])
    }

    /// Adds an array with dynamic dimensions: a static array whose sizes are set.
    fn dynamic(&mut self, a: &Array) -> usize {
        let mut value = self.value(&Type::array(a.element, &a.dims));
        let mut ty = Array { dynamic: vec![false; a.rank()], ..a.clone() };
        for d in (0..a.rank()).filter(|&d| a.dynamic[d]) {
            ty.dynamic[d] = true;
            let size = self.numbers.between(0, a.dims[d]).to_string();
            let size = self.number(ElementType::S32, &size);
            let attributes = [("dimensions", braced(&[d as i64]))];
            value = self.add(ty.clone(), Opcode::SetDimensionSize, &[value, size], &attributes);
        }
        value
    }

    /// Adds a tuple.
    pub fn tuple(&mut self, parts: &[usize]) -> usize {
        let ty = Type::Tuple(parts.iter().map(|&p| self.ty(p)).collect());
        self.add(ty, Opcode::Tuple, parts, &[])
    }

    /// Returns a static array that satisfies `fits`: an existing one, or a new one of the type that `make`
    /// returns.
    pub fn array(&mut self, fits: impl Fn(&Array) -> bool, make: impl FnOnce(&mut Self) -> Array) -> usize {
        let good =
            |line: &Line| line.ty.as_array().is_some_and(|a| a.is_static() && a.elements() <= 256 && fits(a));
        let there: Vec<usize> = (0..self.lines().len()).filter(|&i| good(&self.lines()[i])).collect();
        if !there.is_empty() && !self.numbers.one_in(3) {
            return self.numbers.pick(&there);
        }
        let ty = make(self);
        self.value(&ty.into())
    }

    /// Returns a static array with an element type that satisfies `fits` and a rank in the given range.
    pub fn array_of(&mut self, fits: impl Fn(ElementType) -> bool, low: i64, high: i64) -> usize {
        let rank = |a: &Array| (low..=high).contains(&(a.rank() as i64));
        self.array(
            |a| fits(a.element) && rank(a),
            |g| {
                let element = g.element(&fits);
                let dims = g.dims(low, high);
                Array::new(element, &dims)
            },
        )
    }

    /// Adds a function from scalars to `result`, which is a scalar or a tuple of scalars. Returns its name.
    pub fn scalar_function(&mut self, parameters: &[ElementType], result: &Type) -> String {
        self.begin("region");
        let values: Vec<usize> = parameters.iter().map(|&t| self.parameter(Array::new(t, &[]))).collect();
        let types = result.leaves().into_iter().filter_map(Type::as_array);
        let roots: Vec<usize> = types.map(|t| self.combined(t.element, &values)).collect();
        let root = match (result, &roots[..]) {
            (Type::Array(_), &[one]) => one,
            _ => self.tuple(&roots),
        };
        self.end(root)
    }

    /// Returns a scalar of type `t` that depends on some of the values.
    fn combined(&mut self, t: ElementType, values: &[usize]) -> usize {
        let same: Vec<usize> = values.iter().copied().filter(|&v| self.array_type(v).element == t).collect();
        match same[..] {
            [] if t.is_pred() && values.len() > 1 && self.ty(values[0]) == self.ty(values[1]) => {
                let direction = if self.array_type(values[0]).element.is_complex() { "EQ" } else { "LT" };
                self.add(
                    Array::new(t, &[]),
                    Opcode::Compare,
                    &values[..2],
                    &[("direction", direction.into())],
                )
            }
            [] => self.value(&Type::scalar(t)),
            [one] => one,
            _ => {
                let (a, b) = (self.numbers.pick(&same), self.numbers.pick(&same));
                let opcode = if t.is_pred() {
                    self.numbers.pick(&[Opcode::And, Opcode::Or])
                } else {
                    self.numbers.pick(&[Opcode::Add, Opcode::Multiply])
                };
                self.add(Array::new(t, &[]), opcode, &[a, b], &[])
            }
        }
    }

    /// Adds a function from values of some types to a value of a type. Returns its name.
    pub fn function(&mut self, name: &str, parameters: &[Type], result: &Type) -> String {
        self.begin(name);
        for p in parameters {
            self.parameter(p.clone());
        }
        if self.open.len() < MAX_DEPTH {
            for _ in 0..self.numbers.below(if self.executable { 5 } else { 3 }) {
                let opcode = self.numbers.pick(Opcode::ALL);
                // The result of a call is compared as a whole, so rounding errors must not grow inside it.
                if self.executable && !(runs_alone(opcode) && is_exact(opcode)) {
                    continue;
                }
                match opcode.family() {
                    Family::Elementwise | Family::DataMovement => drop(self.step(opcode)),
                    Family::Reduction if self.numbers.one_in(2) => drop(self.step(opcode)),
                    Family::Indexing | Family::Control if self.executable => {
                        let _ = self.step(opcode);
                    }
                    // Fused computations have no side effects.
                    Family::Effects | Family::Collective | Family::Random
                        if self.executable && !self.is_fused() && self.numbers.one_in(2) =>
                    {
                        let _ = self.step(opcode);
                    }
                    _ => {}
                }
            }
        }
        let root = self.value(result);
        self.end(root)
    }

    /// Ends the entry with the given root. Returns the module.
    pub fn finish_at(&mut self, seed: u64, root: usize) -> Program {
        self.end(root);
        let computations = std::mem::take(&mut self.done);
        Program { name: format!("random_{seed}"), computations, ..Program::default() }
    }

    /// Ends the entry, whose root is one of its values or a tuple of some of them. Adds the header of the
    /// module.
    pub fn finish(mut self, seed: u64, options: Options) -> Program {
        let all = self.lines().len();
        let root = if self.numbers.one_in(4) {
            all.saturating_sub(1)
        } else {
            let first = all.saturating_sub(8);
            let parts: Vec<usize> = (first..all).filter(|_| self.numbers.one_in(2)).collect();
            self.tuple(&parts)
        };
        let mut program = self.finish_at(seed, root);
        if !options.executable {
            header::add(&mut program, options, &mut self.numbers);
        }
        if options.decorated {
            attributes::add_random_attributes(&mut program, &mut self.numbers);
        }
        program
    }

    /// Adds an instruction of an opcode, including its operands and computations. Returns its value, or the
    /// last value of the chain that the opcode belongs to.
    pub fn step(&mut self, opcode: Opcode) -> usize {
        match opcode.family() {
            Family::Structural => self.structural(opcode),
            Family::Elementwise => self.elementwise(opcode),
            Family::DataMovement => self.movement(opcode),
            Family::Indexing => self.indexing(opcode),
            Family::Reduction => self.reduction(opcode),
            Family::LinearAlgebra | Family::Normalization | Family::Random => self.algebra(opcode),
            Family::Control => self.control(opcode),
            Family::Effects => self.effect(opcode),
            Family::Collective => self.collective(opcode),
        }
    }

    /// Adds a parameter, a constant, a tuple or an element of a tuple.
    fn structural(&mut self, opcode: Opcode) -> usize {
        match opcode {
            Opcode::Constant => {
                let ty = self.some_type(2);
                self.constant(without_tokens(ty))
            }
            Opcode::Tuple => {
                let n = self.numbers.below(7);
                let all = self.lines().len();
                let parts: Vec<usize> = (0..n.min(all)).map(|_| self.numbers.below(all)).collect();
                self.tuple(&parts)
            }
            Opcode::GetTupleElement => {
                let ty = Type::Tuple(vec![self.some_type(1), self.some_type(1)]);
                let tuple = self.value(&ty);
                self.element_of(tuple, 1)
            }
            // A parameter of the entry. Other computations already have their parameters.
            _ if self.open.len() == 1 => {
                let ty = self.some_type(2);
                self.parameter(ty)
            }
            _ => self.array_of(|_| true, 0, 3),
        }
    }

    /// Returns element `index` of a tuple.
    pub fn element_of(&mut self, tuple: usize, index: usize) -> usize {
        let ty = match self.ty(tuple) {
            Type::Tuple(parts) if index < parts.len() => parts[index].clone(),
            other => other,
        };
        self.add(ty, Opcode::GetTupleElement, &[tuple], &[("index", index.to_string())])
    }

    /// Returns a type in which tuples nest at most `depth` levels.
    pub fn some_type(&mut self, depth: usize) -> Type {
        match self.numbers.below(10) {
            0 if depth > 0 => {
                Type::Tuple((0..self.numbers.below(4)).map(|_| self.some_type(depth - 1)).collect())
            }
            1 if !self.executable => Type::Token,
            3 if !self.executable => Type::Opaque,
            2 if !self.executable => {
                let (element, mut dims) = (self.element(|_| true), self.dims(1, 3));
                let dynamic: Vec<bool> = dims.iter().map(|_| self.numbers.one_in(2)).collect();
                if dynamic[0] && self.numbers.one_in(3) {
                    dims[0] = Array::UNBOUNDED;
                }
                Array { element, dims, dynamic }.into()
            }
            _ => {
                let element = self.element(|_| true);
                let mut dims = self.dims(0, 4);
                if self.numbers.one_in(12)
                    && let Some(d) = dims.first_mut()
                {
                    *d = 0;
                }
                Type::array(element, &dims)
            }
        }
    }
}

/// Returns the type with static arrays in place of types that a constant cannot have.
fn without_tokens(ty: Type) -> Type {
    match ty {
        Type::Token | Type::Opaque => Type::scalar(ElementType::Pred),
        Type::Tuple(parts) => Type::Tuple(parts.into_iter().map(without_tokens).collect()),
        Type::Array(a) => Type::array(a.element, &a.dims.iter().map(|d| d.abs()).collect::<Vec<_>>()),
    }
}
