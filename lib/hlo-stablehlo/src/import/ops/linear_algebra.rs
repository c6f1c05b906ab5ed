//! Dot products, transforms, factorizations.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::{Attribute, Operation, Type, TypeKind};
use hlo_ir::attr::{
    CholeskyAttrs, ConvDimLabels, ConvolutionAttrs, Count, DotAlgorithm, DotAttrs, FftAttrs, FftType,
    OperandPrecision, Precision, TransposeKind, TriangularSolveAttrs, Window, WindowDim,
};
use hlo_ir::build::Build;
use hlo_ir::{Dims, ElementType, InstrId, Op};

impl Importer<'_> {
    pub(super) fn cholesky(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        self.set_result_op(op, Op::Cholesky(CholeskyAttrs { lower: op.flag("lower")? }), &[operand])
    }

    pub(super) fn triangular_solve(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let transpose_a = match op.word("transpose_a", "stablehlo.transpose", TransposeKind::WORDS)? {
            // An unspecified transposition means none.
            0 => 1,
            n => n,
        };
        let attrs = TriangularSolveAttrs {
            left_side: op.flag("left_side")?,
            lower: op.flag("lower")?,
            unit_diagonal: op.flag("unit_diagonal")?,
            transpose_a: TransposeKind::ALL.get(transpose_a).copied().unwrap_or_default(),
        };
        self.set_result_op(op, Op::TriangularSolve(attrs), &operands)
    }

    pub(super) fn fft(&mut self, op: &Operation) -> Result<()> {
        let operand = self.operand(op, 0)?;
        let fft_type = op.word("fft_type", "stablehlo.fft_type", FftType::WORDS)?;
        let fft_type = FftType::ALL.get(fft_type).copied().unwrap_or_default();
        self.set_result_op(op, Op::Fft(FftAttrs { fft_type, fft_length: op.dims("fft_length")? }), &[operand])
    }

    pub(super) fn dot_general(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let numbers = op.structure("dot_dimension_numbers", "stablehlo.dot")?;
        let attrs = DotAttrs {
            lhs_batch_dims: numbers.dims("lhs_batching_dimensions")?,
            lhs_contracting_dims: numbers.dims("lhs_contracting_dimensions")?,
            rhs_batch_dims: numbers.dims("rhs_batching_dimensions")?,
            rhs_contracting_dims: numbers.dims("rhs_contracting_dimensions")?,
            operand_precision: precision(op, "stablehlo.precision")?,
            algorithm: algorithm(op)?,
        };
        self.set_result_op(op, Op::Dot(Box::new(attrs)), &operands)
    }

    /// Translates `dot` of vectors and matrices. It contracts the last dimension of the first operand with
    /// the first of the second.
    pub(super) fn dot(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let rank = operands.first().and_then(|&o| self.array_of(o)).map_or(0, |a| a.rank()) as i64;
        let attrs = DotAttrs {
            lhs_contracting_dims: Dims::from_slice(&[rank - 1]),
            rhs_contracting_dims: Dims::from_slice(&[0]),
            operand_precision: precision(op, "stablehlo.precision")?,
            ..DotAttrs::default()
        };
        self.set_result_op(op, Op::Dot(Box::new(attrs)), &operands)
    }

    pub(super) fn convolution(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        self.convolution_of(op, &operands, None)
    }

    /// Translates a convolution of two operands, with the given padding or that of the attribute.
    pub(super) fn convolution_of(
        &mut self,
        op: &Operation,
        operands: &[InstrId],
        padding: Option<&[(i64, i64)]>,
    ) -> Result<()> {
        let dim_labels = dim_labels(op)?;
        let kernel = operands.get(1).and_then(|&o| self.array_of(o));
        let size = |&d: &i64| Some(*kernel.as_ref()?.dims.get(usize::try_from(d).ok()?)?);
        let sizes: Option<Dims> = dim_labels.kernel_spatial.iter().map(size).collect();
        let sizes = sizes.ok_or_else(|| op.failure("a spatial dimension is none of the kernel's"))?;
        let attrs = ConvolutionAttrs {
            window: window(op, &sizes, padding)?,
            dim_labels,
            feature_group_count: Count(op.int_or("feature_group_count", 1)?),
            batch_group_count: Count(op.int_or("batch_group_count", 1)?),
            operand_precision: precision(op, "stablehlo.precision")?,
            ..ConvolutionAttrs::default()
        };
        self.set_result_op(op, Op::Convolution(Box::new(attrs)), operands)
    }
}

/// Returns the window of a convolution. `sizes` are those of the kernel.
fn window(op: &Operation, sizes: &[i64], padding: Option<&[(i64, i64)]>) -> Result<Window> {
    let count = sizes.len();
    let strides = op.dims_or("window_strides", count, 1)?;
    let base = op.dims_or("lhs_dilation", count, 1)?;
    let dilations = op.dims_or("rhs_dilation", count, 1)?;
    let reversed = op.dims_or("window_reversal", count, 0)?;
    let padding = match padding {
        Some(padding) if padding.len() == count => padding.to_vec(),
        Some(padding) => {
            return op.fail(format!("{} pairs of padding are given for {count} dimensions", padding.len()));
        }
        None => op.pairs_or("padding", count)?,
    };
    let dim = |d: usize| WindowDim {
        size: sizes[d],
        stride: strides[d],
        pad_low: padding[d].0,
        pad_high: padding[d].1,
        lhs_dilate: base[d],
        rhs_dilate: dilations[d],
        reversed: reversed[d] != 0,
    };
    Ok(Window { dims: (0..count).map(dim).collect() })
}

