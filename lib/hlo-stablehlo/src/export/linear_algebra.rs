//! Dot products, convolutions, factorizations, transforms, normalization.

use super::attributes::{algorithm, f32, i64s, of_window, padding, precision, word};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::types::{array_type, element_type};
use super::value::Value;
use crate::tree::{Attribute, ValueId};
use hlo_ir::attr::{
    BatchNormAttrs, CholeskyAttrs, ConvDimLabels, ConvolutionAttrs, Count, DotAttrs, FftAttrs,
    OperandPrecision, RaggedDotAttrs, SparsityConfig, TransposeKind, TriangularSolveAttrs, Window,
};
use hlo_ir::{ElementType, InstrId};

impl Exporter<'_> {
    pub(super) fn dot(&mut self, id: InstrId, attrs: &DotAttrs) -> Outcome<Value> {
        let DotAttrs {
            lhs_batch_dims,
            lhs_contracting_dims,
            rhs_batch_dims,
            rhs_contracting_dims,
            operand_precision,
            algorithm: chosen,
        } = attrs;
        let operands = self.leaves(id)?;
        if operands.len() != 2 {
            return self
                .reject(id, "has operands that say which elements are zero, which StableHLO's has not");
        }
        let types = [self.operand_array(id, 0)?.element_type, self.operand_array(id, 1)?.element_type];
        let numbers = Attribute::of_fields(
            "stablehlo.dot",
            [
                ("lhs_batching_dimensions", i64s(lhs_batch_dims)),
                ("rhs_batching_dimensions", i64s(rhs_batch_dims)),
                ("lhs_contracting_dimensions", i64s(lhs_contracting_dims)),
                ("rhs_contracting_dimensions", i64s(rhs_contracting_dims)),
            ],
        );
        let algorithm = self.or_unsupported(id, algorithm(*chosen, types))?;
        // If an algorithm is given, StableHLO requires the default precision.
        let said = if algorithm.is_some() { &OperandPrecision::default() } else { operand_precision };
        let new = Draft::new("stablehlo.dot_general", operands)
            .with("dot_dimension_numbers", numbers)
            .with("precision_config", precision("stablehlo", said))
            .with_optional("algorithm", algorithm);
        self.add_for(id, new)
    }

    pub(super) fn ragged_dot(&mut self, id: InstrId, attrs: &RaggedDotAttrs) -> Outcome<Value> {
        let RaggedDotAttrs {
            lhs_batch_dims,
            lhs_contracting_dims,
            rhs_batch_dims,
            rhs_contracting_dims,
            lhs_ragged_dims,
            rhs_group_dims,
            operand_precision,
        } = attrs;
        let numbers = Attribute::of_fields(
            "chlo.ragged_dot",
            [
                ("lhs_batching_dimensions", i64s(lhs_batch_dims)),
                ("rhs_batching_dimensions", i64s(rhs_batch_dims)),
                ("lhs_contracting_dimensions", i64s(lhs_contracting_dims)),
                ("rhs_contracting_dimensions", i64s(rhs_contracting_dims)),
                ("lhs_ragged_dimensions", i64s(lhs_ragged_dims)),
                ("rhs_group_dimensions", i64s(rhs_group_dims)),
            ],
        );
        let new = Draft::new("chlo.ragged_dot", self.leaves(id)?)
            .with("ragged_dot_dimension_numbers", numbers)
            .with("precision_config", precision("chlo", operand_precision));
        self.add_for(id, new)
    }

    pub(super) fn convolution(&mut self, id: InstrId, attrs: &ConvolutionAttrs) -> Outcome<Value> {
        let ConvolutionAttrs {
            window: Window { dims: window },
            dim_labels,
            feature_group_count: Count(feature_groups),
            batch_group_count: Count(batch_groups),
            // The role in a training step does not change the result.
            convolution_kind: _,
            operand_precision,
            algorithm: chosen,
            sparsity_config,
        } = attrs;
        if *sparsity_config != SparsityConfig::default() || self.instruction(id).operands.len() != 2 {
            return self.reject(id, "says which elements are zero, which StableHLO's does not");
        }
        let types = [self.operand_array(id, 0)?.element_type, self.operand_array(id, 1)?.element_type];
        if self.or_unsupported(id, algorithm(*chosen, types))?.is_some() {
            return self.reject(id, format!("has the algorithm `{}`, and StableHLO's none", chosen.text()));
        }
        let operands = self.operands_of_one_type(id, types)?;
        let new = Draft::new("stablehlo.convolution", operands)
            .with("window_strides", of_window(window, |d| d.stride))
            .with_optional("padding", padding(window))
            .with("lhs_dilation", of_window(window, |d| d.lhs_dilate))
            .with("rhs_dilation", of_window(window, |d| d.rhs_dilate))
            .with("window_reversal", Self::reversal(window))
            .with("dimension_numbers", labels(dim_labels))
            .with("feature_group_count", Attribute::i64(*feature_groups))
            .with("batch_group_count", Attribute::i64(*batch_groups))
            .with("precision_config", precision("stablehlo", operand_precision));
        self.add_for(id, new)
    }

    /// Returns the two operands. StableHLO requires equal types, so the narrower one is converted to the type
    /// that contains both.
    fn operands_of_one_type(&mut self, id: InstrId, types: [ElementType; 2]) -> Outcome<Vec<ValueId>> {
        let mut operands = self.leaves(id)?;
        let [a, b] = types;
        if a == b {
            return Ok(operands);
        }
        let widest = match (represents_all_values(a, b), represents_all_values(b, a)) {
            (true, _) => a,
            (_, true) => b,
            _ => {
                return self
                    .reject(id, format!("has operands of the types {a} and {b}, and StableHLO's of one"));
            }
        };
        for (index, ty) in types.into_iter().enumerate() {
            if ty != widest {
                let shape = self.operand_array(id, index)?.with_element_type(widest);
                let ty = self.or_unsupported(id, array_type(&shape))?;
                operands[index] = self.add_one(Draft::new("stablehlo.convert", [operands[index]]), ty);
            }
        }
        Ok(operands)
    }

    pub(super) fn cholesky(&mut self, id: InstrId, attrs: &CholeskyAttrs) -> Outcome<Value> {
        let CholeskyAttrs { lower } = attrs;
        let new = Draft::new("stablehlo.cholesky", self.leaves(id)?).with("lower", Attribute::Bool(*lower));
        self.add_for(id, new)
    }

    pub(super) fn fft(&mut self, id: InstrId, attrs: &FftAttrs) -> Outcome<Value> {
        let FftAttrs { fft_type, fft_length } = attrs;
        let new = Draft::new("stablehlo.fft", self.leaves(id)?)
            .with("fft_type", word("stablehlo.fft_type", fft_type.text()))
            .with("fft_length", i64s(fft_length));
        self.add_for(id, new)
    }

    pub(super) fn triangular_solve(&mut self, id: InstrId, attrs: &TriangularSolveAttrs) -> Outcome<Value> {
        let TriangularSolveAttrs { left_side, lower, unit_diagonal, transpose_a } = attrs;
        let transpose = match transpose_a {
            // An unspecified transposition means none.
            TransposeKind::Invalid => &TransposeKind::NoTranspose,
            said => said,
        };
        let new = Draft::new("stablehlo.triangular_solve", self.leaves(id)?)
            .with("left_side", Attribute::Bool(*left_side))
            .with("lower", Attribute::Bool(*lower))
            .with("unit_diagonal", Attribute::Bool(*unit_diagonal))
            .with("transpose_a", word("stablehlo.transpose", transpose.text()));
        self.add_for(id, new)
    }

    pub(super) fn batch_norm(&mut self, id: InstrId, name: &str, attrs: &BatchNormAttrs) -> Outcome<Value> {
        let BatchNormAttrs { epsilon, feature_index } = attrs;
        let new = Draft::new(name, self.leaves(id)?)
            .with("epsilon", f32(*epsilon))
            .with("feature_index", Attribute::i64(*feature_index));
        self.add_for(id, new)
    }
}

