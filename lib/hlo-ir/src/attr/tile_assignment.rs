//! The normal form of shardings: which device has which tile of an array.
//!
//! Device lists, iotas and mesh axes are notations for the same thing. [`TileAssignment::of`] reads all of
//! them. Two shardings that place the same tiles on the same devices have equal assignments.

use super::iota::{DeviceOrder, IotaOrder};
use super::mesh::{AxisRef, Mesh};
use super::named_sharding::{AxesSharding, NamedSharding, WholeMesh};
use super::sharding::{ShardingKind, SingleSharding};
use super::tiled_sharding::{Subgroup, TiledSharding};
use crate::{Dims, Instruction, Shape};
use std::sync::Arc;

/// Maximum number of devices of an assignment.
const MAX_DEVICES: usize = 1 << 16;

/// An array cut into tiles, and the devices that have each tile.
///
/// Devices are in *groups*. Each group has its own array, and the program determines what each group has
/// (`manual`). An assignment without manual sharding has one group. Within a group, all devices with the same
/// tile have the same data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TileAssignment {
    /// Number of tiles along each dimension of the array.
    tiles: Dims,
    /// Number of groups.
    groups: usize,
    /// The devices, ordered by tile in row-major order, then by group, then in ascending order.
    devices: Arc<[usize]>,
}

/// The part of an array that a device has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The index of the tile along each dimension.
    pub tile: Dims,
    /// The group of the device.
    pub group: usize,
    /// The index of the device among the devices of its group that have the same tile.
    pub replica: usize,
}

impl TileAssignment {
    /// Creates the assignment with the whole array on each of `devices` devices.
    pub fn replicated(rank: usize, devices: usize) -> Self {
        Self { tiles: Dims::from_elem(1, rank), groups: 1, devices: (0..devices).collect() }
    }

    /// Creates the assignment in which the program determines what each device has.
    pub fn manual(rank: usize, devices: usize) -> Self {
        Self { tiles: Dims::from_elem(1, rank), groups: devices.max(1), devices: (0..devices).collect() }
    }

    /// Creates the assignment in which each device has the given tile and group. Returns `None` unless each
    /// tile is on the same number of devices in each group.
    pub fn of_places(
        tiles: &[i64],
        groups: usize,
        places: impl IntoIterator<Item = (Dims, usize)>,
    ) -> Option<Self> {
        let mut cells = groups;
        for &n in tiles {
            cells = cells.checked_mul(usize::try_from(n).ok()?).filter(|&c| c > 0 && c <= MAX_DEVICES)?;
        }
        let mut keyed = Vec::new();
        // Groups are renumbered by their first devices.
        let mut numbers: Vec<Option<usize>> = vec![None; groups];
        let mut found = 0;
        for (device, (tile, group)) in places.into_iter().enumerate() {
            let group = *numbers.get_mut(group)?.get_or_insert_with(|| {
                found += 1;
                found - 1
            });
            let mut cell = 0usize;
            for (&t, &n) in tile.iter().zip(tiles) {
                if t < 0 || t >= n {
                    return None;
                }
                cell = cell * usize::try_from(n).ok()? + usize::try_from(t).ok()?;
            }
            keyed.push((cell * groups + group, device));
        }
        keyed.sort_unstable();
        let each = keyed.len().checked_div(cells).filter(|&each| each > 0 && each * cells == keyed.len())?;
        let even = keyed.iter().enumerate().all(|(n, &(cell, _))| cell == n / each);
        even.then(|| Self {
            tiles: tiles.into(),
            groups,
            devices: keyed.into_iter().map(|(_, device)| device).collect(),
        })
    }

    /// Returns the assignment of each leaf of the instruction's shape, for a program on `devices` devices. It
    /// is `None` for leaves without a sharding and for tokens.
    ///
    /// # Errors
    /// As [`TileAssignment::of`].
    pub fn of_instruction(instruction: &Instruction, devices: usize) -> Result<Vec<Option<Self>>, String> {
        of_leaves(instruction, |one, rank| Self::of(one, rank, devices))
    }

