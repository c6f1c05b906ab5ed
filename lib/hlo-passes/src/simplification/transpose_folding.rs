//! `transpose-folding`: a dot or convolution of transposed operands takes them as they are, with other dimension numbers.
//!
//! ```text
//! t = f32[3,2] transpose(x), dimensions={1,0}
//! d = f32[3,4] dot(t, y), lhs_contracting_dims={1}, …   →   d = f32[3,4] dot(x, y), lhs_contracting_dims={0}, …
//! ```
//!
//! Batch and contracting dimensions are named by number, so that they may stand anywhere. Free dimensions keep
//! their order in the result: a transpose that exchanges two of them stays. A convolution's `dim_labels` name every
//! dimension, so that any transpose of its operands folds.

use crate::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::{DotAttrs, SparsityConfig};
use hlo_ir::{Dims, InstrId, Op, Opcode};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "transpose-folding",
    summary: "let dot and convolution read transposed operands in place",
    example: "\
HloModule transpose_folding

ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[2,4] parameter(1)
  t = f32[3,2] transpose(x), dimensions={1,0}
  ROOT d = f32[3,4] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[
    Pattern::new("dot-of-transpose", "dot(transpose(x), y) → dot(x, y)", &[Opcode::Dot], dot_of_transpose),
    Pattern::new(
        "convolution-of-transpose",
        "convolution(transpose(x), k), convolution(x, transpose(k)) → convolution(x, k) with other dim_labels",
        &[Opcode::Convolution],
        convolution_of_transpose,
    ),
];

fn dot_of_transpose(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    if let Some((x, batch, contracting)) = fold(cx, lhs, &a.lhs_batch_dims, &a.lhs_contracting_dims) {
        let attrs = DotAttrs { lhs_batch_dims: batch, lhs_contracting_dims: contracting, ..(*a).clone() };
        return Some(cx.instead(Op::Dot(Box::new(attrs)), &[x, rhs]));
    }
    let (y, batch, contracting) = fold(cx, rhs, &a.rhs_batch_dims, &a.rhs_contracting_dims)?;
    let attrs = DotAttrs { rhs_batch_dims: batch, rhs_contracting_dims: contracting, ..*a };
    Some(cx.instead(Op::Dot(Box::new(attrs)), &[lhs, y]))
}

/// (operand of the transpose, its batch and contracting dimensions), if the free ones keep their order.
fn fold(cx: &Cx<'_>, side: InstrId, batch: &[i64], contracting: &[i64]) -> Option<(InstrId, Dims, Dims)> {
    let Op::Transpose(t) = &cx.module[side].op else { return None };
    let before = |d: &i64| usize::try_from(*d).ok().and_then(|d| t.dimensions.get(d)).copied();
    let free: Vec<i64> = (0..t.dimensions.len() as i64)
        .filter(|d| !batch.contains(d) && !contracting.contains(d))
        .map(|d| before(&d))
        .collect::<Option<_>>()?;
    if !free.is_sorted() {
        return None;
    }
    let x = cx.operand(side, 0)?;
    Some((
        x,
        batch.iter().map(before).collect::<Option<_>>()?,
        contracting.iter().map(before).collect::<Option<_>>()?,
    ))
}

/// The labels name dimensions, so that they may stand anywhere.
fn convolution_of_transpose(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Convolution(mut a) = cx.module[id].op.clone() else { return None };
    let &[mut input, mut kernel] = cx.module[id].operands.as_slice() else { return None };
    // What is said of zeros names dimensions as well.
    if a.sparsity_config != SparsityConfig::default() {
        return None;
    }
    let labels = &mut a.dim_labels;
    let relabel = |dims: &mut [&mut i64], permutation: &Dims| -> Option<()> {
        for d in dims {
            **d = *permutation.get(usize::try_from(**d).ok()?)?;
        }
        Some(())
    };
    let mut changed = false;
    if let Op::Transpose(t) = &cx.module[input].op {
        let mut dims = vec![&mut labels.input_batch, &mut labels.input_feature];
        dims.extend(labels.input_spatial.iter_mut());
        relabel(&mut dims, &t.dimensions)?;
        (input, changed) = (cx.operand(input, 0)?, true);
    }
    if let Op::Transpose(t) = &cx.module[kernel].op {
        let mut dims = vec![&mut labels.kernel_input_feature, &mut labels.kernel_output_feature];
        dims.extend(labels.kernel_spatial.iter_mut());
        relabel(&mut dims, &t.dimensions)?;
        (kernel, changed) = (cx.operand(kernel, 0)?, true);
    }
    changed.then(|| cx.instead(Op::Convolution(a), &[input, kernel]))
}
