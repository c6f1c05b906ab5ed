//! Loops over elements, for passes that replace one instruction with a `while`.

use super::expander::Emitter;
use hlo_ir::attr::{ComparisonDirection, WhileAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Op, Shape};

/// The type of counters and indices.
pub const INDEX_TYPE: ElementType = ElementType::S64;

/// The number of steps of a loop.
#[derive(Clone, Copy)]
pub enum Steps {
    /// A known number.
    Known(i64),
    /// The value of this element of the loop's state, an index.
    InState(usize),
}

impl From<i64> for Steps {
    fn from(count: i64) -> Self {
        Self::Known(count)
    }
}

impl Emitter<'_> {
    /// Emits a constant index.
    pub fn index(&mut self, value: i64) -> Option<InstrId> {
        self.scalar(INDEX_TYPE, &value.to_le_bytes())
    }

    /// Compares two scalars.
    pub fn compare(&mut self, a: InstrId, direction: ComparisonDirection, b: InstrId) -> InstrId {
        let compare = Op::compare(direction);
        self.add(Shape::scalar(ElementType::Pred), compare, &[a, b])
    }

    /// Selects `a` if the scalar `test` is true, and `b` otherwise.
    pub fn select(&mut self, test: InstrId, a: InstrId, b: InstrId) -> InstrId {
        let shape = self.module[a].shape.clone();
        self.add(shape, Op::Select, &[test, a, b])
    }

    /// Emits the elements of a tuple. Returns any other value as a single element.
    pub fn elements(&mut self, value: InstrId) -> Option<Vec<InstrId>> {
        match self.module[value].shape.as_tuple().map(<[Shape]>::len) {
            Some(n) => (0..n).map(|i| self.element(value, i)).collect(),
            None => Some(vec![value]),
        }
    }

    /// Emits a call and returns the elements of its result.
    pub fn call(&mut self, to_apply: ComputationId, arguments: &[InstrId]) -> Option<Vec<InstrId>> {
        let root = self.module[to_apply].root();
        let shape = self.module[root].shape.clone();
        let call = self.add(shape, Op::call(to_apply), arguments);
        self.elements(call)
    }

    /// Combines values into the result of the instruction to replace: a single array, or a tuple of several
    /// values.
    pub fn results(&mut self, values: &[InstrId]) -> Option<InstrId> {
        let shape = self.shape();
        match (values, shape.as_tuple()) {
            (&[one], None) => self.finish(one, &shape),
            (_, Some(parts)) if parts.len() == values.len() => {
                let values: Option<Vec<InstrId>> =
                    values.iter().zip(parts).map(|(&v, part)| self.finish(v, part)).collect();
                Some(self.add(shape.clone(), Op::Tuple, &values?))
            }
            _ => None,
        }
    }

    /// Emits the element of a non-empty array at an index.
    pub fn read(&mut self, array: InstrId, index: &[InstrId]) -> Option<InstrId> {
        let whole = self.array(array)?;
        let one = ArrayShape::new(whole.element_type, vec![1; whole.rank()]);
        let slice = Op::dynamic_slice(one.dims.clone());
        let operands: Vec<InstrId> = std::iter::once(array).chain(index.iter().copied()).collect();
        let slice = self.add(one, slice, &operands);
        Some(self.add(Shape::scalar(whole.element_type), Op::reshape(), &[slice]))
    }

    /// Emits a non-empty array in which the element at an index is replaced.
    pub fn write(&mut self, array: InstrId, index: &[InstrId], value: InstrId) -> Option<InstrId> {
        let whole = self.array(array)?;
        let one = ArrayShape::new(whole.element_type, vec![1; whole.rank()]);
        let update = self.add(one, Op::reshape(), &[value]);
        let operands: Vec<InstrId> = [array, update].into_iter().chain(index.iter().copied()).collect();
        Some(self.same(Op::DynamicUpdateSlice, &operands))
    }

    /// Emits an array with the dimensions of a shape, without its layout, whose elements are all `value`.
    pub fn filled(&mut self, shape: &ArrayShape, value: InstrId) -> InstrId {
        let shape = ArrayShape::new(shape.element_type, shape.dims.iter().copied());
        self.broadcast(value, &shape, &[])
    }

    /// Converts a row-major position to an index into an array with these sizes, none of which is 0.
    pub fn unravel(&mut self, position: InstrId, dims: &[i64]) -> Option<Vec<InstrId>> {
        let mut out = Vec::with_capacity(dims.len());
        let mut rest = position;
        for (d, &size) in dims.iter().enumerate().rev() {
            let size = self.index(size)?;
            out.push(if d == 0 { rest } else { self.same(Op::Remainder, &[rest, size]) });
            if d > 0 {
                rest = self.same(Op::Divide, &[rest, size]);
            }
        }
        out.reverse();
        Some(out)
    }

    /// Emits a loop of `count` steps and returns the last state. `step` emits the next state from the step's
    /// number and the current state. `name` is the prefix of the names of its computations.
    pub fn counted_loop(
        &mut self,
        name: &str,
        count: impl Into<Steps>,
        state: &[InstrId],
        step: impl FnOnce(&mut Self, InstrId, &[InstrId]) -> Option<Vec<InstrId>>,
    ) -> Option<Vec<InstrId>> {
        let count = count.into();
        let counter = self.index(0)?;
        let all: Vec<InstrId> = std::iter::once(counter).chain(state.iter().copied()).collect();
        let init = self.tuple(&all);
        let shape = self.module[init].shape.clone();
        let condition = self.computation(&format!("{name}_condition"), |e| {
            let state = e.parameter(0, shape.clone());
            let i = e.element(state, 0)?;
            let count = match count {
                Steps::Known(count) => e.index(count)?,
                Steps::InState(n) => e.element(state, n + 1)?,
            };
            Some(e.compare(i, ComparisonDirection::Lt, count))
        })?;
        let body = self.computation(&format!("{name}_body"), |e| {
            let state = e.parameter(0, shape.clone());
            let state = e.elements(state)?;
            let (&i, state) = state.split_first()?;
            let one = e.index(1)?;
            let mut next = vec![e.same(Op::Add, &[i, one])];
            next.extend(step(e, i, state)?);
            Some(e.add(shape.clone(), Op::Tuple, &next))
        })?;
        let done = self.add(shape.clone(), Op::While(WhileAttrs { condition, body }), &[init]);
        (1..all.len()).map(|n| self.element(done, n)).collect()
    }
}
