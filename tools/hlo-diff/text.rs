//! Renders the differences for a terminal.

use crate::View;
use crate::words::{counts, describe};
use hlo_module_diff::{Change, ComputationDiff, InstructionDiff, Kind};

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const YELLOW: &str = "\x1b[33m";
const BLUE: &str = "\x1b[34m";
const BOLD: &str = "\x1b[1m";
const OFF: &str = "\x1b[0m";

/// Returns the counts on one line.
pub fn summary(view: &View<'_>) -> String {
    format!("{}\n", counts(view.diff.counts()))
}

/// Returns all differences and the counts.
pub fn report(view: &View<'_>, color: bool) -> String {
    let mut out = Report { view, color, text: String::new() };
    if !view.diff.is_same() {
        out.line(RED, &format!("--- {}", view.names[0]));
        out.line(GREEN, &format!("+++ {}", view.names[1]));
    }
    out.changes("module", &view.diff.header);
    for c in view.diff.computations.iter().filter(|c| view.all || !c.is_same()) {
        out.computation(c);
    }
    out.text.push_str(&summary(view));
    out.text
}

struct Report<'a> {
    view: &'a View<'a>,
    color: bool,
    text: String,
}

impl Report<'_> {
    fn line(&mut self, style: &str, text: &str) {
        let (on, off) = if self.color && !style.is_empty() { (style, OFF) } else { ("", "") };
        self.text.push_str(&format!("{on}{text}{off}\n"));
    }

    /// Appends a title and one line for each change. Appends nothing if there are no changes.
    fn changes(&mut self, title: &str, changes: &[Change]) {
        if !changes.is_empty() {
            self.line(BOLD, title);
            for change in changes {
                self.line(YELLOW, &format!("      {}", describe(change)));
            }
        }
    }

    fn computation(&mut self, c: &ComputationDiff) {
        let title = title(self.view, c);
        let mark = match c.kind() {
            Kind::Added => "+ ",
            Kind::Removed => "- ",
            Kind::Same | Kind::Changed | Kind::Renamed => "",
        };
        let style = match c.kind() {
            Kind::Added => GREEN,
            Kind::Removed => RED,
            Kind::Same | Kind::Changed | Kind::Renamed => BOLD,
        };
        self.line("", "");
        self.line(style, &format!("{mark}{title}"));
        for change in &c.changes {
            self.line(YELLOW, &format!("      {}", describe(change)));
        }
        for i in c.instructions.iter().filter(|i| self.view.all || i.kind() != Kind::Same) {
            self.instruction(i);
        }
    }

    fn instruction(&mut self, i: &InstructionDiff) {
        let (left, right) = (i.left.map(|x| (0, x)), i.right.map(|y| (1, y)));
        let Some((side, id)) = right.or(left) else { return };
        let module = if side == 0 { self.view.left } else { self.view.right };
        let text = self.view.lines.get(side).map_or_else(String::new, |l| l.of(module, id));
        match i.kind() {
            Kind::Same => self.line("", &format!("    {text}")),
            Kind::Added => self.line(GREEN, &format!("  + {text}")),
            Kind::Removed => self.line(RED, &format!("  - {text}")),
            Kind::Renamed => self.line(BLUE, &format!("  = {text}")),
            Kind::Changed => self.line(YELLOW, &format!("  ~ {text}")),
        }
        for change in &i.changes {
            self.line("", &format!("      {}", describe(change)));
        }
    }
}

/// Returns the title of a computation: its name on the right side if it exists there.
pub fn title(view: &View<'_>, c: &ComputationDiff) -> String {
    let (module, id) = match (c.left, c.right) {
        (_, Some(id)) => (view.right, id),
        (Some(id), None) => (view.left, id),
        (None, None) => return String::new(),
    };
    let entry = if module.entry() == id { "ENTRY " } else { "" };
    format!("{entry}%{}", module[id].name)
}
