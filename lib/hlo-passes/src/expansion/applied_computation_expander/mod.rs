//! `applied_computation_expander`: converts operations that apply a computation other than a scalar function
//! to loops of calls.
//!
//! ```text
//! map(x), to_apply=f  →  i = 0; out = 0
//!                        while i < n { out[i] = f(x[i]); i = i + 1 }
//! ```
//!
//! Code generation applies computations element by element, in registers. It must call a computation instead
//! if the computation contains arrays, sorts or random numbers, or is very large. The pass converts `map`,
//! `reduce`, `reduce-window`, `scatter`, `select-and-scatter` and `sort` with such a computation to loops.
//! The loops visit elements in the same order as the interpreter. `sort` is an exception: it calls the
//! comparator in another order. An inconsistent comparator therefore produces another permutation.

mod sort;
mod update;
mod window;

pub(super) use update::scatter as scatter_by_elements;

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::expander::{Emitter, expand_all};
use hlo_ir::attr::ReduceAttrs;
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, Dims, Family, InstrId, Module, Op, Shape};
use std::collections::HashMap;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "applied_computation_expander",
    summary: "replace operations whose applied computation is not a simple scalar function by loops of calls",
    example: "\
HloModule applied_computation_expander

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

sum_of_two {
  x = f32[] parameter(0)
  two = f32[2] broadcast(x), dimensions={}
  zero = f32[] constant(0)
  ROOT sum = f32[] reduce(two, zero), dimensions={0}, to_apply=add
}

ENTRY e {
  x = f32[4] parameter(0)
  ROOT m = f32[4] map(x), dimensions={0}, to_apply=sum_of_two
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// Maximum number of instructions of a function that is applied in registers. Larger functions are called.
const MAX_SIZE: usize = 2_000;
/// Maximum call depth of a function that is applied in registers.
const MAX_DEPTH: usize = 32;

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut sizes = Sizes::default();
    for c in module.computations_post_order() {
        // Callees come first, so that their sizes are known.
        sizes.of(module, c);
    }
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        let called = e.module[id].op.called_computations();
        if called.iter().all(|c| sizes.is_scalar(*c)) {
            return None;
        }
        match e.module[id].op.clone() {
            Op::Map(a) => map(e, id, a.to_apply),
            Op::Reduce(a) => reduce(e, id, &a),
            Op::ReduceWindow(a) => window::reduce(e, id, &a.window, a.to_apply),
            Op::SelectAndScatter(a) => window::select_and_scatter(e, id, &a),
            Op::Scatter(a) => update::scatter(e, id, &a),
            Op::Sort(a) => sort::sort(e, id, &a),
            _ => None,
        }
    };
    Ok(expand_all(module, "apply-by-loop", applies, expand, rewrites))
}

/// Checks whether an operation applies a computation to scalars.
fn applies(op: &Op) -> bool {
    let family = matches!(op.opcode().family(), Family::Reduction | Family::Indexing);
    family && !op.called_computations().is_empty() && !matches!(op, Op::Scan(_))
}

/// The size of each scalar function and its call depth, both including its callees. `None` if the computation
/// is not a scalar function.
#[derive(Default)]
struct Sizes(HashMap<ComputationId, Option<(usize, usize)>>);

impl Sizes {
    fn is_scalar(&self, id: ComputationId) -> bool {
        let fits = |&(size, depth): &(usize, usize)| size <= MAX_SIZE && depth <= MAX_DEPTH;
        self.0.get(&id).is_some_and(|known| known.as_ref().is_some_and(fits))
    }

    /// Measures a computation. Its callees must have been measured.
    fn of(&mut self, module: &Module, id: ComputationId) {
        let (mut size, mut depth) = (0usize, 0usize);
        for &i in module[id].instructions() {
            if !is_scalar(module, i) {
                self.0.insert(id, None);
                return;
            }
            // A comparator of a thousand arrays has two thousand parameters but reads only two.
            let unused = matches!(module[i].op, Op::Parameter(_)) && module.users(i).is_empty();
            size = size.saturating_add(usize::from(!unused));
            for c in module[i].op.called_computations() {
                let Some(&Some((inner, deep))) = self.0.get(&c) else {
                    self.0.insert(id, None);
                    return;
                };
                (size, depth) = (size.saturating_add(inner), depth.max(deep + 1));
            }
        }
        self.0.insert(id, Some((size, depth)));
    }
}

/// Checks whether code generation computes an instruction on scalars in registers. The computations that it
/// calls are checked separately.
fn is_scalar(module: &Module, id: InstrId) -> bool {
    let instr = &module[id];
    let scalars =
        |shape: &Shape| shape.leaves().into_iter().all(|leaf| leaf.as_array().is_some_and(|a| a.rank() == 0));
    let known = match &instr.op {
        Op::Parameter(_) | Op::Constant(_) | Op::Tuple | Op::GetTupleElement(_) => true,
        Op::Call(_) | Op::Fusion(_) | Op::Map(_) | Op::Conditional(_) | Op::While(_) => true,
        Op::OptBarrier | Op::Domain(_) => true,
        Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Bitcast | Op::Reverse(_) => true,
        op => op.opcode().is_pointwise(),
    };
    known && scalars(&instr.shape) && instr.operands.iter().all(|&o| scalars(&module[o].shape))
}

