//! Shardings that cut an array into tiles: `devices=[2,1,2]<=[4] last_tile_dim_replicate`.

use super::iota::{DeviceOrder, IotaOrder, product, read_sizes};
use super::values::write_joined;
use super::words::{read_word, word_enum};
use super::{AttrError, AttrReader, AttrValue, ComputationNames, ShardingKind};
use crate::Dims;
use std::fmt;

/// Maximum number of devices that a described order is expanded to, if the result has no known description.
const MAX_LISTED: usize = 1 << 20;

word_enum! {
    /// The meaning of an additional tile dimension. The variants are in the order of the normal form.
    #[derive(PartialOrd, Ord)]
    Subgroup = "subgroup" {
        /// One of the devices has the tile.
        #[default] Maximal = "maximal",
        /// The program determines what each device has.
        Manual = "manual",
        /// Each device has a summand of the tile.
        Unreduced = "unreduced",
        /// All devices have the same tile.
        Replicated = "replicated",
    }
}

/// An array cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TiledSharding {
    /// The number of tiles along each dimension of the array, then the sizes of the additional dimensions.
    pub tiles: Dims,
    /// The meaning of the additional dimensions.
    pub subgroups: Vec<Subgroup>,
    /// The device of each tile, in row-major order.
    pub devices: DeviceOrder,
}

impl TiledSharding {
    /// Returns the rank of the array.
    pub fn rank(&self) -> usize {
        self.tiles.len().saturating_sub(self.subgroups.len())
    }

    /// Returns the number of devices; `None` if it does not fit an `i64`.
    pub fn device_count(&self) -> Option<i64> {
        product(&self.tiles)
    }

    /// Returns the number of tiles along each dimension of the array.
    pub fn array_tiles(&self) -> &[i64] {
        &self.tiles[..self.rank()]
    }

    /// Reads `[2,2]0,1,2,3` or `[2,2]<=[4]`.
    pub(super) fn read_tiles(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset_of_next();
        let tiles = read_sizes(r)?;
        if r.eat("<=") {
            let devices = DeviceOrder::Iota(IotaOrder::read(r)?);
            return Ok(Self { tiles, subgroups: Vec::new(), devices });
        }
        let list = r.separated(AttrReader::integer)?;
        if list.len() < 2 {
            return Err(r.error_since(start, "tiles lie on more than one device".into()));
        }
        Ok(Self { tiles, subgroups: Vec::new(), devices: DeviceOrder::List(list) })
    }

    /// Reads `{manual, replicated}`.
    pub(super) fn read_subgroups(r: &mut AttrReader<'_>) -> Result<Vec<Subgroup>, AttrError> {
        r.list("{", "}", Subgroup::read)
    }

    /// Converts to XLA's normal form: one additional dimension of each kind, replication last, none of size
    /// 1, replicated devices in ascending order.
    pub(super) fn normalized(self) -> Result<ShardingKind, String> {
        if self.subgroups.is_empty() {
            return Ok(ShardingKind::Tiled(self));
        }
        let Some(rank) = self.tiles.len().checked_sub(self.subgroups.len()) else {
            let (kinds, dims) = (self.subgroups.len(), self.tiles.len());
            return Err(format!(
                "{kinds} kinds of further dimensions are given for tiles of {dims} dimensions"
            ));
        };
        let (array, further) = self.tiles.split_at(rank);
        // The additional dimensions by kind. Dimensions of one kind keep their order.
        let mut order: Vec<usize> = (0..further.len()).collect();
        order.sort_by_key(|&i| self.subgroups[i]);
        let mut merged: Vec<(Subgroup, i64)> = Vec::new();
        for &i in &order {
            match merged.last_mut() {
                Some((kind, size)) if *kind == self.subgroups[i] => {
                    *size =
                        size.checked_mul(further[i]).ok_or("the number of devices does not fit 63 bits")?;
                }
                _ => merged.push((self.subgroups[i], further[i])),
            }
        }
        let one_tile = array.iter().all(|&n| n == 1);
        if merged.len() > 1 {
            merged.retain(|&(_, size)| size != 1);
        }
        if let ([(kind, _)], true) = (&merged[..], one_tile) {
            match kind {
                Subgroup::Replicated => return Ok(ShardingKind::Replicated),
                Subgroup::Manual => return Ok(ShardingKind::Manual),
                Subgroup::Unreduced => return Ok(ShardingKind::Unreduced),
                Subgroup::Maximal => {}
            }
        }
        merged.retain(|&(_, size)| size != 1);
        let permutation: Vec<usize> = (0..rank).chain(order.iter().map(|i| rank + i)).collect();
        let replicated = self.subgroups.iter().filter(|&&kind| kind == Subgroup::Replicated).count();
        // The form in the text has the same meaning.
        let Some(devices) = reordered(&self.devices, &self.tiles, &permutation, replicated) else {
            return Ok(ShardingKind::Tiled(self));
        };
        let tiles = array.iter().copied().chain(merged.iter().map(|&(_, size)| size)).collect();
        Ok(ShardingKind::Tiled(Self {
            tiles,
            subgroups: merged.into_iter().map(|(kind, _)| kind).collect(),
            devices,
        }))
    }

