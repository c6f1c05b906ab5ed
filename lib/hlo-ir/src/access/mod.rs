//! How an operation moves elements: for each operand, which of its elements an element of the result is made of.
//!
//! [`Module::access`] is the one description, by the semantics of each operation: for each dimension of the operand how
//! its index follows from the result's. Everything that follows dimensions through operations asks it: loops and where
//! they are cut, tiles, layouts, sizes known at run time, the elements that feed one. The idea is tract's
//! (`axes_mapping`), but that an index here has a stride and an offset.

mod contractions;
mod loops;
mod operands;
mod positions;
mod products;

pub use loops::{Loop, OperandDim, loops};
/// The same as [`Module::access`] for shapes that stand in no module.
pub use operands::access;
pub use positions::ReadFor;

use crate::{InstrId, Module, Shape};
use smallvec::SmallVec;

/// What an element of the result is made of, of one operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Those elements whose index is, for each dimension of the operand, as the axis says. A scalar has no axes: it is
    /// read for every element.
    Axes(Axes),
    /// The element at the same place in row-major order, of an array of as many elements.
    SamePosition,
    /// It is not said: any.
    Any,
}

/// For each dimension of an operand its axis.
pub type Axes = SmallVec<[Axis; 4]>;

/// How the index in one dimension of an operand follows from the index in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// It runs along a dimension of the result.
    Along(Along),
    /// All indices: the loop of that number, which other operands may share. Products sum over it, reductions combine
    /// along it.
    All(usize),
    /// The places that the window of that number has at the result's index in the dimension.
    Window {
        /// The result's dimension.
        dim: usize,
        /// The number of the window's dimension.
        window: usize,
    },
    /// The elements of the window of that number that lie within the base area: indices in a convolution's kernel.
    Tap {
        /// The result's dimension.
        dim: usize,
        /// The number of the window's dimension.
        window: usize,
        /// The size of the base area.
        base: i64,
    },
    /// The indices of a group: `size` of them from `i / of * size` on, of the index `i` in a dimension of the result.
    Group {
        /// The result's dimension.
        dim: usize,
        /// How many indices of the result's dimension share a group.
        of: i64,
        /// The number of indices of a group.
        size: i64,
    },
    /// The result's index in the dimension, moved by what is known at run time only.
    Moved {
        /// The result's dimension.
        dim: usize,
    },
    /// It is not said: any.
    Any,
}

/// An index `(stride · i + offset) / step`, of the index `i` in a dimension of the result: of elements of the result for
/// which that is a whole number, within the operand. The others are made of other operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Along {
    /// The result's dimension.
    pub dim: usize,
    /// By how much the index changes with the result's, before the division; not 0.
    pub stride: i64,
    /// What is added.
    pub offset: i64,
    /// What it is divided by; at least 1.
    pub step: i64,
}

impl Along {
    /// The result's very index.
    pub const fn same(dim: usize) -> Self {
        Self { dim, stride: 1, offset: 0, step: 1 }
    }

    /// True for the result's very index.
    pub fn is_same(&self) -> bool {
        *self == Self::same(self.dim)
    }

    /// The operand's index for an index of the result; `None` if there is none, or it is out of what `i64` holds.
    pub fn index(&self, i: i64) -> Option<i64> {
        let at = i.checked_mul(self.stride)?.checked_add(self.offset)?;
        (at % self.step == 0).then_some(at / self.step)
    }
}

impl Axis {
    /// The dimension of the result along which the index runs, however that is.
    pub fn dim(&self) -> Option<usize> {
        match *self {
            Axis::Along(Along { dim, .. }) | Axis::Window { dim, .. } | Axis::Moved { dim } => Some(dim),
            Axis::All(_) | Axis::Tap { .. } | Axis::Group { .. } | Axis::Any => None,
        }
    }

    /// The dimension of the result whose very index it is.
    pub fn same(&self) -> Option<usize> {
        match self {
            Axis::Along(along) if along.is_same() => Some(along.dim),
            _ => None,
        }
    }
}

impl Access {
    /// The very index of the result, of an operand of that rank.
    pub fn identity(rank: usize) -> Self {
        Access::Axes((0..rank).map(|d| Axis::Along(Along::same(d))).collect())
    }

    /// The axes, if it is said for each dimension.
    pub fn axes(&self) -> Option<&[Axis]> {
        match self {
            Access::Axes(axes) => Some(axes),
            Access::SamePosition | Access::Any => None,
        }
    }

    /// True if one element is read for one of the result, or none where that is made of other operands.
    pub fn is_one_element(&self) -> bool {
        match self {
            Access::Axes(axes) => axes.iter().all(|a| matches!(a, Axis::Along(_) | Axis::Moved { .. })),
            Access::SamePosition => true,
            Access::Any => false,
        }
    }

    /// True if the element at the result's very index is read, and no other, for a result of that rank.
    pub fn is_identity(&self, rank: usize) -> bool {
        let own = |(d, axis): (usize, &Axis)| axis.same() == Some(d);
        self.axes().is_some_and(|axes| axes.len() == rank && axes.iter().enumerate().all(own))
    }
}

impl Module {
    /// What an element of an instruction's result is made of, of the operand of that number. Results that are tuples are
    /// the arrays that the operation gives, all of one size (`reduce` of several arrays, `sort`); other tuples have no
    /// description. Of a module that verifies; of another one the answer may be any, but there is one.
    pub fn access(&self, id: InstrId, operand: usize) -> Access {
        let operands: SmallVec<[&Shape; 4]> = self[id].operands.iter().map(|&o| &self[o].shape).collect();
        operands::access(&self[id].op, operand, &operands, &self[id].shape)
    }
}
