//! Arrays that are sums of one summand per device: `last_tile_dims={unreduced}`, `unreduced={'x'}`.

use super::named_sharding::{NamedSharding, UnreducedKind, WholeMesh};
use super::sharding::{ShardingKind, SingleSharding};
use super::tile_assignment::{TileAssignment, of_leaves};
use super::tiled_sharding::{Subgroup, TiledSharding};
use super::{AxesSharding, DeviceOrder, IotaOrder};
use crate::{Dims, Instruction};
use std::collections::BTreeMap;

/// How the summands of an array are distributed over devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summands {
    /// The assignment of the summands. Devices with different summands are in different groups, and each
    /// group has its own array.
    pub own: TileAssignment,
    /// The assignment of the array if each device that has a summand had the sum instead.
    pub summed: TileAssignment,
}

impl Summands {
    /// Returns the summands that a sharding describes, for an array of `rank` dimensions in a program on
    /// `devices` devices. Returns `None` if it describes none.
    ///
    /// # Errors
    /// As [`TileAssignment::of`]. Also if the summands are combined by a maximum or minimum instead of a sum.
    pub fn of(sharding: &SingleSharding, rank: usize, devices: usize) -> Result<Option<Self>, String> {
        let Some(kind) = as_manual(&sharding.kind, rank, devices)? else { return Ok(None) };
        let own = SingleSharding { kind, group: None, metadata: Vec::new() };
        let (own, summed) =
            (TileAssignment::of(&own, rank, devices)?, TileAssignment::of(sharding, rank, devices)?);
        Ok(own.zip(summed).filter(|(own, summed)| own != summed).map(|(own, summed)| Self { own, summed }))
    }

    /// Returns the summands that the sharding of an instruction describes, for each leaf of its shape.
    ///
    /// # Errors
    /// As [`Summands::of`].
    pub fn of_instruction(instruction: &Instruction, devices: usize) -> Result<Vec<Option<Self>>, String> {
        of_leaves(instruction, |one, rank| Self::of(one, rank, devices))
    }

    /// Returns the sharding with this meaning.
    pub fn to_kind(&self) -> ShardingKind {
        // The sort key of a device: its tile, its group among the manual groups, and its summand.
        let groups = self.groups();
        let count = groups.first().map_or(1, Vec::len);
        if self.own.is_whole() && count == self.own.device_count() {
            return ShardingKind::Unreduced;
        }
        let summand = |device: usize| groups.iter().find_map(|g| g.iter().position(|&d| d == device));
        let mut order: Vec<_> = self
            .summed
            .places()
            .into_iter()
            .enumerate()
            .map(|(device, p)| (p.tile, p.group, summand(device).unwrap_or(0), device))
            .collect();
        order.sort_unstable_by(|a, b| (&a.0[..], a.1, a.2, a.3).cmp(&(&b.0[..], b.1, b.2, b.3)));
        let list: Vec<i64> =
            order.into_iter().filter_map(|(.., device)| i64::try_from(device).ok()).collect();
        let mut tiles: Dims = self.summed.tiles().into();
        let mut subgroups = Vec::new();
        let further = [
            (self.summed.groups(), Subgroup::Manual),
            (count, Subgroup::Unreduced),
            (self.own.replicas(), Subgroup::Replicated),
        ];
        for (size, kind) in further.into_iter().filter(|(size, _)| *size > 1) {
            tiles.extend(i64::try_from(size));
            subgroups.push(kind);
        }
        let devices = IotaOrder::of_list(&list).map_or(DeviceOrder::List(list), DeviceOrder::Iota);
        ShardingKind::Tiled(TiledSharding { tiles, subgroups, devices })
    }

    /// Returns the groups of devices whose summands add up to an array or a tile. The devices of a group are
    /// in the order of their group numbers in [`Summands::own`].
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<_, Vec<(usize, usize)>> = BTreeMap::new();
        for (device, (own, summed)) in self.own.places().into_iter().zip(self.summed.places()).enumerate() {
            let key = (summed.tile.to_vec(), summed.group, own.replica);
            groups.entry(key).or_default().push((own.group, device));
        }
        let sorted = |mut group: Vec<(usize, usize)>| {
            group.sort_unstable();
            group.into_iter().map(|(_, device)| device).collect()
        };
        groups.into_values().map(sorted).collect()
    }

    /// Returns the summands for an array whose dimensions are dimensions of this one, by number, or not
    /// sharded (`None`).
    pub fn select(&self, dims: &[Option<usize>]) -> Self {
        Self { own: self.own.select(dims), summed: self.summed.select(dims) }.or_whole(dims.len())
    }

    /// Returns the summands for an array that is not sharded.
    pub fn whole(&self, rank: usize) -> Self {
        Self { own: self.own.whole(rank), summed: self.summed.whole(rank) }
    }

    /// Returns `self` if the summands have the same tiles as the sum, and otherwise the form that is not
    /// sharded.
    pub fn or_whole(self, rank: usize) -> Self {
        if self.own.tiles() == self.summed.tiles() { self } else { self.whole(rank) }
    }

    /// Returns whether the same devices have the summands of another array. The summands of the sum of both
    /// arrays are then the sums of their summands.
    pub fn has_same_devices(&self, other: &Self) -> bool {
        let group = |t: &TileAssignment| -> Vec<usize> { t.places().iter().map(|p| p.group).collect() };
        group(&self.own) == group(&other.own) && group(&self.summed) == group(&other.summed)
    }
}

/// Returns the sharding in which devices with different summands are in different groups; `None` if `kind`
/// describes no summands.
fn as_manual(kind: &ShardingKind, rank: usize, devices: usize) -> Result<Option<ShardingKind>, String> {
    Ok(Some(match kind {
        ShardingKind::Unreduced => one_tile_per_device(rank, devices),
        ShardingKind::Tiled(tiled) if tiled.subgroups.contains(&Subgroup::Unreduced) => {
            let manual = |s: &Subgroup| if *s == Subgroup::Unreduced { Subgroup::Manual } else { *s };
            let subgroups = tiled.subgroups.iter().map(manual).collect();
            ShardingKind::Tiled(TiledSharding { subgroups, ..tiled.clone() })
        }
        ShardingKind::Named(NamedSharding::Whole(_, WholeMesh::Unreduced)) => {
            one_tile_per_device(rank, devices)
        }
        ShardingKind::Named(NamedSharding::Axes(axes)) if !axes.unreduced.is_empty() => {
            let kind = axes.unreduced_kind.unwrap_or_default();
            if kind != UnreducedKind::Sum {
                return Err(format!(
                    "devices have what is put together by `{}`, and only sums (`sum`) can be",
                    kind.text()
                ));
            }
            let manual = axes.manual.iter().chain(&axes.unreduced).cloned().collect();
            let axes = AxesSharding { manual, unreduced: Vec::new(), ..(**axes).clone() };
            ShardingKind::Named(NamedSharding::Axes(Box::new(axes)))
        }
        _ => return Ok(None),
    }))
}

fn one_tile_per_device(rank: usize, devices: usize) -> ShardingKind {
    let count = i64::try_from(devices).unwrap_or(i64::MAX);
    let mut tiles = Dims::from_elem(1, rank);
    tiles.push(count);
    let order = IotaOrder::new(&[count], &[0]);
    let devices = order.map_or(DeviceOrder::List((0..count).collect()), DeviceOrder::Iota);
    ShardingKind::Tiled(TiledSharding { tiles, subgroups: vec![Subgroup::Manual], devices })
}
