//! Where in its rank each item stands: in turn each rank moves to the means of its neighbours' places, as far as the order
//! and the widths let it. Long lines pull hardest, so that they are straight.

use super::{GAP_POINT, GAP_X, Layers};

/// How often all ranks are moved.
const SWEEPS: usize = 40;

/// The middle of each item; the leftmost item begins at 0.
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
            // First by one side each, which moves whole parts; at the end by both.
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

/// Makes long lines straight as far as what stands beside them lets it: pieces of them come to the same place.
fn straighten(layers: &Layers, x: &mut [f64]) {
    let point = |i: usize| layers.items[i].point;
    // The rank of each item and its place in it.
    let mut at = vec![(0, 0); x.len()];
    for (r, layer) in layers.layers.iter().enumerate() {
        for (n, &i) in layer.iter().enumerate() {
            at[i] = (r, n);
        }
    }
    // How far an item can move: up to its neighbours in the rank.
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
            // As many points as have a place in common.
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

/// How far apart the middles of two neighbours of a rank are at least.
fn apart(layers: &Layers, left: usize, right: usize) -> f64 {
    let (a, b) = (&layers.items[left], &layers.items[right]);
    let gap = if a.point || b.point { GAP_POINT } else { GAP_X };
    (a.width + b.width) / 2.0 + gap
}

/// The places of a rank's items if they stand as close as they may.
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

/// Moves a rank to where its lines are shortest: least squares under the order, by pooling neighbours that would overlap.
fn move_rank(layers: &Layers, x: &mut [f64], rank: usize, above: bool, below: bool) {
    let layer = &layers.layers[rank];
    let offsets = offsets(layers, layer);
    // Blocks that stand together: the weight and the mean of where they want to begin, and their number of items.
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
