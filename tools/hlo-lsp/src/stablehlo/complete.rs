//! Completion at the cursor.

use super::Source;
use super::outline::Outline;
use super::scan::{Kind, is_name};
use crate::completion::{List, MAX_NAMES};
use hlo_stablehlo::dialect;
use lsp_types::{CompletionItemKind, CompletionList};

/// Returns the completions at an offset.
pub fn complete(d: &Source, at: usize, snippets: bool) -> CompletionList {
    let mut list = List::new(snippets);
    let text = d.text.as_str();
    let before = text.get(..at).unwrap_or_default();
    let mut start = before.trim_end_matches(is_name).len();
    let mark = before[..start].chars().next_back().filter(|c| matches!(c, '%' | '@'));
    start -= mark.map_or(0, char::len_utf8);
    list.range = d.text.range(start, at);
    list.typed = &before[start..];
    let outline = Outline::new(before);
    let is_within = |kind: Kind| matches!(kind, Kind::Comment | Kind::Text);
    if outline.tokens.last().is_some_and(|t| is_within(t.kind) && t.range.end == at) {
        return list.into();
    }
    match mark {
        Some('%') => values(&mut list, before, &outline),
        Some(_) => symbols(&mut list, d),
        None => operations(&mut list),
    }
    list.into()
}

/// Adds the values that are visible at the end of a text, the nearest first.
fn values(list: &mut List<'_>, before: &str, outline: &Outline) {
    let mut names = Vec::new();
    for value in outline.values.iter().rev() {
        let name = before.get(value.name.clone()).unwrap_or_default();
        // A region that is closed has ended. The region at the end of the text is open.
        let is_known = value.scope.end >= before.len() && value.name.end < before.len();
        if is_known && !names.contains(&name) {
            names.push(name);
        }
        if names.len() == MAX_NAMES {
            list.incomplete = true;
            break;
        }
    }
    for (n, name) in names.into_iter().enumerate() {
        list.add(name, CompletionItemKind::VARIABLE, "", name.to_owned(), n);
    }
}

/// Adds the functions of the file.
fn symbols(list: &mut List<'_>, d: &Source) {
    for (n, function) in d.outline().functions.iter().take(MAX_NAMES).enumerate() {
        let name = d.at(&function.name);
        list.add(name, CompletionItemKind::FUNCTION, "", name.to_owned(), n);
    }
}

/// Adds the operations of the dialect that was typed, or all operations, because editors also match other
/// parts of names.
fn operations(list: &mut List<'_>) {
    let typed = list.typed;
    let of_dialect = |name: &str| match typed.split_once('.') {
        Some((dialect, _)) => name.strip_prefix(dialect).is_some_and(|rest| rest.starts_with('.')),
        None => true,
    };
    for (n, info) in dialect::operations().iter().filter(|info| of_dialect(info.name)).enumerate() {
        list.add(info.name, CompletionItemKind::FUNCTION, "", info.name.to_owned(), n);
        list.describe(super::described(info));
    }
}
