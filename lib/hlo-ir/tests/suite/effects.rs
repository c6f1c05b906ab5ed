//! Tests of the effects of opcodes.

use hlo_ir::{Family, Opcode};

/// An opcode that is not listed has no effect: these families have to be listed, with few exceptions.
#[test]
fn opcodes_that_communicate_have_effects() {
    let is_listed = |opcode: &Opcode| opcode.default_op().has_side_effect();
    let communicates = |o: &Opcode| matches!(o.family(), Family::Collective | Family::Effects);
    let pure: Vec<Opcode> =
        Opcode::ALL.iter().copied().filter(|o| communicates(o) && !is_listed(o)).collect();
    use Opcode::*;
    let expected = [AddDependency, AfterAll, CopyDone, CopyStart, CustomCall, Domain, PartitionId, ReplicaId];
    assert_eq!(pure, expected);
}
