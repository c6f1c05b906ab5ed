//! The channels and groups of the collectives that are inserted.

use hlo_ir::attr::{AllReduceAttrs, IotaOrder, ReduceScatterAttrs, ReplicaGroups, TileAssignment};
use hlo_ir::{ComputationId, Dims, Module, Op};

/// Devices that exchange data: the partitions of each group, in order.
pub(super) type Groups = Vec<Vec<usize>>;

/// Numbers the exchanges of a program of so many partitions, which runs in several copies.
pub(super) struct Channels {
    devices: usize,
    copies: usize,
    /// The next channel that is not taken.
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

    /// The number of a further exchange.
    pub(super) fn channel(&mut self) -> Option<i64> {
        let channel = self.next;
        self.next = channel.saturating_add(1);
        Some(channel)
    }

    /// The groups of partitions as groups of devices, in each copy of the program.
    pub(super) fn global(&self, groups: &Groups) -> ReplicaGroups {
        let of_copy = |copy: usize| {
            let device = move |&p: &usize| i64::try_from(copy * self.devices + p).unwrap_or(0);
            groups.iter().map(move |g| g.iter().map(device).collect::<Vec<i64>>())
        };
        written(&(0..self.copies).flat_map(of_copy).collect::<Vec<_>>())
    }

    /// Combines the values of each group.
    pub(super) fn all_reduce(&mut self, groups: &Groups, to_apply: ComputationId) -> Op {
        Op::AllReduce(Box::new(AllReduceAttrs {
            channel_id: self.channel(),
            replica_groups: self.global(groups),
            use_global_device_ids: true,
            to_apply,
            ..AllReduceAttrs::default()
        }))
    }

    /// Combines the values of each group, of which each device gets a part along a dimension.
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

/// Groups as an attribute, described if they can be.
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

/// The one dimension that an exchange is along.
pub(super) fn dimension(dim: usize) -> Dims {
    [i64::try_from(dim).unwrap_or(0)].into_iter().collect()
}

/// The dimension along which the groups that combine partial results can scatter them, and the groups in the order of the
/// parts, if that is what is wanted.
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
