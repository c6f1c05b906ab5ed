//! The attribute structs: one for each opcode, or for each group of opcodes with the same attributes.

use super::{
    AttrError, AttrReader, Attrs, ComparisonDirection, ComparisonType, ComputationNames, ConvDimLabels,
    ConvolutionKind, Count, CustomCallApiVersion, CustomCallSchedule, Domain, DotAlgorithm, FftType, Field,
    FusionKind, HloString, LayoutConstraints, LiteralValue, OperandAlias, OperandPrecision, OptionalShape,
    OrTrue, PaddingDim, PaddingType, RngAlgorithm, RngDistribution, SliceDim, SparsityConfig, TransposeKind,
    Window, attrs,
};
use crate::contraction::Contraction;
use crate::{ComputationId, Dims, Literal};
use std::fmt;

/// `parameter(n)`: the number is in the operand list, not among the attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterAttrs {
    /// The position in the computation's parameter list.
    pub number: i64,
}

/// `constant(literal)`: the value is in the operand list, not among the attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantAttrs {
    /// The value.
    pub literal: Literal,
    /// For each array of the value, in order, whether the text had `{...}` in place of its elements, which
    /// are then unspecified. Empty if the text has all elements.
    pub elided: Vec<bool>,
}

impl ConstantAttrs {
    /// The error for computing with a constant whose elements are elided, including how to get them.
    pub const ELIDED: &str = "the elements of this constant are elided (`{...}`): it has no value; XLA writes it with \
        `--xla_dump_large_constants`, JAX with `as_hlo_text(print_large_constants=True)`, and `hlo-run --random-inputs` \
        makes one up";

    /// Returns whether elements are unknown because the text had `{...}` in their place.
    pub fn is_elided(&self) -> bool {
        !self.elided.is_empty()
    }
}

impl Default for ConstantAttrs {
    fn default() -> Self {
        Self { literal: Literal::tuple(Vec::new()), elided: Vec::new() }
    }
}

macro_rules! no_text_attrs {
    ($($name:ident),*) => {$(
        impl Attrs for $name {
            fn fields(&self) -> &'static [Field] {
                &[]
            }
            fn read_field(&mut self, _: usize, _: &mut AttrReader<'_>) -> Result<(), AttrError> {
                Ok(())
            }
            fn is_default(&self, _: usize) -> bool {
                true
            }
            fn write_field(&self, _: usize, _: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
                Ok(())
            }
            fn for_each_computation(&self, _: &mut dyn FnMut(ComputationId)) {}
            fn for_each_computation_mut(&mut self, _: &mut dyn FnMut(&mut ComputationId)) {}
        }
    )*};
}
no_text_attrs!(ParameterAttrs, ConstantAttrs);

