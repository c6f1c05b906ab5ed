//! Orders the items of each rank so that few edges cross. Sweeps down and up sort each rank by the mean
//! positions of the neighbors, and the best order is kept.

use super::Layers;

/// The number of times that all ranks are sorted.
const SWEEPS: usize = 24;
/// The number of sweeps without improvement after which sorting stops.
const MAX_STALLED_SWEEPS: usize = 6;

/// Orders the ranks.
pub fn order(layers: &mut Layers) {
    depth_first(layers);
    let mut place = places(layers);
    let mut best = layers.layers.clone();
    let mut fewest = crossings(layers, &place);
    let mut since = 0;
    for sweep in 0..SWEEPS {
        if fewest == 0 || since >= MAX_STALLED_SWEEPS {
            break;
        }
        let down = sweep % 2 == 0;
        let count = layers.layers.len();
        for n in 0..count {
            let r = if down { n } else { count - 1 - n };
            sort_rank(layers, &mut place, r, down);
        }
        let found = crossings(layers, &place);
        since += 1;
        if found < fewest {
            (fewest, since) = (found, 0);
            best.clone_from(&layers.layers);
        }
    }
    layers.layers = best;
}

/// Sorts each rank in the order of a depth-first walk from the last boxes to their operands, so that
/// connected items are close together.
fn depth_first(layers: &mut Layers) {
    let mut met = vec![usize::MAX; layers.items.len()];
    let mut count = 0;
    let last: Vec<usize> = layers.layers.iter().rev().flatten().copied().collect();
    for start in last {
        let mut stack = vec![start];
        while let Some(i) = stack.pop() {
            if met[i] != usize::MAX {
                continue;
            }
            met[i] = count;
            count += 1;
            stack.extend(layers.up[i].iter().rev());
        }
    }
    for layer in &mut layers.layers {
        layer.sort_by_key(|&i| met[i]);
    }
}

/// Returns the position of each item in its rank.
pub fn places(layers: &Layers) -> Vec<usize> {
    let mut place = vec![0; layers.items.len()];
    for layer in &layers.layers {
        for (n, &i) in layer.iter().enumerate() {
            place[i] = n;
        }
    }
    place
}

/// Sorts a rank by the mean positions of the neighbors above (`down`) or below. Items without neighbors
/// keep their positions.
fn sort_rank(layers: &mut Layers, place: &mut [usize], rank: usize, down: bool) {
    let near = if down { &layers.up } else { &layers.down };
    let layer = &mut layers.layers[rank];
    let mean = |i: usize| {
        let n = near[i].len();
        (n > 0).then(|| near[i].iter().map(|&o| place[o] as f64).sum::<f64>() / n as f64)
    };
    let mut movable: Vec<(f64, usize)> = layer.iter().filter_map(|&i| Some((mean(i)?, i))).collect();
    movable.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sorted = movable.into_iter();
    let mut fixed = vec![false; layer.len()];
    for (slot, &i) in fixed.iter_mut().zip(layer.iter()) {
        *slot = near[i].is_empty();
    }
    for (slot, fixed) in layer.iter_mut().zip(fixed) {
        if !fixed && let Some((_, i)) = sorted.next() {
            *slot = i;
        }
    }
    for (n, &i) in layer.iter().enumerate() {
        place[i] = n;
    }
}

/// Returns the number of crossings between adjacent ranks.
pub fn crossings(layers: &Layers, place: &[usize]) -> u64 {
    layers.layers.windows(2).map(|pair| crossings_between(layers, place, &pair[0], pair[1].len())).sum()
}

/// Counts crossings with a tree of sums over the lower rank. Two edges cross if their ends are in the
/// opposite order.
fn crossings_between(layers: &Layers, place: &[usize], upper: &[usize], lower: usize) -> u64 {
    let mut tree = vec![0u64; lower + 1];
    let (mut count, mut seen) = (0u64, 0u64);
    for &i in upper {
        let mut ends: Vec<usize> = layers.down[i].iter().map(|&d| place[d]).collect();
        ends.sort_unstable();
        // The edges of one item do not cross each other.
        for &end in &ends {
            let mut at = end + 1;
            let mut left = 0;
            while at > 0 {
                left += tree[at];
                at &= at - 1;
            }
            count += seen - left;
        }
        for &end in &ends {
            let mut at = end + 1;
            while at <= lower {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
        seen += ends.len() as u64;
    }
    count
}
