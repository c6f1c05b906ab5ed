//! `pad` as two copies: the padding value everywhere, then the box of operand elements that remain.

use super::walk::{Walk, copy_bytes};
use crate::context::Context;
use crate::ops::moved::moved;
use crate::ops::support::{Result, array};
use hlo_ir::attr::PaddingDim;
use hlo_ir::{ArrayShape, Dims, Literal};

/// Pads an operand of the result's rank. Interior padding must not be negative.
pub(in crate::ops) fn pad(
    cx: &mut Context<'_>,
    shape: &ArrayShape,
    operand: Literal,
    value: Literal,
    padding: &[PaddingDim],
) -> Result<Literal> {
    let mut result = moved(cx, shape, value, |_, _| ())?;
    let from = array(&operand)?;
    // The operand elements in bounds form a box: index i moves to low + i·(interior + 1).
    let (mut source, mut target) = (Walk::dense(&from.dims), Walk::dense(&shape.dims));
    let mut kept = Dims::new();
    for (d, padding) in padding.iter().enumerate() {
        let step = padding.interior.saturating_add(1);
        let below = padding.low.min(0).saturating_neg();
        let first = below / step + i64::from(below % step != 0);
        // One past the last i with low + i·step < size.
        let room = shape.dims[d].saturating_sub(padding.low);
        let end = if room <= 0 { 0 } else { ((room - 1) / step + 1).min(from.dims[d]) };
        kept.push((end - first).max(0));
        if end <= first {
            continue; // no element is copied, so the walks are not used
        }
        source.offset += first * source.strides[d];
        target.offset += (padding.low + first * step) * target.strides[d];
        target.strides[d] = target.strides[d].saturating_mul(step);
    }
    let size = shape.element_type.byte_size();
    copy_bytes(size, &kept, (operand.bytes(), &source), (result.bytes_mut(), &target))?;
    cx.release(operand);
    Ok(result)
}
