//! The order of the dimensions of an array in memory.

use hlo_ir::{ArrayShape, ElementType, Layout, Shape};
use std::borrow::Cow;
use std::sync::Arc;

/// Maximum rank of a row-major array whose order has an address that callers can use.
const MAX_RANK: usize = 64;

/// The order of the dimensions of a row-major array of rank `MAX_RANK`. Its end is the order for a smaller
/// rank.
static DESCENDING: [i64; MAX_RANK] = {
    let mut order = [0; MAX_RANK];
    let mut n = 0;
    while n < MAX_RANK {
        order[n] = (MAX_RANK - 1 - n) as i64;
        n += 1;
    }
    order
};

/// The order of an array's dimensions in memory, the fastest varying one first, or `None` if the array is
/// row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Order(Option<Arc<[i64]>>);

impl Order {
    /// Row-major: the first dimension varies slowest.
    pub const ROW_MAJOR: Self = Self(None);

    /// Creates an order from a list of all dimensions.
    pub fn new(minor_to_major: &[i64]) -> Self {
        let is_row_major = minor_to_major.iter().rev().copied().eq(0..minor_to_major.len() as i64);
        Self((!is_row_major).then(|| minor_to_major.into()))
    }

    /// Returns the order of the dimensions for an array of rank `rank`.
    pub fn minor_to_major(&self, rank: usize) -> Cow<'_, [i64]> {
        match (&self.0, MAX_RANK.checked_sub(rank)) {
            (Some(order), _) => Cow::Borrowed(order),
            (None, Some(before)) => Cow::Borrowed(&DESCENDING[before..]),
            (None, None) => (0..rank as i64).rev().collect(),
        }
    }

    /// Returns the shape of an array with this order of dimensions.
    pub fn shape(&self, ty: ElementType, dims: &[i64]) -> Shape {
        let array = ArrayShape::new(ty, dims.iter().copied());
        match &self.0 {
            None => array.into(),
            Some(order) => {
                array.with_layout(Layout::new(order.iter().map(|&d| u32::try_from(d).unwrap_or(0)))).into()
            }
        }
    }
}
