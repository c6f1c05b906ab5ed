//! Attributes of each opcode: maps them to the fields of an instruction's message. A struct that is not in the
//! table, because XLA does not have it, is stored as text (see [`as_text`](super::as_text)).
//!
//! A row of the table is one of the following:
//! - `[attribute: field]`, or `[attribute]` if both have the same name: the attribute is one field
//!   ([`Field`]).
//! - `[in message: Type { attribute: field, … }]`: the attributes are fields of a submessage.
//! - `[calls attribute, …]`: called computations, in the order of `called_computation_ids`.
//! - `[written attribute]`: called computations that are written before those of the next `calls` row. That
//!   row reads them.
//! - `[part attribute]`: the attribute takes several fields ([`Part`]).
//! - `[text attribute "name"]`: XLA's message has no field for the attribute. Its text is in
//!   `text_attributes`.

use super::context::{Reading, Writing};
use super::fields::Field;
use super::literal::{read_literal, write_literal};
use super::parts::Part;
use super::shape::read_shape;
use super::{Result, dims, or_default};
use crate::messages::{
    CholeskyOptions, DotDimensionNumbers, GatherDimensionNumbers, HloInstructionProto, PrecisionConfig,
    RaggedDotDimensionNumbers, ScatterDimensionNumbers, TriangularSolveOptions,
};
use hlo_ir::attr::*;
use hlo_ir::{Literal, Shape};

/// Conversion of the attributes of an opcode.
pub(super) trait Attributes: Sized {
    /// Reads the attributes from a message.
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self>;

    /// Writes the attributes to a message.
    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>);
}

impl<A: Attributes> Attributes for Box<A> {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        A::read(proto, context).map(Box::new)
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        (**self).write(proto, context);
    }
}

/// Implements [`Attributes`] from the table.
macro_rules! attributes {
    ($($name:ident { $([$($row:tt)*])* })*) => {$(
        impl Attributes for $name {
            fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
                let mut attributes = Self::default();
                $(read_row!(attributes proto context; $($row)*);)*
                Ok(attributes)
            }

            fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
                // Compilation fails if a field of the struct has no row.
                let fields!(Self []; $([$($row)*])*) = self;
                $(write_row!(self proto context; $($row)*);)*
            }
        }
    )*};
}

/// Expands to the pattern of a struct whose fields are the attributes of some rows.
macro_rules! fields {
    ($name:ident [$($field:ident)*];) => { $name { $($field: _),* } };
    ($name:ident [$($field:ident)*]; [in $message:ident: $ty:ident { $($attribute:ident: $to:ident),* }] $($rest:tt)*) => {
        fields!($name [$($field)* $($attribute)*]; $($rest)*)
    };
    ($name:ident [$($field:ident)*]; [calls $($attribute:ident),*] $($rest:tt)*) => {
        fields!($name [$($field)* $($attribute)*]; $($rest)*)
    };
    ($name:ident [$($field:ident)*]; [written $attribute:ident] $($rest:tt)*) => {
        fields!($name [$($field)* $attribute]; $($rest)*)
    };
    ($name:ident [$($field:ident)*]; [part $attribute:ident] $($rest:tt)*) => {
        fields!($name [$($field)* $attribute]; $($rest)*)
    };
    ($name:ident [$($field:ident)*]; [text $attribute:ident $text:literal] $($rest:tt)*) => {
        fields!($name [$($field)* $attribute]; $($rest)*)
    };
    ($name:ident [$($field:ident)*]; [$attribute:ident $(: $to:ident)?] $($rest:tt)*) => {
        fields!($name [$($field)* $attribute]; $($rest)*)
    };
}

macro_rules! read_row {
    ($a:ident $p:ident $c:ident; calls $($attribute:ident),*) => {
        let mut called = $p.called_computation_ids.iter();
        $($a.$attribute = $c.called(&mut called)?;)*
    };
    ($a:ident $p:ident $c:ident; written $attribute:ident) => {};
    ($a:ident $p:ident $c:ident; part $attribute:ident) => {
        $a.$attribute = Part::read($p, $c)?;
    };
    ($a:ident $p:ident $c:ident; text $attribute:ident $name:literal) => {
        $a.$attribute = $c.text(&$p.text_attributes, $name)?;
    };
    ($a:ident $p:ident $c:ident; in $message:ident: $ty:ident { $($attribute:ident: $field:ident),* }) => {
        let message: std::borrow::Cow<'_, $ty> = or_default(&$p.$message);
        $($a.$attribute = Field::read(&message.$field, $c)?;)*
    };
    ($a:ident $p:ident $c:ident; $attribute:ident) => { read_row!($a $p $c; $attribute: $attribute) };
    ($a:ident $p:ident $c:ident; $attribute:ident: $field:ident) => {
        $a.$attribute = Field::read(&$p.$field, $c)?;
    };
}

