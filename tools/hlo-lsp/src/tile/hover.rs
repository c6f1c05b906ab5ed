//! Hover: describes the word under the cursor.

use super::Source;
use super::builtins::{self, Builtin};
use super::description::{code, documentation};
use super::members::members;
use super::outline::{Function, Role, Symbol, Word};
use crate::facts::Facts;
use hlo_ir::Span;
use hlo_tile::library::{LibraryFunction, MODULE};
use std::ops::Range;

/// Returns a description of the word at an offset, and its range.
pub fn hover(d: &Source, at: usize, facts: &Facts) -> Option<(String, Range<usize>)> {
    let (value, span) = match d.outline().word_at(at) {
        Some(word) => (named(d, word, facts)?, word.span),
        None => contraction(d, at, facts)?,
    };
    Some((value, span.range()))
}

/// Describes a name.
fn named(d: &Source, word: &Word, facts: &Facts) -> Option<String> {
    let (text, outline) = (d.text.as_str(), d.outline());
    let name = d.at(word.span);
    let of_library = outline.of_library(text, word);
    match (outline.symbol(text, word), word.role) {
        (Some(symbol), _) => {
            let definition = outline.definition(text, word)?;
            let mut out = match symbol {
                Symbol::Global(_) => match (outline.function_named(name), &of_library) {
                    (Some(function), _) => of_function(d, function),
                    (None, Some(f)) => of_library_function(f),
                    (None, None) => code(d.at(outline.line_at(definition.span.start as usize))),
                },
                Symbol::Local(..) => variable(d, definition),
            };
            if let Some(fact) = facts.names.get(&(definition.span.start as usize)) {
                out.push_str(&format!("\n\n`{}` {fact}.", d.at(definition.span)));
            }
            // For the output of a contraction, also show its HLO.
            if outline.contractions.iter().any(|c| c.target == word.span) {
                out.push_str(&lines_of_hlo(d, word.span, facts));
            }
            if definition.span != word.span {
                out.push_str(&format!("\n\nDefined in line {}.", d.line(definition.span)));
            }
            Some(out)
        }
        (None, _) if of_library.is_some() => of_library.as_ref().map(of_library_function),
        (None, Role::Member(_)) => member(d, word),
        (None, Role::Callee | Role::Use) => builtins::of_name(name).map(described),
        (None, _) => None,
    }
}

/// Returns the signature and the documentation of a function.
fn of_function(d: &Source, function: &Function) -> String {
    let mut out = code(&format!("def {}", d.at(function.signature)));
    let documentation = documentation(d, function);
    if !documentation.is_empty() {
        out.push_str("\n\n");
        out.push_str(&documentation);
    }
    out
}

/// Returns the statement that defines a variable, or the parameter.
fn variable(d: &Source, definition: &Word) -> String {
    let outline = d.outline();
    let functions = outline.functions.iter();
    let found = functions.flat_map(|f| f.parameters.iter().map(move |p| (f, p)));
    match found.into_iter().find(|(_, p)| p.name == definition.span) {
        Some((f, p)) => format!("{}\n\nA parameter of `{}`.", code(d.at(p.span)), d.at(f.name)),
        None => code(d.at(outline.line_at(definition.span.start as usize))),
    }
}

/// Describes a method, an attribute or an element type.
fn member(d: &Source, word: &Word) -> Option<String> {
    let name = d.at(word.span);
    if let Some((_, in_hlo)) = builtins::ELEMENT_TYPES.iter().find(|(n, _)| *n == name) {
        return Some(format!("The element type `{in_hlo}`."));
    }
    let tables = members(d.text.as_str(), d.outline(), word.span.start as usize);
    let all = [builtins::OF_TENSORS, builtins::OF_OUTPUTS, builtins::OF_CONTRACTIONS, builtins::OF_SHAPES];
    let mut known = tables.iter().chain(&all).flat_map(|t| t.iter());
    known.find(|b| b.name == name).map(described)
}

/// Describes a built-in, with an example.
fn described(b: &Builtin) -> String {
    format!("{}\n\n{}\n\nExample: `{}`", code(&format!("{}{}", b.name, b.takes)), b.doc, b.example)
}

/// Describes a function of the library.
fn of_library_function(f: &LibraryFunction) -> String {
    format!("{}\n\n{}\n\nA function of the library, `{MODULE}`.", code(&f.signature()), f.documentation())
}

/// Describes the operator of a contraction, and shows the contraction's HLO.
fn contraction(d: &Source, at: usize, facts: &Facts) -> Option<(String, Span)> {
    let mut all = d.outline().contractions.iter();
    let c = all.find(|c| c.operator.start as usize <= at && at <= c.operator.end as usize)?;
    let operator = d.at(c.operator);
    let does = builtins::aggregation(operator)?;
    Some((format!("`{operator}` {does}{}", lines_of_hlo(d, c.operator, facts)), c.operator))
}

/// Returns the HLO for the line of a contraction.
fn lines_of_hlo(d: &Source, contraction: Span, facts: &Facts) -> String {
    let line = d.outline().line_at(contraction.start as usize);
    match facts.hlo.get(&(line.start as usize)) {
        Some(hlo) => format!("\n\n```hlo\n{}\n```", hlo.join("\n")),
        None => String::new(),
    }
}
