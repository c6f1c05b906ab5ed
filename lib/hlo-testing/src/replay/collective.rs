//! Maps the opcodes of collectives to methods of the builder.

use super::Called;
use hlo_builder::{Builder, Participants, PermutedSlices, Value};
use hlo_ir::attr::*;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};

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
            let (of, along) = gathered_of(a);
            x[0].all_gather(along, shards(module, id, &shape, along)?, &of)
        }
        Op::AllGatherStart(a) => {
            let (of, along) = gathered_of(a);
            let result = shape.as_tuple()?[1].clone();
            x[0].all_gather_start(along, shards(module, id, &result, along)?, &of)
        }
        Op::AllGatherDone => x[0].all_gather_done(),
        Op::AllReduce(a) => {
            let (of, to_apply) = reduced_of(a);
            all(b, x).all_reduce(&called.get(to_apply), &of)
        }
        Op::AllReduceStart(a) => {
            let (of, to_apply) = reduced_of(a);
            all(b, x).all_reduce_start(&called.get(to_apply), &of)
        }
        Op::AllReduceDone => x[0].all_reduce_done(),
        Op::AllToAll(a) => {
            let AllToAllAttrs { channel_id, replica_groups, constrain_layout, dimensions } = &**a;
            let mut of = of(replica_groups, *channel_id);
            of.constrain_layout = *constrain_layout;
            let Some(&along) = dimensions.first() else { return Some(b.tuple(x).all_to_all_tuple(&of)) };
            let count = replica_groups.group_size().unwrap_or(1);
            x[0].all_to_all(along, along, count, &of)
        }
        Op::CollectiveBroadcast(a) => {
            // The builder has no sender that is known at run time only.
            let CollectiveBroadcastAttrs { channel_id, replica_groups, has_dynamic_root: _ } = &**a;
            x[0].collective_broadcast(&of(replica_groups, *channel_id))
        }
        Op::CollectivePermute(a) => {
            let (channel, pairs, slices) = permuted_of(a, x);
            match slices {
                Some(slices) => x[0].collective_permute_slices(&slices, pairs, channel),
                None => x[0].collective_permute(pairs, channel),
            }
        }
        Op::CollectivePermuteStart(a) => {
            let (channel, pairs, slices) = permuted_of(a, x);
            match slices {
                Some(slices) => x[0].collective_permute_slices_start(&slices, pairs, channel),
                None => x[0].collective_permute_start(pairs, channel),
            }
        }
        Op::CollectivePermuteDone => x[0].collective_permute_done(),
        Op::RaggedAllToAll(a) => {
            // The dimensions have no meaning.
            let RaggedAllToAllAttrs { channel_id, replica_groups, dimensions: _ } = &**a;
            let of = of(replica_groups, *channel_id);
            x[0].ragged_all_to_all(x[1], [x[2], x[3], x[4], x[5]], &of)
        }
        Op::ReduceScatter(a) => {
            let (of, along, to_apply) = reduce_scattered_of(a);
            let whole = module[module[id].operands[0]].shape.as_array()?.dims[along as usize];
            let part = shape.as_array()?.dims[along as usize];
            x[0].reduce_scatter(&called.get(to_apply), along, whole.checked_div(part).unwrap_or(1), &of)
        }
        _ => return None,
    })
}

/// Returns the participants of a collective whose groups do not contain device numbers.
fn of(groups: &ReplicaGroups, channel: Option<i64>) -> Participants {
    Participants { groups: groups.clone(), channel, ..Participants::default() }
}

/// Returns the participants of an all-gather, and its dimension.
fn gathered_of(a: &AllGatherAttrs) -> (Participants, i64) {
    let AllGatherAttrs { channel_id, replica_groups, constrain_layout, dimensions, use_global_device_ids } =
        a;
    let mut of = of(replica_groups, *channel_id);
    of.use_global_device_ids = *use_global_device_ids;
    of.constrain_layout = *constrain_layout;
    (of, dimensions[0])
}

/// Returns the participants of an all-reduce, and its computation.
fn reduced_of(a: &AllReduceAttrs) -> (Participants, ComputationId) {
    let AllReduceAttrs {
        channel_id,
        replica_groups,
        constrain_layout,
        use_global_device_ids,
        mode,
        to_apply,
    } = a.clone();
    let of = Participants {
        groups: replica_groups,
        channel: channel_id,
        use_global_device_ids,
        mode,
        constrain_layout,
    };
    (of, to_apply)
}

/// Returns the participants of a reduce-scatter, its dimension, and its computation.
fn reduce_scattered_of(a: &ReduceScatterAttrs) -> (Participants, i64, ComputationId) {
    let ReduceScatterAttrs {
        channel_id,
        replica_groups,
        constrain_layout,
        use_global_device_ids,
        dimensions,
        mode,
        to_apply,
    } = a.clone();
    let of = Participants {
        groups: replica_groups,
        channel: channel_id,
        use_global_device_ids,
        mode,
        constrain_layout,
    };
    (of, dimensions[0], to_apply)
}

/// Returns the channel and the pairs of a collective-permute, and the slices, if it sends slices.
fn permuted_of<'a, 'b>(
    a: &'a CollectivePermuteAttrs,
    x: &[Value<'b>],
) -> (Option<i64>, &'a [(i64, i64)], Option<PermutedSlices<'b>>) {
    let CollectivePermuteAttrs {
        channel_id,
        source_target_pairs: SourceTargetPairs(pairs),
        slice_sizes: SliceSizes(sizes),
    } = a;
    let slices = match *x {
        [_, output, starts, output_starts] => {
            Some(PermutedSlices { output, starts, output_starts, sizes: sizes.clone() })
        }
        _ => None,
    };
    (*channel_id, pairs, slices)
}

/// Returns the operands of a collective as one value.
fn all<'b>(b: &'b Builder, x: &[Value<'b>]) -> Value<'b> {
    if let [x] = x { *x } else { b.tuple(x) }
}

/// Returns the number of arrays that an all-gather concatenates.
fn shards(module: &Module, id: InstrId, result: &Shape, along: i64) -> Option<i64> {
    let part = module[module[id].operands[0]].shape.as_array()?.dims[along as usize];
    Some(result.as_array()?.dims[along as usize].checked_div(part).unwrap_or(1))
}