macro_rules! write_row {
    ($a:ident $p:ident $c:ident; calls $($attribute:ident),*) => {
        $($c.call(&$a.$attribute, $p);)*
    };
    ($a:ident $p:ident $c:ident; written $attribute:ident) => { $c.call(&$a.$attribute, $p) };
    ($a:ident $p:ident $c:ident; part $attribute:ident) => { Part::write(&$a.$attribute, $p, $c) };
    ($a:ident $p:ident $c:ident; text $attribute:ident $name:literal) => {
        $p.text_attributes.extend($c.text($name, &$a.$attribute));
    };
    ($a:ident $p:ident $c:ident; in $message:ident: $ty:ident { $($attribute:ident: $field:ident),* }) => {
        let message: &mut $ty = $p.$message.get_or_insert_default();
        $(message.$field = Field::write(&$a.$attribute, $c);)*
    };
    ($a:ident $p:ident $c:ident; $attribute:ident) => { write_row!($a $p $c; $attribute: $attribute) };
    ($a:ident $p:ident $c:ident; $attribute:ident: $field:ident) => {
        $p.$field = Field::write(&$a.$attribute, $c);
    };
}

attributes! {
    ParameterAttrs { [number: parameter_number] }
    GetTupleElementAttrs { [index: tuple_index] }
    ReducePrecisionAttrs { [exponent_bits] [mantissa_bits] }
    CompareAttrs { [direction: comparison_direction] [part comparison_type] }

    BroadcastAttrs { [dimensions] }
    DimensionAttrs { [dimensions] }
    DimensionsAttrs { [dimensions] }
    IotaAttrs { [iota_dimension: dimensions] }
    PadAttrs { [padding: padding_config] }
    ReshapeAttrs { [inferred_dimension: dimensions] }
    SliceAttrs { [slice: slice_dimensions] }

    DynamicSliceAttrs { [dynamic_slice_sizes] }
    GatherAttrs {
        [in gather_dimension_numbers: GatherDimensionNumbers {
            offset_dims: offset_dims,
            collapsed_slice_dims: collapsed_slice_dims,
            start_index_map: start_index_map,
            operand_batching_dims: operand_batching_dims,
            start_indices_batching_dims: start_indices_batching_dims,
            index_vector_dim: index_vector_dim
        }]
        [slice_sizes: gather_slice_sizes]
        [indices_are_sorted]
    }
    ScatterAttrs {
        [in scatter_dimension_numbers: ScatterDimensionNumbers {
            update_window_dims: update_window_dims,
            inserted_window_dims: inserted_window_dims,
            scatter_dims_to_operand_dims: scatter_dims_to_operand_dims,
            input_batching_dims: input_batching_dims,
            scatter_indices_batching_dims: scatter_indices_batching_dims,
            index_vector_dim: index_vector_dim
        }]
        [indices_are_sorted]
        [unique_indices]
        [calls to_apply]
    }

    MapAttrs { [dimensions] [calls to_apply] }
    ReduceAttrs { [dimensions] [calls to_apply] }
    ReduceWindowAttrs { [window] [calls to_apply] }
    ScanAttrs { [dimensions] [num_carries] [is_reverse] [is_associative] [calls to_apply] }
    SelectAndScatterAttrs { [window] [calls select, scatter] }
    SortAttrs { [dimensions] [is_stable] [calls to_apply] }
    TopkAttrs { [k] [largest] [is_stable] }

    CholeskyAttrs { [in cholesky_options: CholeskyOptions { lower: lower }] }
    ConvolutionAttrs {
        [window]
        [dim_labels: convolution_dimension_numbers]
        [feature_group_count]
        [batch_group_count]
        [convolution_kind: conv_kind]
        [in precision_config: PrecisionConfig { operand_precision: operand_precision, algorithm: algorithm }]
        [sparsity_config]
    }
    DotAttrs {
        [in dot_dimension_numbers: DotDimensionNumbers {
            lhs_batch_dims: lhs_batch_dimensions,
            lhs_contracting_dims: lhs_contracting_dimensions,
            rhs_batch_dims: rhs_batch_dimensions,
            rhs_contracting_dims: rhs_contracting_dimensions
        }]
        [in precision_config: PrecisionConfig { operand_precision: operand_precision, algorithm: algorithm }]
    }
    FftAttrs { [fft_type] [fft_length] }
    TriangularSolveAttrs {
        [in triangular_solve_options: TriangularSolveOptions {
            left_side: left_side,
            lower: lower,
            unit_diagonal: unit_diagonal,
            transpose_a: transpose_a
        }]
    }

    BatchNormAttrs { [epsilon] [feature_index] }
    RngAttrs { [distribution] }
    RngBitGeneratorAttrs { [algorithm: rng_algorithm] }
    RngGetAndUpdateStateAttrs { [delta] }

    CallAttrs { [is_composite] [calls to_apply] }
    FusionAttrs { [kind: fusion_kind] [output_to_operand_aliasing: output_operand_aliasing] [calls calls] }
    WhileAttrs { [calls body, condition] }

    ChannelAttrs { [channel_id] [is_host_transfer] }
    CustomCallAttrs {
        [window]
        [dim_labels: convolution_dimension_numbers]
        [feature_group_count]
        [batch_group_count]
        [in precision_config: PrecisionConfig { operand_precision: operand_precision }]
        [padding_type]
        [custom_call_target]
        [part operand_layout_constraints]
        [custom_call_has_side_effect]
        [literal]
        [output_to_operand_aliasing: output_operand_aliasing]
        [schedule: custom_call_schedule]
        [api_version: custom_call_api_version]
        [written to_apply]
        [calls called_computations]
    }
    AsyncStartAttrs {
        [part async_execution_thread]
        [output_to_operand_aliasing: output_operand_aliasing]
        [calls calls]
    }
    CopyStartAttrs { [cross_program_prefetch_index] }
    DomainAttrs { [part domain] }
    InfeedAttrs { [infeed_config] }
    OutfeedAttrs { [outfeed_shape] [outfeed_config] }

    AllGatherAttrs {
        [channel_id] [part replica_groups] [constrain_layout] [dimensions] [use_global_device_ids]
    }
    AllReduceAttrs {
        [channel_id] [part replica_groups] [constrain_layout] [use_global_device_ids] [text mode "mode"]
        [calls to_apply]
    }
    AllToAllAttrs { [channel_id] [part replica_groups] [constrain_layout] [dimensions] }
    CollectiveBroadcastAttrs {
        [channel_id] [part replica_groups] [text has_dynamic_root "has_dynamic_root"]
    }
    CollectivePermuteAttrs { [channel_id] [source_target_pairs] [part slice_sizes] }
    RaggedAllToAllAttrs { [channel_id] [part replica_groups] [dimensions] }
    ReduceScatterAttrs {
        [channel_id] [part replica_groups] [constrain_layout] [use_global_device_ids] [dimensions]
        [text mode "mode"] [calls to_apply]
    }
}

