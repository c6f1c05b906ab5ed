//! Indices and affine expressions of indices.

use crate::poly::{IndexId, IndexNames, Poly, Rational};
use std::collections::BTreeMap;
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::atomic::{AtomicU32, Ordering};

/// An index variable of contractions. Several contractions can use the same index; each has its own range for
/// it.
#[derive(Clone, Copy, Debug)]
pub struct TensorIndex {
    id: IndexId,
    name: &'static str,
}

/// Creates index variables. Error messages use their names.
///
/// # Example
/// ```
/// let [i, j] = hlo_tile::edsl::indices(["i", "j"]);
/// assert_eq!(format!("{:?}", 2 * i - j + 1), "2*i - j + 1");
/// ```
pub fn indices<const N: usize>(names: [&'static str; N]) -> [TensorIndex; N] {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    names.map(|name| TensorIndex { id: NEXT.fetch_add(1, Ordering::Relaxed), name })
}

impl TensorIndex {
    /// Returns the constraint `0 <= self < bound`.
    pub fn lt(self, bound: i64) -> Constraint {
        self.expression().lt(bound)
    }

    /// Divides the index by `number`. Only index values with an integer quotient are valid (`i // 2` in
    /// Tile).
    pub fn div_exact(self, number: i64) -> IndexExpression {
        self.expression().div_exact(number)
    }
}

/// An affine expression of indices. Create it with `+` and `-` of indices and numbers, and with `*` by a
/// number. If a number is too large for exact arithmetic, the contraction that uses the expression reports an
/// error.
#[derive(Clone)]
pub struct IndexExpression {
    pub(super) poly: Option<Poly>,
    pub(super) names: Names,
}

/// The names of the indices in expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeMap<IndexId, &'static str>);

impl Names {
    pub(super) fn extend(&mut self, other: &Names) {
        self.0.extend(&other.0);
    }
}

impl IndexNames for Names {
    fn name_of(&self, id: IndexId) -> String {
        self.0.get(&id).map_or_else(|| format!("index {id}"), |name| (*name).to_owned())
    }
}

impl IndexExpression {
    /// Returns the constraint `0 <= self < bound`.
    pub fn lt(self, bound: i64) -> Constraint {
        Constraint { index: self, bound }
    }

    /// Divides the expression by `number`. Only index values with an integer quotient are valid
    /// (`(i - 1) // 2` in Tile).
    pub fn div_exact(self, number: i64) -> Self {
        let poly = self.poly.filter(|_| number != 0);
        Self { poly: poly.and_then(|p| p.times(Rational::new(1, number.into()))), names: self.names }
    }

    fn combined(mut self, other: &Self, factor: i64) -> Self {
        self.names.extend(&other.names);
        let poly = self.poly.zip(other.poly.as_ref()).and_then(|(a, b)| a.plus(b, factor));
        Self { poly, names: self.names }
    }

    fn scaled(self, factor: i64) -> Self {
        let poly = self.poly.and_then(|p| p.times(Rational::from_integer(factor.into())));
        Self { poly, names: self.names }
    }
}

impl std::fmt::Debug for IndexExpression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(poly) = &self.poly else { return f.write_str("(too large)") };
        let one = Rational::from_integer(1);
        let zero = Rational::from_integer(0);
        let mut is_first = true;
        let mut term = |value: Rational, name: Option<String>| {
            let sign = match (is_first, value < zero) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            is_first = false;
            let size = if value < zero { -value } else { value };
            match name {
                Some(name) if size == one => write!(f, "{sign}{name}"),
                Some(name) => write!(f, "{sign}{size}*{name}"),
                None => write!(f, "{sign}{size}"),
            }
        };
        for id in poly.indices() {
            term(poly.coefficient(id), Some(self.names.name_of(id)))?;
        }
        if poly.offset() != zero || poly.as_constant().is_some() {
            term(poly.offset(), None)?;
        }
        Ok(())
    }
}