    /// Returns the normal form of the sharding of an array of `rank` dimensions, for a program on `devices`
    /// devices. Arrays on one device, and arrays of which devices have summands, count as replicated. Returns
    /// `None` for an unknown sharding.
    ///
    /// # Errors
    /// The sharding is for another rank or another number of devices, or its device numbers are invalid.
    pub fn of(sharding: &SingleSharding, rank: usize, devices: usize) -> Result<Option<Self>, String> {
        if devices > MAX_DEVICES {
            return Err(format!("{devices} devices are more than the {MAX_DEVICES} that can be listed"));
        }
        Ok(Some(match &sharding.kind {
            ShardingKind::Unknown => return Ok(None),
            ShardingKind::Manual => Self::manual(rank, devices),
            ShardingKind::Replicated | ShardingKind::Maximal(_) | ShardingKind::Unreduced => {
                Self::replicated(rank, devices)
            }
            ShardingKind::Tiled(tiled) => Self::of_tiled(tiled, rank, devices)?,
            ShardingKind::Named(named) => Self::of_named(named, rank, devices)?,
        }))
    }

    fn of_tiled(tiled: &TiledSharding, rank: usize, devices: usize) -> Result<Self, String> {
        let list = tiled.devices.expand(MAX_DEVICES)?;
        let array = check_rank(tiled.array_tiles(), rank)?;
        // The position of each device in the array of tiles, whose further dimensions are subgroups.
        let mut places: Vec<Option<(Dims, usize)>> = vec![None; devices];
        let mut groups = 1;
        for (&size, kind) in tiled.tiles[array.len()..].iter().zip(&tiled.subgroups) {
            if *kind == Subgroup::Manual {
                groups *= usize::try_from(size).unwrap_or(0).min(MAX_DEVICES);
            }
        }
        for (at, &device) in list.iter().enumerate() {
            let index = crate::unravel(at, &tiled.tiles);
            let mut group = 0;
            for (n, kind) in tiled.subgroups.iter().enumerate() {
                let d = array.len() + n;
                if *kind == Subgroup::Manual {
                    let size = tiled.tiles.get(d).copied().unwrap_or(1);
                    let along = index.get(d).copied().unwrap_or(0);
                    group = group * usize::try_from(size).unwrap_or(1) + usize::try_from(along).unwrap_or(0);
                }
            }
            let place = usize::try_from(device).ok().and_then(|d| places.get_mut(d));
            let tile = index.get(..array.len()).unwrap_or_default().into();
            match place.map(|place| place.replace((tile, group))) {
                Some(None) => {}
                Some(Some(_)) => return Err(format!("device {device} is named twice")),
                None => return Err(format!("device {device} is none of the {devices} of the program")),
            }
        }
        Self::of_found(array, groups, places)
    }

    fn of_named(named: &NamedSharding, rank: usize, devices: usize) -> Result<Self, String> {
        match named {
            NamedSharding::Maximal(_) => Ok(Self::replicated(rank, devices)),
            NamedSharding::Whole(_, WholeMesh::Manual) => Ok(Self::manual(rank, devices)),
            NamedSharding::Whole(..) => Ok(Self::replicated(rank, devices)),
            NamedSharding::Axes(axes) => Self::of_axes(axes, rank, devices),
        }
    }

