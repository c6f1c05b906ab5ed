//! How operations move elements: the elements of each operand that an element of the result is computed from.
//!
//! [`Module::access`] is the only description, derived from the semantics of each operation. For each
//! dimension of the operand, it describes how the index follows from the index of the result. All code that
//! follows dimensions through operations uses it: loop splitting, tiling, layouts, dynamic dimensions, and
//! tracing elements to their sources. The idea is from tract (`axes_mapping`). Here, an index also has a
//! stride and an offset.

mod contractions;
mod loops;
mod operands;
mod positions;
mod products;

pub use loops::{Loop, OperandDim, loops};
/// The same as [`Module::access`], for shapes outside a module.
pub use operands::access;
pub use positions::ReadFor;

use crate::{InstrId, Module, Shape};
use smallvec::SmallVec;

/// The elements of an operand that an element of the result is computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The elements whose index in each dimension is given by an axis. A scalar operand has no axes and is
    /// read for every element.
    Axes(Axes),
    /// The element at the same row-major position, in an array with the same number of elements.
    SamePosition,
    /// Unknown: any elements.
    Any,
}

/// The axis of each dimension of an operand.
pub type Axes = SmallVec<[Axis; 4]>;

/// How the index in one dimension of an operand is computed from the index in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Along a dimension of the result.
    Along(Along),
    /// All indices: the loop with this number, which other operands may share. Products sum over it, and
    /// reductions combine along it.
    All(usize),
    /// The positions of this window at the result's index in the dimension.
    Window {
        /// The dimension of the result.
        dim: usize,
        /// The number of the window's dimension.
        window: usize,
    },
    /// The elements of this window that are in the base area: indices into a convolution's kernel.
    Tap {
        /// The dimension of the result.
        dim: usize,
        /// The number of the window's dimension.
        window: usize,
        /// The size of the base area.
        base: i64,
    },
    /// The indices of a group: `size` indices starting at `i / of * size`, for index `i` in a dimension of
    /// the result.
    Group {
        /// The dimension of the result.
        dim: usize,
        /// Number of indices of the result's dimension that share a group.
        of: i64,
        /// The number of indices of a group.
        size: i64,
    },
    /// The result's index in the dimension, plus an offset known only at run time.
    Moved {
        /// The dimension of the result.
        dim: usize,
    },
    /// Unknown: any indices.
    Any,
}

/// The index `(stride · i + offset) / step`, for index `i` in a dimension of the result. If it is not an
/// integer, or is outside the operand, the element of the result is computed from other operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// The dimension of the result.
    pub dim: usize,
    /// The change of the index per index of the result, before the division. Not 0.
    pub stride: i64,
    /// The number added before the division.
    pub offset: i64,
    /// The divisor, at least 1.
    pub step: i64,
}

impl Along {
    /// Returns the axis whose index equals that of the result.
    pub const fn same(dim: usize) -> Self {
        Self { dim, stride: 1, offset: 0, step: 1 }
    }

    /// Returns whether the index equals that of the result.
    pub fn is_same(&self) -> bool {
        *self == Self::same(self.dim)
    }

    /// Returns the operand's index for an index of the result; `None` if there is none or it overflows.
    pub fn index(&self, i: i64) -> Option<i64> {
        let at = i.checked_mul(self.stride)?.checked_add(self.offset)?;
        (at % self.step == 0).then_some(at / self.step)
    }
}

impl Axis {
    /// Returns the dimension of the result for `Along`, `Window` and `Moved`.
    pub fn dim(&self) -> Option<usize> {
        match *self {
            Axis::Along(Along { dim, .. }) | Axis::Window { dim, .. } | Axis::Moved { dim } => Some(dim),
            Axis::All(_) | Axis::Tap { .. } | Axis::Group { .. } | Axis::Any => None,
        }
    }

    /// Returns the dimension of the result whose index it equals, if there is one.
    pub fn same(&self) -> Option<usize> {
        match self {
            Axis::Along(along) if along.is_same() => Some(along.dim),
            _ => None,
        }
    }
}

impl Access {
    /// Returns the access of an operand of this rank at the result's own index.
    pub fn identity(rank: usize) -> Self {
        Access::Axes((0..rank).map(|d| Axis::Along(Along::same(d))).collect())
    }

    /// Returns the axes, if they are known.
    pub fn axes(&self) -> Option<&[Axis]> {
        match self {
            Access::Axes(axes) => Some(axes),
            Access::SamePosition | Access::Any => None,
        }
    }

    /// Returns whether at most one element is read for each element of the result.
    pub fn is_one_element(&self) -> bool {
        match self {
            Access::Axes(axes) => axes.iter().all(|a| matches!(a, Axis::Along(_) | Axis::Moved { .. })),
            Access::SamePosition => true,
            Access::Any => false,
        }
    }

    /// Returns whether exactly the element at the result's own index is read, for a result of this rank.
    pub fn is_identity(&self, rank: usize) -> bool {
        let own = |(d, axis): (usize, &Axis)| axis.same() == Some(d);
        self.axes().is_some_and(|axes| axes.len() == rank && axes.iter().enumerate().all(own))
    }
}

impl Module {
    /// Returns the elements of an operand that an element of an instruction's result is computed from. If the
    /// result is a tuple, it describes each array in it, all of the same size (`reduce` of several arrays,
    /// `sort`). Other tuples have no description. The result is unspecified for modules that do not verify.
    pub fn access(&self, id: InstrId, operand: usize) -> Access {
        let operands: SmallVec<[&Shape; 4]> = self[id].operands.iter().map(|&o| &self[o].shape).collect();
        operands::access(&self[id].op, operand, &operands, &self[id].shape)
    }
}
