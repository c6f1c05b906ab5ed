//! `convolution_4d_expander`: removes spatial dimensions of size 1 from convolutions with four spatial
//! dimensions.
//!
//! ```text
//! convolution(x, k), dim_labels=b0123f_0123io->b0123f  →  reshape(convolution(reshape(x), reshape(k)))
//! x: f32[1,5,5,1,1,3], k: f32[3,3,1,1,3,8]                of f32[1,5,5,3] and f32[3,3,3,8], dim_labels=b01f_01io->b01f
//! ```

use crate::pass_info::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::ConvDimLabels;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "convolution_4d_expander",
    summary: "drop dimensions of size 1 from convolutions with four spatial dimensions",
    example: "\
HloModule convolution_4d_expander

ENTRY e {
  x = f32[1,5,5,1,1,3] parameter(0)
  k = f32[3,3,1,1,3,8] parameter(1)
  ROOT c = f32[1,3,3,1,1,8] convolution(x, k), window={size=3x3x1x1}, dim_labels=b0123f_0123io->b0123f
}
",
    build: |_, _| {
        let wanted = |op: &Op| matches!(op, Op::Convolution(a) if a.dim_labels.input_spatial.len() == 4);
        expansion_pass("trivial-dimensions", wanted, expand)
    },
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Convolution(attrs) = e.module[id].op.clone() else { return None };
    let &[x, k] = e.module[id].operands.as_slice() else { return None };
    let shape = e.shape().as_array()?.clone();
    let (input, kernel) = (e.array(x)?, e.array(k)?);
    let labels = &attrs.dim_labels;
    let spatial = [&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial];
    if !e.is_static(id) || attrs.window.dims.len() != 4 || spatial.iter().any(|s| s.len() != 4) {
        return None;
    }
    let is_one = |a: &ArrayShape, d: i64| usize::try_from(d).is_ok_and(|d| a.dims.get(d) == Some(&1));
    let is_trivial = |s: usize| {
        let w = attrs.window.dims[s];
        let sizes = is_one(&input, labels.input_spatial[s])
            && is_one(&kernel, labels.kernel_spatial[s])
            && is_one(&shape, labels.output_spatial[s]);
        sizes && w.pad_low == 0 && w.pad_high == 0
    };
    let trivial: Vec<usize> = (0..4).filter(|&s| is_trivial(s)).collect();
    if trivial.is_empty() {
        return None;
    }
    let gone = |spatial: &Dims| -> Vec<i64> { trivial.iter().map(|&s| spatial[s]).collect() };
    let (of_input, of_kernel, of_output) =
        (gone(&labels.input_spatial), gone(&labels.kernel_spatial), gone(&labels.output_spatial));
    let (x, k) = (
        e.reshaped(x, &without(&input.dims, &of_input))?,
        e.reshaped(k, &without(&kernel.dims, &of_kernel))?,
    );
    let mut conv = attrs.clone();
    conv.window.dims = (0..4).filter(|s| !trivial.contains(s)).map(|s| attrs.window.dims[s]).collect();
    conv.dim_labels = relabeled(labels, &trivial, [&of_input, &of_kernel, &of_output]);
    let dims = without(&shape.dims, &of_output);
    let result = e.add(ArrayShape::new(shape.element_type, dims), Op::Convolution(conv), &[x, k]);
    let result = e.reshaped(result, &shape.dims)?;
    e.results(&[result])
}

/// Returns the sizes without those of some dimensions.
fn without(dims: &Dims, gone: &[i64]) -> Vec<i64> {
    dims.iter().enumerate().filter(|(d, _)| !gone.contains(&(*d as i64))).map(|(_, &size)| size).collect()
}

/// Returns the labels without some of the spatial dimensions. `gone` contains their numbers in the input,
/// kernel and output.
fn relabeled(labels: &ConvDimLabels, trivial: &[usize], gone: [&[i64]; 3]) -> ConvDimLabels {
    let moved = |which: usize, d: i64| d - gone[which].iter().filter(|&&g| g < d).count() as i64;
    let spatial = |which: usize, dims: &Dims| -> Dims {
        let kept = dims.iter().enumerate().filter(|(s, _)| !trivial.contains(s));
        kept.map(|(_, &d)| moved(which, d)).collect()
    };
    ConvDimLabels {
        input_batch: moved(0, labels.input_batch),
        input_feature: moved(0, labels.input_feature),
        input_spatial: spatial(0, &labels.input_spatial),
        kernel_input_feature: moved(1, labels.kernel_input_feature),
        kernel_output_feature: moved(1, labels.kernel_output_feature),
        kernel_spatial: spatial(1, &labels.kernel_spatial),
        output_batch: moved(2, labels.output_batch),
        output_feature: moved(2, labels.output_feature),
        output_spatial: spatial(2, &labels.output_spatial),
    }
}
