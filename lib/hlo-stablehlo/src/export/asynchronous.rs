//! Asynchronous operations. The export runs the operation where it starts. The instruction that ends it
//! extracts the result.

use super::exporter::Exporter;
use super::failure::Outcome;
use super::value::Value;
use hlo_ir::InstrId;
use hlo_ir::attr::{AsyncDoneAttrs, AsyncStartAttrs, AsyncUpdateAttrs, CopyStartAttrs};

impl Exporter<'_> {
    /// Returns the state of an asynchronous operation: `parts`, and placeholders for the other elements of
    /// the instruction's shape.
    pub(super) fn state<const N: usize>(&self, id: InstrId, parts: [Value; N]) -> Value {
        let count = self.instruction(id).shape.as_tuple().map_or(0, <[_]>::len);
        Value::tuple(parts.into_iter().chain(std::iter::repeat(Value::State)).take(count.max(N)))
    }

    /// Returns an element of the operand's state, for the instruction that ends the operation.
    pub(super) fn part_of_state(&mut self, id: InstrId, index: usize) -> Outcome<Value> {
        let state = self.operand(id, 0)?;
        match state.elements().get(index) {
            Some(part) => Ok(part.clone()),
            None => self.leaves_of(id, &state).and_then(|_| self.reject(id, "ends what did not start")),
        }
    }

    pub(super) fn async_start(&mut self, id: InstrId, attrs: &AsyncStartAttrs) -> Outcome<Value> {
        // The operation runs synchronously, so it needs no thread. Shared memory affects only the performance.
        let &AsyncStartAttrs { async_execution_thread: _, output_to_operand_aliasing: _, calls } = attrs;
        let Some(computation) = calls else { return self.reject(id, "starts no computation") };
        let bound = self.operand_values(id)?;
        let operands = Value::tuple(bound.iter().cloned());
        let result = self.applied(id, computation, bound)?;
        Ok(self.state(id, [operands, result]))
    }

    pub(super) fn async_update(&mut self, id: InstrId, attrs: &AsyncUpdateAttrs) -> Outcome<Value> {
        // The start has the same thread and computation. Shared memory affects only the performance.
        let AsyncUpdateAttrs { async_execution_thread: _, output_to_operand_aliasing: _, calls: _ } = attrs;
        self.operand(id, 0)
    }

    pub(super) fn async_done(&mut self, id: InstrId, attrs: &AsyncDoneAttrs) -> Outcome<Value> {
        // The start has the same thread and computation.
        let AsyncDoneAttrs { async_execution_thread: _, calls: _ } = attrs;
        self.part_of_state(id, 1)
    }

    pub(super) fn copy_start(&mut self, id: InstrId, attrs: &CopyStartAttrs) -> Outcome<Value> {
        // The prefetch affects only the performance.
        let CopyStartAttrs { cross_program_prefetch_index: _ } = attrs;
        let copied = self.operand(id, 0)?;
        Ok(self.state(id, [copied.clone(), copied]))
    }
}
