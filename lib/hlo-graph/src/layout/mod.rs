//! The layout of boxes and edges: a layered layout (Sugiyama, Tagawa, Toda 1981).
//!
//! Boxes get ranks so that edges lead down ([`rank`]). An edge over several ranks passes a point in each rank
//! between. All edges from a box share these points. Each rank is ordered so that few edges cross
//! ([`order`]). Then boxes and points move left and right until edges are short and straight ([`position`]).
//!
//! This crate has its own layout although there are libraries. layout-rs 0.1 takes 18 s for 60 boxes and 209
//! edges, the training step of a small transformer, and does not share points among the edges of a box. This
//! layout takes 0.1 s, including reading the file.

pub(crate) mod order;
mod position;
pub(crate) mod rank;

use std::collections::HashMap;

/// The gap between boxes of a rank.
const GAP_X: f64 = 26.0;
/// The gap beside a point of an edge.
const GAP_POINT: f64 = 12.0;
/// The minimum gap between ranks.
const GAP_Y: f64 = 44.0;
/// The distance below the lowest box of a rank at which an edge leaves the space of the rank.
pub(crate) const EDGE_EXIT_DISTANCE: f64 = 2.0;
/// The approximate maximum width of the boxes of a rank. Wider ranks are divided.
const MAX_WIDTH: f64 = 1800.0;
/// The maximum number of points of edges between ranks.
const MAX_POINTS: usize = 200_000;

/// A box or a point of an edge in a rank.
#[derive(Clone, Debug)]
pub struct Item {
    /// The width of the item.
    pub width: f64,
    /// Whether the item is a point of an edge.
    pub point: bool,
}

/// Boxes and points in ranks, and the pieces of edges between adjacent ranks.
pub struct Layers {
    /// The boxes and points.
    pub items: Vec<Item>,
    /// The items of each rank, from left to right.
    pub layers: Vec<Vec<usize>>,
    /// The items of the rank above to which each item is connected.
    pub up: Vec<Vec<usize>>,
    /// The items of the rank below to which each item is connected.
    pub down: Vec<Vec<usize>>,
}

/// The position of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The horizontal middle.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// The lower end of the rank's space, which is the bottom of its highest box.
    pub bottom: f64,
}

/// A layout.
#[derive(Debug)]
pub struct Layout {
    /// The position of each box.
    pub places: Vec<Place>,
    /// The points of each edge, from the lower edge of a box to the upper edge of another.
    pub paths: Vec<Vec<(f64, f64)>>,
    /// The width of the whole layout.
    pub width: f64,
    /// The height of the whole layout.
    pub height: f64,
}

/// Places boxes of these sizes, with edges that each lead from a box to a later one. `reserved` is the width
/// of the label below each box, to one side of the middle.
pub fn lay_out(sizes: &[(f64, f64)], reserved: &[f64], edges: &[(usize, usize)]) -> Layout {
    let ranks = wrapped(&rank::ranks(sizes.len(), edges), |n| item_width(sizes, reserved, n));
    let (mut layers, routes) = layers(sizes, reserved, edges, &ranks);
    order::order(&mut layers);
    let x = position::positions(&layers);
    // The space below a rank grows with the horizontal distance of its edges.
    let heights: Vec<f64> = (0..layers.layers.len())
        .map(|r| {
            let boxes = layers.layers[r].iter().filter(|&&i| i < sizes.len());
            boxes.map(|&i| sizes[i].1).fold(0.0, f64::max)
        })
        .collect();
    let mut tops = Vec::with_capacity(heights.len());
    let mut y = 0.0;
    for (r, height) in heights.iter().enumerate() {
        tops.push(y);
        let turns = layers.layers[r].iter().flat_map(|&i| layers.down[i].iter().map(move |&d| (i, d)));
        let widest = turns.map(|(a, b)| (x[a] - x[b]).abs()).fold(0.0, f64::max);
        y += height + GAP_Y + (widest * 0.06).min(70.0);
    }
    let place = |n: usize| {
        let r = ranks[n];
        Place { x: x[n], y: tops[r], bottom: tops[r] + heights[r] }
    };
    let places: Vec<Place> = (0..sizes.len()).map(place).collect();
    let rank_of_point: HashMap<usize, usize> =
        layers.layers.iter().enumerate().flat_map(|(r, layer)| layer.iter().map(move |&i| (i, r))).collect();
    let mut paths: Vec<Vec<(f64, f64)>> = Vec::with_capacity(edges.len());
    for (&(from, _), route) in edges.iter().zip(&routes) {
        let mut path = vec![(x[from], places[from].y + sizes[from].1)];
        if sizes[from].1 + 0.5 < places[from].bottom - places[from].y {
            path.push((x[from], places[from].bottom + EDGE_EXIT_DISTANCE));
        }
        for &point in route {
            let r = rank_of_point.get(&point).copied().unwrap_or(0);
            path.push((x[point], tops[r]));
            path.push((x[point], tops[r] + heights[r] + EDGE_EXIT_DISTANCE));
        }
        paths.push(path);
    }
    end_at_ports(&mut paths, edges, &places, sizes);
    let width = x.iter().zip(&layers.items).map(|(x, i)| x + i.width / 2.0).fold(0.0, f64::max);
    let height = tops.last().zip(heights.last()).map_or(0.0, |(t, h)| t + h);
    Layout { places, paths, width, height }
}

