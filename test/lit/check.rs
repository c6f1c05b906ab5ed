//! FileCheck on top of the `filecheck` crate. Translates LLVM's syntax to that of the crate and adds what the
//! crate lacks (labels, counts, empty lines, canonical white space, prefixes).
//!
//! It also hides the crate's own behavior from the tests. The crate puts word boundaries around patterns
//! (`$()` at both ends turns them off), uses `$` for its own escapes (doubled here), and lets `[^x]` match a
//! newline.

use crate::directive::{Directive, Kind};
use filecheck::{CheckerBuilder, Value, VariableMap};
use regex::Regex;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Matches `output` against the directives. The error says which line failed and how the others matched.
pub fn check(directives: &[Directive], output: &str) -> Result<(), String> {
    let output = canonical(output);
    if let Some(first) = directives.first()
        && matches!(first.kind, Kind::Next | Kind::Same | Kind::Empty)
    {
        return Err(format!("line {}: the first directive needs a match before it", first.line));
    }
    refuse_repeated_dag(directives)?;
    let mut variables = Variables::default();
    let mut rest = output.as_str();
    let mut block: Vec<&Directive> = Vec::new();
    for directive in directives {
        block.push(directive);
        if directive.kind == Kind::Label {
            // As in LLVM, the labels are found first, and each block is matched within its own text.
            let found = label_regex(directive)?.find(rest).ok_or_else(|| {
                format!("line {}: label not found: {}\nin\n{rest}", directive.line, directive.pattern)
            })?;
            check_block(&block, &rest[..found.end()], &mut variables)?;
            rest = &rest[found.end()..];
            block.clear();
        }
    }
    check_block(&block, rest, &mut variables)
}

/// Returns the output with each run of spaces and tabs replaced by one space, and without carriage returns.
/// LLVM compares this form.
fn canonical(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        match c {
            ' ' | '\t' => blank = true,
            '\r' => {}
            c => {
                if std::mem::take(&mut blank) {
                    out.push(' ');
                }
                out.push(c);
            }
        }
    }
    if blank {
        out.push(' ');
    }
    out
}

/// Two equal adjacent `-DAG` lines must match twice in LLVM's FileCheck. The crate would match one line for
/// both.
fn refuse_repeated_dag(directives: &[Directive]) -> Result<(), String> {
    for group in directives.split(|d| d.kind != Kind::Dag) {
        for (i, directive) in group.iter().enumerate() {
            if group[..i].iter().any(|d| d.pattern == directive.pattern) {
                return Err(format!("line {}: the same -DAG pattern twice", directive.line));
            }
        }
    }
    Ok(())
}

fn label_regex(directive: &Directive) -> Result<Regex, String> {
    let bad = |e: String| format!("line {}: {e}", directive.line);
    let mut out = String::new();
    for part in parts(directive).map_err(bad)? {
        match part {
            Part::Text(text) => out.push_str(&regex::escape(&text)),
            Part::Regex(regex) => out.push_str(&format!("(?:{regex})")),
            Part::Define(..) | Part::Use(_) => return Err(bad("a label has no variables".to_string())),
        }
    }
    regex::RegexBuilder::new(&out).multi_line(true).build().map_err(|e| bad(e.to_string()))
}

/// Matches the directives of one block. Stores the variables that they define for later blocks.
fn check_block(block: &[&Directive], text: &str, variables: &mut Variables) -> Result<(), String> {
    if block.is_empty() {
        return Ok(());
    }
    let mut builder = CheckerBuilder::new();
    let mut lines = Vec::new();
    let mut names = Vec::new();
    for directive in block {
        let bad = |e: String| format!("line {}: {e}", directive.line);
        let pattern = translate(directive, &mut names).map_err(bad)?;
        let (word, times) = match directive.kind {
            Kind::Plain | Kind::Label => ("check", 1),
            Kind::Count(n) => ("check", n),
            Kind::Next | Kind::Empty => ("nextln", 1),
            Kind::Same => ("sameln", 1),
            Kind::Not => ("not", 1),
            Kind::Dag => ("unordered", 1),
        };
        for _ in 0..times {
            match builder.directive(&format!("{word}: {pattern}")) {
                Ok(true) => lines.push(directive.line),
                Ok(false) => return Err(bad("not understood".to_string())),
                Err(e) => return Err(bad(e.to_string())),
            }
        }
    }
    let checker = builder.finish();
    if checker.is_empty() {
        return Err("nothing is checked".to_string());
    }
    // The crate's explanation assumes that the text ends with a newline.
    let text = if text.ends_with('\n') { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) };
    let (matched, explanation) =
        checker.explain(&text, variables).map_err(|e| format!("line {}: {e}", block[0].line))?;
    if !matched {
        return Err(format!("the output does not match (directive #n is line {lines:?}[n]):\n{explanation}"));
    }
    // Only the explanation contains the values of the variables.
    for line in explanation.lines().filter_map(|l| l.strip_prefix("Define ")) {
        if let Some((name, value)) = line.split_once('=').filter(|(name, _)| names.iter().any(|n| n == name))
        {
            variables.0.insert(name.to_string(), value.to_string());
        }
    }
    Ok(())
}

