//! Collective operations: communication between devices (operation semantics, "AllGather", "AllReduce",
//! "AllToAll", "CollectivePermute", "ReduceScatter", "ReplicaId").

use crate::{Builder, Computation, Value};
use hlo_ir::attr::{
    AllGatherAttrs, AllReduceAttrs, AllToAllAttrs, CollectiveBroadcastAttrs, CollectiveMode,
    CollectivePermuteAttrs, RaggedAllToAllAttrs, ReduceScatterAttrs, ReplicaGroups, SliceSizes,
    SourceTargetPairs,
};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Op, Shape};
use std::panic::Location;

/// The devices that take part in a collective, and how they communicate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participants {
    /// The groups. An empty list means one group of all devices.
    pub groups: ReplicaGroups,
    /// The channel. Communication between partitions requires one; communication between replicas has none.
    pub channel: Option<i64>,
    /// Whether the groups contain device numbers (replica · partitions + partition) instead of replica
    /// numbers.
    pub use_global_device_ids: bool,
    /// The explicit meaning of the numbers in the groups. Only all-reduce and reduce-scatter accept it.
    pub mode: Option<CollectiveMode>,
    /// Whether the layouts of the exchanged arrays are part of the contract. Gathers, reductions and
    /// all-to-all accept it.
    pub constrain_layout: bool,
}

impl Participants {
    /// Returns one group of all devices.
    pub fn all() -> Self {
        Self::default()
    }

    /// Returns the given groups. Only the devices of the same group communicate with each other.
    pub fn groups(groups: &[&[i64]]) -> Self {
        let lists = groups.iter().map(|group| group.to_vec()).collect();
        Self { groups: ReplicaGroups::Lists(lists), ..Self::default() }
    }
}

/// The slices that a [`Value::collective_permute_slices`] sends, and where it writes them.
#[derive(Clone, Debug)]
pub struct PermutedSlices<'b> {
    /// The array that the received slices are written into.
    pub output: Value<'b>,
    /// The start of each slice in the input array: a tuple of one `s32` scalar for each dimension.
    pub starts: Value<'b>,
    /// The start of each slice in the output, in the same form.
    pub output_starts: Value<'b>,
    /// The sizes of each slice.
    pub sizes: Vec<Vec<i64>>,
}

impl<'b> PermutedSlices<'b> {
    fn operands(&self, input: Value<'b>) -> [Value<'b>; 4] {
        [input, self.output, self.starts, self.output_starts]
    }

    fn permute(&self, pairs: &[(i64, i64)], channel: Option<i64>) -> Box<CollectivePermuteAttrs> {
        let slice_sizes = SliceSizes(self.sizes.clone());
        Box::new(CollectivePermuteAttrs { slice_sizes, ..*permute(pairs, channel) })
    }
}

