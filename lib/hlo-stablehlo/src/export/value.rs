//! What an instruction's value is in the tree of operations.

use crate::tree::ValueId;
use hlo_ir::Shape;
use std::rc::Rc;

/// The values that stand for one of HLO.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// One of StableHLO: of an array, a token, a buffer.
    Leaf(ValueId),
    /// A tuple's elements.
    Tuple(Rc<[Value]>),
    /// A part of the state of an asynchronous operation that only the operations on it know of.
    State,
}

/// The most leaves that a tuple may have when it is taken apart: tuples of tuples may name a few values very often.
pub(super) const MAX_LEAVES: usize = 1 << 16;

/// Why a value is not a list of leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoLeaves {
    /// It has more than [`MAX_LEAVES`].
    TooMany,
    /// A part of it is the state of an asynchronous operation.
    State,
}

impl Value {
    /// A tuple.
    pub(super) fn tuple(elements: impl IntoIterator<Item = Value>) -> Self {
        Self::Tuple(elements.into_iter().collect())
    }

    /// The elements of a tuple; none of others.
    pub(super) fn elements(&self) -> &[Value] {
        match self {
            Self::Tuple(elements) => elements,
            Self::Leaf(_) | Self::State => &[],
        }
    }

    /// Adds the leaves to a list, in order.
    pub(super) fn push_leaves(&self, out: &mut Vec<ValueId>) -> Result<(), NoLeaves> {
        match self {
            Self::Leaf(_) if out.len() >= MAX_LEAVES => return Err(NoLeaves::TooMany),
            Self::Leaf(id) => out.push(*id),
            Self::Tuple(elements) => elements.iter().try_for_each(|e| e.push_leaves(out))?,
            Self::State => return Err(NoLeaves::State),
        }
        Ok(())
    }

    /// The value of a shape whose leaves are these; `None` if there are too few.
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

/// The leaves of a shape, in order; `None` if there are more than [`MAX_LEAVES`].
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
