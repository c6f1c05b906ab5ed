//! Random modules of every opcode, valid by construction.
//!
//! [`program`] makes a module from a seed. It is built as a [`Program`], which is written as text: what is written
//! is what the tools read, so that parser, printer, verifier, passes and engines can all be held to it. When a
//! module breaks something, [`Program::shrink`] cuts it down.

mod algebra;
mod attributes;
mod builder;
mod collective;
mod control;
mod effects;
mod elementwise;
mod header;
mod indexing;
mod literal;
mod movement;
mod program;
mod reduction;
mod types;

pub use builder::Generator;
pub use program::{Computation, Line, Program, Style};
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
}

impl Default for Options {
    fn default() -> Self {
        Self { steps: 6, decorated: true }
    }
}

/// A random module. The first instruction drawn goes through all opcodes with the seed, the others are random.
pub fn program(seed: u64, options: Options) -> Program {
    let first = Opcode::ALL[(seed % Opcode::ALL.len() as u64) as usize];
    let mut generator = Generator::new(Numbers::new(seed));
    generator.begin("entry");
    generator.step(first);
    for _ in 1..options.steps {
        let opcode = generator.numbers.pick(Opcode::ALL);
        generator.step(opcode);
    }
    generator.finish(seed, options)
}
