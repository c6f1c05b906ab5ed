//! Index expressions: affine functions of index variables with rational coefficients.

use num_rational::Ratio;
use num_traits::Zero;
use std::collections::BTreeMap;

/// A rational number. Numerators and denominators are less than `LIMIT`, so that no operation on two
/// numbers overflows.
pub type Rational = Ratio<i128>;

/// Exclusive upper bound of numerators and denominators.
const LIMIT: i128 = 1 << 60;

/// The number of an index variable.
pub type IndexId = u32;

/// Provides the names of index variables.
pub(crate) trait IndexNames {
    /// Returns the name of a variable, or a placeholder.
    fn name_of(&self, id: IndexId) -> String;
}

/// An affine expression `Σ coefficient · index + constant`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poly {
    /// The coefficients. None of them is 0.
    terms: BTreeMap<IndexId, Rational>,
    /// The constant term.
    constant: Rational,
}

/// Returns `None` if a number is too large.
fn checked(value: Rational) -> Option<Rational> {
    (value.numer().abs() < LIMIT && *value.denom() < LIMIT).then_some(value)
}

impl Poly {
    /// Returns a constant expression.
    pub fn constant(value: i64) -> Option<Self> {
        let constant = checked(Rational::from_integer(value.into()))?;
        Some(Self { terms: BTreeMap::new(), constant })
    }

    /// Returns an index variable as an expression.
    pub fn index(id: IndexId) -> Self {
        Self { terms: BTreeMap::from([(id, Rational::from_integer(1))]), constant: Rational::zero() }
    }

    /// Returns the constant if the expression has no index.
    pub fn as_constant(&self) -> Option<Rational> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns the constant term.
    pub fn offset(&self) -> Rational {
        self.constant
    }

    /// Returns the coefficient of an index.
    pub fn coefficient(&self, id: IndexId) -> Rational {
        self.terms.get(&id).copied().unwrap_or_default()
    }

    /// Returns the indices that the expression depends on, in the order of their numbers.
    pub fn indices(&self) -> impl Iterator<Item = IndexId> + '_ {
        self.terms.keys().copied()
    }

    /// Returns `self + factor · other`, or `None` if a coefficient is too large.
    pub fn plus(&self, other: &Self, factor: i64) -> Option<Self> {
        let factor = Rational::from_integer(factor.into());
        let mut terms = self.terms.clone();
        for (&id, &coefficient) in &other.terms {
            let sum = checked(self.coefficient(id) + checked(coefficient * factor)?)?;
            terms.insert(id, sum);
        }
        terms.retain(|_, c| !c.is_zero());
        Some(Self { terms, constant: checked(self.constant + checked(other.constant * factor)?)? })
    }

    /// Returns `self · factor`, or `None` if a coefficient is too large.
    pub fn times(&self, factor: Rational) -> Option<Self> {
        let terms = self.terms.iter().map(|(&id, &c)| Some((id, checked(c * factor)?)));
        let mut terms: BTreeMap<_, _> = terms.collect::<Option<_>>()?;
        terms.retain(|_, c| !c.is_zero());
        Some(Self { terms, constant: checked(self.constant * factor)? })
    }
}
