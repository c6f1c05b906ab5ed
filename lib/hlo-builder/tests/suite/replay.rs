//! Rebuilds random modules instruction by instruction with the builder's methods (`hlo_testing::replay`) and
//! checks that the result survives printing and parsing. `test/builder`, at the top of the repository, runs
//! such modules in both engines.

use hlo_ir::Opcode;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_testing::generate::{Options, Style, program};
use hlo_testing::replay;
use std::collections::HashSet;

#[test]
fn every_opcode_is_built_by_its_method_with_its_shape_and_reads_back_the_same() {
    let mut seen = HashSet::new();
    for seed in 0..800 {
        let options = Options { decorated: false, ..Options::default() };
        let text = program(seed, options).text(Style::default());
        let original =
            hlo_parser::parse_module(&text).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{text}"));
        let built = replay::rebuild(&original).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        seen.extend(original[original.entry()].instructions().iter().map(|&i| original[i].op.opcode()));

        let printed = print_module(&built, &PrintOptions::default()).to_string();
        let read =
            hlo_parser::parse_module(&printed).unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{printed}"));
        if let Some(difference) = read.difference(&built) {
            panic!("seed {seed}: {difference} differ\n{printed}");
        }
    }
    let unseen: Vec<Opcode> = Opcode::ALL.iter().copied().filter(|o| !seen.contains(o)).collect();
    assert!(unseen.is_empty(), "never built: {unseen:?}");
}
