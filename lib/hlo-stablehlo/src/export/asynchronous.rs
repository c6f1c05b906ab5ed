//! Asynchronous operations. The export runs the operation where it starts. The instruction that ends it
//! extracts the result.

use super::exporter::Exporter;
use super::failure::Outcome;
use super::value::Value;
use hlo_ir::InstrId;
use hlo_ir::attr::AsyncStartAttrs;

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
            None => self.leaves_of(id, &state).and_then(|_| self.refuse(id, "ends what did not start")),
        }
    }

    pub(super) fn async_start(&mut self, id: InstrId, attrs: &AsyncStartAttrs) -> Outcome<Value> {
        let Some(computation) = attrs.calls else { return self.refuse(id, "starts no computation") };
        let bound = self.operand_values(id)?;
        let operands = Value::tuple(bound.iter().cloned());
        let result = self.applied(id, computation, bound)?;
        Ok(self.state(id, [operands, result]))
    }

    pub(super) fn copy_start(&mut self, id: InstrId) -> Outcome<Value> {
        let copied = self.operand(id, 0)?;
        Ok(self.state(id, [copied.clone(), copied]))
    }
}
