//! Expansion of `scatter` to a loop over the elements of the updates.

use super::{combine_all, count, read_all, states};
use crate::support::expander::Emitter;
use crate::support::loops::INDEX_TYPE;
use hlo_ir::attr::{ComparisonDirection, ScatterAttrs};
use hlo_ir::build::Build;
use hlo_ir::{Dims, ElementType, InstrId, Op, Shape};

/// A scatter that is being expanded.
struct Scatter<'a> {
    attrs: &'a ScatterAttrs,
    /// The sizes of the operands.
    dims: Dims,
    updates: Dims,
}

/// Expands a `scatter` (XLA's operation semantics, "Scatter"). The loop's state contains the indices, the
/// updates and the results.
pub(in crate::expansion) fn scatter(
    e: &mut Emitter<'_>,
    id: InstrId,
    attrs: &ScatterAttrs,
) -> Option<InstrId> {
    let operands = e.module[id].operands.to_vec();
    let n = operands.len() / 2;
    let (made, kept) = operands.split_at(n);
    let s = Scatter { attrs, dims: e.array(*made.first()?)?.dims, updates: e.array(*operands.last()?)?.dims };
    let steps = count(&s.updates)?;
    if steps == 0 || s.dims.contains(&0) {
        return e.results(made);
    }
    let state = [kept, made].concat();
    let last = e.counted_loop("scatter", steps, &state, |e, i, state| {
        let (kept, made, _) = states(state, n + 1, n)?;
        let (&indices, updates) = kept.split_first()?;
        let at = e.unravel(i, &s.updates)?;
        let (target, inside) = s.target(e, indices, &at)?;
        let update = read_all(e, updates, &at)?;
        let made = combine_all(e, attrs.to_apply, made, &target, &update, inside)?;
        Some([kept, &made].concat())
    })?;
    e.results(&last[n + 1..])
}

impl Scatter<'_> {
    /// Returns the operand index of the update element at `at`, and whether its whole window is in bounds.
    fn target(
        &self,
        e: &mut Emitter<'_>,
        indices: InstrId,
        at: &[InstrId],
    ) -> Option<(Vec<InstrId>, InstrId)> {
        let a = self.attrs;
        let has = |list: &Dims, d: usize| list.contains(&(d as i64));
        let batch: Vec<InstrId> =
            (0..at.len()).filter(|&d| !has(&a.update_window_dims, d)).map(|d| at[d]).collect();
        let zero = e.index(0)?;
        let mut target = vec![zero; self.dims.len()];
        let mut window = vec![1; self.dims.len()];
        let offsets = (0..self.dims.len())
            .filter(|&d| !has(&a.inserted_window_dims, d) && !has(&a.input_batching_dims, d));
        for (d, &u) in offsets.zip(&a.update_window_dims) {
            let u = usize::try_from(u).ok()?;
            (target[d], window[d]) = (*at.get(u)?, *self.updates.get(u)?);
        }
        let vector = usize::try_from(a.index_vector_dim).ok()?;
        for (&o, &i) in a.input_batching_dims.iter().zip(&a.scatter_indices_batching_dims) {
            // The batch index has no component for the dimension of the index vectors.
            let i = usize::try_from(i).ok()?;
            let position = if i > vector { i - 1 } else { i };
            *target.get_mut(usize::try_from(o).ok()?)? = *batch.get(position)?;
        }
        let mut inside = e.scalar(ElementType::Pred, &[1])?;
        let rank = e.array(indices)?.rank();
        for (k, &d) in a.scatter_dims_to_operand_dims.iter().enumerate() {
            let d = usize::try_from(d).ok()?;
            let mut index = batch.clone();
            if vector < rank {
                let component = e.index(k as i64)?;
                index.insert(vector.min(index.len()), component);
            }
            let start = e.read(indices, &index)?;
            let wide = match e.array(start)?.element_type {
                INDEX_TYPE => start,
                _ => e.add(Shape::scalar(INDEX_TYPE), Op::Convert, &[start]),
            };
            let limit = e.index(self.dims.get(d)? - window.get(d)?)?;
            for test in [
                e.compare(wide, ComparisonDirection::Ge, zero),
                e.compare(wide, ComparisonDirection::Le, limit),
            ] {
                inside = e.same(Op::And, &[inside, test]);
            }
            target[d] = e.same(Op::Add, &[target[d], wide]);
        }
        Some((target, inside))
    }
}
