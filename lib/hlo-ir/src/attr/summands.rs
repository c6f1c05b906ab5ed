//! Arrays of which devices have summands: `last_tile_dims={unreduced}`, `unreduced={'x'}`.

use super::named_sharding::{NamedSharding, UnreducedKind, WholeMesh};
use super::sharding::{ShardingKind, SingleSharding};
use super::tile_assignment::{TileAssignment, of_leaves};
use super::tiled_sharding::{Subgroup, TiledSharding};
use super::{AxesSharding, DeviceOrder, IotaOrder};
use crate::{Dims, Instruction};
use std::collections::BTreeMap;

/// How the summands of an array lie on devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summands {
    /// What each device has, where the devices with other summands are other groups, each of which has an array of its own.
    pub own: TileAssignment,
    /// How the array lies where it is summed on each device that has a summand.
    pub summed: TileAssignment,
}

impl Summands {
    /// The summands that a sharding of an array of `rank` dimensions speaks of, in a program on so many devices; `None` if of
    /// none.
    ///
    /// # Errors
    /// As [`TileAssignment::of`]; or the summands are not to be added, but their maximum or minimum is meant.
    pub fn of(sharding: &SingleSharding, rank: usize, devices: usize) -> Result<Option<Self>, String> {
        let Some(kind) = as_manual(&sharding.kind, rank, devices)? else { return Ok(None) };
        let own = SingleSharding { kind, group: None, metadata: Vec::new() };
        let (own, summed) =
            (TileAssignment::of(&own, rank, devices)?, TileAssignment::of(sharding, rank, devices)?);
        Ok(own.zip(summed).filter(|(own, summed)| own != summed).map(|(own, summed)| Self { own, summed }))
    }

    /// The summands that the sharding of an instruction speaks of, leaf by leaf of its shape, in a program on so many devices.
    ///
    /// # Errors
    /// As [`Summands::of`].
    pub fn of_instruction(instruction: &Instruction, devices: usize) -> Result<Vec<Option<Self>>, String> {
        of_leaves(instruction, |one, rank| Self::of(one, rank, devices))
    }

    /// The sharding that says this.
    pub fn to_kind(&self) -> ShardingKind {
        // Device by device: its tile, its group of those that there are without summands, and its summand.
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

    /// The devices whose summands make up an array or a tile of it, the one that is first in each group first.
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

    /// The same for an array whose dimensions are some of this one's, by number, or are not cut.
    pub fn select(&self, dims: &[Option<usize>]) -> Self {
        Self { own: self.own.select(dims), summed: self.summed.select(dims) }.or_whole(dims.len())
    }

    /// The same for an array that is not cut.
    pub fn whole(&self, rank: usize) -> Self {
        Self { own: self.own.whole(rank), summed: self.summed.whole(rank) }
    }

    /// These, if the summands are cut as the sum is; else what is not cut.
    pub fn or_whole(self, rank: usize) -> Self {
        if self.own.tiles() == self.summed.tiles() { self } else { self.whole(rank) }
    }

    /// True if the same devices have the summands of another array: those of the sum of both are their sums.
    pub fn goes_with(&self, other: &Self) -> bool {
        let group = |t: &TileAssignment| -> Vec<usize> { t.places().iter().map(|p| p.group).collect() };
        group(&self.own) == group(&other.own) && group(&self.summed) == group(&other.summed)
    }
}

/// The sharding by which each device with another summand is in another group; `None` if it speaks of no summands.
fn as_manual(kind: &ShardingKind, rank: usize, devices: usize) -> Result<Option<ShardingKind>, String> {
    Ok(Some(match kind {
        ShardingKind::Unreduced => each_its_own(rank, devices),
        ShardingKind::Tiled(tiled) if tiled.subgroups.contains(&Subgroup::Unreduced) => {
            let manual = |s: &Subgroup| if *s == Subgroup::Unreduced { Subgroup::Manual } else { *s };
            let subgroups = tiled.subgroups.iter().map(manual).collect();
            ShardingKind::Tiled(TiledSharding { subgroups, ..tiled.clone() })
        }
        ShardingKind::Named(NamedSharding::Whole(_, WholeMesh::Unreduced)) => each_its_own(rank, devices),
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

fn each_its_own(rank: usize, devices: usize) -> ShardingKind {
    let count = i64::try_from(devices).unwrap_or(i64::MAX);
    let mut tiles = Dims::from_elem(1, rank);
    tiles.push(count);
    let order = IotaOrder::new(&[count], &[0]);
    let devices = order.map_or(DeviceOrder::List((0..count).collect()), DeviceOrder::Iota);
    ShardingKind::Tiled(TiledSharding { tiles, subgroups: vec![Subgroup::Manual], devices })
}
