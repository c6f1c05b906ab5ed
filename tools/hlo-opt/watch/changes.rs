//! `--print-changed`: shows the changes of each pass as a unified diff.

use std::ops::Range;

use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use imara_diff::{Algorithm, Diff, Hunk, InternedInput, Token};

/// Number of context lines around a change.
const CONTEXT_LINES: u32 = 3;

/// The module as last printed.
pub struct Changes {
    options: PrintOptions,
    color: bool,
    before: String,
}

impl Changes {
    /// Creates the state. Large constants are not printed, because megabytes of numbers would hide the
    /// changes.
    pub fn new(options: &PrintOptions, color: bool) -> Self {
        let options = PrintOptions { print_large_constants: false, ..options.clone() };
        Self { options, color, before: String::new() }
    }

    /// Starts a module.
    pub fn begin(&mut self, module: &Module) {
        self.before = print_module(module, &self.options);
    }

    /// Returns the changes of a pass.
    pub fn after(&mut self, pass: &str, module: &Module) -> String {
        let text = print_module(module, &self.options);
        let shown = self.difference(pass, &text);
        self.before = text;
        shown
    }

    fn difference(&self, pass: &str, after: &str) -> String {
        let header = self.styled("1", &format!("--- before {pass}\n+++ after {pass}\n"));
        if self.before == after {
            return format!("{header}(what changed is not printed: elements of a large constant, say)\n\n");
        }
        let lines = InternedInput::new(self.before.as_str(), after);
        // A histogram diff matches rare lines first. Names make most lines unique.
        let mut diff = Diff::compute(Algorithm::Histogram, &lines);
        diff.postprocess_lines(&lines);
        let hunks: Vec<Hunk> = diff.hunks().collect();
        let mut out = header;
        // Hunks whose context would overlap are shown together.
        for group in hunks.chunk_by(|a, b| b.before.start - a.before.end <= 2 * CONTEXT_LINES) {
            out.push_str(&self.group(&lines, group));
        }
        out.push('\n');
        out
    }

    /// Returns the lines of adjacent hunks, with their header and context. Returns nothing without hunks.
    fn group(&self, lines: &InternedInput<&str>, hunks: &[Hunk]) -> String {
        let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else { return String::new() };
        let leading = first.before.start.min(CONTEXT_LINES);
        let trailing = (lines.before.len() as u32 - last.before.end).min(CONTEXT_LINES);
        let before = first.before.start - leading..last.before.end + trailing;
        let after = first.after.start - leading..last.after.end + trailing;
        let mut out = self.styled("36", &format!("@@ -{} +{} @@\n", numbers(&before), numbers(&after)));
        let mut line = |style: Option<&str>, sign: char, token: Token| {
            let text = format!("{sign}{}\n", lines.interner[token].trim_end_matches('\n'));
            out.push_str(&match style {
                Some(style) => self.styled(style, &text),
                None => text,
            });
        };
        let mut at = before.start;
        for hunk in hunks {
            tokens(&lines.before, &(at..hunk.before.start)).for_each(|t| line(None, ' ', t));
            tokens(&lines.before, &hunk.before).for_each(|t| line(Some("31"), '-', t));
            tokens(&lines.after, &hunk.after).for_each(|t| line(Some("32"), '+', t));
            at = hunk.before.end;
        }
        tokens(&lines.before, &(at..before.end)).for_each(|t| line(None, ' ', t));
        out
    }

    /// Colors lines.
    fn styled(&self, style: &str, lines: &str) -> String {
        if !self.color {
            return lines.to_owned();
        }
        lines.lines().map(|line| format!("\x1b[{style}m{line}\x1b[0m\n")).collect()
    }
}

/// Returns the lines of a range.
fn tokens(lines: &[Token], range: &Range<u32>) -> impl Iterator<Item = Token> {
    lines[range.start as usize..range.end as usize].iter().copied()
}

/// Formats a range of lines as the header of a unified diff: the number of the first line, counted from 1, and
/// the number of lines unless it is 1. An empty range has the number of the line before it.
fn numbers(range: &Range<u32>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        n => format!("{},{n}", range.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(before: &str, color: bool) -> Changes {
        Changes { options: PrintOptions::default(), color, before: before.to_owned() }
    }

    #[test]
    fn a_unified_diff() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let shown = changes(before, false).difference("dce", "a\nb\nc\nd\nE\nf\ng\nh\n");
        assert_eq!(
            shown,
            "--- before dce\n+++ after dce\n@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n\n"
        );
        let shown = changes("a\n", true).difference("dce", "b\n");
        assert!(shown.contains("\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n"), "{shown:?}");
        assert!(changes("a\n", false).difference("dce", "a\n").contains("not printed"));
    }

    #[test]
    fn hunks_are_joined_if_their_context_meets() {
        let text = |changed: &[usize]| -> String {
            (1..=30)
                .map(|n| if changed.contains(&n) { format!("new {n}\n") } else { format!("{n}\n") })
                .collect()
        };
        let shown = |changed: &[usize]| changes(&text(&[]), false).difference("dce", &text(changed));
        let headers = |changed: &[usize]| -> Vec<String> {
            shown(changed).lines().filter(|line| line.starts_with("@@")).map(str::to_owned).collect()
        };
        assert_eq!(headers(&[4, 11]), ["@@ -1,14 +1,14 @@"]);
        assert_eq!(headers(&[4, 12]), ["@@ -1,7 +1,7 @@", "@@ -9,7 +9,7 @@"]);
        assert_eq!(headers(&[30]), ["@@ -27,4 +27,4 @@"]);
        let shown = changes("", false).difference("dce", "a\n");
        assert!(shown.contains("@@ -0,0 +1 @@\n+a\n"), "{shown}");
    }
}
