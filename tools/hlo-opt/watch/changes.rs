//! `--print-changed`: shows the changes of each pass as a unified diff.

use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use similar::{Algorithm, ChangeTag, TextDiff};

/// Number of context lines around a change.
const CONTEXT_LINES: usize = 3;

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
        // Patience diff relies on unique lines. Names make most lines unique.
        let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_lines(&self.before, after);
        let mut out = header;
        for hunk in diff.unified_diff().context_radius(CONTEXT_LINES).iter_hunks() {
            out.push_str(&self.styled("36", &format!("{}\n", hunk.header())));
            for change in hunk.iter_changes() {
                let line = change.value().trim_end_matches('\n');
                out.push_str(&match change.tag() {
                    ChangeTag::Delete => self.styled("31", &format!("-{line}\n")),
                    ChangeTag::Insert => self.styled("32", &format!("+{line}\n")),
                    ChangeTag::Equal => format!(" {line}\n"),
                });
            }
        }
        out.push('\n');
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
}
