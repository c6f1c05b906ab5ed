//! `transpose-folding`: removes transposes of the operands of a dot or convolution by changing the dimension
//! numbers.
//!
//! ```text
//! t = f32[3,2] transpose(x), dimensions={1,0}
//! d = f32[3,4] dot(t, y), lhs_contracting_dims={1}, …   →   d = f32[3,4] dot(x, y), lhs_contracting_dims={0}, …
//! ```
//!
//! Batch and contracting dimensions have numbers, so they can be at any position. Free dimensions keep their
//! order in the result, so a transpose that exchanges two of them stays. A convolution's `dim_labels` name
//! every dimension, so every transpose of its operands folds. A conversion after the transpose is applied to
//! the original array instead.

use crate::pass_info::PassInfo;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::{DotAttrs, SparsityConfig};
use hlo_ir::{Dims, InstrId, Op, Opcode};

/// The description in the registry.
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
    Pattern::new(
        "dot-of-transpose",
        "dot(transpose(x), y) → dot(x, y), dot(convert(transpose(x)), y) → dot(convert(x), y)",
        &[Opcode::Dot],
        dot_of_transpose,
    ),
    Pattern::new(
        "convolution-of-transpose",
        "convolution(transpose(x), k), convolution(x, transpose(k)) → convolution(x, k) with other dim_labels; also below convert",
        &[Opcode::Convolution],
        convolution_of_transpose,
    ),
];

fn dot_of_transpose(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Dot(a) = cx.module[id].op.clone() else { return None };
    let &[lhs, rhs] = cx.module[id].operands.as_slice() else { return None };
    if let Some((x, batch, contracting)) = fold(cx, id, lhs, &a.lhs_batch_dims, &a.lhs_contracting_dims) {
        let attrs = DotAttrs { lhs_batch_dims: batch, lhs_contracting_dims: contracting, ..(*a).clone() };
        return Some(cx.add_same_shape(Op::Dot(Box::new(attrs)), &[x, rhs]));
    }
    let (y, batch, contracting) = fold(cx, id, rhs, &a.rhs_batch_dims, &a.rhs_contracting_dims)?;
    let attrs = DotAttrs { rhs_batch_dims: batch, rhs_contracting_dims: contracting, ..*a };
    Some(cx.add_same_shape(Op::Dot(Box::new(attrs)), &[lhs, y]))
}

/// A transposed operand.
struct Transposed {
    source: InstrId,
    permutation: Dims,
    /// The conversion after the transpose, if there is one.
    conversion: Option<InstrId>,
}

impl Transposed {
    /// Recognizes a transposed operand of `user`. A conversion after the transpose must have no other users.
    fn of(cx: &Cx<'_>, operand: InstrId, user: InstrId) -> Option<Self> {
        let conversion = (cx.opcode(operand) == Opcode::Convert).then_some(operand);
        let transpose = match conversion {
            Some(c) => cx.operand(c, 0).filter(|_| cx.used_only_by(c, user))?,
            None => operand,
        };
        let Op::Transpose(t) = &cx.module[transpose].op else { return None };
        Some(Self { source: cx.operand(transpose, 0)?, permutation: t.dimensions.clone(), conversion })
    }

    /// Emits the operand without the transpose.
    fn without_transpose(&self, cx: &mut Cx<'_>) -> Option<InstrId> {
        let Some(conversion) = self.conversion else { return Some(self.source) };
        let ty = cx.element_type(conversion)?;
        cx.convert(self.source, ty)
    }
}

/// Returns the operand without the transpose, and its batch and contracting dimensions, if the free
/// dimensions keep their order.
fn fold(
    cx: &mut Cx<'_>,
    dot: InstrId,
    side: InstrId,
    batch: &[i64],
    contracting: &[i64],
) -> Option<(InstrId, Dims, Dims)> {
    let transposed = Transposed::of(cx, side, dot)?;
    let before = |d: &i64| usize::try_from(*d).ok().and_then(|d| transposed.permutation.get(d)).copied();
    let free: Vec<i64> = (0..transposed.permutation.len() as i64)
        .filter(|d| !batch.contains(d) && !contracting.contains(d))
        .map(|d| before(&d))
        .collect::<Option<_>>()?;
    if !free.is_sorted() {
        return None;
    }
    let batch = batch.iter().map(before).collect::<Option<_>>()?;
    let contracting = contracting.iter().map(before).collect::<Option<_>>()?;
    Some((transposed.without_transpose(cx)?, batch, contracting))
}

/// Folds transposes into a convolution, whose labels allow any order of dimensions.
fn convolution_of_transpose(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Convolution(mut a) = cx.module[id].op.clone() else { return None };
    let &[mut input, mut kernel] = cx.module[id].operands.as_slice() else { return None };
    // The sparsity configuration refers to dimensions too.
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
    if let Some(t) = Transposed::of(cx, input, id) {
        let mut dims = vec![&mut labels.input_batch, &mut labels.input_feature];
        dims.extend(labels.input_spatial.iter_mut());
        relabel(&mut dims, &t.permutation)?;
        (input, changed) = (t.without_transpose(cx)?, true);
    }
    if let Some(t) = Transposed::of(cx, kernel, id) {
        let mut dims = vec![&mut labels.kernel_input_feature, &mut labels.kernel_output_feature];
        dims.extend(labels.kernel_spatial.iter_mut());
        relabel(&mut dims, &t.permutation)?;
        (kernel, changed) = (t.without_transpose(cx)?, true);
    }
    changed.then(|| cx.add_same_shape(Op::Convolution(a), &[input, kernel]))
}
