//! Indices of the operands of reshapes.

/// Returns the operand's index of a reshape that only adds or removes dimensions of size 1, which keeps the
/// order of the other dimensions. `unit` is the index in dimensions of size 1. Returns `None` for other
/// reshapes.
pub(crate) fn same_order<T: Clone>(from: &[i64], to: &[i64], index: &[T], unit: T) -> Option<Vec<T>> {
    let larger = |dims: &[i64]| (0..dims.len()).filter(|&d| dims[d] != 1).collect::<Vec<usize>>();
    let (kept, real) = (larger(from), larger(to));
    let same = real.iter().map(|&d| to[d]).eq(kept.iter().map(|&d| from[d]));
    let mut inner = vec![unit; from.len()];
    for (&d, &e) in kept.iter().zip(&real) {
        inner[d] = index.get(e)?.clone();
    }
    same.then_some(inner)
}
