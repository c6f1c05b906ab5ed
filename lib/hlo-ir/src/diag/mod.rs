//! Diagnostics: errors and warnings with their locations, and their rendering.
//!
//! Errors of other modules carry data and are converted to a [`Diag`]. Only this module renders them.
//! Messages may quote any part of the text, so this module shortens them.

mod code;
pub(crate) mod excerpt;
mod part;
pub(crate) mod shorten;
pub(crate) mod span;
pub mod suggest;

use crate::Span;
pub use crate::diag::code::{Code, NotACode};
use crate::diag::excerpt::{Excerpt, printable};
pub use crate::diag::part::Part;
use crate::diag::shorten::brief;
pub use crate::diag::span::clamp;
use codespan_reporting::diagnostic::{Diagnostic, Label as CsLabel, Severity as CsSeverity};
use codespan_reporting::term;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input is valid but probably not as intended.
    Warning,
}

impl Severity {
    /// Returns the name of the severity.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A marked location in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The location.
    pub span: Span,
    /// The text at the location; may be empty.
    pub message: String,
    /// Whether this is the main location of the diagnostic. False for the other side of a mismatch.
    pub primary: bool,
    /// If `span` is a whole instruction, the part of it to mark. [`Diag::focused`] finds it.
    pub part: Option<Part>,
}

/// A possible correction of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The text to replace.
    pub span: Span,
    /// The replacement.
    pub text: String,
    /// If `span` is a whole instruction, the part of it to replace. [`Diag::focused`] finds it.
    pub part: Option<Part>,
}

/// An error or a warning.
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
    /// The severity.
    pub severity: Severity,
    /// A stable code such as `E0123`.
    pub code: Option<Code>,
    /// One line: the expected and the found value.
    pub message: String,
    /// The locations.
    pub labels: Vec<Label>,
    /// Additional lines.
    pub notes: Vec<String>,
    /// Possible corrections, for editors. The notes contain the same suggestions in words.
    pub suggestions: Vec<Suggestion>,
}

impl Label {
    /// Creates the label of a related location: `part` of the instruction at `span`, or all of `span`.
    pub fn secondary(span: Span, message: impl Into<String>, part: Option<Part>) -> Self {
        Label { span, message: brief(message.into()), primary: false, part }
    }
}

impl Diag {
    /// Creates an error without a location.
    pub fn error(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, message)
    }

    /// Creates a warning without a location.
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

    /// Returns the diagnostic with a code.
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }

    /// Returns the diagnostic with its main location.
    #[must_use]
    pub fn at(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: brief(message.into()), primary: true, part: None });
        self
    }

    /// Returns the diagnostic with a related location. An empty span, which has no source text, is ignored.
    #[must_use]
    pub fn and(mut self, span: Span, message: impl Into<String>) -> Self {
        if !span.is_empty() {
            self.labels.push(Label::secondary(span, message, None));
        }
        self
    }

    /// Returns the diagnostic with `part` of the instruction at `span` as its main location.
    #[must_use]
    pub fn at_instruction(mut self, span: Span, part: Part, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: brief(message.into()), primary: true, part: Some(part) });
        self
    }

    /// Returns the diagnostic with spans in `text` reduced from whole instructions to their relevant parts,
    /// because metadata and configurations may be long. If an attribute or shape is not in the text, the part
    /// before the attributes is marked, and a suggestion to change it is dropped.
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

    /// Returns the diagnostic with an additional line.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(brief(note.into()));
        self
    }

    /// Returns the diagnostic with the suggestion to write `text` at `span`.
    #[must_use]
    pub fn did_you_mean(self, span: Span, text: impl Into<String>) -> Self {
        let text = text.into();
        let mut out = self.note(format!("did you mean `{text}`?"));
        out.suggestions.push(Suggestion { span, text, part: None });
        out
    }

    /// Returns the diagnostic with all spans moved by `base`, for a text that is part of another one.
    #[must_use]
    pub fn moved(mut self, base: usize) -> Self {
        let spans = self.labels.iter_mut().map(|l| &mut l.span);
        for span in spans.chain(self.suggestions.iter_mut().map(|s| &mut s.span)) {
            *span = span.moved(base);
        }
        self
    }

    /// Returns the label of the main location.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.iter().find(|l| l.primary).or(self.labels.first())
    }
}

/// The text that spans refer to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The file name to show.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Renders a diagnostic with the source lines that it refers to. With `color`, the text contains ANSI
/// escapes.
pub fn render(diag: &Diag, source: &Source, color: bool) -> String {
    let diag = &diag.focused(&source.text);
    let severity = match diag.severity {
        Severity::Error => CsSeverity::Error,
        Severity::Warning => CsSeverity::Warning,
    };
    let mut d = Diagnostic::new(severity).with_message(printable(&diag.message));
    if let Some(code) = diag.code {
        d = d.with_code(code.as_str());
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
        // The message is still shown if the source lines cannot be.
        Err(_) => format!("{}: {}\n", diag.severity.word(), printable(&diag.message)),
    }
}
