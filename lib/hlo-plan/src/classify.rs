//! Classification of instructions by how compiled code computes them.

use hlo_analysis::cost_model::MAX_JOINED_OPERANDS;
use hlo_analysis::{Alias, alias, keeps_bytes};
pub use hlo_ir::Role;
use hlo_ir::{InstrId, Module, Op};

/// Returns how compiled code computes an instruction.
pub fn role(module: &Module, id: InstrId) -> Role {
    let instr = &module[id];
    match &instr.op {
        Op::RecvDone(_) => Role::Transfer,
        Op::Copy if keeps_bytes(module, id) => Role::Copy,
        Op::Copy if instr.shape.is_tuple() => Role::Alias,
        op => match alias(module, id) {
            Some(Alias::Tuple) => Role::Tuple,
            Some(Alias::Element(_)) => Role::Element,
            Some(Alias::Whole) => Role::Alias,
            None => match op {
                Op::Concatenate(_) if instr.operands.len() > MAX_JOINED_OPERANDS => Role::Runtime,
                _ => op.opcode().traits().role,
            },
        },
    }
}
