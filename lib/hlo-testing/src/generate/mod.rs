//! Random modules of every opcode, valid by construction.
//!
//! [`program`] makes a module from a seed. It is built as a [`Program`], which is written as text: what is written
//! is what the tools read, so that parser, printer, verifier, passes and engines can all be held to it. When a
//! module breaks something, [`Program::shrink`] cuts it down.

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

/// What a random module may have.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many instructions are drawn for the entry; each brings the operands and computations that it needs.
    pub steps: usize,
    /// Attributes that say nothing about the meaning: metadata, shardings, statistics, …
    pub decorated: bool,
    /// Only what one device can run by itself with one right result: opcodes that [`runs_alone`] names, loops that
    /// end, combiners whose order does not matter, promises that are kept.
    pub executable: bool,
    /// Where the numbers in names begin: programs whose names differ can be merged.
    pub first_name: usize,
    /// One size in so many is zero; with 0 hardly any.
    pub empty: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { steps: 6, decorated: true, executable: false, first_name: 0, empty: 0 }
    }
}

/// A random module. The first instruction drawn goes through all opcodes with the seed, the others are random.
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
