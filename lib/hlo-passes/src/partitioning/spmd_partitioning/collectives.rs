//! Emits collectives, and partitions the program's own collectives.

use super::partitioner::Partitioner;
use super::value::Value;
use crate::partitioning::channels::{Groups, dimension, written};
use hlo_ir::attr::{
    AllGatherAttrs, AllToAllAttrs, CollectiveBroadcastAttrs, CollectivePermuteAttrs, Place,
    SourceTargetPairs, TileAssignment,
};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Op, Shape};
use std::collections::BTreeMap;

/// Maximum number of devices for which groups are expanded to lists.
const MAX_LISTED_DEVICES: usize = 1 << 20;

/// Groups devices by the key of their place. Each group is sorted by `order`.
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

impl Partitioner<'_> {
    /// Partitions a collective of the program. The devices that exchange data must have the same tile, and
    /// the collective's dimension must not be split.
    pub(super) fn own_exchange(&mut self, id: InstrId) -> Option<Value> {
        let part = self.part(0).filter(|_| self.module[id].operands.len() == 1)?;
        let shape = self.module[id].shape.as_array().filter(|a| a.is_static())?.clone();
        let tiling = part.tiling.clone();
        let op = self.module[id].op.clone();
        let along: &[i64] = match &op {
            Op::AllGather(a) => &a.dimensions,
            Op::AllToAll(a) => &a.dimensions,
            Op::ReduceScatter(a) => &a.dimensions,
            _ => &[],
        };
        let is_cut =
            |&d: &i64| usize::try_from(d).ok().and_then(|d| tiling.tiles().get(d)).is_none_or(|&n| n > 1);
        let places = tiling.places();
        let alike = |group: Vec<usize>| {
            let mut tiles = group.iter().map(|&p| places.get(p).map(|p| &p.tile));
            let first = tiles.next().flatten();
            tiles.all(|tile| tile == first)
        };
        let meet = self.partitions_that_meet(&op)?;
        if tiling.is_whole() || along.iter().any(is_cut) || !meet.into_iter().all(alike) {
            return None;
        }
        let local = self.shard_shape(&shape, &tiling);
        let made = self.add(local, op, &[part.id]);
        let made = self.made(made, &shape, &tiling);
        let said = self.module[id].sharding().and_then(|_| self.required_shardings(id).into_iter().next());
        Some(Value::Array(said.map_or_else(|| made.clone(), |to| self.reshard(&made, &to))))
    }

    /// Returns the partitions of each group of a collective. Returns `None` if the groups are not known.
    /// Returns no groups if partitions do not exchange data with each other.
    fn partitions_that_meet(&self, op: &Op) -> Option<Groups> {
        let partition = |d: &i64| usize::try_from(*d).ok().map(|d| d % self.devices);
        let (groups, channel, global) = match op {
            Op::AllGather(a) => (&a.replica_groups, a.channel_id, a.use_global_device_ids),
            Op::AllReduce(a) => (&a.replica_groups, a.channel_id, a.use_global_device_ids),
            Op::ReduceScatter(a) => (&a.replica_groups, a.channel_id, a.use_global_device_ids),
            Op::AllToAll(a) => (&a.replica_groups, a.channel_id, a.channel_id.is_some()),
            Op::CollectivePermute(a) => {
                let pairs = a.source_target_pairs.0.iter().filter(|_| a.channel_id.is_some());
                return pairs.map(|(from, to)| Some(vec![partition(from)?, partition(to)?])).collect();
            }
            _ => return None,
        };
        match (channel, global) {
            // Each partition exchanges data with the same partition of other copies of the program.
            (None, false) => Some(Groups::new()),
            (Some(_), true) if !groups.is_empty() => {
                let lists = groups.expand(MAX_LISTED_DEVICES).ok()?;
                lists.iter().map(|g| g.iter().map(partition).collect()).collect()
            }
            _ => None,
        }
    }

    fn exchanged(&mut self, shape: impl Into<Shape>, op: Op, value: InstrId) -> InstrId {
        let made = self.add(shape, op, &[value]);
        self.exchanges.insert(made);
        made
    }

    /// Emits an all-gather over each group along a dimension.
    pub(super) fn all_gather(&mut self, value: InstrId, dim: usize, groups: &Groups) -> InstrId {
        let Some(mut shape) = self.array_of(value) else { return value };
        let count = groups.first().map_or(1, Vec::len) as i64;
        shape = ArrayShape::new(shape.element_type, shape.dims.iter().copied());
        // The tiles include padding, so the result may be longer than the array.
        shape.dims[dim] = shape.dims[dim].saturating_mul(count);
        let attrs = AllGatherAttrs {
            channel_id: self.channels.channel(),
            replica_groups: self.channels.global(groups),
            dimensions: dimension(dim),
            use_global_device_ids: true,
            ..AllGatherAttrs::default()
        };
        self.exchanged(shape, Op::AllGather(Box::new(attrs)), value)
    }

    /// Emits an all-reduce over each group.
    pub(super) fn all_reduce(&mut self, value: InstrId, to_apply: ComputationId, groups: &Groups) -> InstrId {
        let op = self.channels.all_reduce(groups, to_apply);
        self.exchanged(self.shape_of(value), op, value)
    }

    /// Emits a reduce-scatter over each group along a dimension.
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
        let op = self.channels.reduce_scatter(dim, groups, to_apply);
        self.exchanged(shape, op, value)
    }

    /// Emits an all-to-all along a dimension, which has one part for each device of a group.
    pub(super) fn all_to_all(&mut self, value: InstrId, dim: usize, groups: &Groups) -> InstrId {
        let lists: Vec<Vec<i64>> =
            groups.iter().map(|g| g.iter().map(|&p| i64::try_from(p).unwrap_or(0)).collect()).collect();
        let attrs = AllToAllAttrs {
            channel_id: self.channels.channel(),
            replica_groups: written(&lists),
            dimensions: dimension(dim),
            ..AllToAllAttrs::default()
        };
        self.exchanged(self.shape_of(value), Op::AllToAll(Box::new(attrs)), value)
    }

    /// Emits a broadcast of the first device's value to each group.
    pub(super) fn broadcast_among(&mut self, value: InstrId, groups: &[Vec<i64>]) -> InstrId {
        let attrs = CollectiveBroadcastAttrs {
            channel_id: self.channels.channel(),
            replica_groups: written(groups),
            ..CollectiveBroadcastAttrs::default()
        };
        self.exchanged(self.shape_of(value), Op::CollectiveBroadcast(Box::new(attrs)), value)
    }

    /// Emits a permute from the source to the target of each pair. Devices that are not a target get zeros.
    pub(super) fn permute(&mut self, value: InstrId, pairs: &[(usize, usize)]) -> InstrId {
        let number = |n: usize| i64::try_from(n).unwrap_or(0);
        let pairs = pairs.iter().map(|&(from, to)| (number(from), number(to))).collect();
        let attrs = CollectivePermuteAttrs {
            channel_id: self.channels.channel(),
            source_target_pairs: SourceTargetPairs(pairs),
            ..CollectivePermuteAttrs::default()
        };
        self.exchanged(self.shape_of(value), Op::CollectivePermute(Box::new(attrs)), value)
    }
}
