//! The number of bytes that devices send to each other.

use hlo_ir::attr::CollectivePermuteAttrs;
use hlo_ir::devices::{self, DeviceCounts};
use hlo_ir::effects::effect::Effect;
use hlo_ir::{InstrId, Module, Op};

/// Returns the average number of bytes that each device sends to others in an instruction. It assumes a
/// collective that sends no more than necessary: an all-reduce is a reduce-scatter followed by an all-gather.
/// Data that a device sends to itself does not count.
pub(crate) fn sent(module: &Module, id: InstrId) -> u64 {
    let Some(counts) = DeviceCounts::of(module).filter(|c| c.devices() > 1) else { return 0 };
    let instruction = &module[id];
    let size = |n: usize| instruction.operands.get(n).map_or(0, |&o| module[o].shape.stored_size() as u64);
    let all = (0..instruction.operands.len()).map(size).fold(0, u64::saturating_add);
    let total = match instruction.op.effect() {
        Effect::Groups(_) => {
            let groups = devices::groups(module, id, counts).unwrap_or_default();
            let of_group = |group: &Vec<usize>| {
                let (n, others) = (group.len() as u64, group.len().saturating_sub(1) as u64);
                match &instruction.op {
                    // Each member sends its share of each array to all others.
                    Op::AllReduce(_) | Op::AllReduceStart(_) => all.saturating_mul(2 * others),
                    Op::ReduceScatter(_) | Op::AllToAll(_) => all.saturating_mul(others),
                    Op::RaggedAllToAll(_) => size(0).saturating_mul(others),
                    Op::AllGather(_) | Op::AllGatherStart(_) => all.saturating_mul(others).saturating_mul(n),
                    Op::CollectiveBroadcast(_) => all.saturating_mul(others),
                    _ => 0,
                }
            };
            groups.iter().map(of_group).fold(0, u64::saturating_add)
        }
        Effect::Pairs { slices, .. } => {
            let pairs = devices::pairs(module, id, counts).unwrap_or_default();
            let moving = pairs.iter().filter(|(source, target)| source != target).count() as u64;
            permuted(module, id, slices).map_or(all, |bytes| bytes).saturating_mul(moving)
        }
        Effect::Transfer { host: false, .. } if matches!(instruction.op, Op::Send(_)) => {
            let pairs = devices::transfer_pairs(module, id, counts).unwrap_or_default();
            let moving = pairs.iter().filter(|(source, target)| source != target).count() as u64;
            size(0).saturating_mul(moving)
        }
        _ => 0,
    };
    total / counts.devices() as u64
}

/// Returns the number of bytes of slices that a collective permute sends for each pair, or `None` if it sends
/// whole arrays.
fn permuted(module: &Module, id: InstrId, slices: usize) -> Option<u64> {
    let (Op::CollectivePermute(attrs) | Op::CollectivePermuteStart(attrs)) = &module[id].op else {
        return None;
    };
    let CollectivePermuteAttrs { slice_sizes, .. } = &**attrs;
    let element = module[*module[id].operands.first()?].shape.as_array()?.element_type.byte_size() as u64;
    let elements = |sizes: &[i64]| sizes.iter().fold(1u64, |n, &s| n.saturating_mul(s.max(0) as u64));
    let all = slice_sizes.0.iter().map(|sizes| elements(sizes)).fold(0, u64::saturating_add);
    (!slice_sizes.0.is_empty()).then(|| all.saturating_mul(element) / slices.max(1) as u64)
}
