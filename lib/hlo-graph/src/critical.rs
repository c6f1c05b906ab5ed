//! The critical path: the chain of dependent boxes that takes the longest time.

use crate::page::{Node, Page};
use hlo_ir::InstrId;

/// Marks the boxes and edges of the critical path. Marks nothing if no instruction takes any time.
pub(crate) fn mark_critical(page: &mut Page, weight: &dyn Fn(InstrId) -> f64) {
    // The weight of a group is the sum over its instructions, as if they all depended on each other.
    let of = |n: &Node| n.instructions.iter().map(|&i| weight(i).max(0.0)).sum();
    let weights: Vec<f64> = page.nodes.iter().map(of).collect();
    let mut incoming: Vec<Vec<usize>> = vec![Vec::new(); page.nodes.len()];
    for (n, edge) in page.edges.iter().enumerate() {
        incoming[edge.to].push(n);
    }
    // The time at which each box is done, and the edge for which it waits.
    let mut done = vec![0.0f64; page.nodes.len()];
    let mut waits: Vec<Option<usize>> = vec![None; page.nodes.len()];
    for to in 0..page.nodes.len() {
        let mut start = -1.0;
        for &e in &incoming[to] {
            let from = page.edges[e].from;
            // Operands come first, so that a box can only depend on boxes before it.
            if from < to && done[from] > start {
                start = done[from];
                waits[to] = Some(e);
            }
        }
        done[to] = start.max(0.0) + weights[to];
    }
    let last = (0..done.len()).fold(None, |best: Option<usize>, n| match best {
        Some(b) if done[b] >= done[n] => Some(b),
        _ => Some(n),
    });
    let mut at = last.filter(|&n| done[n] > 0.0);
    while let Some(n) = at {
        page.nodes[n].critical = true;
        at = waits[n].map(|e| {
            page.edges[e].critical = true;
            page.edges[e].from
        });
    }
}
