//! Dot products, contractions, convolutions, Fourier transforms and factorizations (operation semantics,
//! "Dot", "ConvWithGeneralPadding", "Fft", "Cholesky", "TriangularSolve", …).

use crate::window::{Padding, window};
use crate::{Builder, Value};
use hlo_ir::attr::{
    CholeskyAttrs, ContractionAttrs, ConvDimLabels, ConvolutionAttrs, Count, DotAttrs, FftAttrs, FftType,
    OperandPrecision, RaggedDotAttrs, TransposeKind, TriangularSolveAttrs,
};
use hlo_ir::contraction::Contraction;
use hlo_ir::diag::Diag;
use hlo_ir::{ElementType, Op, Shape};
use std::panic::Location;

/// The contracting and batch dimensions of a [`Value::dot_general`] (operation semantics, "DotGeneral").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DotDimensions {
    /// The contracting dimensions of the first operand. Each corresponds to a contracting dimension of the
    /// second.
    pub lhs_contracting: Vec<i64>,
    /// The contracting dimensions of the second operand.
    pub rhs_contracting: Vec<i64>,
    /// The batch dimensions of the first operand. Each corresponds to a batch dimension of the second. They
    /// come first in the result.
    pub lhs_batch: Vec<i64>,
    /// The batch dimensions of the second operand.
    pub rhs_batch: Vec<i64>,
}

/// The parameters of a convolution: padding, strides, dilations, groups and the meaning of the dimensions
/// (operation semantics, "ConvWithGeneralPadding").
///
/// # Example
/// ```
/// use hlo_builder::{Builder, Convolution, Padding};
/// use hlo_ir::{ElementType, Shape};
///
/// let b = Builder::new("blur");
/// let image = b.parameter(0, Shape::array(ElementType::F32, [1, 3, 32, 32]), "image");
/// let kernel = b.parameter(1, Shape::array(ElementType::F32, [8, 3, 3, 3]), "kernel");
/// let result = image.convolve(kernel, &Convolution::new(Padding::Same).strides(&[2, 2]).rhs_dilation(&[2, 2]));
/// assert_eq!(result.shape()?, Shape::array(ElementType::F32, [1, 8, 16, 16]));
/// # Ok::<(), hlo_builder::BuildErrors>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    padding: Padding,
    strides: Vec<i64>,
    lhs_dilation: Vec<i64>,
    rhs_dilation: Vec<i64>,
    dimensions: Option<ConvDimLabels>,
    feature_groups: i64,
    batch_groups: i64,
    precision: OperandPrecision,
    preferred_element_type: Option<ElementType>,
}

impl Convolution {
    /// Creates a convolution with the given padding. Strides, dilations and numbers of groups are 1. The
    /// dimensions are those of [`Convolution::default_dimensions`].
    pub fn new(padding: impl Into<Padding>) -> Self {
        Self {
            padding: padding.into(),
            strides: Vec::new(),
            lhs_dilation: Vec::new(),
            rhs_dilation: Vec::new(),
            dimensions: None,
            feature_groups: 1,
            batch_groups: 1,
            precision: OperandPrecision::default(),
            preferred_element_type: None,
        }
    }

    /// Sets the stride of the window in each spatial dimension.
    pub fn strides(self, strides: &[i64]) -> Self {
        Self { strides: strides.to_vec(), ..self }
    }

    /// Sets the distance between the elements of the input in each spatial dimension. The gaps contain zeros.
    pub fn lhs_dilation(self, dilation: &[i64]) -> Self {
        Self { lhs_dilation: dilation.to_vec(), ..self }
    }

    /// Sets the distance between the elements of the kernel in each spatial dimension. The gaps contain
    /// zeros.
    pub fn rhs_dilation(self, dilation: &[i64]) -> Self {
        Self { rhs_dilation: dilation.to_vec(), ..self }
    }

    /// Sets the meaning of each dimension.
    pub fn dimensions(self, dimensions: ConvDimLabels) -> Self {
        Self { dimensions: Some(dimensions), ..self }
    }

    /// Sets the number of feature groups. An output feature depends only on the input features of its group.
    pub fn feature_groups(self, count: i64) -> Self {
        Self { feature_groups: count, ..self }
    }

    /// Sets the number of batch groups. An output feature depends only on the inputs of its group.
    pub fn batch_groups(self, count: i64) -> Self {
        Self { batch_groups: count, ..self }
    }

