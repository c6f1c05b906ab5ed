//! The diagnostics of texts.

use crate::facts::Facts;
use crate::text::Text;
use hlo_ir::diag::{Diag, Severity};
use hlo_ir::{Span, floor_char_boundary};
use hlo_tools_common::rules;
use hlo_tools_common::split;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum number of published diagnostics of a document. More are not useful and slow down editors.
pub const MAX_DIAGNOSTICS: usize = 500;

/// The results of checking a text.
#[derive(Default)]
pub struct Checked {
    /// The diagnostics, in the order of the text.
    pub found: Vec<PartDiagnostic>,
    /// Other information about the text.
    pub facts: Facts,
}

/// A diagnostic of the part of a file that starts at byte `base`.
pub struct PartDiagnostic {
    base: usize,
    diag: Diag,
}

/// Returns the diagnostics of the modules of a file. `check` receives each module separately.
pub fn modules(text: &str, check: impl Fn(&str) -> Vec<Diag>) -> Vec<PartDiagnostic> {
    let mut found = Vec::new();
    for range in split::ranges(text) {
        let base = range.start;
        let part = text.get(range).unwrap_or_default();
        // An empty file is valid, because the user has not written anything yet.
        if part.trim().is_empty() {
            continue;
        }
        let diags = guarded(|| check(part)).unwrap_or_else(|defect| vec![defect]);
        found.extend(diags.iter().map(|diag| PartDiagnostic::new(base, part, diag)));
        if found.len() > MAX_DIAGNOSTICS {
            break;
        }
    }
    found
}

/// Returns the result of `check`.
///
/// # Errors
/// Returns an error if `check` panics, because a defect in a rule must not end the editor's session.
pub fn guarded<T>(check: impl FnOnce() -> T) -> Result<T, Diag> {
    catch_unwind(AssertUnwindSafe(check)).map_err(|_| {
        let message = "the checker has failed on this text: a defect in hlo-lsp";
        Diag::error(message).at(Span::new(0, 1), "")
    })
}

impl PartDiagnostic {
    /// Creates a diagnostic of `text`, the part of a file that starts at byte `base`.
    pub fn new(base: usize, text: &str, diag: &Diag) -> Self {
        Self { base, diag: diag.focused(text) }
    }

    /// Returns the suggested changes, each with its range.
    pub fn suggestions(&self, text: &Text) -> impl Iterator<Item = (Range, &str)> {
        self.diag.suggestions.iter().map(|s| (self.place(text, s.span), s.text.as_str()))
    }

    /// Converts a diagnostic of the document `uri` to the protocol's type. `source` is the name of the
    /// language.
    pub fn to_lsp(&self, text: &Text, uri: &Uri, source: &str, with_related: bool) -> Diagnostic {
        let diag = &self.diag;
        let place = |span: Span| self.place(text, span);
        let primary = diag.primary();
        let mut message = diag.message.clone();
        let mut line = |text: &str| {
            message.push('\n');
            message.push_str(text);
        };
        if let Some(label) = primary
            && !label.message.is_empty()
            && !diag.message.contains(&label.message)
        {
            line(&label.message);
        }
        let mut related = Vec::new();
        for label in &diag.labels {
            if Some(label) != primary {
                let location = Location::new(uri.clone(), place(label.span));
                let message =
                    if label.message.is_empty() { "see here".into() } else { label.message.clone() };
                related.push(DiagnosticRelatedInformation { location, message });
            }
        }
        diag.notes.iter().for_each(|n| line(n));
        if let Some((_, rule)) = diag.code.and_then(|code| rules::find(code.as_str())) {
            line(&format!("rule {}: {} (hlo-opt --explain {})", rule.name, rule.rule, rule.code));
        }
        Diagnostic {
            range: primary.map_or(Range::default(), |l| place(l.span)),
            severity: Some(match diag.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: diag.code.map(|c| NumberOrString::String(c.to_string())),
            source: Some(source.into()),
            message,
            related_information: (with_related && !related.is_empty()).then_some(related),
            ..Diagnostic::default()
        }
    }

    /// Returns the range of a span of the module. An empty span at the end of the text is moved to the last
    /// character, so that there is something to underline.
    fn place(&self, text: &Text, span: Span) -> Range {
        let whole = text.as_str();
        let floor = |at: u32| floor_char_boundary(whole, self.base + at as usize);
        let (mut start, end) = (floor(span.start), floor(span.end));
        if start >= end && start == whole.len() {
            start = whole.trim_end().char_indices().next_back().map_or(0, |(at, _)| at);
        }
        text.range(start, end.max(start))
    }
}