    fn of_axes(axes: &AxesSharding, rank: usize, devices: usize) -> Result<Self, String> {
        let mesh = &axes.mesh;
        let along = |list: &[AxisRef]| list.iter().try_fold(1i64, |n, a| n.checked_mul(mesh.axis_size(a)));
        let too_many = || "the number of devices does not fit 63 bits".to_owned();
        let tiles: Dims =
            axes.dimensions.iter().map(|d| along(&d.axes)).collect::<Option<_>>().ok_or_else(too_many)?;
        let tiles = check_rank(&tiles, rank)?.to_vec();
        let groups = along(&axes.manual).and_then(|n| usize::try_from(n).ok()).ok_or_else(too_many)?;
        let sizes: Dims = mesh.axes.iter().map(|a| a.size).collect();
        let mut places: Vec<Option<(Dims, usize)>> = vec![None; devices];
        for (at, device) in mesh.devices(MAX_DEVICES)?.into_iter().enumerate() {
            let index = crate::unravel(at, &sizes);
            let tile = axes.dimensions.iter().map(|d| along_axes(mesh, &d.axes, &index)).collect();
            let group = usize::try_from(along_axes(mesh, &axes.manual, &index)).unwrap_or(0);
            match usize::try_from(device).ok().and_then(|d| places.get_mut(d)) {
                Some(place) => *place = Some((tile, group)),
                None => return Err(format!("device {device} is none of the {devices} of the program")),
            }
        }
        Self::of_found(&tiles, groups, places)
    }

    fn of_found(tiles: &[i64], groups: usize, places: Vec<Option<(Dims, usize)>>) -> Result<Self, String> {
        let count = places.len();
        let named = places.iter().flatten().count();
        if named != count {
            return Err(format!("it is for {named} devices, but the program runs on {count}"));
        }
        Self::of_places(tiles, groups, places.into_iter().flatten())
            .ok_or_else(|| format!("it does not give each of its tiles to as many of {count} devices"))
    }

    /// Returns the number of tiles along each dimension.
    pub fn tiles(&self) -> &[i64] {
        &self.tiles
    }

    /// Returns the rank of the array.
    pub fn rank(&self) -> usize {
        self.tiles.len()
    }

    /// Returns the number of devices.
    pub fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// Returns the number of groups; 1 without manual sharding.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns the number of devices of a group that have the same tile.
    pub fn replicas(&self) -> usize {
        let tiles: i64 = self.tiles.iter().product();
        let cells = usize::try_from(tiles).unwrap_or(1).max(1) * self.groups.max(1);
        (self.devices.len() / cells).max(1)
    }

    /// Returns whether the array is not sharded.
    pub fn is_whole(&self) -> bool {
        self.tiles.iter().all(|&n| n == 1)
    }

    /// Returns whether every device has the whole array.
    pub fn is_replicated(&self) -> bool {
        self.is_whole() && self.groups == 1
    }

    /// Returns the place of each device.
    pub fn places(&self) -> Vec<Place> {
        let mut places = vec![Place { tile: Dims::new(), group: 0, replica: 0 }; self.devices.len()];
        for (at, &device) in self.devices.iter().enumerate() {
            if let Some(place) = places.get_mut(device) {
                *place = self.place_at(at);
            }
        }
        places
    }

    /// Returns the place of a device; `None` if there is no such device.
    pub fn place(&self, device: usize) -> Option<Place> {
        self.devices.iter().position(|&d| d == device).map(|at| self.place_at(at))
    }

    /// Returns the place of the device at position `at` of the list.
    fn place_at(&self, at: usize) -> Place {
        let replicas = self.replicas();
        let cell = at / replicas;
        Place {
            tile: crate::unravel(cell / self.groups, &self.tiles),
            group: cell % self.groups,
            replica: at % replicas,
        }
    }

    /// Returns the size of the largest tile of an array with dimensions `dims`. The last tiles along a
    /// dimension may be smaller, and are padded to this size.
    pub fn shard(&self, dims: &[i64]) -> Dims {
        dims.iter()
            .zip(&self.tiles)
            .map(|(&size, &tiles)| size.div_euclid(tiles) + i64::from(size % tiles != 0))
            .collect()
    }

