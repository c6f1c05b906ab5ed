//! Computes the horizontal position of each item. The ranks take turns to move to the mean positions of their
//! neighbors, as far as the order and the widths allow. Long edges have the greatest weight, so that they
//! are straight.

use super::{GAP_POINT, GAP_X, Layers};

/// The number of times that all ranks are moved.
const SWEEPS: usize = 40;

/// Returns the middle of each item. The leftmost item begins at 0.
pub(super) fn positions(layers: &Layers) -> Vec<f64> {
    let mut x = vec![0.0; layers.items.len()];
    for layer in &layers.layers {
        for (at, i) in offsets(layers, layer).into_iter().zip(layer) {
            x[*i] = at;
        }
    }
    let count = layers.layers.len();
    for sweep in 0..SWEEPS {
        for n in 0..count {
            let r = if sweep % 2 == 0 { n } else { count - 1 - n };
            // First use one side at a time, which moves whole parts. In the last sweeps use both sides.
            let both = sweep + 8 >= SWEEPS;
            move_rank(layers, &mut x, r, both || sweep % 2 == 0, both || sweep % 2 == 1);
        }
    }
    straighten(layers, &mut x);
    let left = x.iter().zip(&layers.items).map(|(x, i)| x - i.width / 2.0).fold(f64::INFINITY, f64::min);
    if left.is_finite() {
        x.iter_mut().for_each(|x| *x -= left);
    }
    x
}

/// Straightens long edges as far as their neighbors allow, by moving consecutive points to the same
/// position.
fn straighten(layers: &Layers, x: &mut [f64]) {
    let point = |i: usize| layers.items[i].point;
    // The rank of each item, and its index in the rank.
    let mut at = vec![(0, 0); x.len()];
    for (r, layer) in layers.layers.iter().enumerate() {
        for (n, &i) in layer.iter().enumerate() {
            at[i] = (r, n);
        }
    }
    // The range in which an item can move: up to its neighbors in the rank.
    let room = |i: usize, x: &[f64]| {
        let (r, n) = at[i];
        let layer = &layers.layers[r];
        let low = n.checked_sub(1).and_then(|n| layer.get(n)).map(|&o| x[o] + apart(layers, o, i));
        let high = layer.get(n + 1).map(|&o| x[o] - apart(layers, i, o));
        (low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY))
    };
    let below = |i: usize| layers.down[i].iter().copied().find(|&d| point(d));
    let starts = layers.layers.iter().flatten().copied();
    for start in starts.filter(|&i| point(i) && layers.up[i].iter().all(|&u| !point(u))) {
        let mut next = Some(start);
        while next.is_some() {
            // As many points as have a common position.
            let (mut low, mut high, mut sum) = (f64::NEG_INFINITY, f64::INFINITY, 0.0);
            let mut piece = Vec::new();
            while let Some(i) = next {
                let (l, h) = room(i, x);
                if !piece.is_empty() && low.max(l) > high.min(h) {
                    break;
                }
                (low, high) = (low.max(l), high.min(h));
                sum += x[i];
                piece.push(i);
                next = below(i);
            }
            let place = (sum / piece.len() as f64).clamp(low.min(high), high.max(low));
            piece.iter().for_each(|&i| x[i] = place);
        }
    }
}

/// Returns the minimum distance between the middles of two neighbors in a rank.
fn apart(layers: &Layers, left: usize, right: usize) -> f64 {
    let (a, b) = (&layers.items[left], &layers.items[right]);
    let gap = if a.point || b.point { GAP_POINT } else { GAP_X };
    (a.width + b.width) / 2.0 + gap
}

/// Returns the positions of a rank's items if they are as close as possible.
fn offsets(layers: &Layers, layer: &[usize]) -> Vec<f64> {
    let mut at = 0.0;
    let mut previous: Option<usize> = None;
    let mut out = Vec::with_capacity(layer.len());
    for &i in layer {
        if let Some(p) = previous {
            at += apart(layers, p, i);
        }
        out.push(at);
        previous = Some(i);
    }
    out
}

/// Moves the items of a rank to the positions with the shortest edges. It solves least squares under the
/// order constraint by pooling neighbors that would overlap.
fn move_rank(layers: &Layers, x: &mut [f64], rank: usize, above: bool, below: bool) {
    let layer = &layers.layers[rank];
    let offsets = offsets(layers, layer);
    // Blocks of adjacent items: the weight, the mean of the desired start positions, and the number of items.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(layer.len());
    for (&i, &offset) in layer.iter().zip(&offsets) {
        let near = above.then_some(&layers.up[i]).into_iter().chain(below.then_some(&layers.down[i]));
        let (mut weight, mut sum) = (0.0, 0.0);
        for &o in near.flatten() {
            let pull = match (layers.items[i].point, layers.items[o].point) {
                (true, true) => 8.0,
                (true, false) | (false, true) => 2.0,
                (false, false) => 1.0,
            };
            weight += pull;
            sum += pull * x[o];
        }
        let (weight, wish) = if weight > 0.0 { (weight, sum / weight) } else { (0.01, x[i]) };
        let mut block = (weight, wish - offset, 1);
        while let Some(last) = blocks.pop_if(|last| last.1 > block.1) {
            let weight = last.0 + block.0;
            block = (weight, (last.0 * last.1 + block.0 * block.1) / weight, last.2 + block.2);
        }
        blocks.push(block);
    }
    let starts = blocks.iter().flat_map(|&(_, start, count)| std::iter::repeat_n(start, count));
    for ((&i, offset), start) in layer.iter().zip(offsets).zip(starts) {
        x[i] = start + offset;
    }
}
