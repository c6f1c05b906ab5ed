//! Random modules with every opcode, valid by construction.
//!
//! [`program`] generates a module from a seed. The module is a [`Program`], which is written as text. The
//! tools read this text, so it can test the parser, printer, verifier, passes and engines. If a module causes
//! a failure, [`Program::shrink`] reduces it.

mod algebra;
mod attributes;
mod builder;
mod collective;
mod contraction;
mod control;
mod effects;
mod elementwise;
mod execution;
mod header;
mod indexing;
mod literal;
mod movement;
mod parts;
mod program;
mod reduction;
mod related;
mod types;

pub use builder::Generator;
pub use contraction::{RandomContraction, random_contraction};
pub use execution::{is_exact, runs_alone};
pub use parts::Part;
pub use program::{Computation, Line, Program, Style};
pub use related::related;
pub use types::{Array, Type};

use crate::Numbers;
use hlo_ir::Opcode;

/// The contents of a random module.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The number of instructions selected for the entry. Each also adds the operands and computations that
    /// it needs.
    pub steps: usize,
    /// Whether to add attributes without a meaning for execution: metadata, shardings, statistics, …
    pub decorated: bool,
    /// Whether to use only what one device can run by itself with one correct result. This restricts modules
    /// to opcodes for which [`runs_alone`] is true, loops that terminate, combiners whose order does not
    /// matter, and flags that hold.
    pub executable: bool,
    /// The first number in names. Programs with different names can be merged.
    pub first_name: usize,
    /// One out of this many sizes is zero. With 0, hardly any size is zero.
    pub empty: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { steps: 6, decorated: true, executable: false, first_name: 0, empty: 0 }
    }
}

/// Returns a random module. Consecutive seeds select each opcode for the first instruction in turn. The other
/// instructions are random.
pub fn program(seed: u64, options: Options) -> Program {
    let opcodes: Vec<Opcode> =
        Opcode::ALL.iter().copied().filter(|&o| !options.executable || runs_alone(o)).collect();
    let first = opcodes[(seed % opcodes.len() as u64) as usize];
    let mut generator = Generator::new(Numbers::new(seed), options.first_name);
    generator.executable = options.executable;
    generator.empty = options.empty;
    generator.begin("entry");
    generator.step(first);
    for _ in 1..options.steps {
        let opcode = generator.numbers.pick(&opcodes);
        generator.step(opcode);
    }
    generator.finish(seed, options)
}