/// The variables that earlier blocks defined.
#[derive(Default)]
struct Variables(BTreeMap<String, String>);

impl VariableMap for Variables {
    fn lookup(&self, name: &str) -> Option<Value<'_>> {
        self.0.get(name).map(|v| Value::Text(Cow::Borrowed(v)))
    }
}

/// A part of a pattern.
enum Part {
    Text(String),
    Regex(String),
    Define(String, String),
    Use(String),
}

/// Returns the pattern in the crate's syntax. Adds the names that it defines to `names`.
fn translate(directive: &Directive, names: &mut Vec<String>) -> Result<String, String> {
    if directive.kind == Kind::Empty {
        // An empty line. The match has zero width, so that the line after it is the next one.
        return Ok(r"$(=\A$)".to_string());
    }
    let mut out = String::from("$()");
    for part in parts(directive)? {
        match part {
            Part::Text(text) => out.push_str(&text.replace('$', "$$")),
            Part::Regex(regex) => out.push_str(&format!("$(=(?:{regex}))")),
            Part::Define(name, regex) => {
                out.push_str(&format!("$({name}=(?:{regex}))"));
                names.push(name);
            }
            Part::Use(name) => out.push_str(&format!("$({name})")),
        }
    }
    out.push_str("$()");
    Ok(out)
}

/// Splits a pattern at `{{regex}}`, `[[NAME:regex]]` and `[[NAME]]`.
fn parts(directive: &Directive) -> Result<Vec<Part>, String> {
    let pattern = canonical(&directive.pattern);
    if directive.literal {
        return Ok(vec![Part::Text(pattern)]);
    }
    let mut parts = Vec::new();
    let mut rest = pattern.as_str();
    loop {
        let special = [rest.find("{{"), rest.find("[[")].into_iter().flatten().min();
        let Some(at) = special else {
            parts.push(Part::Text(rest.to_string()));
            return Ok(parts);
        };
        parts.push(Part::Text(rest[..at].to_string()));
        let (open, inside) = rest[at..].split_at(2);
        if open == "{{" {
            let end = inside.find("}}").ok_or("`{{` without `}}`")?;
            parts.push(Part::Regex(posix_to_rust(&inside[..end])?));
            rest = &inside[end + 2..];
        } else {
            let end = variable_end(inside).ok_or("`[[` without `]]`; use {LITERAL} for brackets")?;
            let body = &inside[..end];
            let (name, regex) = match body.split_once(':') {
                Some((name, regex)) => (name, Some(regex)),
                None => (body, None),
            };
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_name {
                return Err(format!("`{name}` is no variable's name; use {{LITERAL}} for brackets"));
            }
            parts.push(match regex {
                Some(regex) => Part::Define(name.to_string(), posix_to_rust(regex)?),
                None => Part::Use(name.to_string()),
            });
            rest = &inside[end + 2..];
        }
    }
}

/// Returns the position of the `]]` that ends a variable. Skips brackets in its regex.
fn variable_end(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => depth += 1,
            ']' if depth == 0 => return text[at..].starts_with("]]").then_some(at),
            ']' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Converts LLVM's POSIX extended regex to Rust's syntax: in a bracket expression a backslash, `[`, `&` and
/// `~` are plain characters, and a negated one does not match a newline.
fn posix_to_rust(regex: &str) -> Result<String, String> {
    let mut out = String::with_capacity(regex.len());
    let mut chars = regex.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let next = chars.next().ok_or("a regex ends in a backslash")?;
                if next.is_alphanumeric() {
                    return Err(format!("`\\{next}` means nothing in a POSIX regex"));
                }
                out.push(c);
                out.push(next);
            }
            '[' => {
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push_str(r"^\n");
                }
                if chars.next_if_eq(&']').is_some() {
                    out.push_str(r"\]");
                }
                loop {
                    match chars.next().ok_or("`[` without `]` in a regex")? {
                        ']' => break,
                        '[' if chars.peek() == Some(&':') => {
                            out.push('[');
                            for c in chars.by_ref() {
                                out.push(c);
                                if c == ']' {
                                    break;
                                }
                            }
                        }
                        c @ ('[' | '\\' | '&' | '~') => {
                            out.push('\\');
                            out.push(c);
                        }
                        c => out.push(c),
                    }
                }
                out.push(']');
            }
            '{' | '}' => {
                // A repeat count, or a plain brace.
                let rest: String = chars.clone().take_while(|&c| c != '}').collect();
                let is_count = c == '{'
                    && rest.starts_with(|c: char| c.is_ascii_digit())
                    && rest.chars().all(|c| c.is_ascii_digit() || c == ',');
                if is_count {
                    out.push('{');
                    out.push_str(&rest);
                    out.push('}');
                    chars.nth(rest.len());
                } else {
                    out.push('\\');
                    out.push(c);
                }
            }
            c => out.push(c),
        }
    }
    Ok(out)
}
