//! The collectives that are inserted: their groups and channels.

use super::partitioner::Partitioner;
use hlo_ir::attr::{
    AllGatherAttrs, AllReduceAttrs, AllToAllAttrs, CollectivePermuteAttrs, IotaOrder, Place,
    ReduceScatterAttrs, ReplicaGroups, SourceTargetPairs, TileAssignment,
};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, Dims, InstrId, Op, Shape};
use std::collections::BTreeMap;

/// Devices that exchange data: the partitions of each group, in order.
pub(super) type Groups = Vec<Vec<usize>>;

/// The groups of devices whose places have the same key, in the order of the number that each has.
pub(super) fn groups_by<K: Ord>(
    tiling: &TileAssignment,
    key: impl Fn(&Place) -> K,
    order: impl Fn(&Place) -> i64,
) -> Groups {
    let mut groups: BTreeMap<(K, usize, usize), Vec<(i64, usize)>> = BTreeMap::new();
    for (device, place) in tiling.places().iter().enumerate() {
        let group = groups.entry((key(place), place.group, place.replica)).or_default();
        group.push((order(place), device));
    }
    let sorted = |mut group: Vec<(i64, usize)>| -> Vec<usize> {
        group.sort_unstable();
        group.into_iter().map(|(_, device)| device).collect()
    };
    let mut groups: Groups = groups.into_values().map(sorted).collect();
    groups.sort_unstable();
    groups
}

/// Groups as an attribute, described if they can be.
fn written(groups: &[Vec<i64>]) -> ReplicaGroups {
    let flat: Vec<i64> = groups.iter().flatten().copied().collect();
    let size = groups.first().map_or(0, Vec::len);
    match IotaOrder::of_list(&flat) {
        Some(order) if size > 0 && groups.iter().all(|g| g.len() == size) => {
            ReplicaGroups::Iota { groups: groups.len() as i64, size: size as i64, order }
        }
        _ => ReplicaGroups::Lists(groups.to_vec()),
    }
}

impl Partitioner<'_> {
    pub(super) fn channel(&mut self) -> Option<i64> {
        let channel = self.next_channel;
        self.next_channel = channel.saturating_add(1);
        Some(channel)
    }

    fn exchanged(&mut self, shape: impl Into<Shape>, op: Op, value: InstrId) -> InstrId {
        let made = self.add(shape, op, &[value]);
        self.exchanges.insert(made);
        made
    }

    /// The groups of partitions as groups of devices, in each copy of the program.
    fn global(&self, groups: &Groups) -> ReplicaGroups {
        let of_copy = |copy: usize| {
            let device = move |&p: &usize| i64::try_from(copy * self.devices + p).unwrap_or(0);
            groups.iter().map(move |g| g.iter().map(device).collect::<Vec<i64>>())
        };
        written(&(0..self.copies).flat_map(of_copy).collect::<Vec<_>>())
    }

    /// The values of each group put together along a dimension.
    pub(super) fn all_gather(&mut self, value: InstrId, dim: usize, groups: &Groups) -> InstrId {
        let Some(mut shape) = self.array_of(value) else { return value };
        let count = groups.first().map_or(1, Vec::len) as i64;
        shape = ArrayShape::new(shape.element_type, shape.dims.iter().copied());
        shape.dims[dim] *= count;
        let attrs = AllGatherAttrs {
            channel_id: self.channel(),
            replica_groups: self.global(groups),
            dimensions: dimension(dim),
            use_global_device_ids: true,
            ..AllGatherAttrs::default()
        };
        self.exchanged(shape, Op::AllGather(Box::new(attrs)), value)
    }

    /// The values of each group combined.
    pub(super) fn all_reduce(&mut self, value: InstrId, to_apply: ComputationId, groups: &Groups) -> InstrId {
        let attrs = AllReduceAttrs {
            channel_id: self.channel(),
            replica_groups: self.global(groups),
            use_global_device_ids: true,
            to_apply,
            ..AllReduceAttrs::default()
        };
        self.exchanged(self.shape_of(value), Op::AllReduce(Box::new(attrs)), value)
    }

    /// The values of each group combined, of which each device gets a part along a dimension.
    pub(super) fn reduce_scatter(
        &mut self,
        value: InstrId,
        dim: usize,
        to_apply: ComputationId,
        groups: &Groups,
    ) -> InstrId {
        let Some(mut shape) = self.array_of(value) else { return value };
        let count = groups.first().map_or(1, Vec::len) as i64;
        shape = ArrayShape::new(shape.element_type, shape.dims.iter().copied());
        shape.dims[dim] /= count.max(1);
        let attrs = ReduceScatterAttrs {
            channel_id: self.channel(),
            replica_groups: self.global(groups),
            use_global_device_ids: true,
            dimensions: dimension(dim),
            to_apply,
            ..ReduceScatterAttrs::default()
        };
        self.exchanged(shape, Op::ReduceScatter(Box::new(attrs)), value)
    }

    /// Parts along a dimension, one for each device of a group, each sent to that.
    pub(super) fn all_to_all(&mut self, value: InstrId, dim: usize, groups: &Groups) -> InstrId {
        let lists: Vec<Vec<i64>> =
            groups.iter().map(|g| g.iter().map(|&p| i64::try_from(p).unwrap_or(0)).collect()).collect();
        let attrs = AllToAllAttrs {
            channel_id: self.channel(),
            replica_groups: written(&lists),
            dimensions: dimension(dim),
            ..AllToAllAttrs::default()
        };
        self.exchanged(self.shape_of(value), Op::AllToAll(Box::new(attrs)), value)
    }

    /// What the source of each pair has, at its target; zeros where there is none.
    pub(super) fn permute(&mut self, value: InstrId, pairs: &[(usize, usize)]) -> InstrId {
        let number = |n: usize| i64::try_from(n).unwrap_or(0);
        let pairs = pairs.iter().map(|&(from, to)| (number(from), number(to))).collect();
        let attrs = CollectivePermuteAttrs {
            channel_id: self.channel(),
            source_target_pairs: SourceTargetPairs(pairs),
            ..CollectivePermuteAttrs::default()
        };
        self.exchanged(self.shape_of(value), Op::CollectivePermute(Box::new(attrs)), value)
    }
}

fn dimension(dim: usize) -> Dims {
    [i64::try_from(dim).unwrap_or(0)].into_iter().collect()
}
