//! Contractions: what the instruction `contraction` means, and the loop nests that compute it.
//!
//! A contraction runs over all *valid indices*: integers for which the index expressions of its output and its operands
//! lie within their dimensions and its constraints hold. Each of them gives one value, a combination of elements of the
//! operands, to an element of the output, which aggregates what it is given. It is the general form of what products,
//! convolutions, reductions and many moves do.
//!
//! ```
//! use hlo_ir::contraction::{Affine, Nest, Strip};
//!
//! // Pairs of an index below 3 and one that is not greater.
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
#[cfg(test)]
mod tests;
mod text;
mod walk;

pub use affine::{Affine, Interval};
pub use level::{Level, Quotient};
pub use nest::{MAX_INDICES, Nest, NestError};
pub use repetition::Repetition;

use crate::Shape;

/// What a `contraction` computes: the value of its attribute `access`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contraction {
    /// The number of indices. Each index expression has a coefficient for each of them.
    pub indices: usize,
    /// For each dimension of the output its index expression.
    pub output: Vec<Affine>,
    /// The same for each operand that elements are read of: as many as [`Combination::operands`].
    pub operands: Vec<Vec<Affine>>,
    /// What becomes of several values for one element of the output.
    pub aggregation: Aggregation,
    /// What makes a value of the operands' elements.
    pub combination: Combination,
    /// What else holds for valid indices.
    pub constraints: Vec<Constraint>,
}

/// `0 <= index < bound`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// What is bounded.
    pub index: Affine,
    /// The bound. If it is not positive, no index is valid.
    pub bound: i64,
}

/// What becomes of several values for one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// `+=`: their sum; for `pred` whether any is true.
    #[default]
    Sum,
    /// `*=`: their product; for `pred` whether all are true.
    Product,
    /// `>=`: the greatest, as `maximum` has it.
    Max,
    /// `<=`: the least, as `minimum` has it.
    Min,
    /// `=`: there must be no more than one.
    Assign,
}

/// What makes a value of one element of each operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Combination {
    /// `a`: the element itself.
    #[default]
    Single,
    /// `a * b`: as `multiply` has it.
    Multiply,
    /// `a + b`: as `add` has it.
    Add,
    /// `a == b`: whether they are equal.
    Equal,
    /// `a == b ? c`: the third where the others are equal, else 0.
    Select,
}

/// `0 <= index < size`: what holds of an index expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strip {
    /// What is bounded.
    pub index: Affine,
    /// The number of values that it may have.
    pub size: i64,
}

impl Aggregation {
    /// Every aggregation.
    pub const ALL: &[Aggregation] =
        &[Aggregation::Sum, Aggregation::Product, Aggregation::Max, Aggregation::Min, Aggregation::Assign];

    /// How it is written.
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
    /// Every combination.
    pub const ALL: &[Combination] = &[
        Combination::Single,
        Combination::Multiply,
        Combination::Add,
        Combination::Equal,
        Combination::Select,
    ];

    /// How many operands it has.
    pub fn operands(self) -> usize {
        match self {
            Combination::Single => 1,
            Combination::Multiply | Combination::Add | Combination::Equal => 2,
            Combination::Select => 3,
        }
    }
}

impl Contraction {
    /// What valid indices lie within, for a result and operands of these shapes: the index expressions of the output, of
    /// the operands, and the constraints. Of shapes whose ranks are those of the accesses.
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

    /// The loops over all valid indices for a result and operands of these shapes; `None` if no index is valid.
    ///
    /// # Errors
    /// The index expressions do not bound all indices, or are too large.
    pub fn nest(&self, result: &Shape, operands: &[&Shape]) -> Result<Option<Nest>, NestError> {
        Nest::new(self.indices, &self.strips(result, operands), self.output.len())
    }
}
