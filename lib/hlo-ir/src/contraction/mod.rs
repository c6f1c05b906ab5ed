//! Contractions: the semantics of the instruction `contraction`, and the loop nests that compute it.
//!
//! A contraction runs over all *valid indices*: integers for which the index expressions of its output and
//! its operands are within their dimensions and its constraints hold. For each valid index, it combines
//! elements of the operands to a value for one element of the output. The output element aggregates its
//! values. Products, convolutions, reductions and many data movements are contractions.
//!
//! ```
//! use hlo_ir::contraction::{Affine, Nest, Strip};
//!
//! // Pairs of an index below 3 and an index that is not greater.
//! let within = |coefficients: [i64; 2], size| Strip {
//!     index: Affine { coefficients: coefficients.to_vec(), constant: 0 },
//!     size,
//! };
//! let strips = [within([1, 0], 3), within([0, 1], 3), within([1, -1], 3)];
//! let nest = Nest::new(2, &strips, 1)?.unwrap();
//! let mut points = Vec::new();
//! nest.walk(&mut |x| {
//!     if let &[i, j] = x {
//!         points.push((i, j));
//!     }
//!     Ok::<(), ()>(())
//! }).unwrap();
//! assert_eq!(points, [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]);
//! # Ok::<(), hlo_ir::contraction::NestError>(())
//! ```

mod affine;
mod interior;
pub mod lattice;
mod level;
mod nest;
mod repetition;
mod text;
mod walk;

pub use affine::{Affine, Interval};
pub use level::{Level, Quotient};
pub use nest::{MAX_INDICES, Nest, NestError};
pub use repetition::Repetition;

use crate::Shape;

/// The computation of a `contraction`: the value of its attribute `access`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contraction {
    /// Number of indices. Each index expression has a coefficient for each of them.
    pub indices: usize,
    /// The index expression of each dimension of the output.
    pub output: Vec<Affine>,
    /// The index expressions of each operand. Their number is [`Combination::operands`].
    pub operands: Vec<Vec<Affine>>,
    /// How several values for one element of the output are aggregated.
    pub aggregation: Aggregation,
    /// How elements of the operands are combined to a value.
    pub combination: Combination,
    /// Further conditions on valid indices.
    pub constraints: Vec<Constraint>,
}

/// `0 <= index < bound`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// The bounded expression.
    pub index: Affine,
    /// The exclusive upper bound. If it is not positive, no index is valid.
    pub bound: i64,
}

/// How several values for one element of the output are aggregated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// `+=`: the sum. For `pred`, a logical or.
    #[default]
    Sum,
    /// `*=`: the product. For `pred`, a logical and.
    Product,
    /// `>=`: the largest value, as `maximum` computes it.
    Max,
    /// `<=`: the smallest value, as `minimum` computes it.
    Min,
    /// `=`: there must be at most one value.
    Assign,
}

/// How one element of each operand is combined to a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Combination {
    /// `a`: the element itself.
    #[default]
    Single,
    /// `a * b`: the product, as `multiply` computes it.
    Multiply,
    /// `a + b`: the sum, as `add` computes it.
    Add,
    /// `a == b`: whether the elements are equal.
    Equal,
    /// `a == b ? c`: the third element if the others are equal, and otherwise 0.
    Select,
}

/// The condition `0 <= index < size` on an index expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The bounded expression.
    pub index: Affine,
    /// The number of values in the strip.
    pub size: i64,
}

impl Aggregation {
    /// All aggregations.
    pub const ALL: &[Aggregation] =
        &[Aggregation::Sum, Aggregation::Product, Aggregation::Max, Aggregation::Min, Aggregation::Assign];

    /// Returns the aggregation as text.
    pub fn text(self) -> &'static str {
        match self {
            Aggregation::Sum => "+=",
            Aggregation::Product => "*=",
            Aggregation::Max => ">=",
            Aggregation::Min => "<=",
            Aggregation::Assign => "=",
        }
    }
}

impl Combination {
    /// All combinations.
    pub const ALL: &[Combination] = &[
        Combination::Single,
        Combination::Multiply,
        Combination::Add,
        Combination::Equal,
        Combination::Select,
    ];

    /// Returns the number of operands.
    pub fn operands(self) -> usize {
        match self {
            Combination::Single => 1,
            Combination::Multiply | Combination::Add | Combination::Equal => 2,
            Combination::Select => 3,
        }
    }
}

impl Contraction {
    /// Returns the strips that define the valid indices for a result and operands of these shapes: those of
    /// the output's and the operands' index expressions, and the constraints. The ranks of the shapes must
    /// match the index expressions.
    pub fn strips(&self, result: &Shape, operands: &[&Shape]) -> Vec<Strip> {
        let within = |access: &[Affine], shape: &Shape| {
            let dims = shape.as_array().map_or(&[][..], |a| &a.dims);
            let strip = |(index, &size): (&Affine, &i64)| Strip { index: index.clone(), size };
            access.iter().zip(dims).map(strip).collect::<Vec<_>>()
        };
        let mut strips = within(&self.output, result);
        strips.extend(self.operands.iter().zip(operands).flat_map(|(access, shape)| within(access, shape)));
        let constraint = |c: &Constraint| Strip { index: c.index.clone(), size: c.bound };
        strips.extend(self.constraints.iter().map(constraint));
        strips
    }

    /// Returns the loops over all valid indices for a result and operands of these shapes; `None` if no index
    /// is valid.
    ///
    /// # Errors
    /// The index expressions do not bound all indices, or contain numbers that are too large.
    pub fn nest(&self, result: &Shape, operands: &[&Shape]) -> Result<Option<Nest>, NestError> {
        Nest::new(self.indices, &self.strips(result, operands), self.output.len())
    }
}
