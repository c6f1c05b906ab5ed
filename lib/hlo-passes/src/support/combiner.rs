//! Recognising what the computation of a reduce or scatter does.

use hlo_ir::{ComputationId, Module, Op, Opcode};

/// The binary opcode that a computation of two scalars applies to its parameters in order, and nothing else.
pub(crate) fn binary_combiner(module: &Module, id: ComputationId) -> Option<Opcode> {
    if !module.has_root(id) {
        return None;
    }
    let root = &module[module[id].root()];
    let numbers: Vec<i64> =
        root.operands.iter().map(|&o| parameter_number(module, o)).collect::<Option<_>>()?;
    match (root.opcode(), numbers.as_slice()) {
        (Opcode::Compare | Opcode::Complex | Opcode::StochasticConvert, _) => None,
        (op, [0, 1]) => Some(op),
        (op, [1, 0]) if is_commutative(op) => Some(op),
        _ => None,
    }
}

/// True if the computation's result is its parameter of the given number.
pub(crate) fn returns_parameter(module: &Module, id: ComputationId, number: i64) -> bool {
    module.has_root(id) && parameter_number(module, module[id].root()) == Some(number)
}

/// The number of a parameter.
pub(crate) fn parameter_number(module: &Module, id: hlo_ir::InstrId) -> Option<i64> {
    match &module[id].op {
        Op::Parameter(p) => Some(p.number),
        _ => None,
    }
}

/// True if exchanging the two operands changes no bit of the result but a NaN's payload.
pub(crate) fn is_commutative(op: Opcode) -> bool {
    matches!(
        op,
        Opcode::Add
            | Opcode::And
            | Opcode::Maximum
            | Opcode::Minimum
            | Opcode::Mulhi
            | Opcode::Multiply
            | Opcode::Or
            | Opcode::Xor
    )
}
