//! Finds the steps that convert one sharding to another, and the number of bytes that they move.
//!
//! Each step is one collective or a slice, and leads to another sharding of the complete value. Every order
//! of steps is therefore correct. The search is greedy: first steps that cost nothing and make tiles smaller,
//! then moves between dimensions, then steps that make tiles larger.

use hlo_ir::Dims;
use hlo_ir::attr::{Place, TileAssignment};

/// A step from one sharding to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Each device slices its new tile from its current tile.
    Slice,
    /// Groups of `count` devices gather their adjacent tiles along a dimension.
    Gather { dim: usize, count: i64 },
    /// Groups of `count` devices gather their adjacent tiles along `from`, but each receives only a part
    /// along `to`.
    Exchange { from: usize, to: usize, count: i64 },
    /// Devices send their tiles to other devices.
    Permute,
}

/// The steps from one sharding to another, each with the sharding that it leads to.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<(Step, TileAssignment)>,
    /// Number of elements that a device receives.
    pub(super) cost: f64,
}

/// Maximum number of steps. Shardings of few dimensions need fewer.
const MAX_STEPS: usize = 24;

/// Returns the steps that convert an array with these sizes from one sharding to another.
pub(super) fn plan(from: &TileAssignment, to: &TileAssignment, dims: &[i64]) -> Plan {
    let mut plan = Plan::default();
    let mut at = regrouped(from, to);
    while at != *to {
        let step = if plan.steps.len() < MAX_STEPS { Search::new(&at, to, dims).next() } else { None };
        let Some((step, next)) = step.or_else(|| Search::new(&at, to, dims).whole()) else { break };
        plan.cost += elements_received(&step, &at, &next, dims);
        plan.steps.push((step, next.clone()));
        at = next;
    }
    plan
}

/// Returns the sharding with the groups of another one. A value that is equal on all devices is equal in each
/// group, and a manual region may treat its own values as equal.
fn regrouped(from: &TileAssignment, to: &TileAssignment) -> TileAssignment {
    let (places, others) = (from.places(), to.places());
    if from.groups() == to.groups() && places.iter().zip(&others).all(|(a, b)| a.group == b.group) {
        return from.clone();
    }
    let paired = places.into_iter().zip(others).map(|(a, b)| (a.tile, b.group));
    TileAssignment::of_places(from.tiles(), to.groups(), paired).unwrap_or_else(|| to.whole(from.rank()))
}

/// Returns the number of elements in the largest tile.
pub(super) fn shard_elements(tiling: &TileAssignment, dims: &[i64]) -> f64 {
    tiling.shard(dims).iter().map(|&n| n as f64).product()
}

fn elements_received(step: &Step, at: &TileAssignment, next: &TileAssignment, dims: &[i64]) -> f64 {
    let others = |count: i64| (count - 1) as f64 / count as f64;
    match *step {
        Step::Slice => 0.0,
        Step::Gather { count, .. } => shard_elements(at, dims) * (count - 1) as f64,
        Step::Exchange { count, .. } => shard_elements(at, dims) * others(count),
        Step::Permute => {
            let moved = at.places().iter().zip(&next.places()).filter(|(a, b)| a.tile != b.tile).count();
            shard_elements(at, dims) * moved as f64 / at.device_count() as f64
        }
    }
}

/// The search for the next step.
struct Search<'a> {
    at: &'a TileAssignment,
    to: &'a TileAssignment,
    dims: &'a [i64],
    places: Vec<Place>,
    wanted: Vec<Place>,
}

impl<'a> Search<'a> {
    fn new(at: &'a TileAssignment, to: &'a TileAssignment, dims: &'a [i64]) -> Self {
        Self { at, to, dims, places: at.places(), wanted: to.places() }
    }

    fn rank(&self) -> usize {
        self.at.rank()
    }

    /// Returns the assignment with other tiles.
    fn changed(&self, tiles: &[i64], tile: impl Fn(usize, &Place) -> Dims) -> Option<TileAssignment> {
        let places = self.places.iter().enumerate().map(|(device, p)| (tile(device, p), p.group));
        TileAssignment::of_places(tiles, self.at.groups(), places)
    }

    fn next(&self) -> Option<(Step, TileAssignment)> {
        self.slice()
            .map(|to| (Step::Slice, to))
            .or_else(|| self.permute().map(|to| (Step::Permute, to)))
            .or_else(|| self.exchange())
            .or_else(|| self.gather())
            .or_else(|| self.coarser().map(|to| (Step::Permute, to)))
    }

    /// Returns whether `count` adjacent tiles form exactly one tile when the dimension has `tiles` tiles.
    fn fits(&self, d: usize, tiles: i64, count: i64) -> bool {
        let shard = |tiles: i64| (self.dims[d] + tiles - 1) / tiles;
        tiles == 1 || shard(tiles) == shard(tiles * count) * count
    }