/// Returns the array shapes of an instruction's result, of which a tuple has several.
fn result_arrays(e: &Emitter<'_>) -> Option<Vec<ArrayShape>> {
    let shape = e.shape();
    let leaves = shape.leaves().into_iter();
    leaves.map(|leaf| leaf.as_array().filter(|a| a.is_static()).cloned()).collect()
}

/// Returns the number of elements, if it fits in a 64-bit index.
fn count(dims: &[i64]) -> Option<i64> {
    dims.iter().try_fold(1i64, |n, &d| n.checked_mul(d))
}

/// Returns arrays of the result's shapes, each filled with one value.
fn filled(e: &mut Emitter<'_>, values: &[InstrId]) -> Option<Vec<InstrId>> {
    let shapes = result_arrays(e)?;
    let arrays = shapes.iter().zip(values).map(|(shape, &value)| e.filled(shape, value));
    let arrays: Vec<InstrId> = arrays.collect();
    (arrays.len() == shapes.len()).then_some(arrays)
}

/// Reads the elements of several arrays at an index.
fn read_all(e: &mut Emitter<'_>, arrays: &[InstrId], index: &[InstrId]) -> Option<Vec<InstrId>> {
    arrays.iter().map(|&a| e.read(a, index)).collect()
}

/// Replaces the elements of several arrays at an index.
fn write_all(
    e: &mut Emitter<'_>,
    arrays: &[InstrId],
    index: &[InstrId],
    values: &[InstrId],
) -> Option<Vec<InstrId>> {
    arrays.iter().zip(values).map(|(&a, &v)| e.write(a, index, v)).collect()
}

/// Applies a computation to the elements of several arrays at an index and other values, and stores the
/// results where `inside` is true.
fn combine_all(
    e: &mut Emitter<'_>,
    to_apply: ComputationId,
    arrays: &[InstrId],
    index: &[InstrId],
    values: &[InstrId],
    inside: InstrId,
) -> Option<Vec<InstrId>> {
    let old = read_all(e, arrays, index)?;
    let new = e.call(to_apply, &[&old, values].concat())?;
    let values: Vec<InstrId> = new.iter().zip(&old).map(|(&n, &o)| e.select(inside, n, o)).collect();
    write_all(e, arrays, index, &values)
}

/// Splits a loop's state into the arrays that stay the same, the arrays that the loop computes, and the rest.
fn states(state: &[InstrId], kept: usize, made: usize) -> Option<(&[InstrId], &[InstrId], &[InstrId])> {
    let (kept, rest) = state.split_at_checked(kept)?;
    let (made, rest) = rest.split_at_checked(made)?;
    Some((kept, made, rest))
}

/// Expands a `map` (XLA's operation semantics, "Map").
fn map(e: &mut Emitter<'_>, id: InstrId, to_apply: ComputationId) -> Option<InstrId> {
    let operands = e.module[id].operands.to_vec();
    let shapes = result_arrays(e)?;
    let [shape] = shapes.as_slice() else { return None };
    // A map of scalars is a single call.
    if shape.dims.is_empty() {
        let values = e.call(to_apply, &operands)?;
        return e.results(&values);
    }
    let zero = e.zero(shape.element_type)?;
    let made = e.filled(shape, zero);
    let steps = count(&shape.dims)?;
    if steps == 0 {
        return e.results(&[made]);
    }
    let state: Vec<InstrId> = operands.iter().copied().chain([made]).collect();
    let last = e.counted_loop("map", steps, &state, |e, i, state| {
        let (operands, made, _) = states(state, operands.len(), 1)?;
        let at = e.unravel(i, &shape.dims)?;
        let arguments = read_all(e, operands, &at)?;
        let values = e.call(to_apply, &arguments)?;
        let made = write_all(e, made, &at, &values)?;
        Some([operands, &made].concat())
    })?;
    e.results(&last[operands.len()..])
}

/// Expands a `reduce` (XLA's operation semantics, "Reduce").
fn reduce(e: &mut Emitter<'_>, id: InstrId, attrs: &ReduceAttrs) -> Option<InstrId> {
    let operands = e.module[id].operands.to_vec();
    let (arrays, inits) = operands.split_at(operands.len() / 2);
    let made = filled(e, inits)?;
    let dims: Dims = e.array(*arrays.first()?)?.dims;
    let steps = count(&dims)?;
    if steps == 0 {
        return e.results(&made);
    }
    let state = [arrays, &made].concat();
    let last = e.counted_loop("reduce", steps, &state, |e, i, state| {
        let (arrays, made, _) = states(state, arrays.len(), made.len())?;
        let at = e.unravel(i, &dims)?;
        let kept = (0..at.len()).filter(|&d| !attrs.dimensions.contains(&(d as i64))).map(|d| at[d]);
        let kept: Vec<InstrId> = kept.collect();
        let mut arguments = read_all(e, made, &kept)?;
        arguments.extend(read_all(e, arrays, &at)?);
        let values = e.call(attrs.to_apply, &arguments)?;
        let made = write_all(e, made, &kept, &values)?;
        Some([arrays, &made].concat())
    })?;
    e.results(&last[arrays.len()..])
}
