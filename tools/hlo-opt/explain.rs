//! `--explain` and `--list-rules`: prints the table of rules, and explains single rules, passes and
//! pipelines.

use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::rules::{Family, RuleInfo};
use hlo_ir::suggest::nearest;
use hlo_ir::verify::{Strictness, verify_strictly};
use hlo_passes::{
    PIPELINES, PassInfo, PipelineInfo, Preservation, Schedule, find, find_ignoring_case, find_pipeline,
    pass_example, pass_of_class, passes,
};
use hlo_tools_common::format::parse_and_verify;
use hlo_tools_common::language::LanguageArgs;
use hlo_tools_common::{Failure, Input, rules};

/// Explains a rule by its code or name, or a pass or pipeline by its name. `all` explains every rule.
pub fn explain(text: &str, color: bool) -> Result<String, Failure> {
    if text == "all" {
        let families = rules::families();
        let entries: Vec<String> = families
            .iter()
            .flat_map(|family| family.rules.iter().map(|rule| entry(family, rule, color)))
            .collect();
        return Ok(entries.join("\n"));
    }
    if let Some((family, rule)) = rules::find(text) {
        return Ok(entry(&family, rule, color));
    }
    if let Some(pipeline) = find_pipeline(text) {
        return Ok(pipeline_entry(pipeline, color));
    }
    match find(text).or_else(|| find_ignoring_case(text)) {
        Some(pass) => pass_entry(pass, color),
        None => Err(Failure::argument("--explain", text, vec![unknown(text)])),
    }
}

fn unknown(text: &str) -> Diag {
    let span = hlo_ir::Span::new(0, text.len());
    let diag = Diag::error(format!("there is no rule or pass `{text}`"))
        .at(span, "not the code or name of a rule, and not the name of a pass");
    let upper = text.to_ascii_uppercase();
    let families = rules::families();
    let all = || families.iter().flat_map(|family| family.rules);
    let code = nearest(&upper, all().map(|r| r.code.as_str()));
    let names = all().map(|r| r.name).chain(passes().into_iter().map(|p| p.name));
    let near = || nearest(text, names.chain(PIPELINES.iter().map(|p| p.name))).or(code);
    match pass_of_class(text).or_else(near) {
        Some(name) => diag.did_you_mean(span, name),
        None => diag.note("`--list-rules` lists all rules, `--list-passes` all passes"),
    }
}

/// Explains a pass: options, rewrites, and its example before and after.
fn pass_entry(pass: &PassInfo, color: bool) -> Result<String, Failure> {
    let (on, off) = bold(color);
    let mut out = format!("{on}{}{off}: {}\n", pass.name, pass.summary);
    if pass.keeps == Preservation::Values {
        out.push_str("\nResults may differ in rounding.\n");
    }
    if pass.schedule == Schedule::Needed {
        out.push_str(
            "\nThe pass requires a schedule. It does not change a module without one, and emits a warning.\n",
        );
    }
    let options = pass.options.iter().map(|o| (format!("{}={}", o.name, o.default), o.summary.to_string()));
    columns(&mut out, &format!("{on}Options, with their defaults{off}"), options.collect());
    let patterns = pass.patterns().map(|(name, what)| (name.to_string(), what.to_string()));
    columns(&mut out, &format!("{on}Rewrites{off}"), patterns.collect());
    if pass.only_checks {
        return Ok(out);
    }
    let source = Source { name: format!("the example of {}", pass.name), text: pass.example.to_string() };
    let module =
        parse_and_verify(pass.example, false).map_err(|diags| Failure::diags(&source, diags))?.module;
    let (before, after) = pass_example(pass, &|_| module.clone());
    out.push_str(&format!("\n{on}Example{off}\n\n{}\n", indent(&before)));
    out.push_str(&if before == after {
        "The printed module stays the same, because the text form does not contain what changed.\n"
            .to_string()
    } else {
        format!("{on}becomes{off}\n\n{}", indent(&after))
    });
    Ok(out)
}

fn pipeline_entry(pipeline: &PipelineInfo, color: bool) -> String {
    let (on, off) = bold(color);
    let lines: String = pipeline.text.lines().map(|l| format!("{}\n", l.trim())).collect();
    let PipelineInfo { name, summary, .. } = pipeline;
    format!("{on}{name}{off}: {summary}\n\n{on}Passes{off}\n\n{}", indent(lines.trim()))
}

/// Appends a table of two columns with a title, unless it has no rows.
fn columns(out: &mut String, title: &str, rows: Vec<(String, String)>) {
    let Some(width) = rows.iter().map(|(name, _)| name.chars().count()).max() else { return };
    out.push_str(&format!("\n{title}\n\n"));
    for (name, what) in rows {
        out.push_str(&format!("    {name:width$}  {what}\n"));
    }
}

/// Explains a rule, with its example and the diagnostics for it.
fn entry(family: &Family, rule: &RuleInfo, color: bool) -> String {
    let (on, off) = bold(color);
    let RuleInfo { code, name, rule: sentence, why, fix, section, example } = *rule;
    let mut out = format!("{on}{code} {name}{off}\n\n{}\n\n{}\n", wrap(sentence), wrap(why));
    match example {
        Some(text) => {
            let shown = rendered(family, rule, text, color);
            out.push_str(&format!("\n{on}Example{off}\n\n{}\n{}", indent(text), indent(&shown)));
            out.push_str(&format!("\n{on}To mend it{off}: {fix}\n"));
        }
        None if code.as_str()[1..].starts_with("20") => out.push_str(&format!("\n{on}To mend it{off}: {fix}\n")),
        None => out.push_str(&format!(
            "\n{on}Example{off}: none, because text can't break this rule; a program that builds or changes a module \
             can.\n\n{on}To mend it{off}: {fix}\n"
        )),
    }
    out.push_str(&format!("{on}From{off}: {section}\n"));
    out
}

/// Returns the diagnostics for the example, rendered as for a file.
fn rendered(family: &Family, rule: &RuleInfo, text: &str, color: bool) -> String {
    let source = Source { name: family.example.to_string(), text: text.to_string() };
    let input = Input { source, given: None };
    let diags = match LanguageArgs::default().parse(&input, text, false, &|| Ok(Vec::new())) {
        Ok(Ok(parsed)) if rule.code.as_str().starts_with("E13") => {
            verify_strictly(&parsed.module, &Strictness::ALL)
        }
        Ok(Ok(parsed)) => parsed.warnings,
        Ok(Err(diags)) => diags,
        Err(_) => Vec::new(),
    };
    let all: Vec<String> = diags.iter().map(|d| render(d, &input.source, color)).collect();
    all.join("\n").trim_end().to_string()
}

/// Returns the table of rules by family: code, name and text.
pub fn table(color: bool) -> String {
    let (on, off) = bold(color);
    let families = rules::families();
    let width = families.iter().flat_map(|family| family.rules).map(|r| r.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for Family { title, rules, .. } in families.iter().filter(|family| !family.rules.is_empty()) {
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

/// Wraps a text at a readable line length.
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