    /// Sets the precision of the products for each operand.
    pub fn precision(self, precision: OperandPrecision) -> Self {
        Self { precision, ..self }
    }

    /// Sets the element type of the result. The default is the element type of the operands.
    pub fn preferred_element_type(self, element_type: ElementType) -> Self {
        Self { preferred_element_type: Some(element_type), ..self }
    }

    /// Returns the default order of dimensions: batch, feature, spatial dimensions for input and result;
    /// output feature, input feature, spatial dimensions for the kernel.
    pub fn default_dimensions(spatial: usize) -> ConvDimLabels {
        let spatial: hlo_ir::Dims = (2..2 + spatial as i64).collect();
        ConvDimLabels {
            input_batch: 0,
            input_feature: 1,
            input_spatial: spatial.clone(),
            kernel_output_feature: 0,
            kernel_input_feature: 1,
            kernel_spatial: spatial.clone(),
            output_batch: 0,
            output_feature: 1,
            output_spatial: spatial,
        }
    }
}

impl Convolution {
    /// Creates dimension numbers from those of the input and the kernel. The result has the same order as the
    /// input. This is XLA's `CreateConvDimensionNumbers`.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Convolution;
    ///
    /// // Images of height, width and channels; a kernel of height, width, input and output channels.
    /// let dimensions = Convolution::dimension_numbers(0, 3, &[1, 2], 3, 2, &[0, 1])?;
    /// assert_eq!((dimensions.output_feature, dimensions.output_spatial.as_slice()), (3, &[1, 2][..]));
    /// let error = Convolution::dimension_numbers(0, 1, &[1, 2], 3, 2, &[0, 1]).unwrap_err();
    /// assert_eq!(error.message, "the input's dimensions must be 0 to 3, each once, found [0, 1, 1, 2]");
    /// # Ok::<(), hlo_ir::diag::Diag>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if a dimension number occurs twice, is too large or negative, or if the numbers of
    /// spatial dimensions of the kernel and the input differ.
    pub fn dimension_numbers(
        batch: i64,
        feature: i64,
        spatial: &[i64],
        kernel_output_feature: i64,
        kernel_input_feature: i64,
        kernel_spatial: &[i64],
    ) -> Result<ConvDimLabels, Diag> {
        let input = [&[batch, feature], spatial].concat();
        let kernel = [&[kernel_output_feature, kernel_input_feature], kernel_spatial].concat();
        for (what, numbers) in [("input", &input), ("kernel", &kernel)] {
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            if !sorted.into_iter().eq(0..numbers.len() as i64) {
                let last = numbers.len() - 1;
                let message =
                    format!("the {what}'s dimensions must be 0 to {last}, each once, found {numbers:?}");
                return Err(Diag::error(message));
            }
        }
        if input.len() != kernel.len() {
            let (n, m) = (spatial.len(), kernel_spatial.len());
            let message = format!("the kernel needs the input's {n} spatial dimensions, found {m}");
            return Err(Diag::error(message));
        }
        let list = |numbers: &[i64]| numbers.iter().copied().collect::<hlo_ir::Dims>();
        Ok(ConvDimLabels {
            input_batch: batch,
            input_feature: feature,
            input_spatial: list(spatial),
            kernel_output_feature,
            kernel_input_feature,
            kernel_spatial: list(kernel_spatial),
            output_batch: batch,
            output_feature: feature,
            output_spatial: list(spatial),
        })
    }
}

