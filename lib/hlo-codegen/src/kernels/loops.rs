//! Loop nests over the elements of a result.

use super::body::{Body, array};
use super::breaks;
use super::element::ElementCx;
use super::index::{self, Idx};
use crate::builder::V;
use hlo_ir::{ArrayShape, InstrId, Op};

/// A loop nest: the dimensions from the slowest to the fastest varying one, the first `split` of which make up the
/// iterations that threads share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopPlan {
    /// The number of iterations.
    pub iterations: i64,
    /// True if all elements are one loop over linear positions.
    pub flat: bool,
    dims: Vec<i64>,
    order: Vec<usize>,
    split: usize,
    /// True if the nest is over the results' own index.
    of_results: bool,
}

/// So many iterations are enough to share among threads.
const ENOUGH_ITERATIONS: i64 = 512;

impl LoopPlan {
    /// The nest over a shape, in memory order.
    pub fn of_shape(shape: &ArrayShape) -> Self {
        let order: Vec<usize> =
            shape.minor_to_major().into_iter().rev().filter(|&d| shape.dims[d] != 1).collect();
        let mut split = 0;
        let mut iterations = 1i64;
        while split < order.len() && iterations < ENOUGH_ITERATIONS {
            let last = split + 1 == order.len();
            // The innermost loop stays whole, so that it is vectorised, unless there is nothing else to share.
            if last && split > 0 {
                break;
            }
            iterations *= shape.dims[order[split]];
            split += 1;
        }
        if shape.dims.contains(&0) {
            iterations = 0;
        }
        Self { iterations, flat: false, dims: shape.dims.to_vec(), order, split, of_results: false }
    }

    /// The nest over the results of a kernel, which have the same dimensions.
    pub fn of_body(body: &Body<'_>) -> Result<Self, String> {
        let root = body.roots[0].0;
        let leaves = body.module[root].shape.leaves();
        let shape = leaves.first().and_then(|s| s.as_array()).ok_or("a kernel without an array result")?;
        if body.is_flat() {
            let n = shape.element_count() as i64;
            let dims = vec![n];
            return Ok(Self { iterations: n, flat: true, dims, order: vec![0], split: 1, of_results: true });
        }
        Ok(Self { of_results: true, ..Self::of_shape(shape) })
    }

    /// Emits the nest for iterations `begin..end`; `body` gets the index of each element.
    pub fn emit<'c>(
        &self,
        cx: &ElementCx<'_, 'c>,
        begin: V<'c>,
        end: V<'c>,
        body: &mut dyn FnMut(&[Idx<'c>]) -> Result<(), String>,
    ) -> Result<(), String> {
        let b = cx.b;
        let mut error = None;
        b.for_loop(begin, end, 1, |i| {
            let mut index = vec![Idx::constant(0); self.dims.len()];
            let position = Idx::value(i, 0, self.iterations.max(1) - 1);
            let sizes: Vec<i64> = self.order[..self.split].iter().map(|&d| self.dims[d]).collect();
            let minor: Vec<usize> = (0..sizes.len()).rev().collect();
            for (k, part) in index::delinearize(b, position, &sizes, &minor).into_iter().enumerate() {
                index[self.order[k]] = part;
            }
            error = cx.scoped(|| self.inner(cx, self.split, &mut index, body)).err();
        });
        error.map_or(Ok(()), Err)
    }

    fn inner<'c>(
        &self,
        cx: &ElementCx<'_, 'c>,
        level: usize,
        index: &mut Vec<Idx<'c>>,
        body: &mut dyn FnMut(&[Idx<'c>]) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(&d) = self.order.get(level) else { return body(index) };
        let b = cx.b;
        let mut error = None;
        let mut from = 0;
        let innermost = level + 1 == self.order.len();
        // Tests on the other loops' indices are moved out of the innermost loop by LLVM.
        let pieces = if innermost && self.of_results {
            breaks::of(cx.body, d, self.dims[d])
        } else {
            vec![self.dims[d]]
        };
        for to in pieces {
            let (lower, upper) = (b.index(from), b.index(to));
            b.for_loop(lower, upper, 1, |i| {
                index[d] = Idx::value(i, from, to - 1);
                error = error.take().or(cx.scoped(|| self.inner(cx, level + 1, index, body)).err());
            });
            from = to;
        }
        error.map_or(Ok(()), Err)
    }
}

/// Emits a kernel whose results have the same dimensions.
pub fn emit<'c>(cx: &ElementCx<'_, 'c>, plan: &LoopPlan, begin: V<'c>, end: V<'c>) -> Result<(), String> {
    plan.emit(cx, begin, end, &mut |index| {
        // All elements are computed before any is stored: a result may share its buffer with an operand.
        let mut values = Vec::new();
        let mut seen: Option<InstrId> = None;
        for &(root, _) in &cx.body.roots {
            if seen == Some(root) {
                continue;
            }
            seen = Some(root);
            for (leaf, value) in cx.results(root, index)?.into_iter().enumerate() {
                values.push((root, leaf, value));
            }
        }
        for (&(root, slot), (_, leaf, value)) in cx.body.roots.iter().zip(values) {
            let leaves = cx.body.module[root].shape.leaves();
            let shape = leaves[leaf].as_array().ok_or("a result that is not an array")?;
            let at = cx.position(shape, index);
            crate::elem::store(cx.b, shape.element_type, cx.buffer(slot), at, value);
        }
        Ok(())
    })
}

/// Emits a dynamic-update-slice in place: only the elements of the update are written.
pub fn emit_update<'c>(
    cx: &ElementCx<'_, 'c>,
    root: InstrId,
    slot: usize,
    begin: V<'c>,
    end: V<'c>,
) -> Result<(), String> {
    let module = cx.body.module;
    let Op::DynamicUpdateSlice = &module[root].op else { return Err("not a dynamic-update-slice".into()) };
    let (operand, update) = (module[root].operands[0], module[root].operands[1]);
    let (whole, window) = (array(module, operand)?, array(module, update)?);
    let starts = cx.dynamic_starts(root, 2, whole, window)?;
    LoopPlan::of_shape(window).emit(cx, begin, end, &mut |index| {
        let value = cx.value(update, index)?;
        let target: Vec<Idx<'c>> = index.iter().zip(&starts).map(|(i, s)| s.add(cx.b, *i)).collect();
        cx.store(root, slot, &target, value)
    })
}
