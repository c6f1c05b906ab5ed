//! Custom calls that say how values lie on devices, and change between what the whole program has and what each device
//! has.

use super::partitioner::Partitioner;
use super::value::{Part, Value};
use crate::partitioning::sharding_propagation::hands_on_as_is;
use crate::partitioning::tilings::wrong;
use hlo_ir::InstrId;
use hlo_ir::attr::TileAssignment;
use hlo_ir::diag::Diag;

impl Partitioner<'_> {
    /// What such a call gives; `None` for all others.
    pub(super) fn custom_call(&mut self, id: InstrId, target: &str) -> Result<Option<Value>, Diag> {
        let Some(value) = self.operand(0) else { return Ok(None) };
        Ok(match (target, &value) {
            (_, _) if hands_on_as_is(self.module, id) => Some(self.handed_on(id, &value)),
            ("SPMDFullToShardShape" | "SPMDShardToFullShape", Value::Array(part)) => {
                Some(Value::Array(self.taken_as(id, part, target == "SPMDFullToShardShape")?))
            }
            _ => None,
        })
    }

    /// A value handed on, in the sharding that is said or followed.
    fn handed_on(&mut self, id: InstrId, value: &Value) -> Value {
        match self.module[id].sharding().is_some() {
            true => {
                let wanted = self.wanted(id);
                self.resharded_value(value, &wanted)
            }
            false => value.clone(),
        }
    }

    /// What each device has, taken as a part of another array: of its own, or of the whole program's again.
    fn taken_as(&self, id: InstrId, part: &Part, own: bool) -> Result<Part, Diag> {
        let Some(shape) = self.module[id].shape.as_array().cloned() else { return Ok(part.clone()) };
        let tiling = match self.wanted(id).into_iter().next() {
            Some(tiling) if !own || !tiling.is_replicated() => tiling,
            _ => TileAssignment::manual(shape.rank(), self.devices),
        };
        let (have, want) = (part.local_dims(), tiling.shard(&shape.dims));
        if have != want {
            let why = format!("each device has {have:?} elements, and {want:?} are taken");
            return Err(wrong(self.module, id, &why));
        }
        Ok(Part { id: part.id, shape, tiling })
    }
}
