//! Asynchronous operations: what they start is done at once, and what ends them only takes the result out of their state.

use super::exporter::Exporter;
use super::failure::Outcome;
use super::value::Value;
use hlo_ir::InstrId;
use hlo_ir::attr::AsyncStartAttrs;

impl Exporter<'_> {
    /// A state: these parts, and whatever else there is in the instruction's shape.
    pub(super) fn state<const N: usize>(&self, id: InstrId, parts: [Value; N]) -> Value {
        let count = self.instruction(id).shape.as_tuple().map_or(0, <[_]>::len);
        Value::tuple(parts.into_iter().chain(std::iter::repeat(Value::State)).take(count.max(N)))
    }

    /// The part of a state that an end gives.
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
