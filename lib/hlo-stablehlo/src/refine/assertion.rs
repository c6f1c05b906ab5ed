//! `shape_assertion`: assertions of a program about the sizes of its arguments.

use super::failure::{Result, fail};
use super::refiner::Refiner;
use crate::tree::{Attribute, Operation};

impl Refiner<'_> {
    /// Checks a `shape_assertion`. Its first operand is the condition; the others are values for its message.
    pub fn assertion(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        let known = |index: usize| Some(*self.known.get(operands.get(index)?)?.first()?);
        match known(0) {
            Some(0) => {}
            Some(_) => return Ok(()),
            None => return fail(op, "its condition does not follow from the shapes of the arguments"),
        }
        let template = op.attribute("error_message").and_then(Attribute::as_str).unwrap_or_default();
        let message = formatted(template, |index| known(index.checked_add(1)?));
        fail(op, format!("the program does not take arguments of these sizes: {message}"))
    }
}

/// Replaces `{0}`, `{1}` and so on in a message by integers. `{{` stands for a brace.
fn formatted(template: &str, integer: impl Fn(usize) -> Option<i64>) -> String {
    let mut message = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        message.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('{') {
            message.push('{');
            rest = after;
            continue;
        }
        let field = rest.split_once('}').and_then(|(number, after)| {
            Some((integer(number.split([',', ':']).next()?.trim().parse().ok()?)?, after))
        });
        match field {
            Some((integer, after)) => {
                message.push_str(&integer.to_string());
                rest = after;
            }
            None => message.push('{'),
        }
    }
    message + rest
}