attrs! {
    /// `broadcast`.
    BroadcastAttrs {
        /// For each operand dimension, the corresponding result dimension.
        dimensions: Dims = Always,
    }
    /// `transpose` (result dimension `i` is operand dimension `dimensions[i]`) and `reverse` (the dimensions
    /// to reverse).
    DimensionsAttrs {
        /// The dimension numbers.
        dimensions: Dims = Required,
    }
    /// `concatenate`, `get-dimension-size`, `set-dimension-size`: exactly one dimension, written as a list.
    DimensionAttrs {
        /// The dimension, as a list of one.
        dimensions: Dims = Required,
    }
    /// `reshape`.
    ReshapeAttrs {
        /// The dimension whose size is not known statically. Informational.
        inferred_dimension: Option<i64> = Optional,
    }
    /// `slice`.
    SliceAttrs {
        /// The range of each dimension.
        slice: Vec<SliceDim> = Required,
    }
    /// `dynamic-slice`.
    DynamicSliceAttrs {
        /// The result's dimension sizes.
        dynamic_slice_sizes: Dims = Required,
    }
    /// `pad`.
    PadAttrs {
        /// The padding of each dimension.
        padding: Vec<PaddingDim> = Required,
    }
    /// `iota`.
    IotaAttrs {
        /// The dimension along which the values increase.
        iota_dimension: i64 = Required,
    }
    /// `get-tuple-element`.
    GetTupleElementAttrs {
        /// The index of the element.
        index: i64 = Required,
    }
    /// `gather` (operation semantics, "Gather").
    GatherAttrs {
        /// The result dimensions that come from the slices.
        offset_dims: Dims = Required,
        /// The operand dimensions that are removed from the slices.
        collapsed_slice_dims: Dims = Required,
        /// For each index component, the operand dimension that it offsets.
        start_index_map: Dims = Required,
        /// The operand batch dimensions, each paired with an index dimension.
        operand_batching_dims: Dims = Optional,
        /// The index dimensions paired with them.
        start_indices_batching_dims: Dims = Optional,
        /// The dimension of the index array that contains the components.
        index_vector_dim: i64 = Required,
        /// The slice's size in each operand dimension.
        slice_sizes: Dims = Required,
        /// Whether the program guarantees that the indices are sorted.
        indices_are_sorted: bool = Optional,
    }
    /// `scatter` (operation semantics, "Scatter").
    ScatterAttrs {
        /// The update dimensions that are window dimensions.
        update_window_dims: Dims = Required,
        /// The operand dimensions that the windows do not have.
        inserted_window_dims: Dims = Required,
        /// For each index component, the operand dimension that it offsets.
        scatter_dims_to_operand_dims: Dims = Required,
        /// The operand batch dimensions, each paired with an index dimension.
        input_batching_dims: Dims = Optional,
        /// The index dimensions paired with them.
        scatter_indices_batching_dims: Dims = Optional,
        /// The dimension of the index array that contains the components.
        index_vector_dim: i64 = Required,
        /// Whether the program guarantees that the indices are sorted.
        indices_are_sorted: bool = Optional,
        /// Whether the program guarantees that no two windows overlap.
        unique_indices: bool = Optional,
        /// The computation that combines an old element with an update.
        to_apply: ComputationId = Required,
    }
    /// `reduce`.
    ReduceAttrs {
        /// The operand dimensions to reduce.
        dimensions: Dims = Required,
        /// The computation that combines N accumulators with N elements.
        to_apply: ComputationId = Required,
    }
    /// `reduce-window`.
    ReduceWindowAttrs {
        /// The window, one entry per operand dimension.
        window: Window = Optional,
        /// The computation that combines N accumulators with N elements.
        to_apply: ComputationId = Required,
    }
    /// `select-and-scatter`.
    SelectAndScatterAttrs {
        /// The window, one entry per operand dimension.
        window: Window = Optional,
        /// The computation that selects the element of each window.
        select: ComputationId = Required,
        /// The computation that combines values scattered to the same element.
        scatter: ComputationId = Required,
    }
    /// `map`.
    MapAttrs {
        /// All dimensions in order.
        dimensions: Dims = Always,
        /// The computation applied to scalars.
        to_apply: ComputationId = Required,
    }
    /// `sort`.
    SortAttrs {
        /// The dimension to sort, as a list of one.
        dimensions: Dims = Required,
        /// Whether equal elements keep their order.
        is_stable: bool = Optional,
        /// The computation that returns true if its first argument sorts before its second.
        to_apply: ComputationId = Required,
    }
    /// `topk`.
    TopkAttrs {
        /// Number of elements to return.
        k: i64 = Required,
        /// Whether to return the largest elements or the smallest.
        largest: OrTrue = Always,
        /// Whether equal elements keep their order.
        is_stable: Option<bool> = Optional,
    }
    /// `scan`.
    ScanAttrs {
        /// The dimension to scan along, as a list of one.
        dimensions: Dims = Required,
        /// Number of operands that are carries.
        num_carries: i64 = Required,
        /// Whether to scan from the end.
        is_reverse: bool = Optional,
        /// Whether the computation is associative.
        is_associative: bool = Always,
        /// The computation (inputs, carries) → (outputs, carries).
        to_apply: ComputationId = Required,
    }
    /// `dot`; also used in the attributes of other dots.
    DotAttrs {
        /// Batch dimensions of the left operand.
        lhs_batch_dims: Dims = Optional,
        /// Contracting dimensions of the left operand.
        lhs_contracting_dims: Dims = Always,
        /// Batch dimensions of the right operand.
        rhs_batch_dims: Dims = Optional,
        /// Contracting dimensions of the right operand.
        rhs_contracting_dims: Dims = Always,
        /// The precision of each operand.
        operand_precision: OperandPrecision = Optional,
        /// The element types to compute in.
        algorithm: DotAlgorithm = Optional,
    }
    /// `ragged-dot`.
    RaggedDotAttrs {
        /// Batch dimensions of the left operand.
        lhs_batch_dims: Dims = Optional,
        /// Contracting dimensions of the left operand.
        lhs_contracting_dims: Dims = Always,
        /// Batch dimensions of the right operand.
        rhs_batch_dims: Dims = Optional,
        /// Contracting dimensions of the right operand.
        rhs_contracting_dims: Dims = Always,
        /// The left operand's ragged dimension.
        lhs_ragged_dims: Dims = Required,
        /// The right operand's group dimensions.
        rhs_group_dims: Dims = Optional,
        /// The precision of each operand.
        operand_precision: OperandPrecision = Optional,
    }
    /// `contraction`, which XLA does not have.
    ContractionAttrs {
        /// The index expressions of the result and the operands, the combination, the aggregation, and
        /// constraints.
        access: Contraction = Required,
    }
    /// `convolution`.
    ConvolutionAttrs {
        /// The window over the spatial dimensions.
        window: Window = Optional,
        /// The meaning of the dimensions.
        dim_labels: ConvDimLabels = Required,
        /// The number of feature groups.
        feature_group_count: Count = Optional,
        /// The number of batch groups.
        batch_group_count: Count = Optional,
        /// The convolution's role in a training step.
        convolution_kind: ConvolutionKind = Optional,
        /// The precision of each operand.
        operand_precision: OperandPrecision = Optional,
        /// The element types to compute in.
        algorithm: DotAlgorithm = Optional,
        /// The sparsity of the operands.
        sparsity_config: SparsityConfig = Optional,
    }
    /// `fft`.
    FftAttrs {
        /// The kind of transform.
        fft_type: FftType = Required,
        /// The lengths of the innermost dimensions.
        fft_length: Dims = Required,
    }
    /// `cholesky`.
    CholeskyAttrs {
        /// Whether to compute the lower factor.
        lower: bool = Optional,
    }
    /// `triangular-solve`.
    TriangularSolveAttrs {
        /// Whether to solve `op(a) x = b` (true) or `x op(a) = b` (false).
        left_side: bool = Optional,
        /// Whether to use the lower triangle of `a`.
        lower: bool = Optional,
        /// Whether to treat the diagonal as ones.
        unit_diagonal: bool = Optional,
        /// The operation `op`.
        transpose_a: TransposeKind = Optional,
    }
    /// `batch-norm-training`, `batch-norm-inference`, `batch-norm-grad`.
    BatchNormAttrs {
        /// The value added to the variance.
        epsilon: f32 = Required,
        /// The feature dimension.
        feature_index: i64 = Required,
    }
    /// `rng`.
    RngAttrs {
        /// The distribution.
        distribution: RngDistribution = Required,
    }
    /// `rng-bit-generator`.
    RngBitGeneratorAttrs {
        /// The generator.
        algorithm: RngAlgorithm = Required,
    }
    /// `rng-get-and-update-state`.
    RngGetAndUpdateStateAttrs {
        /// The value added to the state.
        delta: i64 = Required,
    }
    /// `reduce-precision`.
    ReducePrecisionAttrs {
        /// Number of exponent bits to keep.
        exponent_bits: i64 = Required,
        /// Number of mantissa bits to keep.
        mantissa_bits: i64 = Required,
    }
    /// `compare`.
    CompareAttrs {
        /// The relation.
        direction: ComparisonDirection = Required,
        /// The order of values. By default, the element type determines it.
        comparison_type as "type": ComparisonType = Optional,
    }
    /// `call`.
    CallAttrs {
        /// The called computation.
        to_apply: ComputationId = Required,
        /// Whether the call represents one operation of a higher level.
        is_composite: bool = Optional,
    }
    /// `while`.
    WhileAttrs {
        /// The computation from the state to whether to continue.
        condition: ComputationId = Required,
        /// The computation from the state to the next state.
        body: ComputationId = Required,
    }
    /// `conditional`: either the two computations of a `pred` index or the list of an `s32` index.
    ConditionalAttrs {
        /// The computation to run if the index is true.
        true_computation: Option<ComputationId> = Optional,
        /// The computation to run if the index is false.
        false_computation: Option<ComputationId> = Optional,
        /// The computations for index 0, 1, …; the last one also runs for an index out of range.
        branch_computations: Vec<ComputationId> = Optional,
    }
    /// `fusion`.
    FusionAttrs {
        /// The kind of fusion.
        kind: FusionKind = Required,
        /// Results that share memory with operands.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// The fused computation.
        calls: ComputationId = Required,
    }
    /// `custom-call`.
    CustomCallAttrs {
        /// A window, as for a convolution.
        window: Option<Window> = Optional,
        /// The meaning of the dimensions, as for a convolution.
        dim_labels: Option<ConvDimLabels> = Optional,
        /// The number of feature groups.
        feature_group_count: Count = Optional,
        /// The number of batch groups.
        batch_group_count: Count = Optional,
        /// The precision of each operand.
        operand_precision: OperandPrecision = Optional,
        /// How the window is padded.
        padding_type: PaddingType = Optional,
        /// The name of the target.
        custom_call_target: HloString = Required,
        /// The operands' shapes with the layouts that the target requires.
        operand_layout_constraints: LayoutConstraints = Optional,
        /// Whether the call must not be removed or merged.
        custom_call_has_side_effect: bool = Optional,
        /// A value passed to the target.
        literal: Option<LiteralValue> = Optional,
        /// Results that share memory with operands.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// When to schedule the call.
        schedule: CustomCallSchedule = Optional,
        /// The calling convention.
        api_version: CustomCallApiVersion = Optional,
        /// A computation that the target calls.
        to_apply: Option<ComputationId> = Optional,
        /// Computations that the target calls.
        called_computations: Vec<ComputationId> = Optional,
    }
    /// `infeed`.
    InfeedAttrs {
        /// The opaque configuration.
        infeed_config: HloString = Optional,
    }
    /// `outfeed`.
    OutfeedAttrs {
        /// The shape of the data to send; if omitted, the operand's shape.
        outfeed_shape: OptionalShape = Optional,
        /// The opaque configuration.
        outfeed_config: HloString = Optional,
    }
    /// `send`, `recv`, `send-done`, `recv-done`.
    ChannelAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// Whether the other end is the host.
        is_host_transfer: bool = Optional,
    }
    /// `domain`.
    DomainAttrs {
        /// The shardings on both sides.
        domain: Domain = Required,
    }
    /// `copy-start`.
    CopyStartAttrs {
        /// The index of the prefetch.
        cross_program_prefetch_index: Option<i64> = Optional,
    }
    /// `async-start`.
    AsyncStartAttrs {
        /// The thread that runs it; if omitted, the main thread.
        async_execution_thread: Option<HloString> = Optional,
        /// Results that share memory with operands.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// The wrapped computation.
        calls: Option<ComputationId> = Optional,
    }
    /// `async-update`: the thread and the computation are those of its start, and are not printed if equal.
    AsyncUpdateAttrs {
        /// The thread that runs it, if it differs from the start's.
        async_execution_thread: Option<HloString> = Optional,
        /// Parts of the context that share memory with those of the previous state.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// The wrapped computation, if it differs from the start's.
        calls: Option<ComputationId> = Optional,
    }
    /// `async-done`: the thread and the computation are those of its start, and are not printed if equal.
    AsyncDoneAttrs {
        /// The thread that runs it, if it differs from the start's.
        async_execution_thread: Option<HloString> = Optional,
        /// The wrapped computation, if it differs from the start's.
        calls: Option<ComputationId> = Optional,
    }
}

impl DimensionAttrs {
    /// Returns the dimension.
    pub fn dimension(&self) -> i64 {
        self.dimensions.first().copied().unwrap_or(0)
    }
}

impl GatherAttrs {
    /// Returns whether windows have no element. The result may still have elements, if a dimension of size 0
    /// is collapsed. They are zero.
    pub fn reads_nothing(&self) -> bool {
        self.slice_sizes.contains(&0)
    }
}

impl ConditionalAttrs {
    /// Returns the computations, in the order of the operands that are their arguments.
    pub fn branches(&self) -> Vec<ComputationId> {
        self.true_computation
            .into_iter()
            .chain(self.false_computation)
            .chain(self.branch_computations.iter().copied())
            .collect()
    }
}

impl ConvolutionAttrs {
    /// Returns the number of feature groups.
    pub fn feature_groups(&self) -> i64 {
        self.feature_group_count.0
    }

    /// Returns the number of batch groups.
    pub fn batch_groups(&self) -> i64 {
        self.batch_group_count.0
    }
}
