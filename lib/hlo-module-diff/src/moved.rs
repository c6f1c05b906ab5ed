//! Finds the elements of a sequence that are out of order.

/// Returns for each position whether it is outside a longest increasing subsequence. All positions must be
/// different. Takes O(n log n) time.
pub fn out_of_order(positions: &[usize]) -> Vec<bool> {
    // The last element of the best subsequence of each length, and the predecessor of each element in its
    // subsequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(positions.len());
    for (n, &p) in positions.iter().enumerate() {
        let length = ends.partition_point(|&e| positions.get(e).is_some_and(|&q| q < p));
        before.push(length.checked_sub(1).and_then(|l| ends.get(l).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = n,
            None => ends.push(n),
        }
    }
    let mut moved = vec![true; positions.len()];
    let mut at = ends.last().copied();
    while let Some(n) = at {
        if let Some(m) = moved.get_mut(n) {
            *m = false;
        }
        at = before.get(n).copied().flatten();
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::out_of_order;

    #[test]
    fn the_fewest_are_out_of_order() {
        let moved = |p: &[usize]| -> Vec<usize> {
            out_of_order(p).iter().enumerate().filter(|(_, m)| **m).map(|(n, _)| p[n]).collect()
        };
        assert_eq!(moved(&[0, 1, 2, 3]), []);
        assert_eq!(moved(&[0, 9, 1, 2, 3]), [9]);
        assert_eq!(moved(&[1, 2, 3, 0]), [0]);
        assert_eq!(moved(&[]), []);
    }
}
