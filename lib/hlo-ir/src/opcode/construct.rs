//! Constructors of operations from their attributes, for code that adds instructions.

use super::Op;
use crate::attr::*;
use crate::{ComputationId, Literal};

/// Constructors that are named like their operations. Dimension numbers start at 0. The rule of the operation
/// ([`crate::ops`]) checks the attributes.
impl Op {
    /// Creates a `parameter`: the argument with this number.
    pub fn parameter(number: i64) -> Op {
        Op::Parameter(ParameterAttrs { number })
    }

    /// Creates a `constant`.
    pub fn constant(literal: Literal) -> Op {
        Op::Constant(Box::new(ConstantAttrs { literal, elided: Vec::new() }))
    }

    /// Creates a `get-tuple-element`.
    pub fn get_tuple_element(index: i64) -> Op {
        Op::GetTupleElement(GetTupleElementAttrs { index })
    }

    /// Creates a `custom-call` of a target, with default values of the other attributes.
    pub fn custom_call(target: &str) -> Op {
        Op::CustomCall(Box::new(CustomCallAttrs {
            custom_call_target: target.into(),
            ..CustomCallAttrs::default()
        }))
    }

    /// Creates a `broadcast`. `dimensions` contains the result dimension of each operand dimension.
    pub fn broadcast(dimensions: impl IntoIterator<Item = i64>) -> Op {
        Op::Broadcast(BroadcastAttrs { dimensions: dimensions.into_iter().collect() })
    }

    /// Creates a `reshape`.
    pub fn reshape() -> Op {
        Op::Reshape(ReshapeAttrs::default())
    }

    /// Creates a `transpose`: dimension `i` of the result is dimension `dimensions[i]` of the operand.
    pub fn transpose(dimensions: impl IntoIterator<Item = i64>) -> Op {
        Op::Transpose(DimensionsAttrs { dimensions: dimensions.into_iter().collect() })
    }

    /// Creates a `reverse` of the given dimensions.
    pub fn reverse(dimensions: impl IntoIterator<Item = i64>) -> Op {
        Op::Reverse(DimensionsAttrs { dimensions: dimensions.into_iter().collect() })
    }

    /// Creates a `slice` with a range for each dimension.
    pub fn slice(ranges: Vec<SliceDim>) -> Op {
        Op::Slice(SliceAttrs { slice: ranges })
    }

    /// Creates a `pad` with the padding of each dimension.
    pub fn pad(padding: Vec<PaddingDim>) -> Op {
        Op::Pad(PadAttrs { padding })
    }

    /// Creates a `concatenate` along a dimension.
    pub fn concatenate(dimension: i64) -> Op {
        Op::Concatenate(DimensionAttrs { dimensions: [dimension].into_iter().collect() })
    }

    /// Creates an `iota` along a dimension.
    pub fn iota(dimension: i64) -> Op {
        Op::Iota(IotaAttrs { iota_dimension: dimension })
    }

    /// Creates a `dynamic-slice` with a size for each dimension.
    pub fn dynamic_slice(sizes: impl IntoIterator<Item = i64>) -> Op {
        Op::DynamicSlice(DynamicSliceAttrs { dynamic_slice_sizes: sizes.into_iter().collect() })
    }

    /// Creates a `compare` in the default order of the operands' type.
    pub fn compare(direction: ComparisonDirection) -> Op {
        Op::Compare(CompareAttrs { direction, comparison_type: ComparisonType::default() })
    }

    /// Creates a `reduce` over some dimensions, by a computation.
    pub fn reduce(dimensions: impl IntoIterator<Item = i64>, to_apply: ComputationId) -> Op {
        Op::Reduce(ReduceAttrs { dimensions: dimensions.into_iter().collect(), to_apply })
    }

    /// Creates a `call` of a computation.
    pub fn call(to_apply: ComputationId) -> Op {
        Op::Call(CallAttrs { to_apply, is_composite: false })
    }
}
