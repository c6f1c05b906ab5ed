//! Selects how each instruction is partitioned.

use super::partitioner::Partitioner;
use super::value::Value;
use hlo_ir::attr::TileAssignment;
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Op};

impl Partitioner<'_> {
    /// Partitions an instruction: by the rule of its operation, otherwise on parts of its operands, otherwise
    /// replicated.
    pub(super) fn instruction(&mut self, id: InstrId) -> Result<Value, Diag> {
        let made = match self.module[id].op.clone() {
            Op::Tuple => Some(Value::Tuple(self.operands(id))),
            Op::GetTupleElement(a) => match (self.operand(0), usize::try_from(a.index)) {
                (Some(Value::Tuple(parts)), Ok(n)) => parts.get(n).cloned(),
                _ => None,
            },
            Op::Constant(_) => self.constant(id),
            Op::Iota(a) => self.count(id, a.iota_dimension),
            Op::Broadcast(a) => self.broadcast_of(id, &a.dimensions),
            Op::Reshape(_) => self.reshape(id),
            Op::Reverse(a) => self.reversed(id, &a.dimensions),
            Op::Rng(_) => self.drawn(id),
            Op::AllGather(_)
            | Op::AllReduce(_)
            | Op::AllToAll(_)
            | Op::CollectivePermute(_)
            | Op::ReduceScatter(_) => self.own_exchange(id),
            Op::OptBarrier | Op::AddDependency => self.partition_forwarding(id),
            Op::While(a) => self.while_loop(id, &a)?,
            Op::Conditional(a) => self.conditional(id, &a)?,
            Op::Call(a) => self.call(id, &a)?,
            Op::CustomCall(a) => {
                let target = a.custom_call_target.as_str().unwrap_or_default().to_owned();
                self.custom_call(id, &target)?
            }
            _ => None,
        };
        Ok(match made {
            Some(made) => made,
            None => match self.by_factors(id) {
                Some(made) => made,
                None => self.whole(id),
            },
        })
    }

    fn operands(&self, id: InstrId) -> Vec<Value> {
        self.module[id].operands.iter().map(|&o| self.value(o)).collect()
    }

    /// Partitions an instruction that passes on a value, in any sharding.
    fn partition_forwarding(&mut self, id: InstrId) -> Option<Value> {
        let value = self.operand(0)?;
        let mut operands = vec![self.materialized(&value)];
        for n in 1..self.module[id].operands.len() {
            let other = self.operand(n)?;
            operands.push(self.materialized(&other));
        }
        let shape = self.shape_of(operands[0]);
        let made = self.add(shape, self.module[id].op.clone(), &operands);
        let tilings = value.tilings(self.devices);
        let whole = self.module[id].shape.clone();
        Some(self.unpacked(made, &whole, &mut tilings.iter()))
    }

    /// Emits the instruction on all of its operands, on each device.
    fn whole(&mut self, id: InstrId) -> Value {
        let wanted = self.required_shardings(id);
        let operands = self.operands(id);
        let tilings = operands.iter().flat_map(|o| o.tilings(self.devices));
        let grouped = wanted.iter().cloned().chain(tilings).find(|t| t.groups() > 1);
        let frame = grouped.unwrap_or_else(|| TileAssignment::replicated(0, self.devices));
        let whole = |tilings: Vec<TileAssignment>| -> Vec<TileAssignment> {
            tilings.iter().map(|t| frame.whole(t.rank())).collect()
        };
        let mut gathered = Vec::with_capacity(operands.len());
        for operand in operands {
            let value = self.resharded_value(&operand, &whole(operand.tilings(self.devices)));
            gathered.push(self.materialized(&value));
        }
        let (shape, op) = (self.module[id].shape.clone(), self.module[id].op.clone());
        let made = self.add(shape.clone(), op, &gathered);
        self.keep_notes(id, made);
        let value = self.unpacked(made, &shape, &mut whole(wanted.clone()).iter());
        self.resharded_value(&value, &wanted)
    }

    /// Copies the annotations of an instruction that stays the same.
    pub(super) fn keep_notes(&mut self, from: InstrId, to: InstrId) {
        let Some(mut common) = self.module[from].common.as_deref().cloned() else { return };
        common.sharding = None;
        common.control_predecessors.clear();
        *self.module.common_mut(to) = common;
    }
}
