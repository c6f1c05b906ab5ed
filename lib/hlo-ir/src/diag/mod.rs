//! Diagnostics: what is wrong, where, and how it is shown.
//!
//! Errors elsewhere carry data and turn into a [`Diag`]; only this module renders. Messages may quote whatever is in
//! the text: here they are made short enough to be read.

pub(crate) mod brief;
mod excerpt;
mod part;
pub(crate) mod span;
pub mod suggest;

use crate::diag::brief::brief;
use crate::diag::excerpt::{Excerpt, printable};
pub use crate::diag::part::Part;
use crate::{Span, floor_char_boundary};
use codespan_reporting::diagnostic::{Diagnostic, Label as CsLabel, Severity as CsSeverity};
use codespan_reporting::term;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input can't be used.
    Error,
    /// Something is likely not as meant.
    Warning,
}

impl Severity {
    /// How it is called.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A marked place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to say about it; may be empty.
    pub message: String,
    /// True for the place that the diagnostic is about, false for the other end of a mismatch.
    pub primary: bool,
    /// If the place is a whole instruction, the part of it that is meant: [`Diag::focused`] finds it.
    pub part: Option<Part>,
}

/// A change to the text that may be what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What to replace.
    pub span: Span,
    /// What to write there.
    pub text: String,
    /// If the place is a whole instruction, the part of it that is meant: [`Diag::focused`] finds it.
    pub part: Option<Part>,
}

/// One diagnostic.
///
/// # Example
/// ```
/// use hlo_ir::Span;
/// use hlo_ir::diag::{Diag, Source, render};
///
/// let source = Source { name: "m.hlo".into(), text: "y = f32[2] ad(x, x)".into() };
/// let name = Span::new(11, 13);
/// assert_eq!(&source.text[name.range()], "ad");
///
/// let diag = Diag::error("unknown opcode `ad`").at(name, "not an opcode").did_you_mean(name, "add");
/// assert_eq!(diag.notes, ["did you mean `add`?"]);
/// let shown = render(&diag, &source, false);
/// assert!(shown.starts_with("error: unknown opcode `ad`"), "{shown}");
/// assert!(shown.contains("m.hlo:1:12"), "{shown}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diag {
    /// How bad it is.
    pub severity: Severity,
    /// A stable code such as `E0123`.
    pub code: Option<&'static str>,
    /// One line: what was expected and what was found.
    pub message: String,
    /// The places.
    pub labels: Vec<Label>,
    /// Further lines.
    pub notes: Vec<String>,
    /// Changes that may mend it, for editors; the notes say the same in words.
    pub suggestions: Vec<Suggestion>,
}

impl Label {
    /// Another place that has to do with a diagnostic: `part` of the instruction at `span`, or what is there.
    pub fn secondary(span: Span, message: impl Into<String>, part: Option<Part>) -> Self {
        Label { span, message: brief(message.into()), primary: false, part }
    }
}

impl Diag {
    /// An error without a place.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// A warning without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: None,
            message: brief(message.into()),
            labels: Vec::new(),
            notes: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// The same with a code.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// The same with the place that it is about.
    #[must_use]
    pub fn at(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: brief(message.into()), primary: true, part: None });
        self
    }

    /// The same with another place that has to do with it. Left out if no source text stands for it.
    #[must_use]
    pub fn and(mut self, span: Span, message: impl Into<String>) -> Self {
        if !span.is_empty() {
            self.labels.push(Label::secondary(span, message, None));
        }
        self
    }

    /// The same with the instruction at `span` that it is about, of which `part` is meant.
    #[must_use]
    pub fn at_instruction(mut self, span: Span, part: Part, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: brief(message.into()), primary: true, part: Some(part) });
        self
    }

    /// The same with the places in `text` cut down to the parts of instructions that are meant: metadata and
    /// configurations may be much longer than all the rest. Where an attribute or shape is not written, what stands
    /// before the attributes is marked; a suggestion to change it is dropped.
    #[must_use]
    pub fn focused(&self, text: &str) -> Self {
        let mut out = self.clone();
        for label in &mut out.labels {
            let Some(part) = label.part.take() else { continue };
            let found = part.find(label.span, text).or_else(|| Part::Head.find(label.span, text));
            label.span = found.unwrap_or(label.span);
        }
        out.suggestions.retain_mut(|s| {
            let Some(part) = s.part.take() else { return true };
            let found = part.find(s.span, text);
            s.span = found.unwrap_or_default();
            found.is_some()
        });
        out
    }

    /// The same with a further line.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(brief(note.into()));
        self
    }

    /// The same with the question whether `text` was meant by what stands at `span`.
    #[must_use]
    pub fn did_you_mean(self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut out = self.note(format!("did you mean `{text}`?"));
        out.suggestions.push(Suggestion { span, text, part: None });
        out
    }

    /// The same for a text that starts at byte `base` of another one: its places there.
    #[must_use]
    pub fn moved(mut self, base: usize) -> Self {
        let spans = self.labels.iter_mut().map(|l| &mut l.span);
        for span in spans.chain(self.suggestions.iter_mut().map(|s| &mut s.span)) {
            *span = span.moved(base);
        }
        self
    }

    /// The label of the place that it is about.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.iter().find(|l| l.primary).or(self.labels.first())
    }
}

/// The text that spans refer to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The file's name as shown.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Renders a diagnostic with the source lines that it is about, colours as ANSI escapes if asked for.
pub fn render(diag: &Diag, source: &Source, color: bool) -> String {
    let diag = &diag.focused(&source.text);
    let severity = match diag.severity {
        Severity::Error => CsSeverity::Error,
        Severity::Warning => CsSeverity::Warning,
    };
    let mut d = Diagnostic::new(severity).with_message(printable(&diag.message));
    if let Some(code) = diag.code {
        d = d.with_code(code);
    }
    let ranges: Vec<_> = diag.labels.iter().map(|l| clamp(l.span, &source.text)).collect();
    let name = printable(&source.name);
    let file = Excerpt::new(&name, &source.text, &ranges);
    for (label, range) in diag.labels.iter().zip(&ranges) {
        let range = file.position(range.start)..file.position(range.end);
        let l = if label.primary { CsLabel::primary((), range) } else { CsLabel::secondary((), range) };
        d = d.with_label(l.with_message(printable(&label.message)));
    }
    d = d.with_notes(diag.notes.iter().map(|note| printable(note).into_owned()).collect());
    let config = term::Config::default();
    let mut out = Vec::new();
    let result = if color {
        let mut w = term::termcolor::Ansi::new(&mut out);
        term::emit_to_write_style(&mut w, &config, &file, &d)
    } else {
        let mut w = term::termcolor::NoColor::new(&mut out);
        term::emit_to_write_style(&mut w, &config, &file, &d)
    };
    match result {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        // Nothing is lost if the source lines can't be shown.
        Err(_) => format!("{}: {}\n", diag.severity.word(), printable(&diag.message)),
    }
}

/// A range on character boundaries inside the text.
pub fn clamp(span: Span, text: &str) -> std::ops::Range<usize> {
    let start = floor_char_boundary(text, span.start as usize);
    start..floor_char_boundary(text, span.end as usize).max(start)
}