/// Dot products and convolutions.
impl<'b> Value<'b> {
    /// Multiplies two scalars, two vectors, a matrix and a vector, or two matrices. For arrays of higher
    /// rank, the last dimension of this array and the second to last of `rhs` (or its only one) are
    /// contracted.
    #[track_caller]
    pub fn dot(self, rhs: Value<'b>) -> Value<'b> {
        if !self.builder.owns(&[rhs]) {
            return self.builder.nothing();
        }
        let (Some(a), Some(b)) = (self.array("dot"), rhs.array("dot")) else { return self.builder.nothing() };
        if a.rank() == 0 || b.rank() == 0 {
            return self * rhs;
        }
        let dimensions = DotDimensions {
            lhs_contracting: vec![a.rank() as i64 - 1],
            rhs_contracting: vec![b.rank().saturating_sub(2) as i64],
            ..DotDimensions::default()
        };
        self.dot_general(rhs, &dimensions)
    }

    /// Sums products over the contracting dimensions for each index of the batch dimensions. The result has
    /// the batch dimensions first, then the other dimensions of this array, then those of `rhs`.
    #[track_caller]
    pub fn dot_general(self, rhs: Value<'b>, dimensions: &DotDimensions) -> Value<'b> {
        let list = |dimensions: &[i64]| dimensions.iter().copied().collect();
        self.dot_with(
            rhs,
            DotAttrs {
                lhs_batch_dims: list(&dimensions.lhs_batch),
                lhs_contracting_dims: list(&dimensions.lhs_contracting),
                rhs_batch_dims: list(&dimensions.rhs_batch),
                rhs_contracting_dims: list(&dimensions.rhs_contracting),
                ..DotAttrs::default()
            },
            None,
        )
    }

    /// Like [`Value::dot_general`], with all attributes of the operation, including the precision.
    /// `preferred_element_type` is the element type of the result. The default is the element type of the
    /// operands.
    #[track_caller]
    pub fn dot_with(
        self,
        rhs: Value<'b>,
        attributes: DotAttrs,
        preferred_element_type: Option<ElementType>,
    ) -> Value<'b> {
        self.builder.add_of_type(Op::Dot(Box::new(attributes)), &[self, rhs], preferred_element_type)
    }

    /// Multiplies arrays where `group_sizes` splits a dimension of this array into parts of different
    /// lengths. [`Value::dot_with`] describes the element type.
    #[track_caller]
    pub fn ragged_dot(
        self,
        rhs: Value<'b>,
        group_sizes: Value<'b>,
        attributes: RaggedDotAttrs,
        preferred_element_type: Option<ElementType>,
    ) -> Value<'b> {
        let op = Op::RaggedDot(Box::new(attributes));
        self.builder.add_of_type(op, &[self, rhs, group_sizes], preferred_element_type)
    }

    /// Multiplies two operands after scaling each of them. A scale has one element for each block of its
    /// operand. [`Value::dot_with`] describes the element type.
    #[track_caller]
    pub fn scaled_dot(
        self,
        rhs: Value<'b>,
        lhs_scale: Value<'b>,
        rhs_scale: Value<'b>,
        attributes: DotAttrs,
        preferred_element_type: Option<ElementType>,
    ) -> Value<'b> {
        let op = Op::ScaledDot(Box::new(attributes));
        self.builder.add_of_type(op, &[self, rhs, lhs_scale, rhs_scale], preferred_element_type)
    }

    /// Applies a convolution with a kernel. The dimensions are in the order of
    /// [`Convolution::default_dimensions`].
    #[track_caller]
    pub fn conv(self, kernel: Value<'b>, strides: &[i64], padding: impl Into<Padding>) -> Value<'b> {
        self.convolve(kernel, &Convolution::new(padding).strides(strides))
    }

    /// Applies a convolution with a kernel.
    #[track_caller]
    pub fn convolve(self, kernel: Value<'b>, convolution: &Convolution) -> Value<'b> {
        let at = Location::caller();
        if !self.builder.owns(&[kernel]) {
            return self.builder.nothing();
        }
        let (Some(input), Some(filter)) = (self.array("convolution"), kernel.array("convolution")) else {
            return self.builder.nothing();
        };
        let c = convolution;
        let default = || Convolution::default_dimensions(input.rank().saturating_sub(2));
        let dim_labels = c.dimensions.clone().unwrap_or_else(default);
        let sizes = |of: &hlo_ir::ArrayShape, dimensions: &[i64]| -> Option<Vec<i64>> {
            dimensions.iter().map(|&d| of.dims.get(usize::try_from(d).ok()?).copied()).collect()
        };
        let spatial = (sizes(&input, &dim_labels.input_spatial), sizes(&filter, &dim_labels.kernel_spatial));
        let (Some(base), Some(extent)) = spatial else {
            let message =
                format!("`convolution` of {input} with {filter}: they lack spatial dimensions of the labels");
            return self.builder.fail(at, Diag::error(message));
        };
        let dilated = |sizes: &[i64], by: &[i64]| -> Vec<i64> {
            let one = |(d, &size): (usize, &i64)| match by.get(d) {
                Some(&by) if size > 0 => (size - 1).saturating_mul(by).saturating_add(1),
                _ => size,
            };
            sizes.iter().enumerate().map(one).collect()
        };
        let strides = if c.strides.is_empty() { vec![1; base.len()] } else { c.strides.clone() };
        let padding =
            c.padding.amounts(&dilated(&base, &c.lhs_dilation), &dilated(&extent, &c.rhs_dilation), &strides);
        let window = match window(&extent, &strides, &padding, [&c.lhs_dilation, &c.rhs_dilation]) {
            Ok(window) => window,
            Err(message) => return self.builder.fail(at, Diag::error(format!("`convolution`: {message}"))),
        };
        let attributes = ConvolutionAttrs {
            window,
            dim_labels,
            feature_group_count: Count(c.feature_groups),
            batch_group_count: Count(c.batch_groups),
            operand_precision: c.precision.clone(),
            ..ConvolutionAttrs::default()
        };
        self.convolve_with(kernel, attributes, c.preferred_element_type)
    }

    /// Applies a convolution with all attributes of the operation. `preferred_element_type` is the element
    /// type of the result. The default is the element type of the operands.
    #[track_caller]
    pub fn convolve_with(
        self,
        kernel: Value<'b>,
        attributes: ConvolutionAttrs,
        preferred_element_type: Option<ElementType>,
    ) -> Value<'b> {
        let op = Op::Convolution(Box::new(attributes));
        self.builder.add_of_type(op, &[self, kernel], preferred_element_type)
    }
}

