//! Elements of tensors, and what two or three of them make.

use super::index::{IndexList, Names};
use crate::contraction::Access;
use crate::poly::Poly;
use hlo_builder::Value;
use hlo_ir::contraction::Combination;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{ArrayShape, Shape, Span};
use std::ops::{Add, Mul};

/// What contractions read of values.
pub trait Tensor<'b> {
    /// The element at these indices: one for each dimension.
    fn at(self, indices: impl IndexList) -> Element<'b>;

    /// The sizes of the dimensions, of which there must be `N`.
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

    /// The sizes, of which some are known: it is an error if those are others.
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
        // Of what could not be made, that is the error.
        let Some(shape) = array(self) else { return expected.map(|size| size.unwrap_or(1)) };
        let mut sizes = [1; N];
        if shape.rank() != N {
            let message = format!("{N} dimensions are bound, the tensor has {}: {shape}", shape.rank());
            self.builder().reject(Diag::error(message).with_code(code::TILE_BIND_RANK));
            return sizes;
        }
        sizes.copy_from_slice(&shape.dims);
        for (number, (&size, expected)) in sizes.iter().zip(expected).enumerate() {
            if expected.is_some_and(|e| e != size) {
                let expected = expected.unwrap_or_default();
                let message =
                    format!("dimension {number} of {shape} is {size}, and is bound to a size of {expected}");
                self.builder().reject(Diag::error(message).with_code(code::TILE_BIND_MISMATCH));
            }
        }
        sizes
    }
}

/// The shape of an array; what is none is an error where it is used.
pub(super) fn array(value: Value<'_>) -> Option<ArrayShape> {
    match value.shape() {
        Ok(Shape::Array(shape)) => Some(shape),
        _ => None,
    }
}

/// An element of a tensor: [`Tensor::at`].
#[derive(Clone, Debug)]
pub struct Element<'b> {
    /// `None` for indices that are too large.
    access: Option<Access<'b>>,
    names: Names,
}

/// What a contraction aggregates: an element, the product, the sum or the equality of two, [`cond`] of three.
#[derive(Clone, Debug)]
pub struct Elements<'b> {
    pub(super) combination: Combination,
    /// `None` for indices that are too large.
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
    /// Whether the elements are equal: `A[i] == B[j]` in a text.
    pub fn equals(self, other: Self) -> Elements<'b> {
        Elements::new(Combination::Equal, [self, other])
    }
}

/// The third element where the first two are equal, otherwise 0.
pub fn cond<'b>(a: Element<'b>, b: Element<'b>, then: Element<'b>) -> Elements<'b> {
    Elements::new(Combination::Select, [a, b, then])
}
