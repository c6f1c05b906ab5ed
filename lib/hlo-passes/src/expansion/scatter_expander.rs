//! `scatter_expander`: converts each `scatter` to a loop over its index vectors, or to a single update.
//!
//! ```text
//! scatter(x, indices, updates), to_apply=f  →  i = 0
//!                                              while i < n {
//!                                                x[indices[i]] = f(x[indices[i]], updates[i]), if the whole window is inside
//!                                                i = i + 1
//!                                              }
//! ```
//!
//! The updates are combined in the same order as in the interpreter. If windows may overlap and are not
//! contiguous in the updates, this is not the order of the index vectors. The loop then visits single
//! elements. With `mode=simple`, the pass only expands scatters with a single index vector, which need no
//! loop. In the loop, sums and products of narrow floats are kept in `f32` (`accumulation_upcaster`). A
//! scatter is not expanded if its computation has side effects or uses random numbers.

use super::accumulation_upcaster::upcast;
use super::applied_computation_expander::scatter_by_elements;
use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::combiner::{binary_combiner, returns_parameter};
use crate::support::effects::is_impure;
use crate::support::expander::{Emitter, expand_all};
use crate::support::index_vectors::{IndexVectors, VectorDims};
use hlo_ir::attr::{ComparisonDirection, MapAttrs, ScatterAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, InstrId, Module, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "scatter_expander",
    summary: "replace scatters by loops of updates, or by one update for a single index vector",
    options: &[OptionInfo {
        name: "mode",
        summary: "whether to expand all scatters, or only those with one index vector",
        default: OptionValue::Choice { word: "all", of: &["all", "simple"] },
    }],
    example: "\
HloModule scatter_expander

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[8,3] parameter(0)
  i = s32[1] parameter(1)
  u = f32[3] parameter(2)
  ROOT s = f32[8,3] scatter(x, i, u), update_window_dims={0}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add
}
",
    build: |_, options| {
        let simple = options.choice("mode") == "simple";
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            let wanted = |op: &Op| matches!(op, Op::Scatter(_));
            // Without this, a loop would round the accumulators at each step.
            let upcast = !simple && upcast(module, wanted, rewrites);
            Ok(expand_all(module, "scatter", wanted, |e, id| expand(e, id, simple), rewrites) | upcast)
        })
    },
    ..PassInfo::PLAIN
};

/// A scatter that is being expanded.
struct Scatter<'a> {
    attrs: &'a ScatterAttrs,
    vectors: IndexVectors,
    /// The sizes of the operands.
    dims: Dims,
    /// The sizes of a window in the dimensions of the operands.
    window: Vec<i64>,
    part: Vec<i64>,
    /// The dimensions of the updates that enumerate the windows.
    batch_dims: Vec<usize>,
}

fn expand(e: &mut Emitter<'_>, id: InstrId, simple: bool) -> Option<InstrId> {
    let Op::Scatter(attrs) = e.module[id].op.clone() else { return None };
    let operands = e.module[id].operands.to_vec();
    let n = operands.len() / 2;
    let (&indices, (made, updates)) = (operands.get(n)?, (operands.get(..n)?, operands.get(n + 1..)?));
    let (dims, places) = (e.array(*made.first()?)?.dims, e.array(*updates.first()?)?.dims);
    if !e.is_static(id) || !is_pure(e.module, attrs.to_apply) || !attrs.update_window_dims.is_sorted() {
        return None;
    }
    let of = VectorDims {
        vector: attrs.index_vector_dim,
        components: &attrs.scatter_dims_to_operand_dims,
        batching: [&attrs.input_batching_dims, &attrs.scatter_indices_batching_dims],
    };
    let count = of.count(&e.array(indices)?.dims)?;
    if simple && count != 1 {
        return None;
    }
    let vectors = IndexVectors::new(e, indices, of, &dims)?;
    if places.contains(&0) || dims.contains(&0) {
        return e.results(made);
    }
    let is_window = |d: usize| attrs.update_window_dims.contains(&(d as i64));
    let (mut window, mut part) = (vec![1; dims.len()], vec![1; places.len()]);
    let inside = (0..dims.len() as i64)
        .filter(|d| !attrs.inserted_window_dims.contains(d) && !attrs.input_batching_dims.contains(d));
    for (o, &u) in inside.zip(&attrs.update_window_dims) {
        let size = *places.get(usize::try_from(u).ok()?)?;
        (window[o as usize], part[usize::try_from(u).ok()?]) = (size, size);
    }
    let batch_dims: Vec<usize> = (0..places.len()).filter(|&d| !is_window(d)).collect();
    if batch_dims.len() != vectors.batch.len() {
        return None;
    }
    // If a window dimension precedes a batch dimension, the elements of a window are not contiguous.
    let last_of_batch = batch_dims.iter().rev().find(|&&d| places[d] > 1);
    let is_apart = last_of_batch.is_some_and(|&b| (0..b).any(|d| is_window(d) && places[d] > 1));
    if is_apart && !attrs.unique_indices {
        return scatter_by_elements(e, id, &attrs);
    }
    let rows = vectors.rows;
    let s = Scatter { attrs: &attrs, vectors, dims, window, part, batch_dims };
    if count == 1 {
        let zero = e.index(0)?;
        let made = s.step(e, zero, rows, updates, made)?;
        return e.results(&made);
    }
    let state = [&[rows], updates, made].concat();
    let last = e.counted_loop("scatter", count, &state, |e, i, state| {
        let (&rows, rest) = state.split_first()?;
        let (updates, made) = rest.split_at_checked(n)?;
        let made = s.step(e, i, rows, updates, made)?;
        Some([&[rows], updates, &made].concat())
    })?;
    e.results(last.get(n + 1..)?)
}

