//! Windows, and the dimension numbers of convolutions.

use super::context::{Reading, Writing};
use super::fields::Field;
use super::{Result, dims};
use crate::messages::{
    ConvolutionDimensionNumbers, SparsityConfigProto, TensorSparsityConfig, WindowDimension, WindowProto,
};
use hlo_ir::attr::{ConvDimLabels, Sparsity, SparsityConfig, Window, WindowDim};

fn read_window(proto: &WindowProto) -> Window {
    let dimension = |d: &WindowDimension| WindowDim {
        size: d.size,
        stride: d.stride,
        pad_low: d.padding_low,
        pad_high: d.padding_high,
        lhs_dilate: d.base_dilation,
        rhs_dilate: d.window_dilation,
        reversed: d.window_reversal,
    };
    Window { dims: proto.dimensions.iter().map(dimension).collect() }
}

fn write_window(window: &Window) -> WindowProto {
    let dimension = |d: &WindowDim| WindowDimension {
        size: d.size,
        stride: d.stride,
        padding_low: d.pad_low,
        padding_high: d.pad_high,
        window_dilation: d.rhs_dilate,
        base_dilation: d.lhs_dilate,
        window_reversal: d.reversed,
    };
    WindowProto { dimensions: window.dims.iter().map(dimension).collect() }
}

impl Field<Option<Box<WindowProto>>> for Window {
    fn read(proto: &Option<Box<WindowProto>>, _: &Reading<'_>) -> Result<Self> {
        Ok(proto.as_deref().map(read_window).unwrap_or_default())
    }

    fn write(&self, _: &mut Writing<'_>) -> Option<Box<WindowProto>> {
        Some(Box::new(write_window(self)))
    }
}

impl Field<Option<Box<WindowProto>>> for Option<Window> {
    fn read(proto: &Option<Box<WindowProto>>, _: &Reading<'_>) -> Result<Self> {
        Ok(proto.as_deref().map(read_window))
    }

    fn write(&self, _: &mut Writing<'_>) -> Option<Box<WindowProto>> {
        self.as_ref().map(|w| Box::new(write_window(w)))
    }
}

fn read_labels(proto: &ConvolutionDimensionNumbers) -> Result<ConvDimLabels> {
    let lists =
        [&proto.input_spatial_dimensions, &proto.kernel_spatial_dimensions, &proto.output_spatial_dimensions];
    if lists.iter().any(|list| list.len() != lists[0].len()) {
        return Err(format!("a convolution has the spatial dimensions {lists:?}, not as many of each"));
    }
    Ok(ConvDimLabels {
        input_batch: proto.input_batch_dimension,
        input_feature: proto.input_feature_dimension,
        input_spatial: dims(&proto.input_spatial_dimensions),
        kernel_input_feature: proto.kernel_input_feature_dimension,
        kernel_output_feature: proto.kernel_output_feature_dimension,
        kernel_spatial: dims(&proto.kernel_spatial_dimensions),
        output_batch: proto.output_batch_dimension,
        output_feature: proto.output_feature_dimension,
        output_spatial: dims(&proto.output_spatial_dimensions),
    })
}

fn write_labels(labels: &ConvDimLabels) -> ConvolutionDimensionNumbers {
    ConvolutionDimensionNumbers {
        input_batch_dimension: labels.input_batch,
        input_feature_dimension: labels.input_feature,
        input_spatial_dimensions: labels.input_spatial.to_vec(),
        kernel_input_feature_dimension: labels.kernel_input_feature,
        kernel_output_feature_dimension: labels.kernel_output_feature,
        kernel_spatial_dimensions: labels.kernel_spatial.to_vec(),
        output_batch_dimension: labels.output_batch,
        output_feature_dimension: labels.output_feature,
        output_spatial_dimensions: labels.output_spatial.to_vec(),
    }
}

impl Field<Option<Box<ConvolutionDimensionNumbers>>> for ConvDimLabels {
    fn read(proto: &Option<Box<ConvolutionDimensionNumbers>>, _: &Reading<'_>) -> Result<Self> {
        match proto {
            Some(proto) => read_labels(proto),
            None => Err("a convolution has no dimension numbers".into()),
        }
    }

    fn write(&self, _: &mut Writing<'_>) -> Option<Box<ConvolutionDimensionNumbers>> {
        Some(Box::new(write_labels(self)))
    }
}

impl Field<Option<Box<ConvolutionDimensionNumbers>>> for Option<ConvDimLabels> {
    fn read(proto: &Option<Box<ConvolutionDimensionNumbers>>, _: &Reading<'_>) -> Result<Self> {
        proto.as_deref().map(read_labels).transpose()
    }

    fn write(&self, _: &mut Writing<'_>) -> Option<Box<ConvolutionDimensionNumbers>> {
        self.as_ref().map(|l| Box::new(write_labels(l)))
    }
}

impl Field<Option<Box<SparsityConfigProto>>> for SparsityConfig {
    fn read(proto: &Option<Box<SparsityConfigProto>>, _: &Reading<'_>) -> Result<Self> {
        let sparsity = |s: &TensorSparsityConfig| Sparsity {
            n: s.num_non_zero,
            m: s.block_size,
            dimension: s.dimension,
            stride: s.stride,
            index_operand: s.index_operand,
        };
        let Some(proto) = proto else { return Ok(Self::default()) };
        Ok(Self { lhs: proto.lhs.as_deref().map(sparsity), rhs: proto.rhs.as_deref().map(sparsity) })
    }

    fn write(&self, _: &mut Writing<'_>) -> Option<Box<SparsityConfigProto>> {
        let sparsity = |s: Sparsity| {
            Box::new(TensorSparsityConfig {
                num_non_zero: s.n,
                block_size: s.m,
                dimension: s.dimension,
                stride: s.stride,
                index_operand: s.index_operand,
            })
        };
        Some(Box::new(SparsityConfigProto { lhs: self.lhs.map(sparsity), rhs: self.rhs.map(sparsity) }))
    }
}
