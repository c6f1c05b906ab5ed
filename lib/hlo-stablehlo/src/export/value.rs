//! The exported value of an instruction.

use crate::tree::ValueId;
use hlo_ir::Shape;
use std::rc::Rc;

/// The StableHLO values that represent an HLO value.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// One StableHLO value: an array, a token or a buffer.
    Leaf(ValueId),
    /// The elements of a tuple.
    Tuple(Rc<[Value]>),
    /// An internal part of the state of an asynchronous operation. It has no StableHLO value.
    State,
}

/// Maximum number of leaves of a tuple that is taken apart. Nested tuples may refer to the same values very
/// often.
pub(super) const MAX_LEAVES: usize = 1 << 16;

/// The reason why a value cannot be represented as a list of leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoLeaves {
    /// The value has more than [`MAX_LEAVES`] leaves.
    TooMany,
    /// A part of the value is the state of an asynchronous operation.
    State,
}

impl Value {
    /// Creates a tuple.
    pub(super) fn tuple(elements: impl IntoIterator<Item = Value>) -> Self {
        Self::Tuple(elements.into_iter().collect())
    }

    /// Returns the elements of a tuple. For other values, the list is empty.
    pub(super) fn elements(&self) -> &[Value] {
        match self {
            Self::Tuple(elements) => elements,
            Self::Leaf(_) | Self::State => &[],
        }
    }

    /// Appends the leaves to a list, in order.
    pub(super) fn push_leaves(&self, out: &mut Vec<ValueId>) -> Result<(), NoLeaves> {
        match self {
            Self::Leaf(_) if out.len() >= MAX_LEAVES => return Err(NoLeaves::TooMany),
            Self::Leaf(id) => out.push(*id),
            Self::Tuple(elements) => elements.iter().try_for_each(|e| e.push_leaves(out))?,
            Self::State => return Err(NoLeaves::State),
        }
        Ok(())
    }

    /// Returns the value with the given shape and leaves, or `None` if there are too few leaves.
    pub(super) fn of_leaves(shape: &Shape, leaves: &mut impl Iterator<Item = ValueId>) -> Option<Self> {
        match shape {
            Shape::Tuple(elements) => {
                let elements: Option<Rc<[Value]>> =
                    elements.iter().map(|s| Self::of_leaves(s, leaves)).collect();
                elements.map(Self::Tuple)
            }
            _ => leaves.next().map(Self::Leaf),
        }
    }
}

/// Returns the leaves of a shape, in order, or `None` if there are more than [`MAX_LEAVES`].
pub(super) fn leaf_shapes(shape: &Shape) -> Option<Vec<&Shape>> {
    fn push<'s>(shape: &'s Shape, out: &mut Vec<&'s Shape>) -> Option<()> {
        match shape {
            Shape::Tuple(elements) => elements.iter().try_for_each(|e| push(e, out)),
            _ if out.len() >= MAX_LEAVES => None,
            leaf => {
                out.push(leaf);
                Some(())
            }
        }
    }
    let mut out = Vec::new();
    push(shape, &mut out)?;
    Some(out)
}
