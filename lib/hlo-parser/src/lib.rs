//! The parser: reads HLO text into the IR.
//!
//! - `scan` blanks comments and checks brackets.
//! - The pest grammar in `grammar/` finds the structure, down to instructions and attributes.
//! - `syntax` reads the inside of instructions. `shape`, `literal` and the attribute readers of
//!   `hlo_ir::attr` read other long tokens.
//! - `module` and the modules next to it build the IR.
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
mod foreign;
mod frames;
#[expect(missing_docs, reason = "the files of the grammar describe its rules")]
mod grammar;
mod hints;
mod instruction;
mod layout;
mod literal;
mod module;
mod names;
mod operands;
mod other_names;
pub mod outline;
mod scan;
mod shape;
mod signature;
mod single;
mod stack;
mod syntax;
mod transfers;
mod unbalanced;
mod wrapped;

use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{Literal, Module, Shape, Span};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::attributes::predecessor_names;
    pub use crate::body::starts_instruction;
    pub use crate::foreign::recognise;
    pub use crate::frames::fields;
    pub use crate::grammar::{Rule, parse as parse_rule};
    pub use crate::instruction::opcode_or_asynchronous;
    pub use crate::literal::read as read_literal;
    pub use crate::module::Computations;
    pub use crate::other_names::OTHER_NAMES;
    pub use crate::scan::{Scanned, scan};
    pub use crate::signature::declared;
    pub use crate::syntax::{Head, Operand, Operands, ScannedText, Stop, head};
}

/// Maximum number of errors. The parser stops after this many.
pub const MAX_ERRORS: usize = 20;

/// The result of parsing a text without errors.
#[derive(Debug)]
pub struct Parsed {
    /// The module.
    pub module: Module,
    /// The warnings in the order of the text, at most [`MAX_ERRORS`].
    pub warnings: Vec<Diag>,
}

/// Parses a module like [`parse`], and discards the warnings.
///
/// # Errors
/// Returns the errors of [`parse`].
pub fn parse_module(text: &str) -> Result<Module, Vec<Diag>> {
    parse(text).map(|parsed| parsed.module)
}

/// Parses a module. Spans of diagnostics and of the module's instructions are byte ranges of `text`. The
/// module may be invalid. Call [`hlo_ir::verify::verify`] to check it.
///
/// # Errors
/// Syntax errors and references to undefined names: at most [`MAX_ERRORS`], in the order of the text.
pub fn parse(text: &str) -> Result<Parsed, Vec<Diag>> {
    check_size(text)?;
    let scanned = scan::scan(text);
    let rescanned = unbalanced::rescan(text, &scanned.errors);
    let read = rescanned.as_ref().unwrap_or(&scanned);
    let module = stack::with_room(read.depth, || module::ModuleParser::new(text, read).parse())?;
    // Unmatched brackets are errors even if the second scan found a way to read the text.
    let module = if scanned.errors.is_empty() { module } else { module.and(Err(scanned.errors)) };
    // Errors inside a text in another language are not useful.
    module.map_err(|diags| foreign::recognise(text).map_or(diags, |diag| vec![diag]))
}

/// Parses a shape such as `f32[2,3]{1,0}`.
///
/// # Errors
/// If the text is not a shape, or if other text follows the shape.
///
/// # Example
/// ```
/// let shape = hlo_parser::parse_shape("(f32[2,3]{0,1}, s32[])").expect("a shape");
/// assert_eq!(shape.byte_size(), 2 * 3 * 4 + 4);
/// assert_eq!(format!("{shape:#}"), "(f32[2,3]{0,1}, s32[])");
///
/// let errors = hlo_parser::parse_shape("f32[2,x]").expect_err("a size is a number");
/// assert_eq!(errors[0].primary().map(|label| label.span.start), Some(6));
/// ```
pub fn parse_shape(text: &str) -> Result<Shape, Vec<Diag>> {
    check_size(text)?;
    let depth = check_scan(text)?;
    stack::with_room(depth, || {
        let mut cursor = Cursor::new(text, 0);
        let shape = shape::read(&mut cursor).and_then(|s| cursor.expect_end().map(|()| s));
        shape.map_err(|d| vec![d])
    })?
}

/// Parses a literal: its shape, then its value, such as `f32[4] {1,2,3,4}`.
///
/// # Errors
/// If the text is not a shape and a value of that shape, or if other text follows.
///
/// # Example
/// ```
/// let value = hlo_parser::parse_literal("f32[2,2] {{1, 2}, {3, -inf}}").expect("a literal");
/// assert_eq!(value.elements::<f32>(), [1.0, 2.0, 3.0, f32::NEG_INFINITY]);
/// assert!(hlo_parser::parse_literal("f32[3] {1, 2}").is_err());
/// ```
pub fn parse_literal(text: &str) -> Result<Literal, Vec<Diag>> {
    check_size(text)?;
    let depth = check_scan(text)?;
    stack::with_room(depth, || {
        let mut cursor = Cursor::new(text, 0);
        let literal = shape::read_before_value(&mut cursor)
            .and_then(|shape| literal::read(&mut cursor, &shape))
            .and_then(|l| cursor.expect_end().map(|()| l));
        match literal {
            Ok(l) => l.whole(whole(text)).map_err(|d| vec![d]),
            Err(d) => Err(vec![d]),
        }
    })?
}

fn whole(text: &str) -> Span {
    Span::new(0, text.len())
}

/// Checks the length of the text, because spans are `u32`.
fn check_size(text: &str) -> Result<(), Vec<Diag>> {
    if u32::try_from(text.len()).is_ok_and(|n| n < u32::MAX) {
        Ok(())
    } else {
        Err(vec![Diag::error("the text is larger than 4 GiB").with_code(code::TEXT_SIZE)])
    }
}

/// Checks the brackets. Returns their nesting depth.
fn check_scan(text: &str) -> Result<usize, Vec<Diag>> {
    let scan::Scanned { errors, depth, .. } = scan::scan(text);
    if errors.is_empty() { Ok(depth) } else { Err(errors) }
}
