//! `--list-passes`: lists the passes and pipelines.

use crate::args::ListFormat;
use hlo_passes::{FIX_OPTIONS, OptionInfo, PIPELINES, groups, passes};

/// Returns the passes in a format. `color` applies to tables.
pub fn listed(format: ListFormat, color: bool) -> String {
    let lines = |names: &mut dyn Iterator<Item = &str>| names.map(|name| format!("{name}\n")).collect();
    match format {
        ListFormat::Table => pass_list(color),
        ListFormat::Names => lines(&mut passes().iter().map(|p| p.name)),
        ListFormat::Pipelines => lines(&mut PIPELINES.iter().map(|p| p.name)),
    }
}

/// Returns the passes with summaries and options, by group, then the named pipelines. Names are bold if
/// `color` is set.
fn pass_list(color: bool) -> String {
    let width = passes().iter().map(|p| p.name.len()).max().unwrap_or(0);
    let (on, off) = style(color, "\x1b[1;4m");
    let mut out = String::new();
    for (title, passes) in groups() {
        out.push_str(&format!("{on}{title}{off}\n"));
        for p in passes {
            entry(&mut out, p.name, p.summary, p.options, width, color);
        }
        out.push('\n');
    }
    out.push_str(&format!("{on}Pipelines{off}\n"));
    for p in PIPELINES {
        entry(&mut out, p.name, p.summary, &[], width, color);
    }
    let summary = "repeat the passes in parentheses until nothing changes";
    entry(&mut out, "fix(…)", summary, FIX_OPTIONS, width, color);
    out
}

fn entry(out: &mut String, name: &str, summary: &str, options: &[OptionInfo], width: usize, color: bool) {
    let padding = " ".repeat(width.saturating_sub(name.chars().count()));
    let (on, off) = style(color, "\x1b[1m");
    out.push_str(&format!("{on}{name}{off}{padding}  {summary}\n"));
    for o in options {
        out.push_str(&format!("{:width$}    {{{}={}}}  {}\n", "", o.name, o.default, o.summary));
    }
}

/// Returns the codes that switch a style on and off, or empty strings if styles are off.
fn style(color: bool, on: &'static str) -> (&'static str, &'static str) {
    if color { (on, "\x1b[0m") } else { ("", "") }
}
