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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;
    use crate::laid_out::{from_buffer, to_buffer};

    #[test]
    fn constructors_of_each_rank_agree_with_the_values_in_row_major_order() {
        let numbers: Vec<i32> = (0..24).collect();
        let cube = [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]];
        let rest = [[[12, 13, 14], [15, 16, 17]], [[18, 19, 20], [21, 22, 23]]];
        assert_eq!(Literal::r0(7u8), Literal::from_values(&[], &[7u8]).unwrap());
        assert_eq!(Literal::r1(&numbers), Literal::from_values(&[24], &numbers).unwrap());
        assert_eq!(Literal::r2(&cube[0]), Literal::from_values(&[2, 3], &numbers[..6]).unwrap());
        assert_eq!(Literal::r3(&cube), Literal::from_values(&[2, 2, 3], &numbers[..12]).unwrap());
        assert_eq!(Literal::r4(&[cube, rest]), Literal::from_values(&[2, 2, 2, 3], &numbers).unwrap());
        assert_eq!(Literal::r2::<f32, 0>(&[[], []]).shape().to_string(), "f32[2,0]");
    }

    #[test]
    fn truth_values_are_bytes_of_0_and_1() {
        let literal = Literal::r1(&[true, false]);
        assert_eq!(literal.bytes(), [1, 0]);
        assert_eq!(literal.values::<bool>().unwrap().collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(Literal::from_values(&[2, 2], &[1, 2, 3]), None);
        assert_eq!(Literal::from_values(&[-1, -1], &[1]), None);
        assert_eq!(Literal::from_values::<u8>(&[i64::MAX, i64::MAX], &[]), None);
        assert_eq!(Literal::full(&[-2], 1.0f64), None);
        assert_eq!(Literal::full(&[2, 2], 1.5f64).unwrap().get::<f64>(&[1, 1]), Some(1.5));
        let matrix = Literal::r2(&[[1i64, 2], [3, 4]]);
        for index in [&[0, 2][..], &[-1, 0], &[0], &[0, 0, 0]] {
            assert_eq!(matrix.get::<i64>(index), None, "{index:?}");
        }
        assert_eq!(matrix.get::<u64>(&[0, 0]), None);
        assert_eq!(Literal::from_fn(&[-1, 0], |_| 0u8), None);
        assert_eq!(Literal::from_fn(&[1 << 40, 1 << 40], |_| 0u8), None);
        assert_eq!(Literal::token().get::<i64>(&[]), None);
    }

    #[test]
    fn elements_are_written_by_index() {
        let mut matrix = Literal::r2(&[[1i64, 2], [3, 4]]);
        let before = matrix.clone();
        assert!(matrix.set(&[1, 0], 7i64));
        assert_eq!(matrix, Literal::r2(&[[1i64, 2], [7, 4]]));
        assert_eq!(before.get(&[1, 0]), Some(3i64), "a copy has its own elements");
        assert!(!matrix.set(&[2, 0], 7i64) && !matrix.set(&[1, 0], 7i32) && !Literal::token().set(&[], 0i64));
    }

    /// Calls a generic function with the Rust type of each element type.
    macro_rules! of_all_types {
        ($call:ident) => {{
            use crate::narrow::*;
            [
                $call::<bool>(|n| n % 2 == 0),
                $call::<i8>(|n| n as i8 - 6),
                $call::<i16>(|n| n as i16 - 6),
                $call::<i32>(|n| n as i32 - 6),
                $call::<i64>(|n| n - 6),
                $call::<u8>(|n| n as u8),
                $call::<u16>(|n| n as u16),
                $call::<u32>(|n| n as u32),
                $call::<u64>(|n| n as u64),
                $call::<f16>(|n| f16::from_f64(n as f64 / 2.0)),
                $call::<bf16>(|n| bf16::from_f64(n as f64 / 2.0)),
                $call::<f32>(|n| n as f32 / 2.0),
                $call::<f64>(|n| n as f64 / 2.0),
                $call::<Complex32>(|n| Complex32::new(n as f32, -1.0)),
                $call::<Complex64>(|n| Complex64::new(n as f64, -1.0)),
                $call::<S1>(|n| S1::wrapping(n as i8)),
                $call::<S2>(|n| S2::wrapping(n as i8)),
                $call::<S4>(|n| S4::wrapping(n as i8)),
                $call::<U1>(|n| U1::wrapping(n as u8)),
                $call::<U2>(|n| U2::wrapping(n as u8)),
                $call::<U4>(|n| U4::wrapping(n as u8)),
                $call::<F8E5M2>(|n| F8E5M2::from_f64(n as f64)),
                $call::<F8E4M3>(|n| F8E4M3::from_f64(n as f64)),
                $call::<F8E4M3Fn>(|n| F8E4M3Fn::from_f64(n as f64)),
                $call::<F8E4M3B11Fnuz>(|n| F8E4M3B11Fnuz::from_f64(n as f64)),
                $call::<F8E3M4>(|n| F8E3M4::from_f64(n as f64)),
                $call::<F8E5M2Fnuz>(|n| F8E5M2Fnuz::from_f64(n as f64)),
                $call::<F8E4M3Fnuz>(|n| F8E4M3Fnuz::from_f64(n as f64)),
                $call::<F8E8M0Fnu>(|n| F8E8M0Fnu::from_f64(2f64.powi(n as i32))),
                $call::<F4E2M1Fn>(|n| F4E2M1Fn::from_f64(n as f64 / 2.0)),
                $call::<F6E3M2Fn>(|n| F6E3M2Fn::from_f64(n as f64 / 2.0)),
                $call::<F6E2M3Fn>(|n| F6E2M3Fn::from_f64(n as f64 / 2.0)),
            ]
        }};
    }

    /// A literal made by [`Literal::from_fn`] has these values at these indices, in any layout, and its
    /// numbers are equal to them. The bytes are row-major.
    fn values_are_at_their_indices<T: NativeType + PartialEq + std::fmt::Debug>(
        value: fn(i64) -> T,
    ) -> ElementType {
        let ty = T::ELEMENT_TYPE;
        let at = |index: &[i64]| value(index[0] * 6 + index[1] * 2 + index[2]);
        let literal = Literal::from_fn(&[2, 3, 2], at).unwrap();
        let flat: Vec<T> = (0..12).map(value).collect();
        assert_eq!(literal, Literal::from_values(&[2, 3, 2], &flat).unwrap(), "{ty}");
        for minor_to_major in [[0u32, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let shape = ArrayShape::new(ty, [2, 3, 2]).with_layout(Layout::new(minor_to_major));
            let laid_out = literal.clone().with_shape(shape.into());
            assert_eq!(laid_out.bytes(), literal.bytes(), "{ty}");
            assert!(laid_out.values::<T>().unwrap().eq(flat.iter().copied()), "{ty}");
            for (index, element) in laid_out.values::<T>().unwrap().indexed() {
                assert_eq!(element, at(&index), "{ty} {index:?}");
                assert_eq!(laid_out.get(&index), Some(element), "{ty} {index:?}");
                assert_eq!(laid_out.number(&index), Literal::r0(element).number(&[]), "{ty} {index:?}");
            }
        }
        ty
    }

    #[test]
    fn every_element_type_has_a_native_type() {
        let types = of_all_types!(values_are_at_their_indices);
        for ty in ElementType::ALL {
            assert_eq!(types.iter().filter(|t| *t == ty).count(), 1, "{ty}");
        }
    }

    /// The examples of the preview's chapter on layouts: a literal is row-major in memory, and a buffer
    /// follows the layout.
    #[test]
    fn the_layouts_of_the_preview() {
        let letters = Literal::r2(&[*b"abc", *b"def"]);
        for (minor_to_major, in_memory) in [([0, 1], b"adbecf"), ([1, 0], b"abcdef")] {
            let shape = ArrayShape::new(ElementType::U8, [2, 3]).with_layout(Layout::new(minor_to_major));
            let literal = letters.clone().with_shape(shape.clone().into());
            assert_eq!(literal.bytes(), b"abcdef");
            assert_eq!(literal.get(&[1, 0]), Some(b'd'));
            let buffer =
                to_buffer(&literal, literal.shape()).unwrap_or(AlignedBytes::from_slice(literal.bytes()));
            assert_eq!(&buffer[..], in_memory);
            assert_eq!(from_buffer(buffer, &shape), literal);
        }
    }

    #[test]
    fn elements_know_their_indices_and_how_many_are_left() {
        let matrix = Literal::r2(&[[1i64, 2], [3, 4]]);
        let mut elements = matrix.values::<i64>().unwrap();
        assert_eq!(elements.next(), Some(1));
        assert_eq!(elements.len(), 3);
        let rest: Vec<(Vec<i64>, i64)> = elements.indexed().map(|(i, v)| (i.to_vec(), v)).collect();
        assert_eq!(rest, [(vec![0, 1], 2), (vec![1, 0], 3), (vec![1, 1], 4)]);
    }
}
