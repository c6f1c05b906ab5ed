//! Elements of tensors, and combinations of two or three of them.

use super::index::{IndexList, Names};
use crate::contraction::Access;
use crate::poly::Poly;
use crate::rules;
use hlo_builder::Value;
use hlo_ir::contraction::Combination;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Shape, Span};
use std::ops::{Add, Mul};

/// Access to the elements and sizes of a value, for contractions.
pub trait Tensor<'b> {
    /// Returns the element at these indices, one for each dimension.
    fn at(self, indices: impl IndexList) -> Element<'b>;

    /// Returns the sizes of the dimensions. The tensor must have `N` dimensions.
    ///
    /// # Example
    /// ```
    /// use hlo_tile::edsl::Tensor;
    ///
    /// let b = hlo_builder::Builder::new("sizes");
    /// let [rows, columns] = b.constant_r2(&[[1.0f32, 2.0, 3.0]]).dims();
    /// assert_eq!((rows, columns), (1, 3));
    /// ```
    fn dims<const N: usize>(self) -> [i64; N];

    /// Returns the sizes of the dimensions. Reports an error if a size differs from an expected one.
    fn bind_dims<const N: usize>(self, expected: [Option<i64>; N]) -> [i64; N];
}

impl<'b> Tensor<'b> for Value<'b> {
    fn at(self, indices: impl IndexList) -> Element<'b> {
        let mut names = Names::default();
        let expressions = indices.expressions();
        expressions.iter().for_each(|e| names.extend(&e.names));
        let indices: Option<Vec<(Poly, Span)>> =
            expressions.into_iter().map(|e| Some((e.poly?, Span::default()))).collect();
        let name = self.name().unwrap_or_default();
        let access = indices.map(|indices| Access { value: self, name, indices, span: Span::default() });
        Element { access, names }
    }

    #[track_caller]
    fn dims<const N: usize>(self) -> [i64; N] {
        self.bind_dims([None; N])
    }

    #[track_caller]
    fn bind_dims<const N: usize>(self, expected: [Option<i64>; N]) -> [i64; N] {
        // If the tensor failed, its error was already reported.
        let Some(shape) = array(self) else { return expected.map(|size| size.unwrap_or(1)) };
        let mut sizes = [1; N];
        if shape.rank() != N {
            let message = format!("{N} dimensions are bound, the tensor has {}: {shape}", shape.rank());
            self.builder().reject(Diag::error(message).with_code(rules::TILE_BIND_RANK));
            return sizes;
        }
        sizes.copy_from_slice(&shape.dims);
        for (number, (&size, expected)) in sizes.iter().zip(expected).enumerate() {
            if expected.is_some_and(|e| e != size) {
                let expected = expected.unwrap_or_default();
                let message =
                    format!("dimension {number} of {shape} is {size}, and is bound to a size of {expected}");
                self.builder().reject(Diag::error(message).with_code(rules::TILE_BIND_MISMATCH));
            }
        }
        sizes
    }
}

/// Returns the shape of an array, or `None`. Uses of a value that is not an array report the error.
pub(super) fn array(value: Value<'_>) -> Option<ArrayShape> {
    match value.shape() {
        Ok(Shape::Array(shape)) => Some(shape),
        _ => None,
    }
}

/// An element of a tensor, returned by [`Tensor::at`].
#[derive(Clone, Debug)]
pub struct Element<'b> {
    /// The access, or `None` if an index is too large.
    access: Option<Access<'b>>,
    names: Names,
}

/// The value that a contraction aggregates: an element, the product, sum or equality of two elements, or
/// [`cond`] of three elements.
#[derive(Clone, Debug)]
pub struct Elements<'b> {
    pub(super) combination: Combination,
    /// The accesses, or `None` if an index is too large.
    pub(super) accesses: Option<Vec<Access<'b>>>,
    pub(super) names: Names,
}

impl<'b> Elements<'b> {
    fn new<const N: usize>(combination: Combination, elements: [Element<'b>; N]) -> Self {
        let mut names = Names::default();
        elements.iter().for_each(|e| names.extend(&e.names));
        Self { combination, accesses: elements.into_iter().map(|e| e.access).collect(), names }
    }
}

impl<'b> From<Element<'b>> for Elements<'b> {
    fn from(element: Element<'b>) -> Self {
        Self::new(Combination::Single, [element])
    }
}

impl<'b> Mul for Element<'b> {
    type Output = Elements<'b>;
    fn mul(self, other: Self) -> Elements<'b> {
        Elements::new(Combination::Multiply, [self, other])
    }
}

impl<'b> Add for Element<'b> {
    type Output = Elements<'b>;
    fn add(self, other: Self) -> Elements<'b> {
        Elements::new(Combination::Add, [self, other])
    }
}

impl<'b> Element<'b> {
    /// Compares two elements for equality: `A[i] == B[j]` in Tile.
    pub fn equals(self, other: Self) -> Elements<'b> {
        Elements::new(Combination::Equal, [self, other])
    }
}

/// Returns the third element where the first two are equal, and 0 otherwise.
pub fn cond<'b>(a: Element<'b>, b: Element<'b>, then: Element<'b>) -> Elements<'b> {
    Elements::new(Combination::Select, [a, b, then])
}
