//! Renaming of functions, parameters and variables.

use super::Source;
use super::outline::{Role, Symbol, Word};
use crate::answer::{Answer, request_error};

/// Returns the text for renaming the item at an offset to `new`.
pub fn renamed(d: &Source, at: usize, new: &str) -> Answer<String> {
    let (text, outline) = (d.text.as_str(), d.outline());
    let symbol = outline.word_at(at).and_then(|word| outline.symbol(text, word));
    let Some(symbol) = symbol else {
        return Err(request_error("there is no name of this file here"));
    };
    if !hlo_tile::is_name(new) {
        let form = "a letter or `_`, then letters, digits and `_`, and no word of the language";
        return Err(request_error(format!("`{new}` is no name: it is {form}")));
    }
    let definition = outline.word_at(at).and_then(|word| outline.definition(text, word));
    if definition.is_some_and(|w| w.role == Role::Import) {
        return Err(request_error("this name is imported: another file defines it"));
    }
    let (Symbol::Global(old) | Symbol::Local(_, old)) = symbol;
    if new != old
        && let Some((other, what)) = taken(d, symbol, new)
    {
        return Err(request_error(format!("`{new}` is {what} already, in line {}", d.line(other.span))));
    }
    Ok(new.to_owned())
}

/// Returns an existing item that would conflict with a symbol called `new`, and a description of it.
fn taken<'d>(d: &'d Source, symbol: Symbol<'_>, new: &str) -> Option<(&'d Word, &'static str)> {
    let (text, outline) = (d.text.as_str(), d.outline());
    let mut words = outline.words.iter().filter(|w| d.at(w.span) == new);
    // A variable hides a function. Therefore both a variable in a caller of a renamed function and a function
    // with the name of a renamed variable conflict.
    match symbol {
        Symbol::Local(function, _) => {
            let named = |w: &&Word| {
                w.function == Some(function)
                    && match outline.symbol(text, w) {
                        Some(Symbol::Local(f, _)) => f == function,
                        Some(Symbol::Global(_)) => w.role != Role::Function,
                        None => matches!(w.role, Role::Callee | Role::Use) && outline.is_given(new),
                    }
            };
            let other = words.find(named)?;
            let is_local = matches!(outline.symbol(text, other), Some(Symbol::Local(..)));
            Some((other, if is_local { "a name of this function" } else { "a function that is called here" }))
        }
        Symbol::Global(_) => {
            let calls = outline.occurrences(text, symbol).into_iter().filter(|w| w.role != Role::Function);
            let callers: Vec<_> = calls.filter_map(|w| w.function).collect();
            let other = words.find(|w| match outline.symbol(text, w) {
                Some(Symbol::Global(_)) => true,
                Some(Symbol::Local(f, _)) => callers.contains(&f),
                None => matches!(w.role, Role::Callee | Role::Use) && outline.is_given(new),
            })?;
            let what = match outline.symbol(text, other) {
                Some(Symbol::Global(_)) => "a function",
                Some(Symbol::Local(..)) => "a name of a function that calls this one",
                None => "a function of Tile that is called here",
            };
            Some((other, what))
        }
    }
}