impl Attributes for ConstantAttrs {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        let Some(literal) = &proto.literal else { return unknown_constant(proto) };
        let literal = in_layout_of(read_literal(literal)?, read_shape(&or_default(&proto.shape))?);
        let mut attributes = Self { literal, elided: Vec::new() };
        read_row!(attributes proto context; text elided "elided");
        Ok(attributes)
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        let Self { literal: _, elided: _ } = self;
        // A constant whose elements are all unknown has no `literal`.
        if !self.is_elided() || self.elided.contains(&false) {
            proto.literal = Some(Box::new(write_literal(&self.literal)));
            write_row!(self proto context; text elided "elided");
        }
    }
}

/// Returns the literal with the layout of its instruction. A literal's own layout is only the order of the
/// elements in the message.
fn in_layout_of(literal: Literal, shape: Shape) -> Literal {
    let same = literal.shape().clone().without_layout() == shape.clone().without_layout()
        && literal.shape().byte_size() == shape.byte_size();
    if same { literal.with_shape(shape) } else { literal }
}

/// Maximum size in bytes of the zeros that stand in for the value of a constant without `literal`.
const MAX_ELIDED_BYTES: usize = 1 << 30;

/// Returns the attributes of a constant whose value is not in the file. All its arrays are elided.
fn unknown_constant(proto: &HloInstructionProto) -> Result<ConstantAttrs> {
    let shape = read_shape(&or_default(&proto.shape))?;
    let literal = if shape.byte_size() <= MAX_ELIDED_BYTES { Literal::try_zeros(&shape) } else { None };
    match literal {
        Some(literal) => Ok(ConstantAttrs { literal, elided: vec![true; shape.leaf_count()] }),
        None => Err(format!("a constant of shape {shape} has no literal")),
    }
}