    /// Splits dimensions further, if each device has the elements that it will need.
    fn slice(&self) -> Option<TileAssignment> {
        let mut tiles: Dims = self.at.tiles().into();
        let mut tile: Vec<Dims> = self.places.iter().map(|p| p.tile.clone()).collect();
        let mut found = None;
        for d in 0..self.rank() {
            let (have, want) = (tiles[d], self.to.tiles()[d]);
            if want <= have || want % have != 0 {
                continue;
            }
            let by = want / have;
            let held = |&(n, t): &(i64, &Dims)| n / by == t[d];
            if !self.wanted.iter().map(|w| w.tile[d]).zip(&tile).all(|pair| held(&pair)) {
                continue;
            }
            let divisors = (2..=by).rev().filter(|k| by % k == 0 && self.fits(d, have, *k));
            for count in divisors {
                let (mut new_tiles, mut new_tile) = (tiles.clone(), tile.clone());
                new_tiles[d] = have * count;
                new_tile.iter_mut().zip(&self.wanted).for_each(|(t, w)| t[d] = w.tile[d] / (by / count));
                if let Some(next) = self.changed(&new_tiles, |device, _| new_tile[device].clone()) {
                    (tiles, tile, found) = (new_tiles, new_tile, Some(next));
                    break;
                }
            }
        }
        found
    }

    /// Returns the same tiles on other devices.
    fn permute(&self) -> Option<TileAssignment> {
        (self.at.tiles() == self.to.tiles()).then(|| self.to.clone())
    }

    /// Moves a split from one dimension to another.
    fn exchange(&self) -> Option<(Step, TileAssignment)> {
        let (have, want) = (self.at.tiles(), self.to.tiles());
        for from in (0..self.rank()).filter(|&d| have[d] > want[d]) {
            for to in (0..self.rank()).filter(|&d| want[d] > have[d] && want[d] % have[d] == 0) {
                let (surplus, missing) = (have[from] / want[from], want[to] / have[to]);
                let counts = (2..=surplus.min(missing)).rev();
                let possible = |&k: &i64| {
                    have[from] % k == 0
                        && missing % k == 0
                        && self.fits(from, have[from] / k, k)
                        && self.fits(to, have[to], k)
                };
                for count in counts.filter(possible) {
                    let mut tiles: Dims = have.into();
                    tiles[from] /= count;
                    tiles[to] *= count;
                    let next = self.changed(&tiles, |_, p| {
                        let mut tile = p.tile.clone();
                        tile[to] = tile[to] * count + tile[from] % count;
                        tile[from] /= count;
                        tile
                    });
                    if let Some(next) = next {
                        return Some((Step::Exchange { from, to, count }, next));
                    }
                }
            }
        }
        None
    }

    /// Gathers a dimension that must be split less or not at all.
    fn gather(&self) -> Option<(Step, TileAssignment)> {
        let (have, want) = (self.at.tiles(), self.to.tiles());
        let d = (0..self.rank()).find(|&d| have[d] > want[d])?;
        let by = have[d] / want[d];
        let part = have[d] % want[d] == 0 && self.fits(d, want[d], by);
        self.gathered(d, if part { by } else { have[d] })
    }

    fn gathered(&self, dim: usize, count: i64) -> Option<(Step, TileAssignment)> {
        let mut tiles: Dims = self.at.tiles().into();
        tiles[dim] /= count;
        let next = self.changed(&tiles, |_, p| {
            let mut tile = p.tile.clone();
            tile[dim] /= count;
            tile
        })?;
        Some((Step::Gather { dim, count }, next))
    }

    /// Moves each tile to the devices that will slice their new tiles from it.
    fn coarser(&self) -> Option<TileAssignment> {
        let (have, want) = (self.at.tiles(), self.to.tiles());
        let by: Vec<i64> =
            have.iter().zip(want).map(|(&h, &w)| (w % h == 0).then(|| w / h)).collect::<Option<_>>()?;
        if !(0..self.rank()).all(|d| by[d] == 1 || self.fits(d, have[d], by[d])) {
            return None;
        }
        let next = self.changed(have, |device, _| {
            self.wanted[device].tile.iter().zip(&by).map(|(t, by)| t / by).collect()
        })?;
        (next != *self.at).then_some(next)
    }

    /// Gathers all tiles of a dimension. If no dimension is split, slices the new tiles from the whole array.
    fn whole(&self) -> Option<(Step, TileAssignment)> {
        match (0..self.rank()).find(|&d| self.at.tiles()[d] > 1) {
            Some(d) => self.gathered(d, self.at.tiles()[d]),
            None => Some((Step::Slice, self.to.clone())),
        }
    }
}
