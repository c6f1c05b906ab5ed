//! Tests of the table of opcodes.

use hlo_ir::{Op, Opcode};

#[test]
fn operations_are_small() {
    assert!(size_of::<Op>() <= 64, "{} bytes: box the largest attributes", size_of::<Op>());
}

#[test]
fn summaries_are_one_short_sentence() {
    for &opcode in Opcode::ALL {
        let s = opcode.summary();
        assert!(s.ends_with('.') && s.len() <= 120 && !s.contains('\n'), "{opcode}: {s}");
    }
}

#[test]
fn attributes_are_documented() {
    for &opcode in Opcode::ALL {
        for field in opcode.default_op().attrs().map_or(&[][..], |a| a.fields()) {
            assert!(!field.doc.is_empty() && !field.doc.starts_with(' '), "{opcode} {}", field.name);
        }
    }
}
