//! Rust's types as element types, and literals of their values.

use crate::{AlignedBytes, ArrayShape, Dims, ElementType, Literal, Shape, unravel};
use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

/// A Rust type whose values are the elements of arrays of one element type (XLA preview, "ConstantR0").
pub trait NativeType: Copy + Send + Sync + 'static {
    /// The element type.
    const ELEMENT_TYPE: ElementType;

    /// What an element is in a [`Literal`].
    type Stored: Pod;

    /// The element of this value.
    fn stored(self) -> Self::Stored;

    /// The value of an element.
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
/// ```
impl Literal {
    /// The scalar of a value.
    pub fn r0<T: NativeType>(value: T) -> Self {
        Self::of_values(&[], &[value])
    }

    /// The vector of some values.
    pub fn r1<T: NativeType>(values: &[T]) -> Self {
        Self::of_values(&[values.len()], values)
    }

    /// The matrix of some rows.
    pub fn r2<T: NativeType, const N: usize>(rows: &[[T; N]]) -> Self {
        Self::of_values(&[rows.len(), N], rows.as_flattened())
    }

    /// The array of rank 3 of some matrices.
    pub fn r3<T: NativeType, const M: usize, const N: usize>(matrices: &[[[T; N]; M]]) -> Self {
        Self::of_values(&[matrices.len(), M, N], matrices.as_flattened().as_flattened())
    }

    /// The array of rank 4 of some arrays of rank 3.
    pub fn r4<T: NativeType, const L: usize, const M: usize, const N: usize>(
        arrays: &[[[[T; N]; M]; L]],
    ) -> Self {
        let flat = arrays.as_flattened().as_flattened().as_flattened();
        Self::of_values(&[arrays.len(), L, M, N], flat)
    }

    /// The array of these sizes with these elements, row-major; `None` if there are more or fewer elements.
    pub fn from_values<T: NativeType>(dims: &[i64], values: &[T]) -> Option<Self> {
        let shape = ArrayShape::new(T::ELEMENT_TYPE, dims.iter().copied());
        let count = shape.checked_element_count().filter(|_| dims.iter().all(|&d| d >= 0))?;
        if usize::try_from(count) != Ok(values.len()) {
            return None;
        }
        Some(Self::of_values(&[values.len()], values).with_shape(shape.into()))
    }

    /// The array of these sizes whose elements are all the same; `None` if a size is negative or memory can't be had.
    pub fn full<T: NativeType>(dims: &[i64], value: T) -> Option<Self> {
        let shape = ArrayShape::new(T::ELEMENT_TYPE, dims.iter().copied());
        shape.checked_element_count().filter(|_| dims.iter().all(|&d| d >= 0))?;
        let mut literal = Self::try_zeros(&shape.into())?;
        literal.elements_mut::<T::Stored>().fill(value.stored());
        Some(literal)
    }

    /// The elements in row-major order; `None` if they are of another type.
    pub fn values<T: NativeType>(&self) -> Option<Elements<'_, T>> {
        let array = self.shape().as_array().filter(|a| a.element_type == T::ELEMENT_TYPE)?;
        Some(Elements { stored: self.elements::<T::Stored>(), next: 0, dims: &array.dims })
    }

    /// The element at an index; `None` if it is outside, or elements are of another type.
    pub fn get<T: NativeType>(&self, index: &[i64]) -> Option<T> {
        let array = self.shape().as_array().filter(|a| a.element_type == T::ELEMENT_TYPE)?;
        let is_inside =
            index.len() == array.rank() && index.iter().zip(&array.dims).all(|(i, d)| (0..*d).contains(i));
        if !is_inside {
            return None;
        }
        let position: i64 = index.iter().zip(array.row_major_strides()).map(|(i, stride)| i * stride).sum();
        self.elements::<T::Stored>().get(usize::try_from(position).ok()?).copied().map(T::from_stored)
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

/// The elements of a literal in row-major order: see [`Literal::values`].
#[derive(Clone, Debug)]
pub struct Elements<'a, T: NativeType> {
    stored: &'a [T::Stored],
    next: usize,
    dims: &'a [i64],
}

impl<T: NativeType> Elements<'_, T> {
    /// The elements, each with its index.
    pub fn indexed(self) -> impl Iterator<Item = (Dims, T)> {
        let (first, dims) = (self.next, self.dims);
        self.enumerate().map(move |(n, value)| (unravel(first + n, dims), value))
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
