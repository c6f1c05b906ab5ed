//! `tree_reduction_rewriter`: splits long reductions into steps, so that the error of a sum grows with the
//! logarithm of its length.
//!
//! ```text
//! r = f32[] reduce(x, 0), dimensions={0}, to_apply=add      x = f32[1000]
//! →
//! w = f32[32] reduce-window(x, -0), window={size=32 stride=32 pad=12_12}, to_apply=add
//! r = f32[] reduce(w, 0), dimensions={0}, to_apply=add
//! ```
//!
//! The windows do not overlap. A dimension that is at most as long as a window has a single window. The pass
//! continues until no reduced dimension is longer than a window. (XLA's pass takes one step, and must run
//! until nothing changes.)
//!
//! The windows start with the identity of the operation. (XLA's start with the initial value of the
//! reduction, which then counts several times if it is another value.) The pass therefore only rewrites
//! reductions by `add`, `multiply`, `maximum`, `minimum`, `and`, `or` or `xor`. Sums and products of narrow
//! floating-point types are computed in `f32` and rounded once, as in a reduction. Reductions of several
//! arrays, complex numbers, dynamic sizes and the bodies of fusions stay unchanged.

use hlo_ir::attr::{ReduceWindowAttrs, Window, WindowDim};
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op};
use hlo_passes::support::combiner::{binary_combiner, identity, rounds_in_between};
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::support::fusions::fused_computations;
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Preservation, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "tree_reduction_rewriter",
    summary: "split long reductions into steps, for a smaller rounding error",
    options: &[OptionInfo {
        name: "window",
        summary: "number of elements to combine along a dimension in each step (at least 2)",
        default: OptionValue::Count(32),
    }],
    keeps: Preservation::Values,
    example: "\
HloModule tree_reduction_rewriter

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[1000] parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add
}
",
    build: |_, options| {
        let window = i64::try_from(options.count("window")).unwrap_or(i64::MAX).max(2);
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| run(module, window, rewrites))
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, window: i64, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let fused = fused_computations(module);
    let wanted = |op: &Op| matches!(op, Op::Reduce(_));
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        if fused.contains(&e.module[id].parent) { None } else { rewrite(e, id, window) }
    };
    Ok(expand_all(module, "tree", wanted, expand, rewrites))
}

/// Emits the reduction in steps, if it is long.
fn rewrite(e: &mut Emitter<'_>, id: InstrId, window: i64) -> Option<InstrId> {
    let Op::Reduce(mut attrs) = e.module[id].op.clone() else { return None };
    let &[x, init] = e.module[id].operands.as_slice() else { return None };
    let from = e.array(x)?;
    let opcode = binary_combiner(e.module, attrs.to_apply)?;
    let size = |&d: &i64| from.dims.get(usize::try_from(d).ok()?).copied();
    let sizes: Vec<i64> = attrs.dimensions.iter().map(size).collect::<Option<_>>()?;
    let is_long = sizes.iter().any(|&s| s > window) && !sizes.contains(&0);
    if !is_long || !e.is_static(id) {
        return None;
    }
    let narrow = rounds_in_between(opcode, from.element_type);
    let ty = if narrow { ElementType::F32 } else { from.element_type };
    let neutral = e.scalar(ty, &identity(opcode, ty)?)?;
    if narrow {
        let op = e.module[e.module[attrs.to_apply].root()].op.clone();
        attrs.to_apply = e.combiner(&op, ty);
    }
    let (mut value, init) = (e.convert(x, ty)?, e.convert(init, ty)?);
    while let Some((shape, windows)) = step(&e.array(value)?, &attrs.dimensions, window) {
        let op = ReduceWindowAttrs { window: Window { dims: windows }, to_apply: attrs.to_apply };
        value = e.add(shape, Op::ReduceWindow(Box::new(op)), &[value, neutral]);
    }
    let shape = e.shape();
    let reduced = shape.as_array()?.with_element_type(ty);
    let reduced = e.add(reduced, Op::Reduce(attrs), &[value, init]);
    e.finish(reduced, &shape)
}

/// Returns adjacent windows, and the shape of the array of their results. Returns `None` if no reduced
/// dimension is longer than a window.
fn step(from: &ArrayShape, reduced: &[i64], window: i64) -> Option<(ArrayShape, Vec<WindowDim>)> {
    let is_reduced = |d: usize| reduced.contains(&(d as i64));
    if !(0..from.rank()).any(|d| is_reduced(d) && from.dims[d] > window) {
        return None;
    }
    let mut to = from.clone();
    let mut windows = vec![WindowDim::default(); from.rank()];
    for d in (0..from.rank()).filter(|&d| is_reduced(d)) {
        let size = from.dims[d].min(window);
        let count = (from.dims[d] - 1) / size + 1;
        // Distribute the padding over both sides.
        let padding = count.checked_mul(size)? - from.dims[d];
        let (pad_low, pad_high) = (padding / 2, padding - padding / 2);
        windows[d] = WindowDim { size, stride: size, pad_low, pad_high, ..WindowDim::default() };
        to.dims[d] = count;
    }
    Some((to, windows))
}
