//! The channel ids and device groups of inserted collectives.

use hlo_ir::attr::{AllReduceAttrs, IotaOrder, ReduceScatterAttrs, ReplicaGroups, TileAssignment};
use hlo_ir::{ComputationId, Dims, Module, Op};

/// Groups of devices that exchange data. Each group lists its partitions in order.
pub(super) type Groups = Vec<Vec<usize>>;

/// Allocates channel ids for a program with this many partitions, of which several copies run.
pub(super) struct Channels {
    devices: usize,
    copies: usize,
    /// The next unused channel id.
    pub(super) next: i64,
}

impl Channels {
    pub(super) fn of(module: &Module) -> Self {
        let count = |n: i64| usize::try_from(n).unwrap_or(1).max(1);
        let taken = module
            .computations()
            .flat_map(|c| module[c].instructions().iter())
            .filter_map(|&i| module[i].op.effect().channel());
        Self {
            devices: count(module.header.num_partitions.0),
            copies: count(module.header.replica_count.0),
            next: taken.max().unwrap_or(0).max(0).saturating_add(1),
        }
    }

    /// Returns the id of another channel.
    pub(super) fn channel(&mut self) -> Option<i64> {
        let channel = self.next;
        self.next = channel.saturating_add(1);
        Some(channel)
    }

    /// Converts groups of partitions to groups of devices, for every copy of the program.
    pub(super) fn global(&self, groups: &Groups) -> ReplicaGroups {
        let of_copy = |copy: usize| {
            let device = move |&p: &usize| i64::try_from(copy * self.devices + p).unwrap_or(0);
            groups.iter().map(move |g| g.iter().map(device).collect::<Vec<i64>>())
        };
        written(&(0..self.copies).flat_map(of_copy).collect::<Vec<_>>())
    }

    /// Returns an all-reduce over each group.
    pub(super) fn all_reduce(&mut self, groups: &Groups, to_apply: ComputationId) -> Op {
        Op::AllReduce(Box::new(AllReduceAttrs {
            channel_id: self.channel(),
            replica_groups: self.global(groups),
            use_global_device_ids: true,
            to_apply,
            ..AllReduceAttrs::default()
        }))
    }

    /// Returns a reduce-scatter over each group along a dimension.
    pub(super) fn reduce_scatter(&mut self, dim: usize, groups: &Groups, to_apply: ComputationId) -> Op {
        Op::ReduceScatter(Box::new(ReduceScatterAttrs {
            channel_id: self.channel(),
            replica_groups: self.global(groups),
            use_global_device_ids: true,
            dimensions: dimension(dim),
            to_apply,
            ..ReduceScatterAttrs::default()
        }))
    }
}

/// Converts groups to an attribute, in iota form if possible.
pub(super) fn written(groups: &[Vec<i64>]) -> ReplicaGroups {
    let flat: Vec<i64> = groups.iter().flatten().copied().collect();
    let size = groups.first().map_or(0, Vec::len);
    match IotaOrder::of_list(&flat) {
        Some(order) if size > 0 && groups.iter().all(|g| g.len() == size) => {
            ReplicaGroups::Iota { groups: groups.len() as i64, size: size as i64, order }
        }
        _ => ReplicaGroups::Lists(groups.to_vec()),
    }
}

/// Returns the attribute for a single dimension.
pub(super) fn dimension(dim: usize) -> Dims {
    [i64::try_from(dim).unwrap_or(0)].into_iter().collect()
}

/// Returns the dimension along which a reduce-scatter over these groups produces the sharding `wanted`, and
/// the groups in the order of the parts. Returns `None` if there is no such dimension.
pub(super) fn scattered(
    tiling: &TileAssignment,
    groups: &Groups,
    wanted: &TileAssignment,
    dims: &[i64],
) -> Option<(usize, Groups)> {
    let count = groups.first()?.len() as i64;
    let (have, want) = (tiling.tiles(), wanted.tiles());
    let mut differing = (0..have.len()).filter(|&d| have[d] != want[d]);
    let (dim, None) = (differing.next()?, differing.next()) else { return None };
    let shard = |tiles: i64| dims[dim] / tiles + i64::from(dims[dim] % tiles != 0);
    if want[dim] != have[dim] * count || (have[dim] > 1 && shard(have[dim]) != shard(want[dim]) * count) {
        return None;
    }
    let (places, targets) = (tiling.places(), wanted.places());
    let mut ordered = Groups::with_capacity(groups.len());
    for group in groups {
        let mut order = vec![None; group.len()];
        for &device in group {
            let mut coarse: Dims = targets[device].tile.clone();
            let part = usize::try_from(coarse[dim] % count).ok()?;
            coarse[dim] /= count;
            if coarse != places[device].tile || targets[device].group != places[device].group {
                return None;
            }
            *order.get_mut(part)? = Some(device);
        }
        ordered.push(order.into_iter().collect::<Option<Vec<usize>>>()?);
    }
    Some((dim, ordered))
}
