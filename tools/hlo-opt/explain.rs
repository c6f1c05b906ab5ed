//! `--explain` and `--list-rules`: the table of rules for people.

use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::rules::{self, FAMILIES, RuleInfo};
use hlo_ir::suggest::nearest;
use hlo_tools_common::Failure;
use hlo_tools_common::format::parse_and_verify;

/// The rule of a code or name; for `all` every rule one after the other.
pub fn explain(text: &str, color: bool) -> Result<String, Failure> {
    if text == "all" {
        let entries: Vec<String> = rules::all().map(|r| entry(r, color)).collect();
        return Ok(entries.join("\n"));
    }
    match rules::find(text) {
        Some(rule) => Ok(entry(rule, color)),
        None => Err(Failure::argument("--explain", text, vec![unknown(text)])),
    }
}

fn unknown(text: &str) -> Diag {
    let span = hlo_ir::Span::new(0, text.len());
    let diag = Diag::error(format!("there is no rule `{text}`")).at(span, "not the code or name of a rule");
    let upper = text.to_ascii_uppercase();
    let code = nearest(&upper, rules::all().map(|r| r.code));
    match nearest(text, rules::all().map(|r| r.name)).or(code) {
        Some(name) => diag.did_you_mean(span, name),
        None => diag.note("`--list-rules` lists all rules"),
    }
}

/// One rule in full: with its example and what the verifier says of it.
fn entry(rule: &RuleInfo, color: bool) -> String {
    let (on, off) = bold(color);
    let RuleInfo { code, name, rule: sentence, why, fix, section, example } = *rule;
    let mut out = format!("{on}{code} {name}{off}\n\n{}\n\n{}\n", wrap(sentence), wrap(why));
    match example {
        Some(text) => {
            out.push_str(&format!("\n{on}Example{off}\n\n{}\n{}", indent(text), indent(&rendered(text, color))));
            out.push_str(&format!("\n{on}To mend it{off}: {fix}\n"));
        }
        None if code.starts_with("E20") => out.push_str(&format!("\n{on}To mend it{off}: {fix}\n")),
        None => out.push_str(&format!(
            "\n{on}Example{off}: none, because text can't break this rule; a program that builds or changes a module \
             can.\n\n{on}To mend it{off}: {fix}\n"
        )),
    }
    out.push_str(&format!("{on}From{off}: {section}\n"));
    out
}

/// What is wrong with the example, as it is shown for a file.
fn rendered(text: &str, color: bool) -> String {
    let diags = match parse_and_verify(text, false) {
        Ok(parsed) => parsed.warnings,
        Err(diags) => diags,
    };
    let source = Source { name: "example.hlo".to_string(), text: text.to_string() };
    let all: Vec<String> = diags.iter().map(|d| render(d, &source, color)).collect();
    all.join("\n").trim_end().to_string()
}

/// The table: code, name and rule of each, by family.
pub fn table(color: bool) -> String {
    let (on, off) = bold(color);
    let width = rules::all().map(|r| r.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (title, rules) in FAMILIES.iter().filter(|(_, rules)| !rules.is_empty()) {
        out.push_str(&format!("{on}{title}{off}\n"));
        for r in *rules {
            out.push_str(&format!("  {}  {:width$}  {}\n", r.code, r.name, r.rule));
        }
        out.push('\n');
    }
    out.push_str("`--explain CODE` says more of a rule.\n");
    out
}

fn bold(color: bool) -> (&'static str, &'static str) {
    if color { ("\x1b[1m", "\x1b[0m") } else { ("", "") }
}

fn indent(text: &str) -> String {
    text.lines().map(|l| if l.is_empty() { "\n".to_string() } else { format!("    {l}\n") }).collect()
}

/// The text in lines of a readable length.
fn wrap(text: &str) -> String {
    const WIDTH: usize = 90;
    let mut out = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let n = word.chars().count();
        if length > 0 && length + 1 + n > WIDTH {
            out.push('\n');
            length = 0;
        } else if length > 0 {
            out.push(' ');
            length += 1;
        }
        out.push_str(word);
        length += n;
    }
    out
}
