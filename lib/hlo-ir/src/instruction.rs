//! Instructions.

use crate::{ComputationId, InstrId, Op, Opcode, Shape};
use smallvec::SmallVec;

/// One instruction: `name = shape opcode(operands), attributes`.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The name, without `%`, unique in its computation.
    pub name: Box<str>,
    /// The result's shape.
    pub shape: Shape,
    /// The opcode and its attributes.
    pub op: Op,
    /// The operands, in the same computation.
    pub operands: SmallVec<[InstrId; 3]>,
    /// The attributes that every opcode accepts, if it has any.
    pub common: Option<Box<CommonAttrs>>,
    /// The computation that it belongs to.
    pub parent: ComputationId,
}

impl Instruction {
    /// The opcode.
    pub fn opcode(&self) -> Opcode {
        self.op.opcode()
    }
}

/// The attributes that every instruction accepts, kept as they were written. An empty text means not present.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommonAttrs {
    /// `sharding=`.
    pub sharding: Box<str>,
    /// `frontend_attributes=`.
    pub frontend_attributes: Box<str>,
    /// `parameter_replication=`.
    pub parameter_replication: Box<str>,
    /// `control-predecessors=`: instructions that must run before this one.
    pub control_predecessors: Vec<InstrId>,
    /// `statistics=`.
    pub statistics: Box<str>,
    /// `result_accuracy=`, for the opcodes that take it.
    pub result_accuracy: Box<str>,
    /// `origin=`.
    pub origin: Box<str>,
    /// `metadata=`.
    pub metadata: Box<str>,
    /// `backend_config=`.
    pub backend_config: Box<str>,
}