/// Returns `#stablehlo.conv<…>`.
fn labels(labels: &ConvDimLabels) -> Attribute {
    let ConvDimLabels {
        input_batch,
        input_feature,
        input_spatial,
        kernel_input_feature,
        kernel_output_feature,
        kernel_spatial,
        output_batch,
        output_feature,
        output_spatial,
    } = labels;
    Attribute::of_fields(
        "stablehlo.conv",
        [
            ("input_batch_dimension", Attribute::i64(*input_batch)),
            ("input_feature_dimension", Attribute::i64(*input_feature)),
            ("input_spatial_dimensions", i64s(input_spatial)),
            ("kernel_input_feature_dimension", Attribute::i64(*kernel_input_feature)),
            ("kernel_output_feature_dimension", Attribute::i64(*kernel_output_feature)),
            ("kernel_spatial_dimensions", i64s(kernel_spatial)),
            ("output_batch_dimension", Attribute::i64(*output_batch)),
            ("output_feature_dimension", Attribute::i64(*output_feature)),
            ("output_spatial_dimensions", i64s(output_spatial)),
        ],
    )
}

/// Checks whether `wide` can represent every value of `narrow`.
fn represents_all_values(wide: ElementType, narrow: ElementType) -> bool {
    let (w, n) = (wide.bit_width(), narrow.bit_width());
    if element_type(wide).is_err() || w <= n {
        return false;
    }
    if wide.is_float() {
        // Among types of up to as many bits, `f32` and `f64` contain all values. The smaller types differ in
        // their exponents.
        return narrow.is_float() && w >= 32;
    }
    if wide.is_signed_integer() {
        return narrow.is_integer() || narrow.is_pred();
    }
    wide.is_unsigned_integer() && (narrow.is_unsigned_integer() || narrow.is_pred())
}
