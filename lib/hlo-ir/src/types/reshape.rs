//! The sizes of dynamic dimensions after a `reshape`.

use crate::ArrayShape;
use std::ops::Range;

/// The size of a dimension of a reshape's result at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReshapedSize {
    /// The bound of the dimension.
    Bound,
    /// The size of this dimension of the operand.
    Same(usize),
    /// The number of elements in dimensions `of` of the operand, divided by `by`.
    Quotient {
        /// The dimensions of the operand.
        of: Range<usize>,
        /// The dimensions of the result that they are reshaped to.
        into: Range<usize>,
        /// The number of elements in the other dimensions of `into`.
        by: i64,
    },
}

/// Returns the run-time sizes of the dimensions of `to` if `from` is reshaped to it. `dynamic` marks the
/// dimensions of `from` that may be smaller than their bounds.
///
/// A dynamic dimension of the operand becomes one dimension of the result, or belongs to a group of
/// dimensions that are split or merged. In such a group, one dimension of the result has the remaining size:
/// the only dynamic one; if there are several or none, `inferred`; or else the only one.
///
/// # Errors
/// A message, if this dimension cannot be determined.
pub fn reshaped_sizes(
    from: &ArrayShape,
    dynamic: &[bool],
    to: &ArrayShape,
    inferred: Option<i64>,
) -> Result<Vec<ReshapedSize>, String> {
    if !dynamic.contains(&true) || from.dims.contains(&0) {
        return Ok(vec![ReshapedSize::Bound; to.rank()]);
    }
    // Dimensions of size 1 can belong to any group. The first attempt ignores static dimensions of size 1.
    let is_dynamic = |d: usize| dynamic.get(d).copied().unwrap_or(false);
    let kept_from = (0..from.rank()).filter(|&d| from.dims[d] != 1 || is_dynamic(d)).collect();
    let kept_to = (0..to.rank()).filter(|&d| to.dims[d] != 1 || to.is_dynamic_dim(d)).collect();
    sizes_of(from, dynamic, to, inferred, [kept_from, kept_to])
        .or_else(|| {
            sizes_of(from, dynamic, to, inferred, [(0..from.rank()).collect(), (0..to.rank()).collect()])
        })
        .ok_or_else(|| {
            format!(
                "a reshape of {from} to {to} does not say which dimensions have the sizes known at run time"
            )
        })
}

/// As [`reshaped_sizes`], using only these dimensions on both sides. The others have size 1.
fn sizes_of(
    from: &ArrayShape,
    dynamic: &[bool],
    to: &ArrayShape,
    inferred: Option<i64>,
    [some_from, some_to]: [Vec<usize>; 2],
) -> Option<Vec<ReshapedSize>> {
    let mut sizes = vec![ReshapedSize::Bound; to.rank()];
    let bounds = |dims: &[i64], which: &[usize]| which.iter().map(|&d| dims[d]).collect::<Vec<_>>();
    let is_dynamic = |d: usize| dynamic.get(d).copied().unwrap_or(false);
    // The range from the first to the last of these dimensions, including those between them.
    let whole = |which: &[usize], range: Range<usize>| match (
        which.get(range.start),
        which.get(range.end.wrapping_sub(1)),
    ) {
        (Some(&first), Some(&last)) if !range.is_empty() => first..last + 1,
        _ => 0..0,
    };
    for (of, becomes) in reshape_groups(&bounds(&from.dims, &some_from), &bounds(&to.dims, &some_to))? {
        let (of, becomes) = (whole(&some_from, of), whole(&some_to, becomes));
        if !of.clone().any(is_dynamic) {
            continue;
        }
        let kept_from: Vec<usize> = of.clone().filter(|&d| from.dims[d] != 1 || is_dynamic(d)).collect();
        let kept_to: Vec<usize> =
            becomes.clone().filter(|&d| to.dims[d] != 1 || to.is_dynamic_dim(d)).collect();
        if bounds(&from.dims, &kept_from) == bounds(&to.dims, &kept_to) {
            for (&a, &b) in kept_from.iter().zip(&kept_to).filter(|&(&a, _)| is_dynamic(a)) {
                sizes[b] = ReshapedSize::Same(a);
            }
            continue;
        }
        let marked: Vec<usize> = becomes.clone().filter(|&d| to.is_dynamic_dim(d)).collect();
        let named = inferred.and_then(|d| usize::try_from(d).ok()).filter(|d| becomes.contains(d));
        let rest = match (&marked[..], named, &kept_to[..]) {
            (&[only], _, _) | (_, Some(only), _) | (&[], None, &[only]) => only,
            (&[], None, &[]) if becomes.len() == 1 => becomes.start,
            _ => return None,
        };
        let by = becomes.clone().filter(|&d| d != rest).map(|d| to.dims[d]).product();
        sizes[rest] = ReshapedSize::Quotient { of, into: becomes, by };
    }
    Some(sizes)
}

/// Returns the groups of dimensions that a reshape splits or merges, with their result dimensions: the
/// shortest ranges with equal numbers of elements. Returns `None` if the numbers of elements differ or one is
/// 0.
pub fn reshape_groups(from: &[i64], to: &[i64]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut groups: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        let (start_i, start_j) = (i, j);
        let (mut a, mut b) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while a != b {
            let (product, dims, at) = if a < b { (&mut a, from, &mut i) } else { (&mut b, to, &mut j) };
            *product = product.checked_mul(*dims.get(*at)?).filter(|&p| p > 0)?;
            *at += 1;
        }
        groups.push((start_i..i, start_j..j));
    }
    // The remaining dimensions on one side have size 1.
    if from[i..].iter().chain(&to[j..]).any(|&d| d != 1) {
        return None;
    }
    match groups.last_mut() {
        Some((of, becomes)) => (of.end, becomes.end) = (from.len(), to.len()),
        None => groups.push((0..from.len(), 0..to.len())),
    }
    Some(groups)
}
