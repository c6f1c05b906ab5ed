//! Diagnostics and shapes as messages, and back.

use crate::proto;
use hlo_ir::diag::{Diag, Label, Severity, Suggestion, clamp};
use hlo_ir::{ArrayShape, Shape, Span};

/// Bytes of the parts in which arrays and texts travel.
pub const CHUNK: usize = 1 << 20;

/// A shape as it travels: with its layouts.
pub fn shape_text(shape: &Shape) -> String {
    shape.with_layouts().to_string()
}

/// The shape that a text says.
///
/// # Errors
/// The text is no shape: the reason in words.
pub fn read_shape(text: &str) -> Result<Shape, String> {
    hlo_parser::parse_shape(text).map_err(|diags| {
        let why = diags.into_iter().next().map_or_else(String::new, |d| format!(": {}", d.message));
        format!("expected a shape, found `{}`{why}", cut(text))
    })
}

/// The beginning of a text.
fn cut(text: &str) -> &str {
    &text[..hlo_ir::floor_char_boundary(text, 100)]
}

/// What is wrong with bytes that shall be the elements of an array of this shape, from element `at` on: engines count on `pred`
/// being 0 or 1, and on elements of less than a byte having no bits beyond their own.
///
/// # Errors
/// The first such element.
pub fn check_elements(shape: &ArrayShape, at: usize, bytes: &[u8]) -> Result<(), String> {
    let ty = shape.element_type;
    if hlo_ir::Packing::of(shape).is_some() || ty.byte_size() > 1 || ty.bit_width() == 8 && !ty.is_pred() {
        return Ok(());
    }
    let bits = if ty.is_pred() { 1 } else { ty.bit_width() };
    let fits = |byte: u8| {
        let above = 8 - bits;
        let extended = if ty.is_signed_integer() {
            ((byte << above) as i8 >> above) as u8
        } else {
            byte << above >> above
        };
        extended == byte
    };
    match bytes.iter().position(|&byte| !fits(byte)) {
        Some(k) => Err(format!("element {} is the byte {}, which is no {ty}", at + k, bytes[k])),
        None => Ok(()),
    }
}

/// Diagnostics about a module's text as they travel: each place is cut down to what is meant of it.
pub fn diagnostics(diags: &[Diag], text: &str) -> Vec<proto::Diagnostic> {
    let lines = Lines::new(text);
    diags.iter().map(|diag| lines.diagnostic(&diag.focused(text))).collect()
}

/// The diagnostics of a failure.
pub fn read_diagnostics(diagnostics: Vec<proto::Diagnostic>) -> Vec<Diag> {
    diagnostics.into_iter().map(read_diagnostic).collect()
}

/// Where the lines of a text begin.
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
            code: diag.code.unwrap_or_default().to_string(),
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
        code: hlo_ir::rules::find(&diagnostic.code).map(|rule| rule.code),
        message: diagnostic.message,
        labels: diagnostic.labels.into_iter().map(label).collect(),
        notes: diagnostic.notes,
        suggestions: diagnostic.suggestions.into_iter().map(suggestion).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo_ir::ElementType;
    use hlo_ir::diag::{Source, render};

    #[test]
    fn diagnostics_are_shown_the_same_at_the_other_end() {
        let text = "HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  /* é */ ROOT y = f32[3] ad(x, x), metadata={op_name=\"é\"}
}";
        let diags = hlo_parser::parse_module(text).unwrap_err();
        let sent = diagnostics(&diags, text);
        let place = sent[0].labels[0].place.unwrap();
        assert_eq!((place.line, place.column), (4, 27));
        let source = Source { name: "m.hlo".into(), text: text.into() };
        let shown = |diags: &[Diag]| diags.iter().map(|d| render(d, &source, false)).collect::<String>();
        assert_eq!(shown(&read_diagnostics(sent)), shown(&diags));
    }

    #[test]
    fn shapes_keep_their_layouts() {
        for text in ["f32[2,3]{0,1}", "token[]", "(s32[]{}, pred[4]{0})", "s4[2]{0:E(4)}"] {
            let shape = read_shape(text).unwrap();
            assert_eq!(read_shape(&shape_text(&shape)).unwrap(), shape, "{text}");
        }
        assert!(read_shape("f32[2").unwrap_err().starts_with("expected a shape, found `f32[2`"));
    }

    #[test]
    fn elements_that_no_type_has_are_found() {
        let of = |ty| ArrayShape::new(ty, [4]);
        assert!(check_elements(&of(ElementType::Pred), 0, &[0, 1, 1, 0]).is_ok());
        let error = check_elements(&of(ElementType::Pred), 7, &[0, 1, 2]).unwrap_err();
        assert_eq!(error, "element 9 is the byte 2, which is no pred");
        assert!(check_elements(&of(ElementType::S4), 0, &[7, 0xf8]).is_ok());
        assert!(check_elements(&of(ElementType::S4), 0, &[8]).is_err());
        assert!(check_elements(&of(ElementType::U2), 0, &[3]).is_ok());
        assert!(check_elements(&of(ElementType::U2), 0, &[4]).is_err());
        assert!(check_elements(&of(ElementType::U8), 0, &[255]).is_ok());
        assert!(check_elements(&of(ElementType::F32), 0, &[255; 4]).is_ok());
    }
}
