//! Emission of kernels: one walk over a [`Kernel`], which describes the loops. The code of an element, with its index
//! arithmetic, is derived from the instructions.

mod bitcast;
mod carried_loops;
mod columns;
pub(crate) mod combiner;
pub(crate) mod comparator;
mod contraction;
mod covered_loops;
mod cumulative;
mod dot;
mod element;
mod extremum;
mod gather;
mod index;
mod loops;
mod reduce;
mod rows;
mod scalar;
mod select_scatter;
mod sums;
mod value;
mod window;

use crate::builder::{Builder, V};
use element::ElementCx;
use hlo_ir::diag::Diag;
use hlo_kernel::{Kernel, Strategy};
use hlo_plan::Refusal;

/// Emits iterations `begin..end` of a kernel at the insertion point, which must be in a function's entry
/// block unless the kernel is tiny.
///
/// # Errors
/// An instruction of the kernel cannot be compiled.
pub fn emit_kernel<'c>(
    b: &Builder<'c>,
    kernel: &Kernel<'_>,
    buffers: &[V<'c>],
    range: [V<'c>; 2],
) -> Result<(), Diag> {
    let (module, id) = (kernel.body.module, kernel.spec.instruction);
    b.at(module, id, || emit_iterations(b, kernel, buffers, range)).map_err(|refusal| refusal.of(module, id))
}

fn emit_iterations<'c>(
    b: &Builder<'c>,
    kernel: &Kernel<'_>,
    buffers: &[V<'c>],
    [begin, end]: [V<'c>; 2],
) -> Result<(), Refusal> {
    let Kernel { spec, body, strategy, .. } = kernel;
    let flat = matches!(strategy, Strategy::Loops(nest) if nest.flat);
    let cx = ElementCx::new(b, body, buffers, flat);
    match strategy {
        Strategy::Update(root, nest) => loops::emit_update(&cx, *root, nest, begin, end),
        Strategy::Scatter(root) => gather::scatter(&cx, *root, &spec.result_slots),
        Strategy::SelectAndScatter(plan) => select_scatter::emit(&cx, plan, &body.roots[0], begin, end),
        Strategy::Contraction(plan) => contraction::emit(&cx, plan, spec, begin, end),
        Strategy::Cumulative(plan) => cumulative::emit(&cx, plan, begin, end),
        Strategy::Rows(plan) => rows::emit(&cx, plan, begin, end),
        Strategy::Columns(plan) => columns::emit(&cx, plan, begin, end),
        Strategy::Loops(nest) => loops::emit(&cx, nest, begin, end),
        Strategy::Separate(nests) => nests.iter().try_for_each(|(roots, nest)| {
            let body = body.with_roots(roots.clone());
            let cx = ElementCx::new(b, &body, buffers, nest.flat);
            loops::emit(&cx, nest, b.index(0), b.index(nest.iterations))
        }),
    }
}
