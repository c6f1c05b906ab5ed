//! The parser: reads HLO text into the IR.
//!
//! - `scan` blanks comments and checks brackets.
//! - The pest grammar in `grammar/` finds the structure, down to instructions and attributes.
//! - `syntax` reads the inside of instructions. `shape`, `literal` and the attribute readers of
//!   `hlo_ir::attr` read other long tokens.
//! - `parser` holds the state of a parse. `module` and the modules next to it build the IR.
//!
//! A syntax error ends one instruction, not the parse. The parser reports all errors of a text, up to
//! [`MAX_ERRORS`].
//!
//! # Example
//! Parse a module, then verify it:
//!
//! ```
//! let text = "HloModule m
//! ENTRY main {
//!   x = f32[2,3] parameter(0)
//!   ROOT y = f32[3,2] transpose(x), dimensions={1,0}
//! }";
//! let module = hlo_parser::parse_module(text).expect("a module");
//! assert!(hlo_ir::verify::verify(&module).is_empty());
//! let root = &module[module[module.entry()].root()];
//! assert_eq!((&*root.name, root.shape.to_string().as_str()), ("y", "f32[3,2]"));
//! assert_eq!(&text[module.span(root.operands[0]).range()], "x = f32[2,3] parameter(0)");
//! ```
//!
//! An error has a location in the text, and often a suggestion:
//!
//! ```
//! let text = "HloModule m\nENTRY main { ROOT x = f32[2] paramter(0) }";
//! let errors = hlo_parser::parse_module(text).expect_err("a wrong opcode");
//! let place = errors[0].primary().expect("a place").span;
//! assert_eq!(&text[place.range()], "paramter");
//! assert_eq!(errors[0].suggestions[0].text, "parameter");
//! ```

mod attributes;
mod body;
mod element;
mod errors;
mod foreign;
mod frames;
#[expect(missing_docs, reason = "the files of the grammar describe its rules")]
mod grammar;
mod hints;
mod inferred;
mod instruction;
mod layout;
mod line_starts;
mod literal;
mod module;
mod names;
mod operands;
mod other_names;
pub mod outline;
mod parse;
mod parser;
mod resolver;
mod scan;
mod shape;
mod signature;
mod single;
mod stack;
mod syntax;
mod transfers;
mod unbalanced;
mod wrapped;

pub use errors::MAX_ERRORS;
pub use module::Parsed;
pub use parse::{parse, parse_literal, parse_module, parse_shape};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::attributes::predecessor_names;
    pub use crate::foreign::recognize;
    pub use crate::frames::fields;
    pub use crate::grammar::{Rule, parse as parse_rule};
    pub use crate::line_starts::starts_instruction;
    pub use crate::literal::read as read_literal;
    pub use crate::names::opcode_or_asynchronous;
    pub use crate::other_names::OTHER_NAMES;
    pub use crate::parser::Computations;
    pub use crate::scan::{Scanned, scan};
    pub use crate::signature::declared;
    pub use crate::syntax::{Head, Operand, Operands, ScannedText, Stop, head};
}
