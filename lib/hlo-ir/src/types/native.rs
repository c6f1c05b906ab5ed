//! Rust types as element types, and literals of their values.

use crate::types::indices::Indices;
use crate::{AlignedBytes, ArrayShape, Dims, ElementType, Literal, Shape, unravel};
use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// A Rust type whose values are the elements of arrays of one element type (XLA preview, "ConstantR0").
///
/// Every element type has one: `bool` for `pred`, Rust's integers and floats, `half::f16` and `half::bf16`,
/// `num_complex::Complex32` for `c64` and `Complex64` for `c128`, and the types of [`narrow`](crate::narrow)
/// for narrower types.
pub trait NativeType: Copy + Send + Sync + 'static {
    /// The element type.
    const ELEMENT_TYPE: ElementType;

    /// The type of an element in a [`Literal`].
    type Stored: Pod;

    /// Converts a value to an element.
    fn stored(self) -> Self::Stored;

    /// Converts an element to a value.
    fn from_stored(stored: Self::Stored) -> Self;
}

macro_rules! native_types {
    ($($native:ty = $element_type:ident,)*) => {
        $(
            impl NativeType for $native {
                const ELEMENT_TYPE: ElementType = ElementType::$element_type;
                type Stored = $native;

                fn stored(self) -> $native {
                    self
                }

                fn from_stored(stored: $native) -> Self {
                    stored
                }
            }
        )*
    };
}

native_types! {
    i8 = S8,
    i16 = S16,
    i32 = S32,
    i64 = S64,
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    f16 = F16,
    bf16 = Bf16,
    f32 = F32,
    f64 = F64,
    Complex32 = C64,
    Complex64 = C128,
}

impl NativeType for bool {
    const ELEMENT_TYPE: ElementType = ElementType::Pred;
    type Stored = u8;

    fn stored(self) -> u8 {
        u8::from(self)
    }

    fn from_stored(stored: u8) -> Self {
        stored != 0
    }
}

/// Literals of native values.
///
/// # Example
/// ```
/// use hlo_ir::Literal;
///
/// let matrix = Literal::r2(&[[1.0f32, 2.0], [3.0, 4.0]]);
/// assert_eq!(matrix.shape().to_string(), "f32[2,2]");
/// assert_eq!(matrix.get::<f32>(&[1, 0]), Some(3.0));
/// assert_eq!(matrix.values::<f32>().unwrap().sum::<f32>(), 10.0);
/// assert!(matrix.values::<f64>().is_none(), "the elements are of another type");
///
/// let sums = Literal::from_fn(&[2, 2], |index| index.iter().sum::<i64>()).unwrap();
/// assert_eq!(sums, Literal::r2(&[[0i64, 1], [1, 2]]));
/// for (index, value) in sums.values::<i64>().unwrap().indexed() {
///     assert_eq!(value, index[0] + index[1]);
/// }
/// ```
impl Literal {
    /// Creates a scalar.
    pub fn r0<T: NativeType>(value: T) -> Self {
        Self::of_values(&[], &[value])
    }

    /// Creates a vector.
    pub fn r1<T: NativeType>(values: &[T]) -> Self {
        Self::of_values(&[values.len()], values)
    }

    /// Creates a matrix from its rows.
    pub fn r2<T: NativeType, const N: usize>(rows: &[[T; N]]) -> Self {
        Self::of_values(&[rows.len(), N], rows.as_flattened())
    }

    /// Creates an array of rank 3 from matrices.
    pub fn r3<T: NativeType, const M: usize, const N: usize>(matrices: &[[[T; N]; M]]) -> Self {
        Self::of_values(&[matrices.len(), M, N], matrices.as_flattened().as_flattened())
    }

    /// Creates an array of rank 4 from arrays of rank 3.
    pub fn r4<T: NativeType, const L: usize, const M: usize, const N: usize>(
        arrays: &[[[[T; N]; M]; L]],
    ) -> Self {
        let flat = arrays.as_flattened().as_flattened().as_flattened();
        Self::of_values(&[arrays.len(), L, M, N], flat)
    }

    /// Creates an array of these sizes from its elements in row-major order. Returns `None` if their number
    /// does not match.
    pub fn from_values<T: NativeType>(dims: &[i64], values: &[T]) -> Option<Self> {
        let shape = ArrayShape::new(T::ELEMENT_TYPE, dims.iter().copied());
        let count = shape.checked_element_count().filter(|_| dims.iter().all(|&d| d >= 0))?;
        if usize::try_from(count) != Ok(values.len()) {
            return None;
        }
        Some(Self::of_values(&[values.len()], values).with_shape(shape.into()))
    }

