//! Cycles of a graph, and their text form.

/// Formats a cycle, such as `a → b → a`. Long cycles are shortened.
pub(super) fn path<'n>(names: impl ExactSizeIterator<Item = &'n str> + Clone) -> String {
    const MAX_LISTED_NAMES: usize = 8;
    let first = names.clone().take(1);
    let mut parts: Vec<&str> = names.clone().take(MAX_LISTED_NAMES).collect();
    if names.len() > MAX_LISTED_NAMES {
        parts.push("…");
    }
    parts.extend(first);
    parts.join(" → ")
}

/// Returns the cycles that a depth-first walk finds: one for each edge back to a node on the current path.
/// There is at least one if and only if the graph has a cycle. The nodes of a cycle are in the direction of
/// the edges.
pub(super) fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: u8 = 0;
    const ON_PATH: u8 = 1;
    const DONE: u8 = 2;
    let mut state = vec![NEW; edges.len()];
    let mut out = Vec::new();
    for start in 0..edges.len() {
        if state[start] != NEW {
            continue;
        }
        state[start] = ON_PATH;
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some(top) = path.last_mut() {
            let (node, next) = *top;
            top.1 += 1;
            match edges[node].get(next) {
                None => {
                    state[node] = DONE;
                    path.pop();
                }
                Some(&to) if state[to] == NEW => {
                    state[to] = ON_PATH;
                    path.push((to, 0));
                }
                Some(&to) if state[to] == ON_PATH => {
                    let from = path.iter().rposition(|&(n, _)| n == to).unwrap_or(0);
                    out.push(path[from..].iter().map(|&(n, _)| n).collect());
                    // A limited number of reports is sufficient in a graph with many cycles, and keeps the
                    // walk linear.
                    if out.len() >= 16 {
                        return out;
                    }
                }
                Some(_) => {}
            }
        }
    }
    out
}
