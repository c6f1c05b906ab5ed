//! Checks that shardings match the shapes that they apply to.

use super::{Verifier, label};
use crate::attr::{DeviceOrder, MAX_SHARDED_DEVICES, ShardingKind, checked_count};
use crate::ops::counted;
use crate::rules::code;
use crate::{ComputationId, InstrId, Op, Shape};

/// Checks that a sharding has one device for each tile, that no device occurs twice, and that there are not
/// too many. Returns the error message if not.
fn check_order(kind: &ShardingKind) -> Result<(), String> {
    match kind {
        ShardingKind::Tiled(tiled) => {
            let (tiles, devices) = (tiled.device_count(), tiled.devices.count());
            if tiles != devices {
                let number = |n: Option<i64>| n.map_or("too many".into(), |n| n.to_string());
                return Err(format!(
                    "it is for {} devices, but {} are given",
                    number(tiles),
                    number(devices)
                ));
            }
            checked_count(tiles, MAX_SHARDED_DEVICES)?;
            tiled.devices.check()
        }
        ShardingKind::Named(named) => {
            let Some(mesh) = named.mesh() else { return Ok(()) };
            checked_count(mesh.device_count(), MAX_SHARDED_DEVICES)?;
            mesh.device_ids.as_ref().map_or(Ok(()), DeviceOrder::check)
        }
        ShardingKind::Replicated
        | ShardingKind::Maximal(_)
        | ShardingKind::Manual
        | ShardingKind::Unknown
        | ShardingKind::Unreduced => Ok(()),
    }
}

impl Verifier<'_> {
    /// Checks the sharding of each instruction.
    pub(super) fn check_shardings(&mut self) {
        let module = self.module;
        for c in module.computations() {
            for &i in module[c].instructions() {
                if self.full() {
                    return;
                }
                self.check_replication(i);
                self.check_sharding(i);
            }
        }
    }

    /// Checks that the shardings of a loop or conditional equal those of the same values in the called
    /// computations.
    pub(super) fn check_consistent_shardings(&mut self, i: InstrId) {
        let module = self.module;
        let live = |c: &ComputationId| module.is_live_computation(*c) && module.has_root(*c);
        let mut others: Vec<InstrId> = Vec::new();
        match &module[i].op {
            Op::While(a) => {
                others.extend(Some(a.body).filter(live).map(|c| module[c].root()));
                for c in [a.body, a.condition].iter().filter(|c| live(c)) {
                    others.extend(module.parameters(*c).first());
                }
            }
            Op::Conditional(a) => {
                others.extend(a.branches().into_iter().filter(live).map(|c| module[c].root()))
            }
            _ => return,
        }
        let mut sharded = std::iter::once(i).chain(others).filter(|&i| module[i].sharding().is_some());
        let Some(first) = sharded.next() else { return };
        if let Some(other) = sharded.find(|&o| module[o].sharding() != module[first].sharding()) {
            let message = format!(
                "`{}` and `{}` are one value of `{}`, but have different shardings",
                module[first].name, module[other].name, module[i].name
            );
            let diag = self.report(code::CONSISTENT_SHARDING, i, message);
            label(diag, module.span(first), "one sharding".to_string());
            label(diag, module.span(other), "another sharding".to_string());
        }
    }

    /// Checks the replication attribute of a parameter.
    fn check_replication(&mut self, i: InstrId) {
        let instruction = &self.module[i];
        let said = instruction.common.as_ref().map_or(0, |c| c.parameter_replication.len());
        if said == 0 {
            return;
        }
        let arrays = instruction.shape.leaves().len();
        let message = if !matches!(instruction.op, Op::Parameter(_)) {
            format!("`parameter_replication` is for parameters, this is `{}`", instruction.op.name())
        } else if said != arrays {
            format!(
                "`parameter_replication` is of {}, but {} has {arrays}",
                counted(said, "array"),
                instruction.shape
            )
        } else {
            return;
        };
        self.report_attribute(code::REPLICATION_LEAVES, i, "parameter_replication", message);
    }

    fn check_sharding(&mut self, i: InstrId) {
        let module = self.module;
        let Some(sharding) = module[i].sharding() else { return };
        // The sharding of these describes the operand that they send, not their result.
        if matches!(module[i].op, Op::Outfeed(_) | Op::Send(_)) {
            return;
        }
        let shapes = module[i].shape.leaves();
        let of_each = sharding.leaves();
        let whole = of_each.len() == 1;
        if !whole && of_each.len() != shapes.len().max(1) {
            let message = format!(
                "`sharding` is of {}, but {} has {}",
                counted(of_each.len(), "array"),
                module[i].shape,
                shapes.len()
            );
            self.report_attribute(code::SHARDING_LEAVES, i, "sharding", message);
            return;
        }
        let partitions = module.header.num_partitions.0;
        for (n, one) in of_each.iter().enumerate() {
            if let ShardingKind::Maximal(device) = one.kind
                && (device < 0 || (partitions > 1 && device >= partitions))
            {
                let message = format!(
                    "`sharding` names a device that the module has, found {device} with {partitions} partitions"
                );
                self.report_attribute(code::SHARDING_DEVICE, i, "sharding", message);
            }
            if let Err(message) = check_order(&one.kind) {
                let message = format!("in `sharding`: {message}");
                self.report_attribute(code::SHARDING_ORDER, i, "sharding", message);
            }
            let (Some(expected), Some(Shape::Array(a))) = (one.rank(), shapes.get(n).copied()) else {
                continue;
            };
            if a.rank() != expected {
                let message = format!("`sharding` cuts {expected} dimensions, but {a} has {}", a.rank());
                self.report_attribute(code::SHARDING_RANK, i, "sharding", message);
            }
        }
    }
}
