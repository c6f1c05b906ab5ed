//! Checks that the valid modules in `test/verify/good` contain an instruction of every opcode and violate no
//! rule. Also checks that an invalid instruction of each opcode is reported.

use hlo_ir::{ElementType, InstrId, Module, Op, Opcode, Shape};
use std::collections::HashSet;
use std::path::Path;

/// Returns the modules, by file.
fn good_modules() -> Vec<(String, Module)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/verify/good");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let module = hlo_parser::parse_module(&text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        (path.display().to_string(), module)
    };
    paths.iter().map(read).collect()
}

fn instructions(module: &Module) -> Vec<InstrId> {
    module.computations().flat_map(|c| module[c].instructions().to_vec()).collect()
}

fn missing(seen: &HashSet<Opcode>) -> Vec<&'static Opcode> {
    Opcode::ALL.iter().filter(|o| !seen.contains(o)).collect()
}

#[test]
fn every_opcode_has_a_valid_instruction() {
    let mut seen = HashSet::new();
    for (file, module) in good_modules() {
        assert_eq!(hlo_ir::verify::verify(&module), [], "{file}");
        seen.extend(instructions(&module).into_iter().map(|i| module[i].opcode()));
    }
    assert_eq!(missing(&seen), [] as [&Opcode; 0], "opcodes without a valid instruction");
}

/// A wrong result shape or number of operands (for a parameter, a wrong parameter number) is reported at the
/// instruction, for every opcode.
#[test]
fn every_opcode_has_a_refused_instruction() {
    let mut refused = HashSet::new();
    for (_, module) in good_modules() {
        for id in instructions(&module) {
            if !refused.contains(&module[id].opcode())
                && (wrong_shape(&module, id) || wrong_operands(&module, id))
            {
                refused.insert(module[id].opcode());
            }
        }
    }
    assert_eq!(missing(&refused), [] as [&Opcode; 0], "opcodes of which nothing is checked");
}

fn wrong_shape(module: &Module, id: InstrId) -> bool {
    let mut module = module.clone();
    module.set_shape(id, Shape::array(ElementType::Pred, [7, 11, 13]));
    is_blamed(&module, id)
}

fn wrong_operands(module: &Module, id: InstrId) -> bool {
    let operands = &module[id].operands;
    if let Op::Parameter(p) = &module[id].op {
        let mut module = module.clone();
        module.set_op(id, Op::parameter(p.number + 100));
        return is_blamed(&module, id);
    }
    let Some(&first) = operands.first() else { return false };
    [operands.iter().copied().chain([first]).collect::<Vec<_>>(), operands[1..].to_vec()].into_iter().any(
        |wrong| {
            let mut module = module.clone();
            module.set_operands(id, wrong);
            is_blamed(&module, id)
        },
    )
}

/// Returns whether a diagnostic is reported at the instruction.
fn is_blamed(module: &Module, id: InstrId) -> bool {
    let whole = module.span(id);
    hlo_ir::verify::verify(module).iter().any(|diag| {
        diag.labels.iter().any(|l| l.primary && whole.start <= l.span.start && l.span.end <= whole.end)
    })
}
