//! Random numbers, which must be equal on devices that have the same tile.

use super::partitioner::Partitioner;
use super::value::Value;
use hlo_ir::attr::{ComparisonDirection, TileAssignment};
use hlo_ir::build::Build;
use hlo_ir::{ElementType, InstrId, Op};

impl Partitioner<'_> {
    /// Partitions a random-number instruction: the first device draws the numbers for all, because each
    /// device has its own `rng` state.
    pub(super) fn drawn(&mut self, id: InstrId) -> Option<Value> {
        let shape = self.module[id].shape.as_array().filter(|a| a.is_static())?.clone();
        let wanted = self.required_shardings(id).into_iter().next()?;
        let mut operands = Vec::new();
        for n in 0..self.module[id].operands.len() {
            let part = self.part(n).filter(|p| p.tiling.groups() == 1 && wanted.groups() == 1)?;
            operands.push(self.reshard(&part, &part.tiling.whole(part.shape.rank())).id);
        }
        let own = self.add(shape.clone(), self.module[id].op.clone(), &operands);
        let first = self.of_device((0..self.devices).map(|device| i64::from(device > 0)).collect());
        let first = self.compared(first, ComparisonDirection::Eq, 0, &[]);
        let first = self.spread(first, &shape.dims);
        let zero = self.zero(shape.element_type)?;
        let value = self.select(first, own, zero, &shape.dims);
        let op = if shape.element_type == ElementType::Pred { Op::Or } else { Op::Add };
        let to_apply = self.combiner(&op, shape.element_type);
        let all = vec![(0..self.devices).collect()];
        let value = self.all_reduce(value, to_apply, &all);
        let part = self.made(value, &shape, &TileAssignment::replicated(shape.rank(), self.devices));
        Some(Value::Array(self.reshard(&part, &wanted)))
    }
}
