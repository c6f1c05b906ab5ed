//! `--list-passes`.

use hlo_passes::{FIX_OPTIONS, OptionInfo, PASSES};

/// The passes with their summaries and options, names in bold if `color` is set.
pub fn pass_list(color: bool) -> String {
    let width = PASSES.iter().map(|p| p.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for p in PASSES {
        entry(&mut out, p.name, p.summary, p.options, width, color);
    }
    out.push('\n');
    entry(
        &mut out,
        "fix(…)",
        "repeat the passes in parentheses until nothing changes",
        FIX_OPTIONS,
        width,
        color,
    );
    out
}

fn entry(out: &mut String, name: &str, summary: &str, options: &[OptionInfo], width: usize, color: bool) {
    let padding = " ".repeat(width.saturating_sub(name.chars().count()));
    let (on, off) = if color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    out.push_str(&format!("{on}{name}{off}{padding}  {summary}\n"));
    for o in options {
        out.push_str(&format!("{:width$}    {{{}={}}}  {}\n", "", o.name, o.default, o.summary));
    }
}
