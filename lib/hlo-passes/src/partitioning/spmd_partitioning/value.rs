//! The values of the whole program as the devices have them.

use hlo_ir::attr::TileAssignment;
use hlo_ir::{ArrayShape, InstrId};

/// An array that is distributed over devices.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// The instruction that defines each device's tile, padded to the size of the largest. The contents of
    /// the padding are unspecified.
    pub(super) id: InstrId,
    /// The shape of the whole array.
    pub(super) shape: ArrayShape,
    /// The tile of each device.
    pub(super) tiling: TileAssignment,
}

/// A value of the whole program that is distributed over devices.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An array.
    Array(Part),
    /// A tuple, as its elements.
    Tuple(Vec<Value>),
    /// A token.
    Token(InstrId),
}

impl Value {
    /// Returns the instruction that defines the value, if there is a single one.
    pub(super) fn id(&self) -> Option<InstrId> {
        match self {
            Value::Array(part) => Some(part.id),
            Value::Token(id) => Some(*id),
            Value::Tuple(_) => None,
        }
    }

    /// Returns the leaves, with `None` for tokens.
    pub(super) fn leaves(&self) -> Vec<Option<Part>> {
        match self {
            Value::Array(part) => vec![Some(part.clone())],
            Value::Token(_) => vec![None],
            Value::Tuple(parts) => parts.iter().flat_map(Value::leaves).collect(),
        }
    }

    /// Returns the tile assignments of the leaves, for `devices` devices.
    pub(super) fn tilings(&self, devices: usize) -> Vec<TileAssignment> {
        match self {
            Value::Array(part) => vec![part.tiling.clone()],
            Value::Token(_) => vec![TileAssignment::replicated(0, devices)],
            Value::Tuple(parts) => parts.iter().flat_map(|p| p.tilings(devices)).collect(),
        }
    }
}
