//! The reference page of the passes, `docs/passes.md`, from what the registry says.

use crate::{CPU_PIPELINE, FIX_OPTIONS, OptionInfo, PASSES, pattern_summaries};
use std::fmt::Write;

/// The text of `docs/passes.md`.
pub fn passes_markdown() -> String {
    let mut out = String::from(
        "# Passes\n\n\
         Generated from the registry (`BLESS=1 cargo test -p hlo-passes --test docs` writes it again).\n\n\
         A pipeline is a list of passes separated by commas, with options in braces:\n\
         `--passes=algsimp,constant_folding{max-elements=64},fix{limit=10}(cse,dce)`.\n",
    );
    for p in PASSES {
        // Writing to a string does not fail.
        let _ = write!(out, "\n## `{}`\n\n{}.\n", p.name, sentence(p.summary));
        options(&mut out, p.options);
        if p.name == "algsimp" {
            out.push_str("\n| pattern | what it does |\n|---|---|\n");
            for (name, summary) in pattern_summaries() {
                let _ = writeln!(out, "| `{name}` | {} |", summary.replace('|', "\\|"));
            }
        }
    }
    out.push_str(
        "\n## `fix`\n\nRepeats the passes in parentheses until a round changes nothing: `fix(cse,dce)`.\n",
    );
    options(&mut out, FIX_OPTIONS);
    let _ = write!(
        out,
        "\n## The pipeline for compiled execution\n\nWhat `hlo-run` runs before it generates code:\n\n```\n{}\n```\n",
        CPU_PIPELINE
            .replace(",fix", ",\nfix")
            .replace(",broadcast", ",\nbroadcast")
            .replace("),fusion", "),\nfusion")
    );
    out
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |c| c.to_uppercase().chain(chars).collect())
}

fn options(out: &mut String, options: &[OptionInfo]) {
    if options.is_empty() {
        return;
    }
    out.push_str("\n| option | default | what it sets |\n|---|---|---|\n");
    for o in options {
        let _ = writeln!(out, "| `{}` | `{}` | {} |", o.name, o.default, o.summary);
    }
}