/// Contractions.
impl Builder {
    /// Adds a contraction, with one operand for each access, to an array of the given shape. XLA does not
    /// have this operation; it is an extension of this project (`docs/hlo-text.md`, "Contractions"). Elements
    /// that no index writes have the value of `default`, or 0 without a default.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    /// use hlo_ir::contraction::{Affine, Aggregation, Contraction};
    /// use hlo_ir::{ElementType, Shape};
    ///
    /// // Every other element: `{(d0) = (2*d0)}`.
    /// let b = Builder::new("half");
    /// let x = b.parameter(0, Shape::array(ElementType::F32, [8]), "x");
    /// let i = Affine::index(0, 1);
    /// let every_other = Contraction {
    ///     indices: 1,
    ///     operands: vec![vec![Affine { coefficients: vec![2], constant: 0 }]],
    ///     output: vec![i],
    ///     aggregation: Aggregation::Assign,
    ///     ..Contraction::default()
    /// };
    /// let half = b.contraction(Shape::array(ElementType::F32, [4]), every_other, &[x], None);
    /// assert_eq!(half.shape()?, Shape::array(ElementType::F32, [4]));
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    #[track_caller]
    pub fn contraction<'b>(
        &'b self,
        shape: Shape,
        contraction: Contraction,
        operands: &[Value<'b>],
        default: Option<Value<'b>>,
    ) -> Value<'b> {
        let operands: Vec<Value<'_>> = operands.iter().copied().chain(default).collect();
        let attributes = ContractionAttrs { access: contraction };
        self.add_shaped(Op::Contraction(Box::new(attributes)), &operands, shape)
    }
}

/// Transforms and factorizations.
impl<'b> Value<'b> {
    /// Computes the Fourier transform over the last dimensions, which have the given lengths.
    #[track_caller]
    pub fn fft(self, fft_type: FftType, lengths: &[i64]) -> Value<'b> {
        self.builder
            .add(Op::Fft(FftAttrs { fft_type, fft_length: lengths.iter().copied().collect() }), &[self])
    }

    /// Computes the Cholesky factors of positive definite matrices, stored in the last two dimensions.
    /// `lower` selects the lower or the upper factors.
    #[track_caller]
    pub fn cholesky(self, lower: bool) -> Value<'b> {
        self.builder.add(Op::Cholesky(CholeskyAttrs { lower }), &[self])
    }

    /// Solves op(a)·x = b for x, or x·op(a) = b if `left_side` is false. `a` is this value and contains
    /// triangular matrices.
    #[track_caller]
    pub fn triangular_solve(
        self,
        b: Value<'b>,
        left_side: bool,
        lower: bool,
        unit_diagonal: bool,
        transpose_a: TransposeKind,
    ) -> Value<'b> {
        let attributes = TriangularSolveAttrs { left_side, lower, unit_diagonal, transpose_a };
        self.builder.add(Op::TriangularSolve(attributes), &[self, b])
    }
}
