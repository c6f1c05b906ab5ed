//! `all-reduce-simplifier`: all-reduces whose result is known without communication.
//!
//! ```text
//! r = f32[4] all-reduce(x), replica_groups={{0},{1}}, …    →    x
//! ```
//!
//! - Of groups of one device an all-reduce, an all-gather or a reduce-scatter is its operand.
//! - Of a value that is the same on all replicas the largest, the smallest, and bitwise and or are the value, and the
//!   sum is the value times the number of replicas in a group. The same everywhere are constants, iotas, parameters of
//!   the entry that say so, results of all-reduces over all replicas, and what is computed from such alone.
//!
//! Those of several arrays, with control dependencies, or with another layout of the result stay.

use super::groups::{filled, participants, reduction, rewrite_each, whole_number};
use crate::support::effects::is_impure;
use crate::support::rewrite::same_layout;
use crate::{Keeps, PassInfo, Rewrites};
use hlo_ir::diag::Diag;
use hlo_ir::{Family, InstrId, Module, Op, Opcode, Shape};
use std::collections::HashSet;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "all-reduce-simplifier",
    summary: "remove all-reduces of one device, and of values that are the same on all replicas",
    // A product instead of a sum.
    keeps: Keeps::Values,
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

/// What stands in place of a collective, and the name of that rewrite.
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
    // A header without counts is of a module whose devices are not known yet.
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

/// The value times a number, unless its type can't hold that.
fn times(module: &mut Module, id: InstrId, operand: InstrId, number: i64) -> Option<InstrId> {
    let array = module[id].shape.as_array()?.clone();
    let ty = array.element_type;
    // The sum of truth values is whether one is true.
    if ty.is_pred() || !array.is_static() {
        return ty.is_pred().then_some(operand);
    }
    let whole = Shape::Array(array);
    let factor = filled(module, id, &whole, whole_number(ty, number)?);
    let new = module.add_like(id, whole, Op::Multiply, [operand, factor]);
    Some(new)
}

/// True for a value that is the same on all replicas, if its operands in `known` are.
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
            // What is called may ask for the number of the replica.
            let calls = !op.called_computations().is_empty();
            computed && !calls && !is_impure(op) && instr.operands.iter().all(|o| known.contains(o))
        }
    }
}