    /// Creates an array of these sizes with equal elements. Returns `None` if a size is negative or memory
    /// cannot be allocated.
    pub fn full<T: NativeType>(dims: &[i64], value: T) -> Option<Self> {
        let shape = ArrayShape::new(T::ELEMENT_TYPE, dims.iter().copied());
        shape.checked_element_count().filter(|_| dims.iter().all(|&d| d >= 0))?;
        let mut literal = Self::try_zeros(&shape.into())?;
        literal.elements_mut::<T::Stored>().fill(value.stored());
        Some(literal)
    }

    /// Returns the elements in row-major order; `None` if they have another type.
    pub fn values<T: NativeType>(&self) -> Option<Elements<'_, T>> {
        let array = self.shape().as_array().filter(|a| a.element_type == T::ELEMENT_TYPE)?;
        Some(Elements { stored: self.elements::<T::Stored>(), next: 0, dims: &array.dims })
    }

    /// Creates an array of these sizes. Calls `value` with the index of each element, in row-major order.
    /// Returns `None` if a size is negative or memory cannot be allocated.
    ///
    /// # Example
    /// ```
    /// use hlo_ir::Literal;
    ///
    /// let identity = Literal::from_fn(&[2, 2], |index| f32::from(u8::from(index[0] == index[1]))).unwrap();
    /// assert_eq!(identity, Literal::r2(&[[1.0f32, 0.0], [0.0, 1.0]]));
    /// ```
    pub fn from_fn<T: NativeType>(dims: &[i64], mut value: impl FnMut(&[i64]) -> T) -> Option<Self> {
        let shape = ArrayShape::new(T::ELEMENT_TYPE, dims.iter().copied());
        shape.checked_element_count().filter(|_| dims.iter().all(|&d| d >= 0))?;
        let mut literal = Self::try_zeros(&shape.clone().into())?;
        let mut indices = shape.indices();
        for element in literal.elements_mut::<T::Stored>() {
            indices.advance(|index| *element = value(index).stored());
        }
        Some(literal)
    }

    /// Returns the element at an index; `None` if the index is out of bounds or elements have another type.
    /// [`Literal::number`] reads elements of any type.
    pub fn get<T: NativeType>(&self, index: &[i64]) -> Option<T> {
        self.shape().as_array().filter(|a| a.element_type == T::ELEMENT_TYPE)?;
        self.elements::<T::Stored>().get(self.position(index)?).copied().map(T::from_stored)
    }

    /// Writes the element at an index. Returns whether there is an element of this type.
    #[must_use]
    pub fn set<T: NativeType>(&mut self, index: &[i64], value: T) -> bool {
        let is_native = self.shape().as_array().is_some_and(|a| a.element_type == T::ELEMENT_TYPE);
        let Some(position) = self.position(index).filter(|_| is_native) else { return false };
        match self.elements_mut::<T::Stored>().get_mut(position) {
            Some(element) => *element = value.stored(),
            None => return false,
        }
        true
    }

    fn of_values<T: NativeType>(dims: &[usize], values: &[T]) -> Self {
        let size = |&d: &usize| i64::try_from(d).unwrap_or(i64::MAX);
        let shape = Shape::array(T::ELEMENT_TYPE, dims.iter().map(size));
        let mut bytes = AlignedBytes::zeroed(size_of::<T::Stored>() * values.len());
        for (to, value) in bytemuck::cast_slice_mut::<u8, T::Stored>(&mut bytes).iter_mut().zip(values) {
            *to = value.stored();
        }
        Self::from_bytes(shape, bytes)
    }
}

/// An iterator over the elements of a literal in row-major order. See [`Literal::values`].
#[derive(Clone, Debug)]
pub struct Elements<'a, T: NativeType> {
    stored: &'a [T::Stored],
    next: usize,
    dims: &'a [i64],
}

impl<T: NativeType> Elements<'_, T> {
    /// Returns the elements with their indices.
    pub fn indexed(self) -> impl ExactSizeIterator<Item = (Dims, T)> {
        Indices::new(self.dims, unravel(self.next, self.dims), self.len()).zip(self)
    }
}

impl<T: NativeType> Iterator for Elements<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let stored = self.stored.get(self.next)?;
        self.next += 1;
        Some(T::from_stored(*stored))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.stored.len() - self.next;
        (left, Some(left))
    }
}

impl<T: NativeType> ExactSizeIterator for Elements<'_, T> {}
