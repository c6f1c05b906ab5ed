//! Diagnostics, found on a thread of their own.

use crate::document::Document;
use crate::facts::Facts;
use crate::language::Language;
use crate::server::Event;
use crate::text::Text;
use hlo_ir::diag::{Diag, Severity};
use hlo_ir::{Span, floor_char_boundary, rules};
use hlo_tools_common::split;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range, Uri,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// How much stack the readers may need where brackets do not nest so deep that they make room themselves.
pub const STACK: usize = 64 << 20;

/// The most diagnostics of a document that are published: nobody reads more, and editors get slow.
pub const MAX: usize = 500;

/// A text to check.
pub struct Job {
    /// The document.
    pub uri: Uri,
    /// Its language.
    pub language: Language,
    /// The number of its state.
    pub state: u64,
    /// Its text.
    pub text: Arc<Text>,
}

/// What was found out about a document.
pub struct Report {
    /// The document.
    pub uri: Uri,
    /// The number of the state that it had.
    pub state: u64,
    /// What was found out.
    pub checked: Checked,
}

/// What was found out about a text.
#[derive(Default)]
pub struct Checked {
    /// What is wrong with it, in the order of the text.
    pub found: Vec<Found>,
    /// What else is known of it.
    pub facts: Facts,
}

/// A diagnostic of a part of the file that starts at byte `base`.
pub struct Found {
    base: usize,
    diag: Diag,
}

/// Starts the thread; it ends when nobody sends jobs any more.
pub fn start(results: Sender<Event>) -> Sender<Job> {
    let (jobs, received) = channel::<Job>();
    let work = move || {
        for Job { uri, language, state, text } in received {
            let mut checked = language.check(&uri, text.as_str());
            checked.found.truncate(MAX);
            // The main thread wants to change the text without copying it.
            drop(text);
            if results.send(Event::Checked(Report { uri, state, checked })).is_err() {
                return;
            }
        }
    };
    if let Err(e) = std::thread::Builder::new().name("check".into()).stack_size(STACK).spawn(work) {
        eprintln!("hlo-lsp: no diagnostics: {e}");
    }
    jobs
}

/// What is wrong with the modules of a file, each of which `check` looks at alone.
pub fn modules(text: &str, check: impl Fn(&str) -> Vec<Diag>) -> Vec<Found> {
    let mut found = Vec::new();
    for range in split::ranges(text) {
        let base = range.start;
        let part = text.get(range).unwrap_or_default();
        // An empty file is one that nobody has written yet.
        if part.trim().is_empty() {
            continue;
        }
        let diags = guarded(|| check(part)).unwrap_or_else(|defect| vec![defect]);
        found.extend(diags.iter().map(|diag| Found::new(base, part, diag)));
        if found.len() > MAX {
            break;
        }
    }
    found
}

/// What `check` gives.
///
/// # Errors
/// It has panicked: a defect in a rule must not end the editor's session.
pub fn guarded<T>(check: impl FnOnce() -> T) -> Result<T, Diag> {
    catch_unwind(AssertUnwindSafe(check)).map_err(|_| {
        let message = "the checker has failed on this text: a defect in hlo-lsp";
        Diag::error(message).at(Span::new(0, 1), "")
    })
}

impl Found {
    /// A diagnostic of the part of a file that starts at byte `base`, `text`.
    pub fn new(base: usize, text: &str, diag: &Diag) -> Self {
        Self { base, diag: diag.focused(text) }
    }

    /// Changes that may mend it: each with its place.
    pub fn suggestions(&self, text: &Text) -> impl Iterator<Item = (Range, &str)> {
        self.diag.suggestions.iter().map(|s| (self.place(text, s.span), s.text.as_str()))
    }

    /// The diagnostic in the protocol's form.
    pub fn to_lsp(&self, d: &Document, with_related: bool) -> Diagnostic {
        let diag = &self.diag;
        let place = |span: Span| self.place(&d.text, span);
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
                let location = Location::new(d.uri.clone(), place(label.span));
                let message =
                    if label.message.is_empty() { "see here".into() } else { label.message.clone() };
                related.push(DiagnosticRelatedInformation { location, message });
            }
        }
        diag.notes.iter().for_each(|n| line(n));
        if let Some(rule) = diag.code.and_then(rules::find) {
            line(&format!("rule {}: {} (hlo-opt --explain {})", rule.name, rule.rule, rule.code));
        }
        Diagnostic {
            range: primary.map_or(Range::default(), |l| place(l.span)),
            severity: Some(match diag.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
            }),
            code: diag.code.map(|c| NumberOrString::String(c.into())),
            source: Some(d.language.name().into()),
            message,
            related_information: (with_related && !related.is_empty()).then_some(related),
            ..Diagnostic::default()
        }
    }

    /// Where a span of the module is. An empty one at the end of the text is moved to the last character, for
    /// there to be something to underline.
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
