//! Code shared by passes on collectives: the participants and the combining operations.

use crate::rewrites::Rewrites;
use crate::support::combiner::binary_combiner;
use crate::support::constants::{float_value, integer_bytes};
use crate::support::effects::control_dependent;
pub use crate::support::effects::is_marked;
use hlo_ir::attr::{AllReduceAttrs, ReplicaGroups};
use hlo_ir::{ComputationId, ElementType, InstrId, Literal, Module, Op, Opcode, Shape};
use std::collections::HashSet;

/// Maximum number of devices for which groups are expanded to lists.
pub const MAX_DEVICES: usize = 1 << 16;

/// Calls `rewrite` for every instruction, operands first, while rewrites are allowed. The third argument
/// contains the instructions with control dependencies. `rewrite` returns instructions that became unused,
/// which are removed. Returns whether there are any.
pub fn rewrite_each(
    module: &mut Module,
    rewrites: &mut Rewrites,
    mut rewrite: impl FnMut(&mut Module, InstrId, &HashSet<InstrId>, &mut Rewrites) -> Vec<InstrId>,
) -> bool {
    let pinned = control_dependent(module);
    let mut gone = Vec::new();
    for c in module.computations().collect::<Vec<_>>() {
        for id in module.post_order(c) {
            if !rewrites.allowed() {
                break;
            }
            for dead in rewrite(module, id, &pinned, rewrites) {
                module.set_operands(dead, []);
                gone.push(dead);
            }
        }
    }
    module.remove_all(&gone);
    !gone.is_empty()
}

/// Returns the number of devices in each group. Returns `None` if groups differ in size or the number is not
/// known.
pub fn participants(
    module: &Module,
    groups: &ReplicaGroups,
    channel: Option<i64>,
    global: bool,
) -> Option<i64> {
    let (replicas, partitions) = (module.header.replica_count.0, module.header.num_partitions.0);
    let listed = if groups.is_empty() {
        Some(if global { replicas.checked_mul(partitions)? } else { replicas })
    } else {
        groups.group_size()
    };
    match (channel.is_some(), global) {
        // The groups contain replicas. All partitions of a replica participate.
        (true, false) => listed?.checked_mul(partitions),
        _ => listed,
    }
}

/// Returns the operation of a computation that only combines two scalars, if the operation is associative.
pub fn reduction(module: &Module, to_apply: ComputationId) -> Option<Opcode> {
    binary_combiner(module, to_apply).filter(|op| op.is_associative())
}

/// Returns whether two all-reduces differ only in their operands and channel ids.
pub fn same_all_reduce(module: &Module, a: &AllReduceAttrs, b: &AllReduceAttrs) -> bool {
    a.replica_groups == b.replica_groups
        && a.channel_id.is_some() == b.channel_id.is_some()
        && a.constrain_layout == b.constrain_layout
        && a.use_global_device_ids == b.use_global_device_ids
        && a.mode == b.mode
        && reduction(module, a.to_apply).is_some()
        && reduction(module, a.to_apply) == reduction(module, b.to_apply)
}

/// Returns an integer as a literal, if passes compute in the type and it represents the integer exactly.
pub fn whole_number(ty: ElementType, number: i64) -> Option<Literal> {
    let literal = Literal::scalar_from_bytes(ty, &integer_bytes(ty, number)?)?;
    (ty.is_integer() || float_value(ty, literal.bytes())? == number as f64).then_some(literal)
}

/// Adds an array of a shape whose elements all equal `number`, next to `at`.
pub fn filled(module: &mut Module, at: InstrId, shape: &Shape, number: Literal) -> InstrId {
    let scalar = module.add_like(at, number.shape().clone(), Op::constant(number), []);
    if shape.is_scalar() { scalar } else { module.add_like(at, shape.clone(), Op::broadcast([]), [scalar]) }
}
