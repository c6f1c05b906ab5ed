//! Diagnostics as JSON, one object per line. `docs/diagnostics.md` describes the schema.

use crate::Failure;
use crate::lines::Lines;
use crate::shown::{MAX_SHOWN, not_shown};
use hlo_ir::Span;
use hlo_ir::diag::{Code, Diag, Severity, Source, clamp};
use serde_json::{Value, json};

/// The text of the diagnostics: a file or an argument.
struct Text<'a> {
    source: &'a Source,
    lines: Lines,
    uri: Option<String>,
}

/// Converts a failure to JSON, one line for each of its diagnostics.
pub fn failure(tool: &str, failure: &Failure) -> String {
    match failure {
        Failure::Usage(message) => remark(tool, "error", message, None),
        Failure::Message(message) => remark(tool, "error", message, None),
        Failure::File { name, message } => remark(tool, "error", message, Some(name)),
        Failure::Diags { source, diags } => diagnostics(tool, source, diags, "file", Severity::Error),
        Failure::Argument { source, diags } => diagnostics(tool, source, diags, "argument", Severity::Error),
        Failure::Shown | Failure::OutputClosed => String::new(),
    }
}

/// Converts clap's error for an invalid command line. Its first line becomes the message, and tips become
/// notes.
pub fn usage(tool: &str, text: &str) -> String {
    let mut paragraphs = text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    let message = paragraphs.next().unwrap_or_default();
    let notes: Vec<String> = paragraphs.filter_map(|p| p.strip_prefix("tip: ").map(str::to_owned)).collect();
    let mut object = object(tool, "error", message.strip_prefix("error: ").unwrap_or(&message));
    object["notes"] = json!(notes);
    format!("{object}\n")
}

/// Returns a message that has no span in a text.
pub fn remark(tool: &str, severity: &str, message: &str, file: Option<&str>) -> String {
    let mut object = object(tool, severity, message);
    if let Some(name) = file {
        object["file"] = json!(name);
        object["uri"] = json!(uri(name));
    }
    format!("{object}\n")
}

/// Converts the diagnostics of a text, one line each. `kind` is the kind of the text. A last line with
/// `severity` counts the diagnostics that are not shown.
pub fn diagnostics(tool: &str, source: &Source, diags: &[Diag], kind: &str, severity: Severity) -> String {
    let uri = (kind == "file").then(|| uri(&source.name)).flatten();
    let text = Text { source, lines: Lines::new(&source.text), uri };
    let word = severity.word();
    let more = not_shown(diags.len(), word).map(|more| remark(tool, word, &more, None));
    diags
        .iter()
        .take(MAX_SHOWN)
        .map(|d| {
            let mut object = text.diagnostic(tool, d);
            object[kind] = json!(source.name);
            format!("{object}\n")
        })
        .chain(more)
        .collect()
}

/// Returns an object with the members that all objects have.
fn object(tool: &str, severity: &str, message: &str) -> Value {
    json!({
        "severity": severity, "source": tool, "code": null, "message": message, "label": "", "file": null,
        "uri": null, "argument": null, "range": null, "relatedInformation": [], "notes": [], "suggestions": [],
    })
}

impl Text<'_> {
    fn diagnostic(&self, tool: &str, diag: &Diag) -> Value {
        let diag = &diag.focused(&self.source.text);
        let mut object = object(tool, diag.severity.word(), &diag.message);
        object["code"] = json!(diag.code.as_ref().map(Code::as_str));
        object["uri"] = json!(self.uri);
        let primary = diag.primary();
        if let Some(label) = primary {
            object["label"] = json!(label.message);
            object["range"] = self.range(label.span);
        }
        let related = diag.labels.iter().filter(|l| primary.is_none_or(|p| !std::ptr::eq(*l, p)));
        let related = related.map(|l| {
            json!({
                "location": {"uri": self.uri, "range": self.range(l.span)}, "message": l.message,
            })
        });
        object["relatedInformation"] = related.collect();
        object["notes"] = json!(diag.notes);
        let suggestions =
            diag.suggestions.iter().map(|s| json!({"range": self.range(s.span), "newText": s.text}));
        object["suggestions"] = suggestions.collect();
        object
    }

    fn range(&self, span: Span) -> Value {
        let range = clamp(span, &self.source.text);
        let place = |at: usize| {
            let p = self.lines.position(at);
            json!({"line": p.line, "character": p.character})
        };
        json!({"start": place(range.start), "end": place(range.end)})
    }
}

/// Returns the `file:` URI of an existing file.
fn uri(name: &str) -> Option<String> {
    let path = std::path::Path::new(name).canonicalize().ok()?;
    let mut out = "file://".to_string();
    for b in path.to_str()?.bytes() {
        match b {
            b'/' | b'-' | b'.' | b'_' | b'~' => out.push(b as char),
            b if b.is_ascii_alphanumeric() => out.push(b as char),
            b => out.push_str(&format!("%{b:02X}")),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Value {
        assert!(line.ends_with('\n') && line.matches('\n').count() == 1, "{line}");
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn columns_count_utf16_units() {
        let source = Source { name: "no-such-file.hlo".into(), text: "/*😀é*/ x\ny".into() };
        let x = source.text.find('x').unwrap();
        let diag = Diag::error("wrong")
            .with_code(Code::new("E0101"))
            .at(Span::new(x, x + 1), "here")
            .and(Span::new(x + 2, x + 3), "there")
            .did_you_mean(Span::new(x, x + 1), "z");
        let o = parsed(&failure("hlo-opt", &Failure::diags(&source, vec![diag])));
        let range = json!({"start": {"line": 0, "character": 8}, "end": {"line": 0, "character": 9}});
        assert_eq!(o["range"], range);
        assert_eq!(o["suggestions"], json!([{"range": range, "newText": "z"}]));
        let there = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 1}});
        assert_eq!(o["relatedInformation"][0]["location"]["range"], there);
        assert_eq!((&o["code"], &o["label"]), (&json!("E0101"), &json!("here")));
        assert_eq!(o["file"], json!("no-such-file.hlo"));
    }

    #[test]
    fn every_failure_is_an_object() {
        let file = Failure::file("a.hlo", "no such file");
        let o = parsed(&failure("hlo-opt", &file));
        assert_eq!((&o["file"], &o["message"]), (&json!("a.hlo"), &json!("no such file")));
        let argument = Failure::argument("--passes", "dse", vec![Diag::error("wrong")]);
        assert_eq!(parsed(&failure("hlo-opt", &argument))["argument"], json!("--passes"));
        let o =
            parsed(&usage("hlo-opt", "error: unexpected argument '--x' found\n\n  tip: try\n\nUsage: y\n"));
        assert_eq!(o["message"], json!("unexpected argument '--x' found"));
        assert_eq!(o["notes"], json!(["try"]));
    }
}
