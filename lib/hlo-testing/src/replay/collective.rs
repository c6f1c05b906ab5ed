//! Maps the opcodes of collectives to methods of the builder.

use super::Called;
use hlo_builder::{Builder, Participants, PermutedSlices, Value};
use hlo_ir::attr::*;
use hlo_ir::{InstrId, Module, Op, Shape};

/// Adds a collective of a valid module with the method of its opcode. `x` contains its operands. Returns
/// `None` if its shape is not a valid result of the opcode, and for other opcodes.
pub(super) fn rebuilt<'b>(
    b: &'b Builder,
    module: &Module,
    id: InstrId,
    x: &[Value<'b>],
    called: &mut Called<'_>,
) -> Option<Value<'b>> {
    let shape = module[id].shape.without_layout();
    Some(match &module[id].op {
        Op::AllGather(a) => {
            let along = a.dimensions[0];
            let of = gathered_of(a);
            x[0].all_gather(along, shards(module, id, &shape, along)?, &of)
        }
        Op::AllGatherStart(a) => {
            let along = a.dimensions[0];
            let result = shape.as_tuple()?[1].clone();
            let of = gathered_of(a);
            x[0].all_gather_start(along, shards(module, id, &result, along)?, &of)
        }
        Op::AllGatherDone => x[0].all_gather_done(),
        Op::AllReduce(a) => {
            let mut of = of(a.replica_groups.clone(), a.channel_id, a.use_global_device_ids);
            of.mode = a.mode;
            of.constrain_layout = a.constrain_layout;
            all(b, x).all_reduce(&called.get(a.to_apply), &of)
        }
        Op::AllReduceStart(a) => {
            let mut of = of(a.replica_groups.clone(), a.channel_id, a.use_global_device_ids);
            of.mode = a.mode;
            of.constrain_layout = a.constrain_layout;
            all(b, x).all_reduce_start(&called.get(a.to_apply), &of)
        }
        Op::AllReduceDone => x[0].all_reduce_done(),
        Op::AllToAll(a) => {
            let mut of = of(a.replica_groups.clone(), a.channel_id, false);
            of.constrain_layout = a.constrain_layout;
            let Some(&along) = a.dimensions.first() else { return Some(b.tuple(x).all_to_all_tuple(&of)) };
            let count = a.replica_groups.group_size().unwrap_or(1);
            x[0].all_to_all(along, along, count, &of)
        }
        Op::CollectiveBroadcast(a) => {
            x[0].collective_broadcast(&of(a.replica_groups.clone(), a.channel_id, false))
        }
        Op::CollectivePermute(a) => match slices(a, x) {
            Some(slices) => x[0].collective_permute_slices(&slices, &a.source_target_pairs.0, a.channel_id),
            None => x[0].collective_permute(&a.source_target_pairs.0, a.channel_id),
        },
        Op::CollectivePermuteStart(a) => match slices(a, x) {
            Some(slices) => {
                x[0].collective_permute_slices_start(&slices, &a.source_target_pairs.0, a.channel_id)
            }
            None => x[0].collective_permute_start(&a.source_target_pairs.0, a.channel_id),
        },
        Op::CollectivePermuteDone => x[0].collective_permute_done(),
        Op::RaggedAllToAll(a) => {
            let of = of(a.replica_groups.clone(), a.channel_id, false);
            x[0].ragged_all_to_all(x[1], [x[2], x[3], x[4], x[5]], &of)
        }
        Op::ReduceScatter(a) => {
            let along = a.dimensions[0];
            let whole = module[module[id].operands[0]].shape.as_array()?.dims[along as usize];
            let part = shape.as_array()?.dims[along as usize];
            let mut of = of(a.replica_groups.clone(), a.channel_id, a.use_global_device_ids);
            of.mode = a.mode;
            of.constrain_layout = a.constrain_layout;
            x[0].reduce_scatter(&called.get(a.to_apply), along, whole.checked_div(part).unwrap_or(1), &of)
        }
        _ => return None,
    })
}

fn of(groups: ReplicaGroups, channel: Option<i64>, use_global_device_ids: bool) -> Participants {
    Participants { groups, channel, use_global_device_ids, ..Participants::default() }
}

/// Returns the slices that a collective-permute sends, if it sends slices.
fn slices<'b>(a: &CollectivePermuteAttrs, x: &[Value<'b>]) -> Option<PermutedSlices<'b>> {
    let &[_, output, starts, output_starts] = x else { return None };
    Some(PermutedSlices { output, starts, output_starts, sizes: a.slice_sizes.0.clone() })
}

/// Returns the operands of a collective as one value.
fn all<'b>(b: &'b Builder, x: &[Value<'b>]) -> Value<'b> {
    if let [x] = x { *x } else { b.tuple(x) }
}

fn gathered_of(a: &AllGatherAttrs) -> Participants {
    let of = of(a.replica_groups.clone(), a.channel_id, a.use_global_device_ids);
    Participants { constrain_layout: a.constrain_layout, ..of }
}

/// Returns the number of arrays that an all-gather concatenates.
fn shards(module: &Module, id: InstrId, result: &Shape, along: i64) -> Option<i64> {
    let part = module[module[id].operands[0]].shape.as_array()?.dims[along as usize];
    Some(result.as_array()?.dims[along as usize].checked_div(part).unwrap_or(1))
}
