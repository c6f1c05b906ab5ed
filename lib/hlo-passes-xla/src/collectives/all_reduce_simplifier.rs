//! `all-reduce-simplifier`: replaces all-reduces whose result is known without communication.
//!
//! ```text
//! r = f32[4] all-reduce(x), replica_groups={{0},{1}}, …    →    x
//! ```
//!
//! - If the groups contain one device each, an all-reduce, all-gather or reduce-scatter is replaced by its
//!   operand.
//! - If the value is equal on all replicas, a maximum, minimum, bitwise `and` or bitwise `or` is replaced by
//!   the value. A sum is replaced by the value times the number of replicas in a group.
//!
//! These values are equal on all replicas: constants, iotas, parameters of the entry that are marked as
//! replicated, results of all-reduces over all replicas, and values computed only from these.
//!
//! Collectives of several arrays, with control dependencies, or whose result has another layout stay
//! unchanged.

use hlo_ir::diag::Diag;
use hlo_ir::{Family, InstrId, Module, Op, Opcode, Shape};
use hlo_passes::support::device_groups::{filled, participants, reduction, rewrite_each, whole_number};
use hlo_passes::support::effects::is_impure;
use hlo_passes::support::rewrite::same_layout;
use hlo_passes::{PassInfo, Preservation, Rewrites};
use std::collections::HashSet;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all-reduce-simplifier",
    summary: "remove all-reduces over one device, and of values that are equal on all replicas",
    // A product replaces a sum.
    keeps: Preservation::Values,
    example: "\
HloModule all_reduce_simplifier, replica_count=2

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT r = f32[4] all-reduce(x), replica_groups={{0},{1}}, to_apply=add
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut same_everywhere: HashSet<InstrId> = HashSet::new();
    Ok(rewrite_each(module, rewrites, |module, id, pinned, rewrites| {
        if is_replicated(module, id, &same_everywhere) {
            same_everywhere.insert(id);
        }
        let &[operand] = &module[id].operands[..] else { return Vec::new() };
        let (a, b) = (&module[operand].shape, &module[id].shape);
        let fits = a.as_array().is_some() && a.compatible(b) && same_layout(a, b) && !pinned.contains(&id);
        let replicated = same_everywhere.contains(&operand);
        let found = if fits { simplified(module, id, operand, replicated) } else { None };
        let Some((value, name)) = found else { return Vec::new() };
        rewrites.made(name, &module[id].name);
        if replicated {
            same_everywhere.insert(value);
        }
        module.replace_all_uses_with(id, value);
        vec![id]
    }))
}

/// Returns the replacement of a collective and the name of the rewrite.
fn simplified(
    module: &mut Module,
    id: InstrId,
    operand: InstrId,
    replicated: bool,
) -> Option<(InstrId, &'static str)> {
    let (groups, channel, global) = match &module[id].op {
        Op::AllReduce(a) => (&a.replica_groups, a.channel_id, a.use_global_device_ids),
        Op::AllGather(a) => (&a.replica_groups, a.channel_id, a.use_global_device_ids),
        Op::ReduceScatter(a) => (&a.replica_groups, a.channel_id, a.use_global_device_ids),
        _ => return None,
    };
    let size = participants(module, groups, channel, global)?;
    // If the header has no counts, the number of devices is not known yet.
    let known = !groups.is_empty() || module.header.replica_count.0 > 1 || module.header.num_partitions.0 > 1;
    if size == 1 && known {
        return Some((operand, "one-device"));
    }
    let Op::AllReduce(a) = &module[id].op else { return None };
    if !replicated || channel.is_some() || size < 1 || !known {
        return None;
    }
    match reduction(module, a.to_apply)? {
        Opcode::Maximum | Opcode::Minimum | Opcode::And | Opcode::Or => Some((operand, "same-on-all")),
        Opcode::Add => times(module, id, operand, size).map(|value| (value, "sum-of-the-same")),
        _ => None,
    }
}

/// Multiplies the value by a number, if its type represents that number.
fn times(module: &mut Module, id: InstrId, operand: InstrId, number: i64) -> Option<InstrId> {
    let array = module[id].shape.as_array()?.clone();
    let ty = array.element_type;
    // The sum of predicates is true if any of them is.
    if ty.is_pred() || !array.is_static() {
        return ty.is_pred().then_some(operand);
    }
    let whole = Shape::Array(array);
    let factor = filled(module, id, &whole, whole_number(ty, number)?);
    let new = module.add_like(id, whole, Op::Multiply, [operand, factor]);
    Some(new)
}

/// Returns whether a value is equal on all replicas. `known` contains the operands that are.
fn is_replicated(module: &Module, id: InstrId, known: &HashSet<InstrId>) -> bool {
    let instr = &module[id];
    match &instr.op {
        Op::Constant(_) | Op::Iota(_) => true,
        Op::Parameter(_) => {
            let said = instr.common.as_deref().map_or(&[][..], |c| &c.parameter_replication);
            instr.parent == module.entry() && !said.is_empty() && said.iter().all(|&r| r)
        }
        Op::AllReduce(a) => {
            let replicas = module.header.replica_count.0;
            let all = a.replica_groups.is_empty() || a.replica_groups.group_size() == Some(replicas);
            all && a.channel_id.is_none() && replicas > 1
        }
        op => {
            let computed = matches!(
                instr.opcode().family(),
                Family::Structural | Family::Elementwise | Family::DataMovement | Family::Indexing
            );
            // A called computation may read the replica id.
            let calls = !op.called_computations().is_empty();
            computed && !calls && !is_impure(op) && instr.operands.iter().all(|o| known.contains(o))
        }
    }
}
