//! Tile assignments of reshaped arrays.

use hlo_ir::attr::TileAssignment;
use hlo_ir::{Dims, reshape_groups, unravel};
use std::ops::Range;

/// Returns the tile assignments of an array and of its reshaped form, for a reshape that each device applies
/// to its tile. The first is `tiling`, as far as it can be preserved.
pub(super) fn reshaped(
    tiling: &TileAssignment,
    from: &[i64],
    to: &[i64],
) -> Option<(TileAssignment, TileAssignment)> {
    let mut kept: Vec<Option<usize>> = vec![None; from.len()];
    let mut tiles: Dims = Dims::from_elem(1, to.len());
    let mut runs: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for (of, becomes) in reshape_groups(from, to)? {
        let Some((run, new)) = carried(tiling.tiles(), from, to, of, becomes.clone()) else { continue };
        run.clone().for_each(|d| kept[d] = Some(d));
        tiles[becomes.clone()].copy_from_slice(&new);
        runs.push((run, becomes));
    }
    let kept = tiling.select(&kept);
    let place = |tile: Dims| -> Dims {
        let mut out = Dims::from_elem(0, to.len());
        for (run, becomes) in &runs {
            let number = run.clone().fold(0, |n, d| n * kept.tiles()[d] + tile[d]);
            let index = unravel(usize::try_from(number).unwrap_or(0), &tiles[becomes.clone()]);
            out[becomes.clone()].copy_from_slice(&index);
        }
        out
    };
    let places = kept.places().into_iter().map(|p| (place(p.tile), p.group));
    let made = TileAssignment::of_places(&tiles, kept.groups(), places)?;
    Some((kept, made))
}

/// Returns the leading dimensions in `of` whose tiles become tiles of the dimensions in `becomes`, and the
/// numbers of these tiles. Returns `None` if the tiles do not contain the same consecutive elements.
fn carried(
    tiles: &[i64],
    from: &[i64],
    to: &[i64],
    of: Range<usize>,
    becomes: Range<usize>,
) -> Option<(Range<usize>, Dims)> {
    let long = |dims: &[i64], of: Range<usize>| -> Vec<usize> { of.filter(|&d| dims[d] != 1).collect() };
    let mut new = Dims::from_elem(1, becomes.len());
    if let ([a], [b]) = (&long(from, of.clone())[..], &long(to, becomes.clone())[..]) {
        // A single dimension keeps its size, so its last tile may be smaller.
        new[b - becomes.start] = tiles[*a];
        return Some((*a..a + 1, new));
    }
    let (mut count, mut end) = (1, of.start);
    for d in of.clone() {
        if from[d] % tiles[d] != 0 {
            break;
        }
        count *= tiles[d];
        end = d + 1;
        if tiles[d] != from[d] {
            break;
        }
    }
    let mut left = count;
    for d in becomes.clone() {
        if left % to[d] == 0 {
            new[d - becomes.start] = to[d];
            left /= to[d];
        } else if to[d] % left == 0 {
            new[d - becomes.start] = left;
            left = 1;
        }
        if left == 1 {
            return Some((of.start..end, new));
        }
        if new[d - becomes.start] != to[d] {
            return None;
        }
    }
    None
}
