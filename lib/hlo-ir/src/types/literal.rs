//! Literals: values with their shapes.

use crate::{AlignedBytes, ElementType, Shape};
use bytemuck::Pod;
use std::sync::Arc;

/// A value: a shape and its contents. Array elements are in row-major order, whatever the shape's layout.
/// Sub-byte types take one byte per element (sign-extended for signed types), and `pred` is 0 or 1. Cloning
/// is cheap.
///
/// # Example
/// ```
/// use hlo_ir::{ElementType, Literal, Shape};
///
/// let mut value = Literal::from_elements(Shape::array(ElementType::F32, [2, 2]), &[1.0f32, 2.0, 3.0, 4.0]);
/// value.elements_mut::<f32>()[3] = 0.5;
/// assert_eq!(value.elements::<f32>(), [1.0, 2.0, 3.0, 0.5]);
/// assert_eq!(value.bytes().len(), 16);
/// assert_eq!(Literal::scalar(ElementType::S8, -3i8).integer_at(0), Some(-3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    shape: Shape,
    data: LiteralData,
}

/// The contents of a [`Literal`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LiteralData {
    /// The elements of an array, in row-major order and little-endian.
    Array(Arc<AlignedBytes>),
    /// The elements of a tuple.
    Tuple(Vec<Literal>),
    /// A token has no contents.
    Token,
}

impl Literal {
    /// Creates an array literal of `shape` (an array shape) from row-major bytes.
    ///
    /// # Panics
    /// Panics if the number of bytes does not match the shape. The caller must have checked it.
    pub fn from_bytes(shape: Shape, bytes: AlignedBytes) -> Self {
        let array = shape.as_array().expect("an array shape");
        assert_eq!(bytes.len(), array.byte_size(), "bytes of {shape}");
        Self { shape, data: LiteralData::Array(Arc::new(bytes)) }
    }

    /// Creates an array literal of `shape` from row-major bytes. Returns `None` if the shape is not an array
    /// shape or the number of bytes does not match.
    pub fn try_from_bytes(shape: Shape, bytes: AlignedBytes) -> Option<Self> {
        let fits = shape.as_array().is_some_and(|a| a.byte_size() == bytes.len());
        fits.then(|| Self { shape, data: LiteralData::Array(Arc::new(bytes)) })
    }

    /// Creates an array literal of `shape` from shared row-major bytes. Returns `None` as
    /// [`Literal::try_from_bytes`] does.
    pub fn try_from_shared(shape: Shape, bytes: Arc<AlignedBytes>) -> Option<Self> {
        let fits = shape.as_array().is_some_and(|a| a.byte_size() == bytes.len());
        fits.then_some(Self { shape, data: LiteralData::Array(bytes) })
    }

    /// Creates an array literal of `shape` from native elements in row-major order. `T` is the storage type:
    /// `u8` for `pred`, `i8` for `s4`, `half::f16` for `f16`, `num_complex::Complex32` for `c64`. An unsigned
    /// integer of the same size works as raw bits for any type.
    pub fn from_elements<T: Pod>(shape: Shape, elements: &[T]) -> Self {
        Self::from_bytes(shape, AlignedBytes::from_slice(bytemuck::cast_slice(elements)))
    }

    /// Creates a scalar from an element type and a native value.
    pub fn scalar<T: Pod>(element_type: ElementType, value: T) -> Self {
        Self::from_elements(Shape::scalar(element_type), &[value])
    }

    /// Creates a scalar from bytes. Returns `None` if the type has another size.
    pub fn scalar_from_bytes(element_type: ElementType, bytes: &[u8]) -> Option<Self> {
        Self::try_from_bytes(Shape::scalar(element_type), AlignedBytes::from_slice(bytes))
    }

    /// Creates a literal of zeros; for a tuple shape, a tuple of them. Returns `None` if memory cannot be
    /// allocated.
    pub fn try_zeros(shape: &Shape) -> Option<Self> {
        let data = match shape {
            Shape::Array(a) => LiteralData::Array(Arc::new(AlignedBytes::try_zeroed(a.byte_size())?)),
            Shape::Tuple(t) => LiteralData::Tuple(t.iter().map(Literal::try_zeros).collect::<Option<_>>()?),
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => LiteralData::Token,
        };
        Some(Self { shape: shape.clone(), data })
    }

    /// Creates a tuple of literals.
    pub fn tuple(elements: Vec<Literal>) -> Self {
        Self {
            shape: Shape::Tuple(elements.iter().map(|e| e.shape.clone()).collect()),
            data: LiteralData::Tuple(elements),
        }
    }

    /// Creates a token.
    pub fn token() -> Self {
        Self { shape: Shape::Token, data: LiteralData::Token }
    }

    /// Returns the shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Replaces the shape by one of the same number of bytes (a reshape, or another layout).
    pub fn with_shape(mut self, shape: Shape) -> Self {
        assert_eq!(self.shape.byte_size(), shape.byte_size());
        self.shape = shape;
        self
    }

