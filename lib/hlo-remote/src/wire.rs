//! Conversion of options, errors and shapes to messages and back.

use crate::proto::compile_options::Passes as WirePasses;
use crate::proto::failure::Kind;
use crate::proto::{self, Failure};
use crate::{CompileOptions, Engine, Error, Passes};
use bytes::Bytes;
use hlo_ir::diag::{Diag, Label, Severity, Suggestion, clamp};
use hlo_ir::{InstrId, Shape, Span};
use std::time::Duration;

/// Size of the parts in which arrays and texts are sent, in bytes.
pub const CHUNK_BYTES: usize = 1 << 20;

/// Splits bytes into parts of a size. There is at least one part.
pub fn chunks(bytes: Bytes, size: usize) -> impl Iterator<Item = Bytes> {
    let size = size.max(1);
    let count = bytes.len().div_ceil(size).max(1);
    (0..count).map(move |k| bytes.slice(k * size..bytes.len().min((k + 1) * size)))
}

/// Returns the text of a shape for a message, including its layouts.
pub fn shape_text(shape: &Shape) -> String {
    shape.with_layouts().to_string()
}

/// Reads a shape from a text.
///
/// # Errors
/// The text is not a shape. The error is a message.
pub fn read_shape(text: &str) -> Result<Shape, String> {
    hlo_parser::parse_shape(text).map_err(|diags| {
        let why = diags.into_iter().next().map_or_else(String::new, |d| format!(": {}", d.message));
        format!("expected a shape, found `{}`{why}", cut(text))
    })
}

/// Returns the beginning of a text.
fn cut(text: &str) -> &str {
    &text[..hlo_ir::floor_char_boundary(text, 100)]
}

/// Converts the options that the server needs.
pub fn compile_options(options: &CompileOptions) -> proto::CompileOptions {
    let engine = match options.engine {
        None => proto::Engine::Default,
        Some(Engine::Compiled) => proto::Engine::Compiled,
        Some(Engine::Interpreted) => proto::Engine::Interpreted,
    };
    let passes = match &options.passes {
        Passes::Default => None,
        Passes::Lowering => Some(WirePasses::LoweringOnly(true)),
        Passes::Pipeline(text) => Some(WirePasses::Pipeline(text.clone())),
    };
    let memory_limit = options.memory_limit.map_or(0, |bytes| bytes.max(1));
    proto::CompileOptions { engine: engine.into(), passes, seed: options.seed, memory_limit }
}

/// Reads the options of a client.
pub fn read_compile_options(options: &proto::CompileOptions) -> CompileOptions {
    CompileOptions {
        engine: match options.engine() {
            proto::Engine::Default => None,
            proto::Engine::Compiled => Some(Engine::Compiled),
            proto::Engine::Interpreted => Some(Engine::Interpreted),
        },
        passes: match &options.passes {
            Some(WirePasses::LoweringOnly(true)) => Passes::Lowering,
            Some(WirePasses::Pipeline(text)) => Passes::Pipeline(text.clone()),
            Some(WirePasses::LoweringOnly(false)) | None => Passes::Default,
        },
        seed: options.seed,
        memory_limit: Some(options.memory_limit).filter(|&bytes| bytes != 0),
        ..CompileOptions::default()
    }
}

/// Converts an error of a program with this text, or of one of its runs, into a message.
pub fn failure(error: &Error, text: &str) -> Failure {
    let stopped = |instruction: Option<InstrId>, name: &str, after: Option<Duration>| Failure {
        kind: Kind::Stopped.into(),
        stopped_at: instruction.map_or(0, |id| u32::try_from(id.index() + 1).unwrap_or(0)),
        stopped_at_name: name.to_string(),
        stopped_after_millis: after.map_or(0, |t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX).max(1)),
        ..Failure::default()
    };
    match error {
        Error::Sizes => Failure { kind: Kind::Sizes.into(), ..Failure::default() },
        Error::Stopped { instruction, name } => stopped(*instruction, name, None),
        Error::TimedOut { after, instruction, name } => stopped(*instruction, name, Some(*after)),
        // A server runs programs in its own process, so the last two errors do not occur there.
        Error::Diags(_) | Error::Refused { .. } | Error::Disconnected { .. } => {
            Failure { diagnostics: diagnostics(&error.to_diags(), text), ..Failure::default() }
        }
    }
}

/// Converts a failure message into an error.
pub fn read_failure(failure: Failure) -> Error {
    let instruction = failure.stopped_at.checked_sub(1).map(|n| InstrId::new(n as usize));
    match failure.kind() {
        Kind::Diagnostics => Error::Diags(failure.diagnostics.into_iter().map(read_diagnostic).collect()),
        Kind::Sizes => Error::Sizes,
        Kind::Stopped => {
            let stopped = Error::Stopped { instruction, name: failure.stopped_at_name };
            match failure.stopped_after_millis {
                0 => stopped,
                millis => stopped.timed_out(Duration::from_millis(millis)),
            }
        }
    }
}

