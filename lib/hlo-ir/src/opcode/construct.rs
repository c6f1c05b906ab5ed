//! Constructors of operations from their attributes, for code that adds instructions.

use super::Op;
use crate::attr::*;
use crate::{ComputationId, Literal};

/// Constructors that are named like their operations. Dimension numbers start at 0. The rule of the operation
/// ([`crate::ops`]) checks the attributes.
impl Op {
    /// `parameter`: the argument with this number.
    pub fn parameter(number: i64) -> Op {
        Op::Parameter(ParameterAttrs { number })
    }

    /// `constant`.
    pub fn constant(literal: Literal) -> Op {
        Op::Constant(Box::new(ConstantAttrs { literal, elided: Vec::new() }))
    }

    /// `get-tuple-element`.
    pub fn get_tuple_element(index: i64) -> Op {
        Op::GetTupleElement(GetTupleElementAttrs { index })
    }

    /// `custom-call` of a target, with default attributes otherwise.
    pub fn custom_call(target: &str) -> Op {
        Op::CustomCall(Box::new(CustomCallAttrs {
            custom_call_target: target.into(),
            ..CustomCallAttrs::default()
        }))
    }

    /// `broadcast`: the result dimension of each operand dimension, in order.
    pub fn broadcast(dimensions: impl IntoIterator<Item = i64>) -> Op {
        Op::Broadcast(BroadcastAttrs { dimensions: dimensions.into_iter().collect() })
    }

    /// `reshape`.
    pub fn reshape() -> Op {
        Op::Reshape(ReshapeAttrs::default())
    }

    /// `transpose`: dimension `i` of the result is dimension `dimensions[i]` of the operand.
    pub fn transpose(dimensions: impl IntoIterator<Item = i64>) -> Op {
        Op::Transpose(DimensionsAttrs { dimensions: dimensions.into_iter().collect() })
    }

    /// `reverse`.
    pub fn reverse(dimensions: impl IntoIterator<Item = i64>) -> Op {
        Op::Reverse(DimensionsAttrs { dimensions: dimensions.into_iter().collect() })
    }

    /// `slice`: a range for each dimension.
    pub fn slice(ranges: Vec<SliceDim>) -> Op {
        Op::Slice(SliceAttrs { slice: ranges })
    }

    /// `pad`: the padding of each dimension.
    pub fn pad(padding: Vec<PaddingDim>) -> Op {
        Op::Pad(PadAttrs { padding })
    }

    /// `concatenate` along a dimension.
    pub fn concatenate(dimension: i64) -> Op {
        Op::Concatenate(DimensionAttrs { dimensions: [dimension].into_iter().collect() })
    }

    /// `iota` along a dimension.
    pub fn iota(dimension: i64) -> Op {
        Op::Iota(IotaAttrs { iota_dimension: dimension })
    }

    /// `dynamic-slice`: a size for each dimension.
    pub fn dynamic_slice(sizes: impl IntoIterator<Item = i64>) -> Op {
        Op::DynamicSlice(DynamicSliceAttrs { dynamic_slice_sizes: sizes.into_iter().collect() })
    }

    /// `compare`, in the default order of the operands' type.
    pub fn compare(direction: ComparisonDirection) -> Op {
        Op::Compare(CompareAttrs { direction, comparison_type: ComparisonType::default() })
    }

    /// `reduce` over some dimensions, by a computation.
    pub fn reduce(dimensions: impl IntoIterator<Item = i64>, to_apply: ComputationId) -> Op {
        Op::Reduce(ReduceAttrs { dimensions: dimensions.into_iter().collect(), to_apply })
    }

    /// `call` of a computation.
    pub fn call(to_apply: ComputationId) -> Op {
        Op::Call(CallAttrs { to_apply, is_composite: false })
    }
}