    /// Returns the array with other dimension sizes: truncated where they are smaller, padded with zeros
    /// where they are larger. Returns `None` if this is not an array of the same rank, or if memory cannot be
    /// allocated.
    pub fn resized(&self, sizes: &[i64]) -> Option<Self> {
        let from = self.shape.as_array().filter(|a| a.rank() == sizes.len())?;
        let to = from.with_sizes(sizes);
        if to.dims == from.dims {
            return Some(self.clone().with_shape(to.into()));
        }
        let mut result = Self::try_zeros(&to.clone().into())?;
        let (old, new) = (self.bytes(), result.bytes_mut());
        let kept: Vec<i64> = from.dims.iter().zip(sizes).map(|(&a, &b)| a.min(b)).collect();
        // The fastest dimensions that keep their sizes, and the dimension before them, are copied in one run.
        let whole = (0..kept.len()).rev().take_while(|&d| from.dims[d] == sizes[d]).count();
        let outer = kept.len().saturating_sub(whole + 1);
        let run = kept[outer..].iter().product::<i64>() as usize * from.element_type.byte_size();
        let (old_strides, new_strides) = (from.row_major_strides(), to.row_major_strides());
        let mut index = vec![0i64; outer];
        for _ in 0..kept[..outer].iter().product::<i64>() {
            let at = |strides: &[i64]| -> usize {
                index.iter().zip(strides).map(|(i, s)| i * s).sum::<i64>() as usize
                    * from.element_type.byte_size()
            };
            let (a, b) = (at(&old_strides), at(&new_strides));
            new[b..b + run].copy_from_slice(&old[a..a + run]);
            for d in (0..outer).rev() {
                index[d] += 1;
                if index[d] < kept[d] {
                    break;
                }
                index[d] = 0;
            }
        }
        Some(result)
    }

    /// Returns the contents.
    pub fn data(&self) -> &LiteralData {
        &self.data
    }

    /// Returns the row-major bytes of an array; empty for tuples and tokens.
    pub fn bytes(&self) -> &[u8] {
        match &self.data {
            LiteralData::Array(b) => b,
            _ => &[],
        }
    }

    /// Returns the row-major bytes of an array for writing. Copies them first if they are shared.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.data {
            LiteralData::Array(b) => &mut *Arc::make_mut(b),
            _ => &mut [],
        }
    }

    /// Returns the elements as native values. See [`Literal::from_elements`] for the types.
    pub fn elements<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(self.bytes())
    }

    /// Returns the elements as native values for writing.
    pub fn elements_mut<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.bytes_mut())
    }

    /// Returns the elements of a tuple; empty for arrays.
    pub fn tuple_elements(&self) -> &[Literal] {
        match &self.data {
            LiteralData::Tuple(t) => t,
            _ => &[],
        }
    }

    /// Returns the leaves in depth-first order, as [`Shape::leaves`] does.
    pub fn leaves(&self) -> Vec<&Literal> {
        match &self.data {
            LiteralData::Tuple(t) => t.iter().flat_map(Literal::leaves).collect(),
            _ => vec![self],
        }
    }

    /// Returns mutable references to the leaves in depth-first order.
    pub fn leaves_mut(&mut self) -> Vec<&mut Literal> {
        match self.data {
            LiteralData::Tuple(ref mut t) => t.iter_mut().flat_map(Literal::leaves_mut).collect(),
            _ => vec![self],
        }
    }

    /// Returns whether both are arrays that share memory.
    pub fn shares_storage(&self, other: &Literal) -> bool {
        match (&self.data, &other.data) {
            (LiteralData::Array(a), LiteralData::Array(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// If both arrays have the same bytes in different memory, replaces this array's memory by a reference to
    /// the other's. Returns whether it did.
    pub fn share_storage(&mut self, other: &Literal) -> bool {
        match (&mut self.data, &other.data) {
            (LiteralData::Array(a), LiteralData::Array(b)) if !Arc::ptr_eq(a, b) && a == b => {
                *a = Arc::clone(b);
                true
            }
            _ => false,
        }
    }

    /// Builds the literal of `shape` from its leaves in depth-first order. Returns `None` if there are too
    /// few.
    pub fn from_leaves(shape: &Shape, leaves: &mut impl Iterator<Item = Literal>) -> Option<Literal> {
        match shape {
            Shape::Tuple(t) => {
                let elements = t.iter().map(|s| Self::from_leaves(s, leaves)).collect::<Option<Vec<_>>>()?;
                Some(Literal { shape: shape.clone(), data: LiteralData::Tuple(elements) })
            }
            _ => leaves.next(),
        }
    }

    /// Returns the row-major position and the byte of the first element that is not a valid value of its
    /// type. Elements of types of less than 8 bits take a byte, which has more values than the type.
    pub fn first_odd_element(&self) -> Option<(usize, u8)> {
        let at = self.shape.as_array()?.element_type.first_odd_byte(self.bytes())?;
        Some((at, self.bytes()[at]))
    }

    /// Returns the integer or `pred` element at a row-major position, sign- or zero-extended.
    pub fn integer_at(&self, index: usize) -> Option<i128> {
        let ty = self.shape.as_array()?.element_type;
        let size = ty.byte_size();
        let bytes = self.bytes().get(index * size..(index + 1) * size)?;
        let mut wide = [0u8; 16];
        wide[..size].copy_from_slice(bytes);
        let raw = i128::from_le_bytes(wide);
        let unused = 128 - 8 * size as u32;
        match ty {
            t if t.is_signed_integer() => Some((raw << unused) >> unused),
            t if t.is_integer() || t.is_pred() => Some(raw),
            _ => None,
        }
    }
}