/// Returns the width of a box in its rank. Its label may be on either side of its middle.
fn item_width(sizes: &[(f64, f64)], reserved: &[f64], n: usize) -> f64 {
    sizes[n].0.max(2.0 * reserved.get(n).copied().unwrap_or(0.0))
}

/// Divides ranks that are too wide for a picture, such as a rank of many parameters. There are no edges
/// between boxes of a rank, so its boxes can use several ranks.
fn wrapped(ranks: &[usize], width: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut boxes: Vec<Vec<usize>> = vec![Vec::new(); ranks.iter().max().map_or(0, |r| r + 1)];
    for (n, &r) in ranks.iter().enumerate() {
        boxes[r].push(n);
    }
    let mut out = vec![0; ranks.len()];
    let mut next = 0;
    for rank in boxes {
        let mut taken = 0.0;
        for n in rank {
            let width = width(n) + GAP_X;
            if taken > 0.0 && taken + width > MAX_WIDTH {
                next += 1;
                taken = 0.0;
            }
            taken += width;
            out[n] = next;
        }
        next += 1;
    }
    out
}

/// Spreads the ends of edges over the upper edge of the box, in the order of their last points.
fn end_at_ports(
    paths: &mut [Vec<(f64, f64)>],
    edges: &[(usize, usize)],
    places: &[Place],
    sizes: &[(f64, f64)],
) {
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); places.len()];
    for (e, &(_, to)) in edges.iter().enumerate() {
        incoming[to].push(e);
    }
    for (to, list) in incoming.iter_mut().enumerate() {
        let last = |e: usize| paths[e].last().map_or(0.0, |p| p.0);
        list.sort_by(|&a, &b| last(a).total_cmp(&last(b)).then(a.cmp(&b)));
        let step = (sizes[to].0 / (list.len() + 1) as f64).min(18.0);
        for (n, &e) in list.iter().enumerate() {
            let offset = (n as f64 - (list.len() - 1) as f64 / 2.0) * step;
            paths[e].push((places[to].x + offset, places[to].y));
        }
    }
}

/// Returns the boxes and the points of long edges in ranks, and the points of each edge.
fn layers(
    sizes: &[(f64, f64)],
    reserved: &[f64],
    edges: &[(usize, usize)],
    ranks: &[usize],
) -> (Layers, Vec<Vec<usize>>) {
    let item = |n: usize| Item { width: item_width(sizes, reserved, n), point: false };
    let mut items: Vec<Item> = (0..sizes.len()).map(item).collect();
    let mut layers: Vec<Vec<usize>> = vec![Vec::new(); ranks.iter().max().map_or(0, |r| r + 1)];
    for (n, &r) in ranks.iter().enumerate() {
        layers[r].push(n);
    }
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    // The point of a box's edges in each rank.
    let mut points: HashMap<(usize, usize), usize> = HashMap::new();
    let mut routes = Vec::with_capacity(edges.len());
    for &(from, to) in edges {
        let mut route = Vec::new();
        let mut above = from;
        for (r, layer) in layers.iter_mut().enumerate().take(ranks[to]).skip(ranks[from] + 1) {
            if points.len() >= MAX_POINTS {
                break;
            }
            let point = *points.entry((from, r)).or_insert_with(|| {
                items.push(Item { width: 1.0, point: true });
                layer.push(items.len() - 1);
                items.len() - 1
            });
            pieces.push((above, point));
            route.push(point);
            above = point;
        }
        // If there would be too many points, the edge is a straight line without points.
        if route.len() + 1 == ranks[to] - ranks[from] {
            pieces.push((above, to));
        }
        routes.push(route);
    }
    pieces.sort_unstable();
    pieces.dedup();
    let (mut up, mut down) = (vec![Vec::new(); items.len()], vec![Vec::new(); items.len()]);
    for (a, b) in pieces {
        down[a].push(b);
        up[b].push(a);
    }
    (Layers { items, layers, up, down }, routes)
}
