//! Conversions that may come before a reduction instead of after it.

use hlo_ir::{ElementType::*, Opcode};
use hlo_passes_xla::internals::converts_before;

#[test]
fn conversions_that_may_come_first() {
    for (op, from, to, may) in [
        (Opcode::Add, Bf16, F32, true),
        (Opcode::Add, F32, F64, true),
        // Sums would be rounded more often.
        (Opcode::Add, F32, Bf16, false),
        // In 8 bits, 200 + 100 is 44.
        (Opcode::Add, U8, S32, false),
        (Opcode::Add, S32, U8, true),
        (Opcode::Multiply, S32, U32, true),
        (Opcode::Add, S32, F32, false),
        (Opcode::Maximum, F16, F32, true),
        // -1 would become the largest number.
        (Opcode::Maximum, S8, U32, false),
        (Opcode::Maximum, U8, S32, true),
        (Opcode::Minimum, F32, S32, false),
        (Opcode::Or, S16, S8, true),
        (Opcode::Or, Pred, S32, false),
        (Opcode::Add, F16, Bf16, false),
        (Opcode::Divide, Bf16, F32, false),
    ] {
        assert_eq!(converts_before(op, from, to), may, "{op:?} of {from} converted to {to}");
    }
}
