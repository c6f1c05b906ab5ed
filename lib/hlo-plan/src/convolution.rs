//! Convolutions as runtime calls. The order of the dimensions becomes strides.

use crate::Refusal;
use crate::dot::code;
use hlo_ir::{ArrayShape, InstrId, Module, Op};
use hlo_runtime_core::{MAX_SPATIAL, has_product};

/// `hlo_rt_conv(context, descriptor, input, filter, output)`.
pub(super) const SYMBOL: &str = "hlo_rt_conv";

/// The end of the error message for element types without a runtime convolution.
const UPCAST_HINT: &str = "the pass `operand_upcaster` has to run before";

/// Returns the words of a `ConvDesc` for a `convolution`, or the reason why there are none.
pub(super) fn lower(module: &Module, id: InstrId) -> Result<Vec<i64>, Refusal> {
    let instr = &module[id];
    let Op::Convolution(attrs) = &instr.op else { return Err("this is not a convolution".into()) };
    let shape =
        |id: InstrId| module[id].shape.as_array().ok_or("a convolution of something else than arrays");
    let operand = |n: usize| instr.operands.get(n).copied().ok_or("an operand is missing");
    let (lhs, rhs, out) = (shape(operand(0)?)?, shape(operand(1)?)?, shape(id)?);
    let labels = &attrs.dim_labels;
    let spatial = labels.input_spatial.len();
    if spatial > MAX_SPATIAL {
        return Err(format!(
            "convolutions have at most {MAX_SPATIAL} spatial dimensions, this one {spatial}"
        )
        .into());
    }
    let ty = |a: &ArrayShape| {
        code(a.element_type)
            .filter(|_| a.element_type.is_pred() || a.element_type.bit_width() >= 8)
            .ok_or_else(|| format!("a convolution of {}: {UPCAST_HINT}", a.element_type))
    };
    let types = [ty(lhs)?, ty(rhs)?, ty(out)?];
    if !has_product(types[0], types[1], types[2]) {
        let [l, r, o] = [lhs, rhs, out].map(|a| a.element_type);
        return Err(format!("a convolution of {l} and {r} with a result of type {o}: {UPCAST_HINT}").into());
    }
    let at = |a: &ArrayShape, d: i64| -> Result<(i64, i64), Refusal> {
        let d = usize::try_from(d).ok().filter(|&d| d < a.rank());
        d.map(|d| (a.dims[d], a.strides()[d])).ok_or_else(|| "a dimension label is out of range".into())
    };
    let (batch, lhs_batch) = at(lhs, labels.input_batch)?;
    let (in_features, lhs_feature) = at(lhs, labels.input_feature)?;
    let (_, rhs_in) = at(rhs, labels.kernel_input_feature)?;
    let (out_features, rhs_out) = at(rhs, labels.kernel_output_feature)?;
    let (_, out_batch) = at(out, labels.output_batch)?;
    let (_, out_feature) = at(out, labels.output_feature)?;
    // The fields in the order of `ConvDesc`.
    let mut words = vec![
        types[0] as i64,
        types[1] as i64,
        types[2] as i64,
        spatial as i64,
        batch,
        in_features,
        out_features,
        attrs.feature_groups(),
        attrs.batch_groups(),
        lhs_batch,
        lhs_feature,
        rhs_in,
        rhs_out,
        out_batch,
        out_feature,
    ];
    for i in 0..MAX_SPATIAL {
        if i >= spatial {
            words.extend([0; 11]);
            continue;
        }
        let label = |list: &hlo_ir::Dims| list.get(i).copied().unwrap_or(-1);
        let (in_size, lhs_stride) = at(lhs, label(&labels.input_spatial))?;
        let (window_size, rhs_stride) = at(rhs, label(&labels.kernel_spatial))?;
        let (out_size, out_stride) = at(out, label(&labels.output_spatial))?;
        let window = attrs.window.dims.get(i).cloned().unwrap_or_default();
        // The fields in the order of `ConvDim`.
        words.extend([
            in_size,
            window_size,
            out_size,
            window.stride,
            window.pad_low,
            window.lhs_dilate,
            window.rhs_dilate,
            i64::from(window.reversed),
            lhs_stride,
            rhs_stride,
            out_stride,
        ]);
    }
    Ok(words)
}
