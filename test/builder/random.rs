//! Random programs, rebuilt with the builder's methods. The module must be valid and must be the same after
//! printing and parsing. Both engines must agree on each of its instructions and on the whole program.

use crate::random::{BATCH_PROGRAMS, Check, ModuleSource, caught, program_of};
use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_testing::generate::{Program, Style};
use hlo_testing::replay;
use std::ops::Range;

/// The seeds of the programs. Programs with these seeds are compiled without LLVM's optimizer, which takes
/// most of the time.
const SEEDS: Range<u64> = 4 * BATCH_PROGRAMS..8 * BATCH_PROGRAMS;

const BUILT: ModuleSource = ModuleSource { module: built, prefix: replay::PREFIX };

/// Builds the program with the builder. Checks that it is the same when it is parsed from its text.
fn built(program: &Program) -> Check<Module> {
    let text = program.text(Style::default());
    let original =
        hlo_parser::parse_module(&text).map_err(|d| format!("does not parse: {}", d[0].message))?;
    let module = replay::rebuild(&original)?;
    let printed = print_module(&module, &PrintOptions::default()).to_string();
    let read =
        hlo_parser::parse_module(&printed).map_err(|d| format!("does not read back: {}", d[0].message))?;
    match read.difference(&module) {
        None => Ok(module),
        Some(difference) => Err(format!("{difference} differ when read back")),
    }
}

#[test]
fn what_is_built_at_random_runs_alike_in_both_engines() {
    for first in SEEDS.step_by(BATCH_PROGRAMS as usize) {
        let programs: Vec<Program> = (first..first + BATCH_PROGRAMS).map(program_of).collect();
        let Err(failure) = caught(&Program::merged(&programs), first, BUILT, None) else { continue };
        // Report the single program that fails, if there is one.
        let alone = programs.iter().find_map(|p| Some((p, caught(p, first, BUILT, None).err()?)));
        match alone {
            Some((program, failure)) => panic!("{failure}\n{}", program.text(Style::default())),
            None => panic!("seeds from {first} on together: {failure}"),
        }
    }
}
