//! The attribute structs, one an opcode (or a group of opcodes with the same attributes).

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

/// `parameter(n)`: the number stands in the operand list, not among the attributes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterAttrs {
    /// The position in the computation's parameter list.
    pub number: i64,
}

/// `constant(literal)`: the value stands in the operand list, not among the attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstantAttrs {
    /// The value.
    pub literal: Literal,
    /// For each array of the value, in order, whether the text had `{...}` in place of its elements: they are then
    /// unspecified. Empty if the text has all.
    pub elided: Vec<bool>,
}

impl ConstantAttrs {
    /// Why a constant whose elements are not known can't be computed with, and where to get them.
    pub const ELIDED: &str = "the elements of this constant are elided (`{...}`): it has no value; XLA writes it with \
        `--xla_dump_large_constants`, JAX with `as_hlo_text(print_large_constants=True)`, and `hlo-run --random-inputs` \
        makes one up";

    /// True if elements are not known, as the text had `{...}` in their place.
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
        /// For each operand dimension, the result dimension that it becomes.
        dimensions: Dims = Always,
    }
    /// `transpose` (result dimension `i` is operand dimension `dimensions[i]`) and `reverse` (the dimensions
    /// that are reversed).
    DimensionsAttrs {
        /// The dimension numbers.
        dimensions: Dims = Required,
    }
    /// `concatenate`, `get-dimension-size`, `set-dimension-size`: exactly one dimension, written as a list.
    DimensionAttrs {
        /// The dimension, a list of one.
        dimensions: Dims = Required,
    }
    /// `reshape`.
    ReshapeAttrs {
        /// The dimension whose size is not known statically; informational.
        inferred_dimension: Option<i64> = Optional,
    }
    /// `slice`.
    SliceAttrs {
        /// One range a dimension.
        slice: Vec<SliceDim> = Required,
    }
    /// `dynamic-slice`.
    DynamicSliceAttrs {
        /// The result's dimension sizes.
        dynamic_slice_sizes: Dims = Required,
    }
    /// `pad`.
    PadAttrs {
        /// One entry a dimension.
        padding: Vec<PaddingDim> = Required,
    }
    /// `iota`.
    IotaAttrs {
        /// The dimension along which the values count up.
        iota_dimension: i64 = Required,
    }
    /// `get-tuple-element`.
    GetTupleElementAttrs {
        /// Which element.
        index: i64 = Required,
    }
    /// `gather` (operation semantics, "Gather").
    GatherAttrs {
        /// The result dimensions that come from the slices.
        offset_dims: Dims = Required,
        /// The operand dimensions that are dropped from the slices.
        collapsed_slice_dims: Dims = Required,
        /// For each index component, the operand dimension that it offsets.
        start_index_map: Dims = Required,
        /// Operand dimensions that pair up with index dimensions.
        operand_batching_dims: Dims = Optional,
        /// The index dimensions that they pair up with.
        start_indices_batching_dims: Dims = Optional,
        /// The dimension of the index array that holds the components.
        index_vector_dim: i64 = Required,
        /// The slice's size in each operand dimension.
        slice_sizes: Dims = Required,
        /// A promise that the indices are sorted.
        indices_are_sorted: bool = Optional,
    }
    /// `scatter` (operation semantics, "Scatter").
    ScatterAttrs {
        /// The update dimensions that are window dimensions.
        update_window_dims: Dims = Required,
        /// The operand dimensions that the windows lack.
        inserted_window_dims: Dims = Required,
        /// For each index component, the operand dimension that it offsets.
        scatter_dims_to_operand_dims: Dims = Required,
        /// Operand dimensions that pair up with index dimensions.
        input_batching_dims: Dims = Optional,
        /// The index dimensions that they pair up with.
        scatter_indices_batching_dims: Dims = Optional,
        /// The dimension of the index array that holds the components.
        index_vector_dim: i64 = Required,
        /// A promise that the indices are sorted.
        indices_are_sorted: bool = Optional,
        /// A promise that no two windows overlap.
        unique_indices: bool = Optional,
        /// Combines an old element with an update.
        to_apply: ComputationId = Required,
    }
    /// `reduce`.
    ReduceAttrs {
        /// The operand dimensions that are reduced away.
        dimensions: Dims = Required,
        /// Combines N accumulators with N elements.
        to_apply: ComputationId = Required,
    }
    /// `reduce-window`.
    ReduceWindowAttrs {
        /// The window, one entry an operand dimension.
        window: Window = Optional,
        /// Combines N accumulators with N elements.
        to_apply: ComputationId = Required,
    }
    /// `select-and-scatter`.
    SelectAndScatterAttrs {
        /// The window, one entry an operand dimension.
        window: Window = Optional,
        /// Picks the element of each window.
        select: ComputationId = Required,
        /// Combines what is scattered to the same place.
        scatter: ComputationId = Required,
    }
    /// `map`.
    MapAttrs {
        /// All dimensions in order.
        dimensions: Dims = Always,
        /// The function on scalars.
        to_apply: ComputationId = Required,
    }
    /// `sort`.
    SortAttrs {
        /// The dimension that is sorted, a list of one.
        dimensions: Dims = Required,
        /// True if equal elements keep their order.
        is_stable: bool = Optional,
        /// True if its first argument goes before its second.
        to_apply: ComputationId = Required,
    }
    /// `topk`.
    TopkAttrs {
        /// How many.
        k: i64 = Required,
        /// The largest or the smallest.
        largest: OrTrue = Always,
        /// True if equal elements keep their order.
        is_stable: Option<bool> = Optional,
    }
    /// `scan`.
    ScanAttrs {
        /// The dimension scanned along, a list of one.
        dimensions: Dims = Required,
        /// How many of the operands are carries.
        num_carries: i64 = Required,
        /// True to scan from the end.
        is_reverse: bool = Optional,
        /// Whether the function is associative.
        is_associative: bool = Always,
        /// (inputs, carries) → (outputs, carries).
        to_apply: ComputationId = Required,
    }
    /// `dot`; also the part of other dots' attributes.
    DotAttrs {
        /// Batch dimensions of the left operand.
        lhs_batch_dims: Dims = Optional,
        /// Contracting dimensions of the left operand.
        lhs_contracting_dims: Dims = Always,
        /// Batch dimensions of the right operand.
        rhs_batch_dims: Dims = Optional,
        /// Contracting dimensions of the right operand.
        rhs_contracting_dims: Dims = Always,
        /// Precision of each operand.
        operand_precision: OperandPrecision = Optional,
        /// The algorithm.
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
        /// Precision of each operand.
        operand_precision: OperandPrecision = Optional,
    }
    /// `contraction`, which XLA does not have.
    ContractionAttrs {
        /// The index expressions of the result and the operands, what combines and aggregates, and constraints.
        access: Contraction = Required,
    }
    /// `convolution`.
    ConvolutionAttrs {
        /// The window over the spatial dimensions.
        window: Window = Optional,
        /// What the dimensions mean.
        dim_labels: ConvDimLabels = Required,
        /// The number of feature groups.
        feature_group_count: Count = Optional,
        /// The number of batch groups.
        batch_group_count: Count = Optional,
        /// Which convolution of a training step it is.
        convolution_kind: ConvolutionKind = Optional,
        /// Precision of each operand.
        operand_precision: OperandPrecision = Optional,
        /// The algorithm.
        algorithm: DotAlgorithm = Optional,
        /// Which elements of the operands are zero.
        sparsity_config: SparsityConfig = Optional,
    }
    /// `fft`.
    FftAttrs {
        /// The transform.
        fft_type: FftType = Required,
        /// Lengths of the innermost dimensions.
        fft_length: Dims = Required,
    }
    /// `cholesky`.
    CholeskyAttrs {
        /// True for the lower factor.
        lower: bool = Optional,
    }
    /// `triangular-solve`.
    TriangularSolveAttrs {
        /// True for `op(a) x = b`, false for `x op(a) = b`.
        left_side: bool = Optional,
        /// True if the lower triangle of `a` is used.
        lower: bool = Optional,
        /// True if the diagonal is taken as ones.
        unit_diagonal: bool = Optional,
        /// What `op` is.
        transpose_a: TransposeKind = Optional,
    }
    /// `batch-norm-training`, `batch-norm-inference`, `batch-norm-grad`.
    BatchNormAttrs {
        /// Added to the variance.
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
        /// Added to the state.
        delta: i64 = Required,
    }
    /// `reduce-precision`.
    ReducePrecisionAttrs {
        /// Bits of the exponent kept.
        exponent_bits: i64 = Required,
        /// Bits of the mantissa kept.
        mantissa_bits: i64 = Required,
    }
    /// `compare`.
    CompareAttrs {
        /// The relation.
        direction: ComparisonDirection = Required,
        /// The order.
        comparison_type as "type": ComparisonType = Optional,
    }
    /// `call`.
    CallAttrs {
        /// The computation called.
        to_apply: ComputationId = Required,
        /// True if it stands for one operation of a higher level.
        is_composite: bool = Optional,
    }
    /// `while`.
    WhileAttrs {
        /// State → whether to go on.
        condition: ComputationId = Required,
        /// State → state.
        body: ComputationId = Required,
    }
    /// `conditional`: either the two computations of a `pred` index or the list of an `s32` index.
    ConditionalAttrs {
        /// Runs if the index is true.
        true_computation: Option<ComputationId> = Optional,
        /// Runs if the index is false.
        false_computation: Option<ComputationId> = Optional,
        /// Runs for index 0, 1, …; the last one for an index out of range.
        branch_computations: Vec<ComputationId> = Optional,
    }
    /// `fusion`.
    FusionAttrs {
        /// What it was formed around.
        kind: FusionKind = Required,
        /// Results that share memory with operands.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// The fused computation.
        calls: ComputationId = Required,
    }
    /// `custom-call`.
    CustomCallAttrs {
        /// A window.
        window: Option<Window> = Optional,
        /// What the dimensions mean, as for a convolution.
        dim_labels: Option<ConvDimLabels> = Optional,
        /// The number of feature groups.
        feature_group_count: Count = Optional,
        /// The number of batch groups.
        batch_group_count: Count = Optional,
        /// Precision of each operand.
        operand_precision: OperandPrecision = Optional,
        /// How a window is padded.
        padding_type: PaddingType = Optional,
        /// The target's name.
        custom_call_target: HloString = Required,
        /// The operands' shapes with the layouts that the target needs.
        operand_layout_constraints: LayoutConstraints = Optional,
        /// True if it must not be removed or merged.
        custom_call_has_side_effect: bool = Optional,
        /// A value that the target is given.
        literal: Option<LiteralValue> = Optional,
        /// Results that share memory with operands.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// When it should run.
        schedule: CustomCallSchedule = Optional,
        /// The calling convention.
        api_version: CustomCallApiVersion = Optional,
        /// A computation that it calls.
        to_apply: Option<ComputationId> = Optional,
        /// Computations that it calls.
        called_computations: Vec<ComputationId> = Optional,
    }
    /// `infeed`.
    InfeedAttrs {
        /// Opaque configuration.
        infeed_config: HloString = Optional,
    }
    /// `outfeed`.
    OutfeedAttrs {
        /// The shape of what is sent; if not written, the operand's.
        outfeed_shape: OptionalShape = Optional,
        /// Opaque configuration.
        outfeed_config: HloString = Optional,
    }
    /// `send`, `recv`, `send-done`, `recv-done`.
    ChannelAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// True if the other end is the host.
        is_host_transfer: bool = Optional,
    }
    /// `domain`.
    DomainAttrs {
        /// What is known on either side.
        domain: Domain = Required,
    }
    /// `copy-start`.
    CopyStartAttrs {
        /// Which prefetch it is.
        cross_program_prefetch_index: Option<i64> = Optional,
    }
    /// `async-start`.
    AsyncStartAttrs {
        /// The thread that runs it, if not the main one.
        async_execution_thread: Option<HloString> = Optional,
        /// Results that share memory with operands.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// The wrapped computation.
        calls: Option<ComputationId> = Optional,
    }
    /// `async-update`: the thread and the computation are those of its start, and then not printed.
    AsyncUpdateAttrs {
        /// The thread that runs it, if it is not the start's.
        async_execution_thread: Option<HloString> = Optional,
        /// Parts of the context that share memory with those of the state before.
        output_to_operand_aliasing: Vec<OperandAlias> = Optional,
        /// The wrapped computation, if it is not the start's.
        calls: Option<ComputationId> = Optional,
    }
    /// `async-done`: those of its start, and then not printed.
    AsyncDoneAttrs {
        /// The thread that runs it, if it is not the start's.
        async_execution_thread: Option<HloString> = Optional,
        /// The wrapped computation, if it is not the start's.
        calls: Option<ComputationId> = Optional,
    }
}

impl DimensionAttrs {
    /// The one dimension.
    pub fn dimension(&self) -> i64 {
        self.dimensions.first().copied().unwrap_or(0)
    }
}

impl GatherAttrs {
    /// True if windows have no element. A result may have some all the same, where a dimension of size 0 is collapsed:
    /// they are zero.
    pub fn reads_nothing(&self) -> bool {
        self.slice_sizes.contains(&0)
    }
}

impl ConditionalAttrs {
    /// The computations in the order of the operands that are their arguments.
    pub fn branches(&self) -> Vec<ComputationId> {
        self.true_computation
            .into_iter()
            .chain(self.false_computation)
            .chain(self.branch_computations.iter().copied())
            .collect()
    }
}

impl ConvolutionAttrs {
    /// The number of feature groups.
    pub fn feature_groups(&self) -> i64 {
        self.feature_group_count.0
    }

    /// The number of batch groups.
    pub fn batch_groups(&self) -> i64 {
        self.batch_group_count.0
    }
}
