//! Generates the reference page of the passes, `docs/passes.md`, from the registry.

use crate::pass_info::{OptionInfo, OptionValue, PassInfo, Preservation, Schedule};
use crate::pipeline::{FIX_OPTIONS, Pipeline};
use crate::pipelines::PIPELINES;
use crate::registry::groups;
use crate::rewriting::{Proof, RuleSet};
use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use std::fmt::Write;

/// Returns the text of `docs/passes.md`. `parse` parses the examples, because this crate does not use the
/// parser.
pub fn passes_markdown(parse: &dyn Fn(&str) -> Module) -> String {
    let mut out = String::from(
        "# Passes\n\n\
         This page is generated from the registry. `BLESS=1 cargo test -p hlo-passes docs::` updates it.\n\n\
         A pipeline is a list of passes separated by commas, with options in braces:\n\
         `--passes=algsimp,constant_folding{max-elements=64},fix{limit=10}(cse,dce)`. A line break also separates \
         passes. A comment starts with `#` or `//` and ends with its line. `--passes=@FILE` reads a pipeline from a \
         file. `--print-pipeline` prints the full pipeline: one pass per line, with all options. You can write names \
         with `-` or `_`, and in upper or lower case. A note shows the name that is used.\n\n\
         If your program uses the library `hlo-passes`, call `hlo_passes_xla::register()` first. Otherwise the library knows \
         only the passes that the project itself runs.\n",
    );
    for (title, passes) in groups() {
        let _ = write!(out, "\n# {title}\n");
        for p in passes {
            section(&mut out, p, parse);
        }
    }
    out.push_str(
        "\n## `fix`\n\nRepeats the passes in parentheses until a round changes nothing: `fix(cse,dce)`.\n",
    );
    options(&mut out, FIX_OPTIONS);
    out.push_str(
        "\n# Named pipelines\n\nYou can write the name of a pipeline wherever a pass is allowed: \
         `--passes=lowering,fix(simplification,fusion)`.\n",
    );
    for p in PIPELINES {
        let lines = p.text.lines().map(|l| format!("{}\n", l.trim())).collect::<String>();
        let _ = write!(out, "\n## `{}`\n\n{}:\n\n```\n{lines}```\n", p.name, sentence(p.summary));
    }
    out
}

/// Writes the section of a pass.
fn section(out: &mut String, p: &PassInfo, parse: &dyn Fn(&str) -> Module) {
    // Writing to a string does not fail.
    let _ = write!(out, "\n## `{}`\n\n{}.\n", p.name, sentence(p.summary));
    options(out, p.options);
    if p.keeps == Preservation::Values {
        out.push_str("\nResults may differ in rounding.\n");
    }
    if p.schedule == Schedule::Needed {
        out.push_str(
            "\nThe pass requires a schedule. It does not change a module without one, and emits a warning.\n",
        );
    }
    if p.only_checks {
        return;
    }
    let _ = write!(out, "\n{}", example(p, parse));
    if p.rules.is_some() {
        out.push_str(
            "\nRules, in the language of [adding-a-rule.md](adding-a-rule.md). A rule that is *proved* keeps every bit \
             for all values, element types and sizes; a rule that is *tested* was compared with random values of \
             some types, or proved for small sizes or ranks only:\n\n| rule | clauses | |\n|---|---|---|\n",
        );
    }
    for rule in p.rules.into_iter().flat_map(RuleSet::iter) {
        let clauses: Vec<String> =
            rule.lines.iter().map(|l| format!("`{}`", l.replace('|', "\\|"))).collect();
        let proof = match Proof::of(rule) {
            Proof::Proved => "proved",
            Proof::Tested => "tested",
            Proof::Unknown => "not checked",
        };
        let _ = writeln!(out, "| `{}` | {} | {proof} |", rule.name, clauses.join("<br>"));
    }
    if !p.patterns.is_empty() {
        out.push_str("\n| pattern | what it does |\n|---|---|\n");
        for pattern in p.patterns.iter().flat_map(|table| table.iter()) {
            let _ = writeln!(out, "| `{}` | {} |", pattern.name, pattern.summary.replace('|', "\\|"));
        }
    }
}

/// Returns the example of a pass before and after it, as Markdown.
fn example(pass: &PassInfo, parse: &dyn Fn(&str) -> Module) -> String {
    let (before, after) = pass_example(pass, parse);
    if before == after {
        return format!(
            "```\n{before}\n```\n\nThe printed module stays the same, because the text form does not contain what changed.\n"
        );
    }
    format!("```\n{before}\n```\n\nbecomes\n\n```\n{after}\n```\n")
}

/// Returns the example of a pass before and after it. Both texts omit the header and other details, unless
/// only they show the change or the module has a schedule. Both texts are equal if the text form does not
/// show the change. `parse` parses the example.
pub fn pass_example(pass: &PassInfo, parse: &dyn Fn(&str) -> Module) -> (String, String) {
    let before = parse(pass.example);
    let mut after = before.clone();
    // The tests run every example, so failures are reported there.
    if !Pipeline::parse(pass.name).is_ok_and(|p| p.run(&mut after, &mut ()).is_ok()) {
        return (short(&before), String::new());
    }
    let (brief, in_full) = ((short(&before), short(&after)), (full(&before), full(&after)));
    // Without its header, a scheduled module would read as an unscheduled one.
    let header_tells = before.header.is_scheduled || brief.0 == brief.1 && in_full.0 != in_full.1;
    if header_tells { in_full } else { brief }
}

/// Prints the module without its header, which only repeats the signature of the entry.
fn short(module: &Module) -> String {
    let text = print_module(module, &PrintOptions { metadata: false, ..PrintOptions::short() });
    text.split_once("\n\n").map_or(text.as_str(), |(_, body)| body).trim_end().to_owned()
}

/// Prints the module with its header and control dependencies.
fn full(module: &Module) -> String {
    let options = PrintOptions { metadata: false, control_predecessors: true, ..PrintOptions::short() };
    print_module(module, &options).trim_end().to_owned()
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
        let words = match o.default {
            OptionValue::Choice { of, .. } => format!(" (`{}`)", of.join("`, `")),
            OptionValue::Count(_) | OptionValue::Switch(_) => String::new(),
        };
        let _ = writeln!(out, "| `{}` | `{}` | {}{words} |", o.name, o.default, o.summary);
    }
}