    /// Returns the assignment for an array whose dimensions are dimensions of this one, by number, or not
    /// sharded (`None`). The devices along the remaining dimensions become replicas.
    pub fn select(&self, dims: &[Option<usize>]) -> Self {
        let of = |d: &Option<usize>| d.and_then(|d| self.tiles.get(d)).copied().unwrap_or(1);
        let tiles: Dims = dims.iter().map(of).collect();
        let place = |p: Place| -> (Dims, usize) {
            let tile = dims.iter().map(|d| d.and_then(|d| p.tile.get(d)).copied().unwrap_or(0)).collect();
            (tile, p.group)
        };
        let selected = Self::of_places(&tiles, self.groups, self.places().into_iter().map(place));
        // The same devices cannot shard two dimensions, so a dimension that is named twice yields `None`
        // here.
        selected.unwrap_or_else(|| self.whole(dims.len()))
    }

    /// Returns the assignment with the same groups, in which each device has the whole array.
    pub fn whole(&self, rank: usize) -> Self {
        let places = self.places().into_iter().map(|p| (Dims::from_elem(0, rank), p.group));
        Self::of_places(&Dims::from_elem(1, rank), self.groups, places)
            .unwrap_or_else(|| Self::replicated(rank, self.devices.len()))
    }

    /// Returns the sharding with this meaning.
    pub fn to_kind(&self) -> ShardingKind {
        let replicas = self.replicas();
        if self.is_whole() && (self.groups == 1 || replicas == 1) {
            return if self.groups == 1 { ShardingKind::Replicated } else { ShardingKind::Manual };
        }
        let list: Vec<i64> = self.devices.iter().filter_map(|&d| i64::try_from(d).ok()).collect();
        let mut tiles = self.tiles.clone();
        let mut subgroups = Vec::new();
        for (size, kind) in [(self.groups, Subgroup::Manual), (replicas, Subgroup::Replicated)] {
            if size > 1 {
                tiles.extend(i64::try_from(size));
                subgroups.push(kind);
            }
        }
        let devices = IotaOrder::of_list(&list).map_or(DeviceOrder::List(list), DeviceOrder::Iota);
        ShardingKind::Tiled(TiledSharding { tiles, subgroups, devices })
    }
}

/// Calls `said` with the sharding and the rank of each leaf of an instruction that is an array. The result is
/// `None` for tokens and for leaves without a sharding.
pub(super) fn of_leaves<T>(
    instruction: &Instruction,
    said: impl Fn(&SingleSharding, usize) -> Result<Option<T>, String>,
) -> Result<Vec<Option<T>>, String> {
    let leaves = instruction.shape.leaves();
    let shardings = instruction.sharding().map(|s| s.leaves()).unwrap_or_default();
    let of_leaf = |n: usize| if shardings.len() == 1 { shardings.first() } else { shardings.get(n) };
    let of = |(n, leaf): (usize, &&Shape)| match (leaf.as_array(), of_leaf(n)) {
        (Some(array), Some(one)) => said(one, array.rank()),
        _ => Ok(None),
    };
    leaves.iter().enumerate().map(of).collect()
}

/// Returns `tiles` if it has an entry for each dimension of the array.
fn check_rank(tiles: &[i64], rank: usize) -> Result<&[i64], String> {
    if tiles.len() == rank {
        Ok(tiles)
    } else {
        Err(format!("it cuts {} dimensions, but the array has {rank}", tiles.len()))
    }
}

/// Returns the position along some axes, the first one outermost, of the device at `index` of the mesh.
fn along_axes(mesh: &Mesh, axes: &[AxisRef], index: &[i64]) -> i64 {
    axes.iter().fold(0, |number, axis| {
        let size = mesh.axis_size(axis);
        let at = index.get(axis.axis).copied().unwrap_or(0);
        let whole = mesh.axes.get(axis.axis).map_or(1, |a| a.size);
        // The part is the middle dimension of `before × size × rest`.
        let rest = axis.part.map_or(1, |p| whole / p.before.saturating_mul(p.size).max(1)).max(1);
        number * size + (at / rest) % size.max(1)
    })
}
