//! Code actions: applies the suggestions of diagnostics.

use crate::client::Client;
use crate::document::Document;
use crate::edits::of_document;
use crate::symbol::shortened;
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Range, TextEdit};

/// Returns the fixes for diagnostics in a range. There are none if the text has changed since it was checked.
pub fn quick_fixes(d: &Document, p: &CodeActionParams, client: &Client) -> Vec<CodeActionOrCommand> {
    let wanted = p.context.only.as_ref().is_none_or(|kinds| {
        // A kind includes all kinds that it is a prefix of. The empty kind includes all kinds.
        kinds.iter().any(|k| k.as_str().is_empty() || *k == CodeActionKind::QUICKFIX)
    });
    if !wanted || !client.code_actions {
        return Vec::new();
    }
    let mut out = Vec::new();
    for found in d.found() {
        let changes: Vec<(Range, &str)> = found.suggestions(&d.text).collect();
        if changes.is_empty() {
            continue;
        }
        let diagnostic = d.diagnostic(found, client.related_information);
        for &(range, new) in &changes {
            if !touches(p.range, range) && !touches(p.range, diagnostic.range) {
                continue;
            }
            let old = d.text.as_str().get(d.text.offset(range.start)..d.text.offset(range.end));
            out.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: title(old.unwrap_or_default(), new),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostic.clone()]),
                edit: Some(of_document(&d.uri, vec![TextEdit::new(range, new.to_owned())])),
                is_preferred: Some(changes.len() == 1),
                ..CodeAction::default()
            }));
        }
    }
    out
}

/// Whether two ranges overlap or touch.
fn touches(a: Range, b: Range) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// Returns a one-line title of a change.
fn title(old: &str, new: &str) -> String {
    let (old, new) = (shortened(old, 40), shortened(new, 40));
    match (old.as_str(), new.as_str()) {
        ("", _) => format!("Insert `{new}`"),
        (_, "") => format!("Remove `{old}`"),
        _ => format!("Change `{old}` to `{new}`"),
    }
}
