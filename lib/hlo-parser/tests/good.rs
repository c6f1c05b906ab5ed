//! The valid modules of `test/verify/good` have an instruction of every opcode, and break no rule.

use hlo_ir::Opcode;
use std::collections::HashSet;
use std::path::Path;

#[test]
fn every_opcode_has_a_valid_instruction() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/verify/good");
    let mut seen = HashSet::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let module = hlo_parser::parse_module(&text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        assert_eq!(hlo_ir::verify::verify(&module), [], "{}", path.display());
        for c in module.computations() {
            seen.extend(module[c].instructions().iter().map(|&i| module[i].opcode()));
        }
    }
    let missing: Vec<&Opcode> = Opcode::ALL.iter().filter(|o| !seen.contains(o)).collect();
    assert!(missing.is_empty(), "no valid instruction of {missing:?}");
}
