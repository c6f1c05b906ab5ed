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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::narrow::{F8E4M3Fn, S4};
    use ::ndarray::{Array, Array2, ArrayView, Axis, Ix0, Ix3, ShapeBuilder, arr0, s};
    use half::bf16;

    /// The numbers 0 to 23 as f32[2,3,4].
    fn cube() -> Array<f32, Ix3> {
        Array::from_iter((0..24).map(|n| n as f32)).into_shape_with_order((2, 3, 4)).unwrap()
    }

    /// A literal of a view has the values of the view at its indices.
    #[track_caller]
    fn check<D: Dimension>(view: ArrayView<'_, f32, D>) {
        let literal = Literal::try_from(view.view()).unwrap();
        let view = view.into_dyn();
        let sizes: Vec<usize> =
            literal.shape().as_array().unwrap().dims.iter().map(|&size| size as usize).collect();
        assert_eq!(sizes, view.shape());
        for (index, value) in literal.values::<f32>().unwrap().indexed() {
            let index: Vec<usize> = index.iter().map(|&i| i as usize).collect();
            assert_eq!(view[IxDyn(&index)], value, "{index:?}");
        }
        assert_eq!(literal.to_ndarray::<f32>().unwrap(), view);
        assert_eq!(literal.ndarray_view::<f32>().unwrap(), view);
        assert!(literal.ndarray_view::<f32>().unwrap().is_standard_layout());
    }

    #[test]
    fn views_of_any_strides() {
        let cube = cube();
        check(cube.view());
        check(cube.t());
        check(cube.view().permuted_axes([1, 2, 0]));
        check(cube.slice(s![.., 1.., ..;2]));
        check(cube.slice(s![..;-1, 1, ..;-3]));
        check(cube.index_axis(Axis(2), 3));
        check(cube.slice(s![.., 0..0, ..]));
        check(arr0(7.0f32).view());
        let row = Array::from_vec(vec![1.0f32, 2.0, 3.0]);
        check(row.broadcast((4, 2, 3)).unwrap());
        let columns = Array2::from_shape_vec((2, 3).f(), (0..6).map(|n| n as f32).collect()).unwrap();
        assert_eq!(columns[[1, 0]], 1.0, "the first dimension is the fastest");
        check(columns.view());
        assert_eq!(Literal::try_from(&columns).unwrap(), Literal::r2(&[[0.0f32, 2.0, 4.0], [1.0, 3.0, 5.0]]));
    }

    #[test]
    fn types_that_lie_otherwise_in_literals() {
        let truth = ::ndarray::array![[true, false], [false, true]];
        let literal = Literal::try_from(truth.t()).unwrap();
        assert_eq!(literal.shape().to_string(), "pred[2,2]");
        assert_eq!(literal.bytes(), [1, 0, 0, 1]);
        assert_eq!(literal.to_ndarray::<bool>().unwrap(), truth.into_dyn());
        let small = Array::from_vec(vec![S4::MIN, S4::MAX]);
        let literal = Literal::try_from(&small).unwrap();
        assert_eq!(literal.bytes(), [0xf8, 7]);
        assert_eq!(literal.to_ndarray::<S4>().unwrap(), small.into_dyn());
    }

    #[test]
    fn narrow_floats_have_views() {
        let halves = Array::from_vec(vec![bf16::ONE, bf16::MAX]);
        assert_eq!(Literal::try_from(&halves).unwrap().ndarray_view::<bf16>().unwrap(), halves.into_dyn());
        let eighths = Array::from_vec(vec![F8E4M3Fn::from_f64(1.5)]);
        let literal = Literal::try_from(&eighths).unwrap();
        assert_eq!(literal.ndarray_view::<F8E4M3Fn>().unwrap(), eighths.into_dyn());
    }

    #[test]
    fn a_view_shares_memory_and_layouts_do_not_count() {
        use crate::{ArrayShape, Layout};
        let shape = ArrayShape::new(ElementType::S32, [2, 2]).with_layout(Layout::new([0, 1]));
        let literal = Literal::r2(&[[1i32, 2], [3, 4]]).with_shape(shape.into());
        let view = literal.ndarray_view::<i32>().unwrap();
        assert_eq!(view.as_ptr().cast::<u8>(), literal.bytes().as_ptr());
        assert_eq!(view[[1, 0]], 3);
    }

    #[test]
    fn what_can_not_be_converted() {
        let message = |error: ConversionError| error.to_diag().message;
        let literal = Literal::r1(&[1i32, 2]);
        assert_eq!(
            message(literal.to_ndarray::<f32>().unwrap_err()),
            "elements of type f32 are expected, this is s32[2]"
        );
        let pair = Literal::tuple(vec![literal, Literal::token()]);
        assert_eq!(
            message(pair.ndarray_view::<i32>().unwrap_err()),
            "an array is expected, this is (s32[2], token[])"
        );
        let empty = Literal::full(&[1 << 40, 0, 1 << 40], 1.0f64).unwrap();
        assert_eq!(empty.to_ndarray::<f64>().unwrap_err(), ConversionError::Sizes(empty.shape().clone()));
        assert_eq!(empty.ndarray_view::<f64>().unwrap_err(), ConversionError::Sizes(empty.shape().clone()));
        let one: Array<f64, Ix0> = arr0(1.0);
        let enormous = Literal::try_from(one.broadcast((1 << 30, 1 << 32)).unwrap()).unwrap_err();
        assert_eq!(message(enormous), "there is no memory for f64[1073741824,4294967296]");
    }
}
