//! The functions that parse a text as a whole: a module, a shape, a literal.

use crate::module::Parsed;
use crate::parser::ModuleParser;
use crate::{foreign, literal, scan, shape, stack, unbalanced};
use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{Literal, Module, Shape, Span};

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
/// Syntax errors and references to undefined names: at most [`MAX_ERRORS`](crate::MAX_ERRORS), in the order of
/// the text.
pub fn parse(text: &str) -> Result<Parsed, Vec<Diag>> {
    check_size(text)?;
    let scanned = scan::scan(text);
    let rescanned = unbalanced::rescan(text, &scanned.errors);
    let read = rescanned.as_ref().unwrap_or(&scanned);
    let module = stack::with_room(read.depth, || ModuleParser::new(text, read).parse())?;
    // Unmatched brackets are errors even if the second scan found a way to read the text.
    let module = if scanned.errors.is_empty() { module } else { module.and(Err(scanned.errors)) };
    // Errors inside a text in another language are not useful.
    module.map_err(|diags| foreign::recognize(text).map_or(diags, |diag| vec![diag]))
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
