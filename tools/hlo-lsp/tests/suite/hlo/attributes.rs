//! Tests of the table of attributes.

use hlo_ir::Opcode;
use hlo_lsp::internals::hlo::{common, of_module, opcode};

/// Whether the parser accepts the attribute names of a text.
fn known(text: &str) -> bool {
    let diags = hlo_parser::parse_module(text).err().unwrap_or_default();
    !diags.iter().any(|d| d.message.contains("no attribute"))
}

#[test]
fn the_parser_knows_the_attributes() {
    for opcode in [Opcode::Exponential, Opcode::Negate] {
        for a in common(Some(opcode)) {
            assert!(known(&format!("ENTRY e {{ x = f32[] {opcode}(y), {}={{}} }}", a.name)), "{}", a.name);
        }
    }
    for a in of_module() {
        assert!(known(&format!("HloModule m, {}={{}}\nENTRY e {{ x = f32[] constant(0) }}", a.name)));
    }
    assert!(!known("HloModule m, x={}\nENTRY e { x = f32[] constant(0) }"));
    assert!(!known("ENTRY e { x = f32[] constant(0), x={} }"));
}

#[test]
fn opcodes() {
    assert_eq!(opcode("add"), Some((Opcode::Add, None)));
    assert_eq!(opcode("add-start"), Some((Opcode::Add, Some(Opcode::AsyncStart))));
    assert_eq!(opcode("copy-start"), Some((Opcode::CopyStart, None)));
    assert_eq!(opcode("start"), None);
    assert_eq!(opcode("constant-start"), None);
    assert_eq!(opcode("ad"), None);
}
