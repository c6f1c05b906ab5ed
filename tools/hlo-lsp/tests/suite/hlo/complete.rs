//! Tests of the completions of HLO text.

use hlo_ir::Opcode;
use hlo_lsp::internals::hlo::snippet;

#[test]
fn snippets() {
    assert_eq!(snippet(Opcode::Add), "add(${1}, ${2})");
    assert_eq!(snippet(Opcode::Compare), "compare(${1}, ${2}), direction=${3}");
    assert_eq!(snippet(Opcode::ReplicaId), "replica-id()");
}
