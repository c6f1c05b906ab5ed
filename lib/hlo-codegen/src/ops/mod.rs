//! Code for the operations, in one file per family as in `hlo_ir::ops` and the interpreter.

pub mod compare;
pub mod complex;
pub mod complex_math;
pub mod convert;
pub mod elementwise;
pub mod float;
pub mod integer;
pub mod reducer;

use hlo_ir::ElementType;
use hlo_plan::Refusal;

/// An operation that is not defined for the given element types.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{op}` is not defined for {}", .types.iter().map(|t| format!("`{t}`")).collect::<Vec<_>>().join(", "))]
pub struct Unsupported {
    /// The opcode's name.
    pub op: &'static str,
    /// The element types of the operands, then of the result.
    pub types: Vec<ElementType>,
}

impl From<Unsupported> for Refusal {
    fn from(e: Unsupported) -> Self {
        e.to_string().into()
    }
}
