//! What a reshape does to dimensions.

/// Dimensions before a reshape, and those after it that have the same elements.
pub(crate) type Group = (Vec<usize>, Vec<usize>);

/// The dimensions of both sides of a reshape in groups, as few in each as there can be, without those of size 1. Each
/// product of sizes is one of elements that there are.
pub(crate) fn groups(from: &[i64], to: &[i64]) -> Option<Vec<Group>> {
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