impl<'b> Value<'b> {
    /// Concatenates the arrays of all devices of a group along a dimension. `shard_count` is the number of
    /// devices in a group.
    #[track_caller]
    pub fn all_gather(self, dimension: i64, shard_count: i64, participants: &Participants) -> Value<'b> {
        let Some(shape) = self.gathered(dimension, shard_count) else { return self.builder.nothing() };
        let op = Op::AllGather(Box::new(gather(dimension, participants)));
        self.builder.add_shaped(op, &[self], shape)
    }

    /// Starts an asynchronous [`Value::all_gather`].
    #[track_caller]
    pub fn all_gather_start(
        self,
        dimension: i64,
        shard_count: i64,
        participants: &Participants,
    ) -> Value<'b> {
        let (Some(shape), Some(own)) = (self.gathered(dimension, shard_count), self.shape_if_made()) else {
            return self.builder.nothing();
        };
        let op = Op::AllGatherStart(Box::new(gather(dimension, participants)));
        self.builder.add_shaped(op, &[self], Shape::tuple(vec![own, shape.into()]))
    }

    /// Waits for the operation that [`Value::all_gather_start`] started.
    #[track_caller]
    pub fn all_gather_done(self) -> Value<'b> {
        self.builder.add(Op::AllGatherDone, &[self])
    }

    /// Returns the shape of the array with the size of one dimension multiplied by `shard_count`.
    #[track_caller]
    fn gathered(self, dimension: i64, shard_count: i64) -> Option<ArrayShape> {
        let a = self.array("all-gather")?;
        let mut shape = ArrayShape::new(a.element_type, a.dims.iter().copied());
        match usize::try_from(dimension).ok().and_then(|d| shape.dims.get_mut(d)) {
            Some(size) => *size = size.saturating_mul(shard_count),
            None => {
                self.no_dimension("all-gather", dimension, &a);
                return None;
            }
        }
        Some(shape)
    }

    /// Combines the arrays of all devices of a group element by element with a computation of two scalars. On
    /// a tuple of arrays, combines each array.
    #[track_caller]
    pub fn all_reduce(self, computation: &Computation, participants: &Participants) -> Value<'b> {
        self.all_reduced(computation, participants, |a| Op::AllReduce(Box::new(a)))
    }

    /// Starts an asynchronous [`Value::all_reduce`].
    #[track_caller]
    pub fn all_reduce_start(self, computation: &Computation, participants: &Participants) -> Value<'b> {
        self.all_reduced(computation, participants, |a| Op::AllReduceStart(Box::new(a)))
    }

    /// Waits for the operation that [`Value::all_reduce_start`] started.
    #[track_caller]
    pub fn all_reduce_done(self) -> Value<'b> {
        self.builder.add(Op::AllReduceDone, &[self])
    }

    #[track_caller]
    fn all_reduced(
        self,
        computation: &Computation,
        participants: &Participants,
        op: impl FnOnce(AllReduceAttrs) -> Op,
    ) -> Value<'b> {
        let Some(to_apply) = self.builder.import(Location::caller(), computation) else {
            return self.builder.nothing();
        };
        let p = participants.clone();
        let attributes = AllReduceAttrs {
            channel_id: p.channel,
            replica_groups: p.groups,
            use_global_device_ids: p.use_global_device_ids,
            constrain_layout: p.constrain_layout,
            mode: p.mode,
            to_apply,
        };
        let operands = match self.shape_if_made() {
            Some(Shape::Tuple(_)) => self.elements(),
            _ => vec![self],
        };
        let is_tuple = operands.first().is_none_or(|o| o.id != self.id);
        let reduced = self.builder.add(op(attributes), &operands);
        // For a tuple of one array, the result is also a tuple.
        if is_tuple && operands.len() == 1 { self.builder.tuple(&[reduced]) } else { reduced }
    }

    /// Adds the arrays of all replicas of a group.
    #[track_caller]
    pub fn cross_replica_sum(self, groups: &[&[i64]]) -> Value<'b> {
        let element_type = match self.shape_if_made().as_ref().map(Shape::leaves).as_deref() {
            Some([Shape::Array(a), ..]) => a.element_type,
            Some(_) => {
                let message = "`all-reduce` needs an array or a tuple of arrays";
                return self.builder.fail(Location::caller(), Diag::error(message));
            }
            None => return self.builder.nothing(),
        };
        self.all_reduce(&Computation::scalar(Op::Add, element_type), &Participants::groups(groups))
    }

    /// Combines the arrays of all devices of a group element by element with a computation of two scalars.
    /// The result is split along a dimension, and each device gets one part. `shard_count` is the number of
    /// devices in a group.
    #[track_caller]
    pub fn reduce_scatter(
        self,
        computation: &Computation,
        dimension: i64,
        shard_count: i64,
        participants: &Participants,
    ) -> Value<'b> {
        let Some(a) = self.array("reduce-scatter") else { return self.builder.nothing() };
        let at = Location::caller();
        let mut shape = ArrayShape::new(a.element_type, a.dims.iter().copied());
        match usize::try_from(dimension).ok().and_then(|d| shape.dims.get_mut(d)) {
            Some(size) if shard_count > 0 && *size % shard_count == 0 => *size /= shard_count,
            Some(size) => {
                let message =
                    format!("`reduce-scatter` can't split {size} elements evenly into {shard_count} parts");
                return self.builder.fail(at, Diag::error(message));
            }
            None => return self.no_dimension("reduce-scatter", dimension, &a),
        }
        let Some(to_apply) = self.builder.import(at, computation) else { return self.builder.nothing() };
        let p = participants.clone();
        let attributes = ReduceScatterAttrs {
            channel_id: p.channel,
            replica_groups: p.groups,
            use_global_device_ids: p.use_global_device_ids,
            constrain_layout: p.constrain_layout,
            dimensions: [dimension].into_iter().collect(),
            mode: p.mode,
            to_apply,
        };
        self.builder.add_shaped(Op::ReduceScatter(Box::new(attributes)), &[self], shape)
    }

    /// Splits the array into `split_count` blocks along a dimension and sends one block to each device of the
    /// group. Each device concatenates the blocks that it receives along `concat_dimension`, which may be the
    /// same dimension.
    #[track_caller]
    pub fn all_to_all(
        self,
        split_dimension: i64,
        concat_dimension: i64,
        split_count: i64,
        participants: &Participants,
    ) -> Value<'b> {
        let Some(a) = self.array("all-to-all") else { return self.builder.nothing() };
        let index = |d: i64| usize::try_from(d).ok().filter(|&d| d < a.rank());
        let Some(split) = index(split_dimension) else {
            return self.no_dimension("all-to-all", split_dimension, &a);
        };
        let Some(concat) = index(concat_dimension) else {
            return self.no_dimension("all-to-all", concat_dimension, &a);
        };
        let size = a.dims[split];
        if split_count <= 0 || size % split_count != 0 {
            let message =
                format!("`all-to-all` can't split {size} elements evenly into {split_count} blocks");
            return self.builder.fail(Location::caller(), Diag::error(message));
        }
        let attributes = AllToAllAttrs {
            channel_id: participants.channel,
            replica_groups: participants.groups.clone(),
            constrain_layout: participants.constrain_layout,
            dimensions: [split_dimension].into_iter().collect(),
        };
        let received = self.builder.add(Op::AllToAll(Box::new(attributes)), &[self]);
        if split == concat {
            return received;
        }
        // The received blocks are concatenated along the split dimension. Their number becomes a dimension
        // of its own, which moves in front of `concat_dimension`.
        let mut sizes = a.dims.to_vec();
        sizes.splice(split..=split, [split_count, size / split_count]);
        let mut order: Vec<i64> = (0..sizes.len() as i64).filter(|&d| d != split as i64).collect();
        order.insert(concat, split as i64);
        let mut joined = a.dims.to_vec();
        joined[split] = size / split_count;
        joined[concat] = joined[concat].saturating_mul(split_count);
        received.reshape(&sizes).transpose(&order).reshape(&joined)
    }

    /// Exchanges the elements of a tuple. Element `i` of the operand is sent to device `i` of the group, and
    /// element `i` of the result is received from device `i`.
    #[track_caller]
    pub fn all_to_all_tuple(self, participants: &Participants) -> Value<'b> {
        let attributes = AllToAllAttrs {
            channel_id: participants.channel,
            replica_groups: participants.groups.clone(),
            constrain_layout: participants.constrain_layout,
            ..AllToAllAttrs::default()
        };
        if let Some(shape @ Shape::Tuple(_)) = self.shape_if_made()
            && shape.leaf_count() == 0
        {
            let message = format!("`all-to-all` needs an array for each device, found {shape}");
            return self.builder.fail(Location::caller(), Diag::error(message));
        }
        let elements = self.elements();
        match self.shape_if_made() {
            Some(shape @ Shape::Tuple(_)) => {
                let op = Op::AllToAll(Box::new(attributes));
                self.builder.add_shaped(op, &elements, shape.without_layout())
            }
            _ => self.builder.nothing(),
        }
    }

    /// Returns the array of the device that sends to this one. `pairs` contains pairs of a source and a
    /// target. A device that receives nothing gets zeros.
    #[track_caller]
    pub fn collective_permute(self, pairs: &[(i64, i64)], channel: Option<i64>) -> Value<'b> {
        self.builder.add(Op::CollectivePermute(permute(pairs, channel)), &[self])
    }

    /// Starts an asynchronous [`Value::collective_permute`].
    #[track_caller]
    pub fn collective_permute_start(self, pairs: &[(i64, i64)], channel: Option<i64>) -> Value<'b> {
        let Some(shape) = self.shape_if_made() else { return self.builder.nothing() };
        let context = Shape::scalar(ElementType::U32);
        let state = Shape::tuple(vec![shape.clone(), shape, context.clone(), context]);
        self.builder.add_shaped(Op::CollectivePermuteStart(permute(pairs, channel)), &[self], state)
    }

    /// Receives slices of this array from the device that sends to this one, and writes them into
    /// `slices.output`.
    #[track_caller]
    pub fn collective_permute_slices(
        self,
        slices: &PermutedSlices<'b>,
        pairs: &[(i64, i64)],
        channel: Option<i64>,
    ) -> Value<'b> {
        let op = Op::CollectivePermute(slices.permute(pairs, channel));
        self.builder.add(op, &slices.operands(self))
    }

    /// Starts an asynchronous [`Value::collective_permute_slices`].
    #[track_caller]
    pub fn collective_permute_slices_start(
        self,
        slices: &PermutedSlices<'b>,
        pairs: &[(i64, i64)],
        channel: Option<i64>,
    ) -> Value<'b> {
        let (Some(input), Some(output)) = (self.shape_if_made(), slices.output.shape_if_made()) else {
            return self.builder.nothing();
        };
        let context = Shape::scalar(ElementType::U32);
        let state = Shape::tuple(vec![input, output, context.clone(), context]);
        let op = Op::CollectivePermuteStart(slices.permute(pairs, channel));
        self.builder.add_shaped(op, &slices.operands(self), state)
    }

    /// Waits for the operation that [`Value::collective_permute_start`] or
    /// [`Value::collective_permute_slices_start`] started.
    #[track_caller]
    pub fn collective_permute_done(self) -> Value<'b> {
        self.builder.add(Op::CollectivePermuteDone, &[self])
    }

    /// Returns the array of the first device of a group on all devices of the group.
    #[track_caller]
    pub fn collective_broadcast(self, participants: &Participants) -> Value<'b> {
        let attributes = CollectiveBroadcastAttrs {
            channel_id: participants.channel,
            replica_groups: participants.groups.clone(),
            ..CollectiveBroadcastAttrs::default()
        };
        self.builder.add(Op::CollectiveBroadcast(Box::new(attributes)), &[self])
    }

    /// Returns `output` with the rows that the devices of a group send to this one. The operands
    /// `[input offsets, send sizes, output offsets, receive sizes]` specify which rows of this array go
    /// where. Each has one number for each device.
    #[track_caller]
    pub fn ragged_all_to_all(
        self,
        output: Value<'b>,
        offsets_and_sizes: [Value<'b>; 4],
        participants: &Participants,
    ) -> Value<'b> {
        let attributes = RaggedAllToAllAttrs {
            channel_id: participants.channel,
            replica_groups: participants.groups.clone(),
            ..RaggedAllToAllAttrs::default()
        };
        let operands: Vec<Value<'b>> = [self, output].into_iter().chain(offsets_and_sizes).collect();
        self.builder.add(Op::RaggedAllToAll(Box::new(attributes)), &operands)
    }
}

fn gather(dimension: i64, participants: &Participants) -> AllGatherAttrs {
    let p = participants.clone();
    AllGatherAttrs {
        channel_id: p.channel,
        replica_groups: p.groups,
        constrain_layout: p.constrain_layout,
        use_global_device_ids: p.use_global_device_ids,
        dimensions: [dimension].into_iter().collect(),
    }
}

fn permute(pairs: &[(i64, i64)], channel: Option<i64>) -> Box<CollectivePermuteAttrs> {
    Box::new(CollectivePermuteAttrs {
        channel_id: channel,
        source_target_pairs: SourceTargetPairs(pairs.to_vec()),
        ..CollectivePermuteAttrs::default()
    })
}

impl Builder {
    /// Returns the number of the replica that the program runs on, as `u32`.
    #[track_caller]
    pub fn replica_id(&self) -> Value<'_> {
        self.add(Op::ReplicaId, &[])
    }

    /// Returns the number of the partition that the program runs on, as `u32`.
    #[track_caller]
    pub fn partition_id(&self) -> Value<'_> {
        self.add(Op::PartitionId, &[])
    }
}