    pub(super) fn write(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        f.write_str("devices=[")?;
        write_joined(f, &self.tiles, ",")?;
        f.write_str("]")?;
        match &self.devices {
            DeviceOrder::Iota(order) => write!(f, "<={order}")?,
            DeviceOrder::List(list) => write_joined(f, list, ",")?,
        }
        match &self.subgroups[..] {
            [] => Ok(()),
            [Subgroup::Replicated] => f.write_str(" last_tile_dim_replicate"),
            subgroups => {
                f.write_str(" last_tile_dims={")?;
                for (i, kind) in subgroups.iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { ", " } else { "" }, kind.text())?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Returns the devices of tiles whose dimensions are permuted. Devices along the last `sorted` dimensions,
/// taken together, ascend. Returns `None` if the order does not fit the tiles, or if a described order is too
/// long to list.
fn reordered(
    devices: &DeviceOrder,
    tiles: &[i64],
    permutation: &[usize],
    sorted: usize,
) -> Option<DeviceOrder> {
    let count = product(tiles)?;
    if devices.count() != Some(count) {
        return None;
    }
    let list = match devices {
        DeviceOrder::Iota(order) => match reordered_iota(order, tiles, permutation, sorted) {
            Some(order) => return Some(DeviceOrder::Iota(order)),
            None => &order.expand(MAX_LISTED).ok()?,
        },
        DeviceOrder::List(list) => list,
    };
    if list.is_empty() {
        return Some(devices.clone());
    }
    let mut steps = vec![1usize; tiles.len()];
    for d in (1..tiles.len()).rev() {
        steps[d - 1] = steps[d] * tiles[d] as usize;
    }
    let mut places = vec![0];
    // Linear, because all but a few of the sizes are 1.
    for &d in permutation.iter().filter(|&&d| tiles[d] != 1) {
        places = places
            .iter()
            .flat_map(|at| (0..tiles[d] as usize).map(move |i| (at, i)))
            .map(|(at, i)| at + i * steps[d])
            .collect();
    }
    let mut out: Vec<i64> = places.into_iter().filter_map(|at| list.get(at)).copied().collect();
    let size: i64 = permutation[permutation.len() - sorted..].iter().map(|&d| tiles[d]).product();
    out.chunks_mut(usize::try_from(size).unwrap_or(1).max(1)).for_each(<[i64]>::sort_unstable);
    Some(DeviceOrder::List(out))
}

/// Reorders a described order. This is possible if each dimension of the tiles consists of dimensions of the
/// order.
fn reordered_iota(
    order: &IotaOrder,
    tiles: &[i64],
    permutation: &[usize],
    sorted: usize,
) -> Option<IotaOrder> {
    if order.count() != product(tiles) || order.count() == Some(0) {
        return None;
    }
    let identity: Dims = (0..order.reshape().len() as i64).collect();
    let transpose = if order.is_ascending() { &identity[..] } else { order.transpose() };
    // The dimensions of the order, cut at the boundaries of the tiles' dimensions: (dimension, position among
    // its cuts, size), in the order of the tiles; and the range of cuts of each dimension of the tiles.
    let mut cuts: Vec<(i64, usize, i64)> = Vec::new();
    let mut of_tile: Vec<std::ops::Range<usize>> = Vec::new();
    let mut left = transpose.iter().map(|&d| (d, order.reshape().get(d as usize).copied().unwrap_or(1)));
    let mut current = (0, 1i64);
    let mut place = 0;
    for &tile in tiles {
        let start = cuts.len();
        let mut wanted = tile;
        while wanted > 1 {
            if current.1 == 1 {
                current = left.next()?;
                place = 0;
                continue;
            }
            let size = if current.1 % wanted == 0 {
                wanted
            } else if wanted % current.1 == 0 {
                current.1
            } else {
                return None;
            };
            cuts.push((current.0, place, size));
            place += 1;
            current.1 /= size;
            wanted /= size;
        }
        of_tile.push(start..cuts.len());
    }
    // All cuts in the order of the dimensions before the transposition.
    let mut own: Vec<(i64, usize, i64)> = cuts.clone();
    own.sort_unstable();
    let reshape: Dims = own.iter().map(|c| c.2).collect();
    let position = |cut: &(i64, usize, i64)| own.binary_search(cut).ok().and_then(|i| i64::try_from(i).ok());
    let mut transposed: Vec<i64> = Vec::with_capacity(cuts.len());
    let mut last = 0;
    for (n, &d) in permutation.iter().enumerate() {
        if n == permutation.len() - sorted {
            last = transposed.len();
        }
        for cut in cuts.get(of_tile.get(d)?.clone())? {
            transposed.push(position(cut)?);
        }
    }
    if sorted > 0 {
        transposed[last..].sort_unstable();
    }
    if reshape.is_empty() {
        return Some(IotaOrder::ascending(1));
    }
    IotaOrder::new(&reshape, &transposed).ok()
}