/// Converts diagnostics about a module's text into messages. Each label is narrowed to the relevant part of
/// its span.
fn diagnostics(diags: &[Diag], text: &str) -> Vec<proto::Diagnostic> {
    let lines = Lines::new(text);
    diags.iter().map(|diag| lines.diagnostic(&diag.focused(text))).collect()
}

/// The offsets of the lines of a text.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    fn place(&self, span: Span) -> proto::Place {
        let at = clamp(span, self.text).start;
        let line = self.starts.partition_point(|&s| s <= at);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..at).unwrap_or_default().chars().count() + 1;
        proto::Place { start: span.start, end: span.end, line: line as u32, column: column as u32 }
    }

    fn diagnostic(&self, diag: &Diag) -> proto::Diagnostic {
        let label = |l: &Label| proto::Label {
            place: Some(self.place(l.span)),
            message: l.message.clone(),
            primary: l.primary,
        };
        let suggestion =
            |s: &Suggestion| proto::Suggestion { place: Some(self.place(s.span)), text: s.text.clone() };
        proto::Diagnostic {
            warning: diag.severity == Severity::Warning,
            code: diag.code.map(|code| code.to_string()).unwrap_or_default(),
            message: diag.message.clone(),
            labels: diag.labels.iter().map(label).collect(),
            notes: diag.notes.clone(),
            suggestions: diag.suggestions.iter().map(suggestion).collect(),
        }
    }
}

fn span(place: Option<proto::Place>) -> Span {
    place.map_or_else(Span::default, |p| Span { start: p.start, end: p.end })
}

fn read_diagnostic(diagnostic: proto::Diagnostic) -> Diag {
    let severity = if diagnostic.warning { Severity::Warning } else { Severity::Error };
    let label =
        |l: proto::Label| Label { span: span(l.place), message: l.message, primary: l.primary, part: None };
    let suggestion = |s: proto::Suggestion| Suggestion { span: span(s.place), text: s.text, part: None };
    Diag {
        severity,
        code: diagnostic.code.parse().ok(),
        message: diagnostic.message,
        labels: diagnostic.labels.into_iter().map(label).collect(),
        notes: diagnostic.notes,
        suggestions: diagnostic.suggestions.into_iter().map(suggestion).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo_ir::diag::{Source, render};

    #[test]
    fn diagnostics_are_shown_the_same_at_the_other_end() {
        let text = "HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  /* é */ ROOT y = f32[3] ad(x, x), metadata={op_name=\"é\"}
}";
        let diags = hlo_parser::parse_module(text).unwrap_err();
        let sent = failure(&Error::Diags(diags.clone()), text);
        let place = sent.diagnostics[0].labels[0].place.unwrap();
        assert_eq!((place.line, place.column), (4, 27));
        let source = Source { name: "m.hlo".into(), text: text.into() };
        let shown = |diags: &[Diag]| diags.iter().map(|d| render(d, &source, false)).collect::<String>();
        assert_eq!(shown(&read_failure(sent).to_diags()), shown(&diags));
    }

    #[test]
    fn errors_and_options_are_the_same_at_the_other_end() {
        let stopped = Error::Stopped { instruction: Some(InstrId::new(7)), name: "w".into() };
        let nowhere = Error::Stopped { instruction: None, name: String::new() };
        let timed_out = stopped.clone().timed_out(Duration::from_millis(50));
        for error in [Error::Sizes, stopped, nowhere, timed_out, Error::new("no item")] {
            assert_eq!(read_failure(failure(&error, "")), error);
        }
        let options = [
            CompileOptions::default(),
            CompileOptions { engine: Some(Engine::Interpreted), seed: 7, ..CompileOptions::default() },
            CompileOptions { engine: Some(Engine::Compiled), passes: Passes::Lowering, ..Default::default() },
            CompileOptions {
                passes: Passes::Pipeline("dce".into()),
                memory_limit: Some(1 << 20),
                ..Default::default()
            },
        ];
        for said in options {
            assert_eq!(read_compile_options(&compile_options(&said)), said);
        }
    }

    #[test]
    fn shapes_keep_their_layouts() {
        for text in ["f32[2,3]{0,1}", "token[]", "(s32[]{}, pred[4]{0})", "s4[2]{0:E(4)}"] {
            let shape = read_shape(text).unwrap();
            assert_eq!(read_shape(&shape_text(&shape)).unwrap(), shape, "{text}");
        }
        assert!(read_shape("f32[2").unwrap_err().starts_with("expected a shape, found `f32[2`"));
    }
}
