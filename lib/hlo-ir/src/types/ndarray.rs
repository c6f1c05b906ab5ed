//! Conversion between literals and arrays of the crate `ndarray` (with the feature `ndarray`).
//!
//! Arrays and views of any strides convert to literals: transposed, sliced, reversed and broadcast ones too.
//! Literals are row-major. A view of a literal copies nothing and is therefore in `ndarray`'s standard order.
//!
//! # Example
//! ```
//! use hlo_ir::Literal;
//! use ndarray::{Array2, array};
//!
//! let matrix = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
//! let literal = Literal::try_from(matrix.t())?;
//! assert_eq!(literal, Literal::r2(&[[1.0f32, 4.0], [2.0, 5.0], [3.0, 6.0]]));
//!
//! let view = literal.ndarray_view::<f32>()?;
//! assert_eq!(view.sum_axis(ndarray::Axis(0)).into_raw_vec_and_offset().0, [6.0, 15.0]);
//! let owned: Array2<f32> = literal.to_ndarray()?.into_dimensionality()?;
//! assert_eq!(owned, matrix.t());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::diag::Diag;
use crate::{ElementType, Literal, NativeType, Shape};
use ::ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn};
use bytemuck::Pod;
use std::fmt;

/// The reason why a literal cannot be converted to an array, or an array to a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversionError {
    /// The literal is a tuple or a token.
    NoArray(Shape),
    /// The elements have another type than the requested one.
    OtherType {
        /// The literal's shape.
        shape: Shape,
        /// The element type of the requested Rust type.
        wanted: ElementType,
    },
    /// `ndarray` does not support these sizes: the product of the non-zero sizes is too large.
    Sizes(Shape),
    /// Memory for an array of this shape cannot be allocated.
    Memory(Shape),
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConversionError::NoArray(shape) => write!(f, "an array is expected, this is {shape}"),
            ConversionError::OtherType { shape, wanted } => {
                write!(f, "elements of type {wanted} are expected, this is {shape}")
            }
            ConversionError::Sizes(shape) => write!(f, "the sizes of {shape} are too large for ndarray"),
            ConversionError::Memory(shape) => write!(f, "there is no memory for {shape}"),
        }
    }
}

impl std::error::Error for ConversionError {}

impl ConversionError {
    /// Converts the error to a diagnostic without a span.
    // Not a `From` implementation: a feature must not make `?` ambiguous in other crates.
    pub fn to_diag(&self) -> Diag {
        Diag::error(self.to_string())
    }
}

impl<T: NativeType, S: Data<Elem = T>, D: Dimension> TryFrom<&ArrayBase<S, D>> for Literal {
    type Error = ConversionError;

    /// Copies an array's values to a literal.
    ///
    /// # Errors
    /// Memory cannot be allocated. A broadcast view may have more elements than fit in memory.
    fn try_from(array: &ArrayBase<S, D>) -> Result<Self, ConversionError> {
        // Sizes of `ndarray` are at most `isize::MAX`.
        let shape = Shape::array(T::ELEMENT_TYPE, array.shape().iter().map(|&size| size as i64));
        let Some(mut literal) = Self::try_zeros(&shape) else { return Err(ConversionError::Memory(shape)) };
        let elements = literal.elements_mut::<T::Stored>();
        match array.as_slice() {
            Some(values) => elements.iter_mut().zip(values).for_each(|(to, value)| *to = value.stored()),
            // In the order of the indices, whatever the strides.
            None => elements.iter_mut().zip(array).for_each(|(to, value)| *to = value.stored()),
        }
        Ok(literal)
    }
}

impl<T: NativeType, S: Data<Elem = T>, D: Dimension> TryFrom<ArrayBase<S, D>> for Literal {
    type Error = ConversionError;

    /// Copies the values of an array or a view to a literal.
    ///
    /// # Errors
    /// As for a reference.
    fn try_from(array: ArrayBase<S, D>) -> Result<Self, ConversionError> {
        Self::try_from(&array)
    }
}

/// With the feature `ndarray`: literals as arrays of that crate.
impl Literal {
    /// Copies the literal to an array of its rank and sizes.
    ///
    /// # Errors
    /// This is not an array of the element type of `T`, `ndarray` does not support its sizes, or memory for
    /// the copy cannot be allocated.
    pub fn to_ndarray<T: NativeType>(&self) -> Result<ArrayD<T>, ConversionError> {
        let dims = self.sizes_for::<T>()?;
        let mut values = Vec::new();
        let elements = self.elements::<T::Stored>();
        let reserved = values.try_reserve_exact(elements.len());
        reserved.map_err(|_| ConversionError::Memory(self.shape().clone()))?;
        values.extend(elements.iter().map(|&stored| T::from_stored(stored)));
        ArrayD::from_shape_vec(dims, values).map_err(|_| ConversionError::Sizes(self.shape().clone()))
    }

    /// Returns a view of the literal's own elements. The Rust types for `pred` and for types narrower than a
    /// byte are not the stored types. Use [`Literal::to_ndarray`], which copies, for these types.
    ///
    /// # Errors
    /// This is not an array of the element type of `T`, or `ndarray` does not support its sizes.
    pub fn ndarray_view<T: NativeType<Stored = T> + Pod>(
        &self,
    ) -> Result<ArrayViewD<'_, T>, ConversionError> {
        let dims = self.sizes_for::<T>()?;
        ArrayViewD::from_shape(dims, self.elements::<T>())
            .map_err(|_| ConversionError::Sizes(self.shape().clone()))
    }

    fn sizes_for<T: NativeType>(&self) -> Result<IxDyn, ConversionError> {
        let shape = self.shape();
        let array = shape.as_array().ok_or_else(|| ConversionError::NoArray(shape.clone()))?;
        if array.element_type != T::ELEMENT_TYPE {
            return Err(ConversionError::OtherType { shape: shape.clone(), wanted: T::ELEMENT_TYPE });
        }
        let sizes: Result<Vec<usize>, _> = array.dims.iter().map(|&size| usize::try_from(size)).collect();
        sizes.map(|sizes| IxDyn(&sizes)).map_err(|_| ConversionError::Sizes(shape.clone()))
    }
}
