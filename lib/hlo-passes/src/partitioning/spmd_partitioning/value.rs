//! What becomes of the values of the whole program.

use hlo_ir::attr::TileAssignment;
use hlo_ir::{ArrayShape, InstrId};

/// An array as the devices have it.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// What gives each device its tile, filled up to the size of the largest with anything.
    pub(super) id: InstrId,
    /// The whole array.
    pub(super) shape: ArrayShape,
    /// Which device has which tile.
    pub(super) tiling: TileAssignment,
}

/// A value of the whole program as the devices have it.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An array.
    Array(Part),
    /// A tuple, taken apart.
    Tuple(Vec<Value>),
    /// A token.
    Token(InstrId),
}

impl Value {
    /// The instruction that gives it, if it is one.
    pub(super) fn id(&self) -> Option<InstrId> {
        match self {
            Value::Array(part) => Some(part.id),
            Value::Token(id) => Some(*id),
            Value::Tuple(_) => None,
        }
    }

    /// The leaves; nothing of tokens.
    pub(super) fn leaves(&self) -> Vec<Option<Part>> {
        match self {
            Value::Array(part) => vec![Some(part.clone())],
            Value::Token(_) => vec![None],
            Value::Tuple(parts) => parts.iter().flat_map(Value::leaves).collect(),
        }
    }

    /// How the leaves lie on the devices, of which there are so many.
    pub(super) fn tilings(&self, devices: usize) -> Vec<TileAssignment> {
        match self {
            Value::Array(part) => vec![part.tiling.clone()],
            Value::Token(_) => vec![TileAssignment::replicated(0, devices)],
            Value::Tuple(parts) => parts.iter().flat_map(|p| p.tilings(devices)).collect(),
        }
    }
}
