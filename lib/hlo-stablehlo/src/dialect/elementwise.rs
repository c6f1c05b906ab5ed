//! Elementwise operations. They have the names of HLO's opcodes, so the tables of opcodes and of operations together describe
//! their import, export, verification and text form.

use super::operation;
use hlo_ir::{Class, Opcode};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The operation of each elementwise opcode that StableHLO or CHLO has.
static NAMES: LazyLock<HashMap<Opcode, &'static str>> = LazyLock::new(|| {
    let name = |&opcode: &Opcode| {
        let name = opcode.name().replace('-', "_");
        let info =
            ["stablehlo", "chlo"].iter().find_map(|dialect| operation(&format!("{dialect}.{name}")))?;
        Some((opcode, info.name))
    };
    Opcode::ELEMENTWISE.iter().filter_map(name).collect()
});

/// The elementwise opcode of each operation.
static OPCODES: LazyLock<HashMap<&'static str, Opcode>> =
    LazyLock::new(|| NAMES.iter().map(|(&opcode, &name)| (name, opcode)).collect());

/// Returns the operation of StableHLO, or else of CHLO, that an elementwise opcode is. Returns `None` if they have none.
pub fn elementwise_name(opcode: Opcode) -> Option<&'static str> {
    NAMES.get(&opcode).copied()
}

/// Returns the elementwise opcode that an operation with its dialect, such as `stablehlo.add`, is.
pub fn elementwise_opcode(name: &str) -> Option<Opcode> {
    OPCODES.get(name).copied()
}

/// Returns the elementwise opcode that an operation without attributes, whose operands all have the sizes of the result, is.
pub fn plain_opcode(name: &str) -> Option<Opcode> {
    let is_plain = |opcode: &Opcode| {
        opcode.default_op().attrs().is_none()
            && opcode.elementwise().is_some_and(|e| e.class != Class::Ternary)
    };
    elementwise_opcode(name).filter(is_plain)
}
