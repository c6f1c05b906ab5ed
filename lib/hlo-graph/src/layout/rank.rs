//! Assigns boxes to ranks so that every edge leads from a rank to a later one, and edges are short.

/// The number of times that boxes are moved to shorten their edges.
const ROUNDS: usize = 12;

/// Returns the rank of each box. Edges lead from a box to a later one.
pub fn ranks(boxes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut before, mut after) = (vec![Vec::new(); boxes], vec![Vec::new(); boxes]);
    for &(from, to) in edges {
        after[from].push(to);
        before[to].push(from);
    }
    let mut rank = vec![0usize; boxes];
    for n in 0..boxes {
        rank[n] = before[n].iter().map(|&b| rank[b] + 1).max().unwrap_or(0);
    }
    for _ in 0..ROUNDS {
        let mut moved = false;
        // Move boxes down to their users if that shortens more edges than it lengthens, then up in the same
        // way.
        for n in (0..boxes).rev() {
            if let Some(lowest) = after[n].iter().map(|&a| rank[a] - 1).min()
                && after[n].len() >= before[n].len()
                && lowest != rank[n]
            {
                rank[n] = lowest;
                moved = true;
            }
        }
        for n in 0..boxes {
            if let Some(highest) = before[n].iter().map(|&b| rank[b] + 1).max()
                && before[n].len() > after[n].len()
                && highest != rank[n]
            {
                rank[n] = highest;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    without_gaps(&mut rank);
    rank
}

/// Renumbers the used ranks from 0 without gaps.
fn without_gaps(rank: &mut [usize]) {
    let mut used: Vec<usize> = rank.to_vec();
    used.sort_unstable();
    used.dedup();
    for r in rank {
        *r = used.binary_search(r).unwrap_or(0);
    }
}