/// A conditional on a `pred` has a true and a false computation. Other conditionals have a list of branches.
impl Attributes for ConditionalAttrs {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        let mut attributes = Self::default();
        let index = context.operand_shape(0).and_then(|s| s.as_array());
        if index.is_some_and(|a| a.element_type.is_pred()) && proto.called_computation_ids.len() == 2 {
            read_row!(attributes proto context; calls true_computation, false_computation);
        } else {
            read_row!(attributes proto context; calls branch_computations);
        }
        Ok(attributes)
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        let Self { true_computation: _, false_computation: _, branch_computations: _ } = self;
        context.call(&self.branches(), proto);
    }
}

impl Attributes for RaggedDotAttrs {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        let numbers = or_default(&proto.ragged_dot_dimension_numbers);
        let products = or_default(&numbers.dot_dimension_numbers);
        let mut attributes = Self {
            lhs_batch_dims: dims(&products.lhs_batch_dimensions),
            lhs_contracting_dims: dims(&products.lhs_contracting_dimensions),
            rhs_batch_dims: dims(&products.rhs_batch_dimensions),
            rhs_contracting_dims: dims(&products.rhs_contracting_dimensions),
            lhs_ragged_dims: dims(&numbers.lhs_ragged_dimensions),
            rhs_group_dims: dims(&numbers.rhs_group_dimensions),
            operand_precision: OperandPrecision::default(),
        };
        read_row!(attributes proto context; in precision_config: PrecisionConfig {
            operand_precision: operand_precision
        });
        Ok(attributes)
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        let Self {
            lhs_batch_dims,
            lhs_contracting_dims,
            rhs_batch_dims,
            rhs_contracting_dims,
            lhs_ragged_dims,
            rhs_group_dims,
            operand_precision: _,
        } = self;
        let products = DotDimensionNumbers {
            lhs_batch_dimensions: lhs_batch_dims.to_vec(),
            lhs_contracting_dimensions: lhs_contracting_dims.to_vec(),
            rhs_batch_dimensions: rhs_batch_dims.to_vec(),
            rhs_contracting_dimensions: rhs_contracting_dims.to_vec(),
        };
        proto.ragged_dot_dimension_numbers = Some(Box::new(RaggedDotDimensionNumbers {
            dot_dimension_numbers: Some(Box::new(products)),
            lhs_ragged_dimensions: lhs_ragged_dims.to_vec(),
            rhs_group_dimensions: rhs_group_dims.to_vec(),
        }));
        write_row!(self proto context; in precision_config: PrecisionConfig {
            operand_precision: operand_precision
        });
    }
}

/// Attributes that equal those of the operation's start are dropped when they are read.
impl Attributes for AsyncUpdateAttrs {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        let mut attributes = Self::default();
        read_row!(attributes proto context; output_to_operand_aliasing: output_operand_aliasing);
        let AsyncDoneAttrs { async_execution_thread, calls } = Attributes::read(proto, context)?;
        Ok(Self { async_execution_thread, calls, ..attributes })
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        let Self { async_execution_thread: _, output_to_operand_aliasing: _, calls: _ } = self;
        write_row!(self proto context; part async_execution_thread);
        write_row!(self proto context; output_to_operand_aliasing: output_operand_aliasing);
        write_row!(self proto context; calls calls);
    }
}

impl Attributes for AsyncDoneAttrs {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        let mut attributes = Self::default();
        read_row!(attributes proto context; part async_execution_thread);
        read_row!(attributes proto context; calls calls);
        if let Some(start) = context.start {
            attributes.async_execution_thread.take_if(|t| start.async_execution_thread.as_ref() == Some(t));
            attributes.calls.take_if(|c| start.calls == Some(*c));
        }
        Ok(attributes)
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        let Self { async_execution_thread: _, calls: _ } = self;
        write_row!(self proto context; part async_execution_thread);
        write_row!(self proto context; calls calls);
    }
}
