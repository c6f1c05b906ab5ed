//! Shardings fit the shapes that they are of.

use super::Verifier;
use crate::attr::ShardingKind;
use crate::rules::code;
use crate::{InstrId, Op, Shape};

impl Verifier<'_> {
    /// Checks the sharding of each instruction.
    pub(super) fn check_shardings(&mut self) {
        let module = self.module;
        for c in module.computations() {
            for &i in module[c].instructions() {
                self.check_sharding(i);
            }
        }
    }

    fn check_sharding(&mut self, i: InstrId) {
        let module = self.module;
        let Some(sharding) = module[i].common.as_ref().and_then(|c| c.sharding.as_ref()) else { return };
        // What these send is sharded, and they give something else.
        if matches!(module[i].op, Op::Outfeed(_) | Op::Send(_)) {
            return;
        }
        let shapes = module[i].shape.leaves();
        let of_each = sharding.leaves();
        let whole = of_each.len() == 1;
        if !whole && of_each.len() != shapes.len().max(1) {
            let message = format!(
                "the sharding is of {} arrays, but {} has {}",
                of_each.len(),
                module[i].shape,
                shapes.len()
            );
            self.report(code::SHARDING_LEAVES, i, message);
            return;
        }
        let partitions = module.header.num_partitions.0;
        for (n, one) in of_each.iter().enumerate() {
            if let ShardingKind::Maximal(device) = one.kind
                && (device < 0 || (partitions > 1 && device >= partitions))
            {
                let message =
                    format!("the sharding names device {device} of a module of {partitions} partitions");
                self.report(code::SHARDING_DEVICE, i, message);
            }
            let (Some(expected), Some(Shape::Array(a))) = (one.rank(), shapes.get(n).copied()) else {
                continue;
            };
            if a.rank() != expected {
                let message = format!("the sharding cuts {expected} dimensions, but {a} has {}", a.rank());
                self.report(code::SHARDING_RANK, i, message);
            }
        }
    }
}