fn dim_labels(op: &Operation) -> Result<ConvDimLabels> {
    let numbers = op.structure("dimension_numbers", "stablehlo.conv")?;
    Ok(ConvDimLabels {
        input_batch: numbers.int("input_batch_dimension")?,
        input_feature: numbers.int("input_feature_dimension")?,
        input_spatial: numbers.dims("input_spatial_dimensions")?,
        kernel_input_feature: numbers.int("kernel_input_feature_dimension")?,
        kernel_output_feature: numbers.int("kernel_output_feature_dimension")?,
        kernel_spatial: numbers.dims("kernel_spatial_dimensions")?,
        output_batch: numbers.int("output_batch_dimension")?,
        output_feature: numbers.int("output_feature_dimension")?,
        output_spatial: numbers.dims("output_spatial_dimensions")?,
    })
}

/// Reads the precision of the operands of a product. The list is empty if all have the default precision.
pub fn precision(op: &Operation, kind: &str) -> Result<OperandPrecision> {
    let Some(attribute) = op.attribute("precision_config") else { return Ok(OperandPrecision::default()) };
    let one = |a: &Attribute| match a.word(kind)? {
        "DEFAULT" => Some(Precision::Default),
        "HIGH" => Some(Precision::High),
        "HIGHEST" => Some(Precision::Highest),
        _ => None,
    };
    let list: Option<Vec<Precision>> = attribute.as_array().and_then(|list| list.iter().map(one).collect());
    let list =
        list.ok_or_else(|| op.failure(format!("the attribute `precision_config` is no list of `{kind}`")))?;
    let any = list.iter().any(|&p| p != Precision::Default);
    Ok(OperandPrecision(if any { list } else { Vec::new() }))
}

/// Reads the algorithm of a product: the types of the operands and of the accumulation, the number of
/// components of each operand, the number of primitive products, and whether the accumulation may be
/// imprecise.
fn algorithm(op: &Operation) -> Result<DotAlgorithm> {
    let Some(fields) = op.structure_if_any("algorithm", "stablehlo.dot_algorithm")? else {
        return Ok(DotAlgorithm::Unset);
    };
    let ty = |name: &str| match fields.get(name) {
        Some(Attribute::Type(ty)) => Some(short_type(ty)),
        _ => None,
    };
    let types = (ty("lhs_precision_type"), ty("rhs_precision_type"), ty("accumulation_type"));
    let (Some(lhs), Some(rhs), Some(sums)) = types else {
        return op.fail("the attribute `algorithm` lacks a type");
    };
    let parts = (fields.int("lhs_component_count")?, fields.int("rhs_component_count")?);
    let products = fields.int("num_primitive_operations")?;
    let loses = fields.get("allow_imprecise_accumulation").and_then(Attribute::as_bool).unwrap_or(false);
    use DotAlgorithm as A;
    let known = match (&*lhs, &*rhs, &*sums, parts, products, loses) {
        (l, r, "f32", (1, 1), 1, false) if l.starts_with("f8") && r.starts_with("f8") => A::AnyF8AnyF8F32,
        (l, r, "f32", (1, 1), 1, true) if l.starts_with("f8") && r.starts_with("f8") => {
            A::AnyF8AnyF8F32FastAccum
        }
        ("f16", "f16", "f16", (1, 1), 1, false) => A::F16F16F16,
        ("f16", "f16", "f32", (1, 1), 1, false) => A::F16F16F32,
        ("bf16", "bf16", "bf16", (1, 1), 1, false) => A::Bf16Bf16Bf16,
        ("bf16", "bf16", "f32", (1, 1), 1, false) => A::Bf16Bf16F32,
        // JAX and XLA count one component even if there are several products.
        ("bf16", "bf16", "f32", (1, 1) | (2, 2), 3, false) => A::Bf16Bf16F32X3,
        ("bf16", "bf16", "f32", (1, 1) | (3, 3), 6, false) => A::Bf16Bf16F32X6,
        ("bf16", "bf16", "f32", (1, 1) | (3, 3), 9, false) => A::Bf16Bf16F32X9,
        ("tf32", "tf32", "f32", (1, 1), 1, false) => A::Tf32Tf32F32,
        ("tf32", "tf32", "f32", (1, 1) | (2, 2), 3, false) => A::Tf32Tf32F32X3,
        ("f32", "f32", "f32", (1, 1), 1, false) => A::F32F32F32,
        ("f64", "f64", "f64", (1, 1), 1, false) => A::F64F64F64,
        _ => {
            return op
                .fail(format!("HLO has no algorithm for products of {lhs} and {rhs} with sums in {sums}"));
        }
    };
    Ok(known)
}

/// Returns a short name of a type.
fn short_type(ty: &Type) -> String {
    match &**ty {
        TypeKind::Float(float) => float.name().to_ascii_lowercase(),
        _ => ty.element_type().map_or("another type", ElementType::name).to_owned(),
    }
}