/// A constraint `0 <= index < bound`, created by [`TensorIndex::lt`].
#[derive(Clone, Debug)]
pub struct Constraint {
    pub(super) index: IndexExpression,
    pub(super) bound: i64,
}

/// A term for one index of an element: an index, an expression of indices, or a number.
pub trait IndexTerm {
    /// Converts the term to an expression.
    fn expression(self) -> IndexExpression;
}

impl IndexTerm for TensorIndex {
    fn expression(self) -> IndexExpression {
        let names = Names(BTreeMap::from([(self.id, self.name)]));
        IndexExpression { poly: Some(Poly::index(self.id)), names }
    }
}

impl IndexTerm for IndexExpression {
    fn expression(self) -> IndexExpression {
        self
    }
}

impl IndexTerm for i64 {
    fn expression(self) -> IndexExpression {
        IndexExpression { poly: Poly::constant(self), names: Names::default() }
    }
}

macro_rules! sums {
    ($($left:ty, $right:ty;)*) => {
        $(
            impl Add<$right> for $left {
                type Output = IndexExpression;
                fn add(self, other: $right) -> IndexExpression {
                    self.expression().combined(&other.expression(), 1)
                }
            }

            impl Sub<$right> for $left {
                type Output = IndexExpression;
                fn sub(self, other: $right) -> IndexExpression {
                    self.expression().combined(&other.expression(), -1)
                }
            }
        )*
    };
}

sums! {
    TensorIndex, TensorIndex;
    TensorIndex, IndexExpression;
    TensorIndex, i64;
    IndexExpression, TensorIndex;
    IndexExpression, IndexExpression;
    IndexExpression, i64;
    i64, TensorIndex;
    i64, IndexExpression;
}

macro_rules! products {
    ($($term:ty)*) => {
        $(
            impl Mul<i64> for $term {
                type Output = IndexExpression;
                fn mul(self, factor: i64) -> IndexExpression {
                    self.expression().scaled(factor)
                }
            }

            impl Mul<$term> for i64 {
                type Output = IndexExpression;
                fn mul(self, term: $term) -> IndexExpression {
                    term.expression().scaled(self)
                }
            }

            impl Neg for $term {
                type Output = IndexExpression;
                fn neg(self) -> IndexExpression {
                    self.expression().scaled(-1)
                }
            }
        )*
    };
}

products! { TensorIndex IndexExpression }

/// The indices of an element: a single index, or a tuple, array or list of indices, or `()` for a scalar.
pub trait IndexList {
    /// Returns an expression for each dimension.
    fn expressions(self) -> Vec<IndexExpression>;
}

impl IndexList for () {
    fn expressions(self) -> Vec<IndexExpression> {
        Vec::new()
    }
}

impl<T: IndexTerm, const N: usize> IndexList for [T; N] {
    fn expressions(self) -> Vec<IndexExpression> {
        self.into_iter().map(IndexTerm::expression).collect()
    }
}

impl<T: IndexTerm> IndexList for Vec<T> {
    fn expressions(self) -> Vec<IndexExpression> {
        self.into_iter().map(IndexTerm::expression).collect()
    }
}

impl<T: IndexTerm + Clone> IndexList for &[T] {
    fn expressions(self) -> Vec<IndexExpression> {
        self.iter().cloned().map(IndexTerm::expression).collect()
    }
}

macro_rules! single {
    ($($term:ty)*) => {
        $(
            impl IndexList for $term {
                fn expressions(self) -> Vec<IndexExpression> {
                    vec![self.expression()]
                }
            }
        )*
    };
}

single! { TensorIndex IndexExpression i64 }

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: IndexTerm),+> IndexList for ($($name,)+) {
            #[allow(non_snake_case, reason = "the elements have the names of their types")]
            fn expressions(self) -> Vec<IndexExpression> {
                let ($($name,)+) = self;
                vec![$($name.expression()),+]
            }
        }
    };
}

tuples! { A }
tuples! { A B }
tuples! { A B C }
tuples! { A B C D }
tuples! { A B C D E }
tuples! { A B C D E F }
tuples! { A B C D E F G }
tuples! { A B C D E F G H }
