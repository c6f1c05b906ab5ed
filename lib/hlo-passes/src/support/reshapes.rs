//! Matches the dimensions of both sides of a reshape.

/// Dimensions before a reshape, and the dimensions after it that index the same elements.
pub type Group = (Vec<usize>, Vec<usize>);

/// Divides the dimensions of both sides of a reshape into the smallest possible groups with equal products of
/// sizes. Dimensions of size 1 are omitted. Returns `None` if a size is less than 1 or there is no such
/// division.
pub fn groups(from: &[i64], to: &[i64]) -> Option<Vec<Group>> {
    let places = |dims: &[i64]| -> Vec<usize> { (0..dims.len()).filter(|&d| dims[d] != 1).collect() };
    if from.iter().chain(to).any(|&size| size < 1) {
        return None;
    }
    let (before, after) = (places(from), places(to));
    let (mut f, mut t) = (before.iter(), after.iter());
    let mut found = Vec::new();
    while let Some(&first) = f.next() {
        let mut group = (vec![first], vec![*t.next()?]);
        let (mut n, mut m) = (from[first], to[group.1[0]]);
        while n != m {
            let (side, at, sizes, list) = if n < m {
                (&mut n, f.next()?, from, &mut group.0)
            } else {
                (&mut m, t.next()?, to, &mut group.1)
            };
            *side = side.checked_mul(sizes[*at])?;
            list.push(*at);
        }
        found.push(group);
    }
    t.next().is_none().then_some(found)
}
