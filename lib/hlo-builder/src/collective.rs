//! Communication between devices (operation semantics, "AllGather", "AllReduce", "AllToAll", "CollectivePermute",
//! "ReduceScatter", "ReplicaId").

use crate::{Builder, Computation, Value};
use hlo_ir::attr::{
    AllGatherAttrs, AllReduceAttrs, AllToAllAttrs, CollectiveBroadcastAttrs, CollectiveMode,
    CollectivePermuteAttrs, RaggedAllToAllAttrs, ReduceScatterAttrs, ReplicaGroups, SliceSizes,
    SourceTargetPairs,
};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Op, Shape};
use std::panic::Location;

/// Which devices communicate with each other, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participants {
    /// The groups; one of all devices if there are none.
    pub groups: ReplicaGroups,
    /// The channel, where partitions communicate; none where replicas do.
    pub channel: Option<i64>,
    /// Whether the groups have numbers of devices, replica · partitions + partition; otherwise of replicas.
    pub use_global_device_ids: bool,
    /// What the numbers in the groups mean, in so many words; only all-reduce and reduce-scatter have them.
    pub mode: Option<CollectiveMode>,
    /// Whether the layouts of what is exchanged are part of the contract; gathers, reductions and all-to-all can have it.
    pub constrain_layout: bool,
}

impl Participants {
    /// All devices.
    pub fn all() -> Self {
        Self::default()
    }

    /// Those of each group with each other.
    pub fn groups(groups: &[&[i64]]) -> Self {
        let lists = groups.iter().map(|group| group.to_vec()).collect();
        Self { groups: ReplicaGroups::Lists(lists), ..Self::default() }
    }
}

/// What a [`Value::collective_permute_slices`] sends, and where it is written.
#[derive(Clone, Debug)]
pub struct PermutedSlices<'b> {
    /// The array that slices are written into.
    pub output: Value<'b>,
    /// Where slices begin in the array that they are of: a tuple of an `s32` scalar for each dimension.
    pub starts: Value<'b>,
    /// Where they begin in the output, likewise.
    pub output_starts: Value<'b>,
    /// The sizes of each slice that is sent.
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
    /// The arrays of all devices of a group joined along a dimension. `shard_count` is how many there are in a group.
    #[track_caller]
    pub fn all_gather(self, dimension: i64, shard_count: i64, participants: &Participants) -> Value<'b> {
        let Some(shape) = self.gathered(dimension, shard_count) else { return self.builder.nothing() };
        let op = Op::AllGather(Box::new(gather(dimension, participants)));
        self.builder.add_shaped(op, &[self], shape)
    }

    /// Begins an [`Value::all_gather`].
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

    /// Waits for what [`Value::all_gather_start`] began.
    #[track_caller]
    pub fn all_gather_done(self) -> Value<'b> {
        self.builder.add(Op::AllGatherDone, &[self])
    }

    /// The array with a dimension so many times as large.
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

    /// The arrays of all devices of a group combined element by element by a computation of two scalars; of a tuple of arrays
    /// each one.
    #[track_caller]
    pub fn all_reduce(self, computation: &Computation, participants: &Participants) -> Value<'b> {
        self.all_reduced(computation, participants, |a| Op::AllReduce(Box::new(a)))
    }

    /// Begins an [`Value::all_reduce`].
    #[track_caller]
    pub fn all_reduce_start(self, computation: &Computation, participants: &Participants) -> Value<'b> {
        self.all_reduced(computation, participants, |a| Op::AllReduceStart(Box::new(a)))
    }

    /// Waits for what [`Value::all_reduce_start`] began.
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
        // Of a tuple of one array the result is one, too.
        match is_tuple && operands.len() == 1 {
            true => self.builder.tuple(&[reduced]),
            false => reduced,
        }
    }

    /// The sum of the arrays of all replicas of a group.
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

    /// The arrays of all devices of a group combined element by element by a computation of two scalars, of which each device
    /// gets a part along a dimension. `shard_count` is how many there are in a group.
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

    /// Splits the array into `split_count` blocks along a dimension, of which each device of a group gets one from each; those
    /// that it gets are joined along another dimension, or the same.
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
        // The blocks lie along the dimension that was split: their number moves before the one along which they are joined.
        let mut sizes = a.dims.to_vec();
        sizes.splice(split..=split, [split_count, size / split_count]);
        let mut order: Vec<i64> = (0..sizes.len() as i64).filter(|&d| d != split as i64).collect();
        order.insert(concat, split as i64);
        let mut joined = a.dims.to_vec();
        joined[split] = size / split_count;
        joined[concat] = joined[concat].saturating_mul(split_count);
        received.reshape(&sizes).transpose(&order).reshape(&joined)
    }

    /// A tuple whose element `i` is what device `i` of the group has for this one, of a tuple whose element `i` is for device `i`.
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

    /// The array of the device that sends to this one, by pairs of a source and a target; zeros where none does.
    #[track_caller]
    pub fn collective_permute(self, pairs: &[(i64, i64)], channel: Option<i64>) -> Value<'b> {
        self.builder.add(Op::CollectivePermute(permute(pairs, channel)), &[self])
    }

    /// Begins a [`Value::collective_permute`].
    #[track_caller]
    pub fn collective_permute_start(self, pairs: &[(i64, i64)], channel: Option<i64>) -> Value<'b> {
        let Some(shape) = self.shape_if_made() else { return self.builder.nothing() };
        let context = Shape::scalar(ElementType::U32);
        let state = Shape::tuple(vec![shape.clone(), shape, context.clone(), context]);
        self.builder.add_shaped(Op::CollectivePermuteStart(permute(pairs, channel)), &[self], state)
    }

    /// Slices of this array, from the device that sends to this one, written into `slices.output`.
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

    /// Begins a [`Value::collective_permute_slices`].
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

    /// Waits for what [`Value::collective_permute_start`] or [`Value::collective_permute_slices_start`] began.
    #[track_caller]
    pub fn collective_permute_done(self) -> Value<'b> {
        self.builder.add(Op::CollectivePermuteDone, &[self])
    }

    /// The array of the first device of a group, on all of it.
    #[track_caller]
    pub fn collective_broadcast(self, participants: &Participants) -> Value<'b> {
        let attributes = CollectiveBroadcastAttrs {
            channel_id: participants.channel,
            replica_groups: participants.groups.clone(),
            ..CollectiveBroadcastAttrs::default()
        };
        self.builder.add(Op::CollectiveBroadcast(Box::new(attributes)), &[self])
    }

    /// `output` with the rows that devices of a group send to this one: `[input offsets, send sizes, output offsets, receive
    /// sizes]` say which rows of this array go where, one number for each device.
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
    /// The number of the replica that the program runs on, of type `u32`.
    #[track_caller]
    pub fn replica_id(&self) -> Value<'_> {
        self.add(Op::ReplicaId, &[])
    }

    /// The number of the partition that the program runs on, of type `u32`.
    #[track_caller]
    pub fn partition_id(&self) -> Value<'_> {
        self.add(Op::PartitionId, &[])
    }
}