/// Checks whether a computation has no effect other than its result.
fn is_pure(module: &Module, computation: ComputationId) -> bool {
    let (mut work, mut seen) = (vec![computation], std::collections::HashSet::new());
    while let Some(c) = work.pop() {
        if !seen.insert(c) {
            continue;
        }
        for &i in module[c].instructions() {
            if is_impure(&module[i].op) {
                return false;
            }
            work.extend(module[i].op.called_computations());
        }
    }
    true
}

impl Scatter<'_> {
    /// Combines window `i` of the updates with the operands.
    fn step(
        &self,
        e: &mut Emitter<'_>,
        i: InstrId,
        rows: InstrId,
        updates: &[InstrId],
        made: &[InstrId],
    ) -> Option<Vec<InstrId>> {
        let zero = e.index(0)?;
        let batch = match self.vectors.count() {
            1 => vec![zero; self.vectors.batch.len()],
            _ => e.unravel(i, &self.vectors.batch)?,
        };
        let start = self.vectors.start(e, rows, i, &batch)?;
        let mut inside = e.scalar(ElementType::Pred, &[1])?;
        for &d in self.vectors.offset_dims() {
            let limit = e.index(self.dims[d] - self.window[d])?;
            for test in [
                e.compare(start[d], ComparisonDirection::Ge, zero),
                e.compare(start[d], ComparisonDirection::Le, limit),
            ] {
                inside = e.same(Op::And, &[inside, test]);
            }
        }
        let mut place = vec![zero; self.part.len()];
        self.batch_dims.iter().zip(&batch).for_each(|(&d, &b)| place[d] = b);
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (&m, &u) in made.iter().zip(updates) {
            old.push(e.part(m, &start, &self.window)?);
            let update = match self.vectors.count() {
                1 => u,
                _ => e.part(u, &place, &self.part)?,
            };
            new.push(e.reshaped(update, &self.window)?);
        }
        let new = combined(e, self.attrs.to_apply, &old, &new)?;
        let inside = e.spread(old[0], inside)?;
        let mut results = Vec::new();
        for (k, &value) in new.iter().enumerate() {
            let value = e.choose(inside, value, old[k])?;
            results.push(e.updated(made[k], &start, value));
        }
        Some(results)
    }
}

/// Applies a scalar function elementwise to old elements and updates.
fn combined(
    e: &mut Emitter<'_>,
    to_apply: ComputationId,
    old: &[InstrId],
    new: &[InstrId],
) -> Option<Vec<InstrId>> {
    let operands = [old, new].concat();
    if let [one] = new {
        if returns_parameter(e.module, to_apply, 1) {
            return Some(vec![*one]);
        }
        if binary_combiner(e.module, to_apply).is_some() {
            let op = e.module[e.module[to_apply].root()].op.clone();
            return Some(vec![e.same(op, &operands)]);
        }
    }
    let mut values = Vec::new();
    for (k, &o) in old.iter().enumerate() {
        let to_apply = if old.len() == 1 { to_apply } else { part_of(e, to_apply, &operands, k)? };
        let shape = e.array(o)?;
        let map = MapAttrs { dimensions: (0..shape.rank() as i64).collect(), to_apply };
        values.push(e.add(ArrayShape::new(shape.element_type, shape.dims), Op::Map(map), &operands));
    }
    Some(values)
}

/// Returns a computation of one element of another computation's result, for scalars of the types of
/// `operands`.
fn part_of(
    e: &mut Emitter<'_>,
    to_apply: ComputationId,
    operands: &[InstrId],
    k: usize,
) -> Option<ComputationId> {
    let types = operands.iter().map(|&o| Some(e.array(o)?.element_type)).collect::<Option<Vec<_>>>()?;
    e.computation("scatter_part", |e| {
        let parameters: Vec<InstrId> =
            types.iter().enumerate().map(|(n, &ty)| e.parameter(n, Shape::scalar(ty))).collect();
        e.call(to_apply, &parameters)?.get(k).copied()
    })
}
