//! Converts the text of a pipeline to steps. `grammar/pipeline.pest` finds the names, and this module
//! resolves them.

use super::classes::pass_of_class;
use super::files::{NoFiles, Reading};
use super::{FIX_OPTIONS, MAX_NESTING, Step};
use crate::pass_info::{OptionInfo, OptionValue, Options, PassInfo};
use crate::pipelines::PipelineInfo;
use crate::pipelines::{PIPELINES, find_pipeline, find_pipeline_ignoring_case};
use crate::registry;
use crate::rules;
use hlo_ir::Span;
use hlo_ir::cursor::{alternatives, token_at};
use hlo_ir::diag::{Diag, Label};
use hlo_ir::suggest::nearest;
use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};
use pest::iterators::Pair;

#[derive(pest_derive::Parser)]
#[grammar = "../../grammar/pipeline.pest"]
struct PipelineGrammar;

/// Parses the steps of a text that is nested inside `depth` other steps.
///
/// # Errors
/// The first syntax error, or otherwise the first wrong name, option or file.
pub(super) fn steps(text: &str, depth: usize, reading: &mut Reading<'_>) -> Result<Vec<Step>, Diag> {
    let parsed = PipelineGrammar::parse(Rule::pipeline, text).map_err(|e| explain(&e, text))?;
    let mut pairs = parsed.flat_map(Pair::into_inner).filter(|p| p.as_rule() != Rule::comma);
    list(&mut pairs, depth, None, reading)
}

/// Converts a syntax error of the grammar to a diagnostic that lists in words what was expected.
fn explain(error: &pest::error::Error<Rule>, text: &str) -> Diag {
    let at = match error.location {
        InputLocation::Pos(p) | InputLocation::Span((p, _)) => p.min(text.len()),
    };
    let words: Vec<&str> = match &error.variant {
        ErrorVariant::ParsingError { positives, .. } => {
            positives.iter().map(|&rule| describe(rule)).collect()
        }
        ErrorVariant::CustomError { .. } => Vec::new(),
    };
    // Omits tokens that may follow any name, if anything else was expected.
    let rare = |word: &&str| !matches!(*word, "" | "`{`" | "`(` and the passes to repeat");
    let mut expected: Vec<&str> = words.iter().copied().filter(rare).collect();
    if expected.is_empty() {
        expected = words.into_iter().filter(|word| !word.is_empty()).collect();
    }
    syntax_error(&alternatives(&expected), text, at)
}

/// Returns the words for a grammar rule, or an empty string for a rule that messages omit.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::pipeline | Rule::group | Rule::pass | Rule::name => "the name of a pass",
        Rule::file | Rule::at_path => "`@FILE`",
        Rule::path | Rule::quoted_path => "the name of a file after `@`",
        Rule::quote => "`\"` at the end of the file's name",
        Rule::option | Rule::option_name => "the name of an option",
        Rule::value => "a value",
        Rule::options | Rule::open_brace => "`{`",
        Rule::close_brace => "`}`",
        Rule::open => "`(` and the passes to repeat",
        Rule::close => "`)`",
        Rule::comma => "`,`",
        Rule::EOI => "the end",
        _ => "",
    }
}

/// Returns the error that `expected` was expected at byte `at`.
fn syntax_error(expected: &str, text: &str, at: usize) -> Diag {
    let (found, length) = token_at(&text[at..]);
    unreadable(Span::new(at, at + length), format!("expected {expected}, found {found}"))
}

fn unreadable(span: Span, label: impl Into<String>) -> Diag {
    Diag::error("a pipeline that can't be read").with_code(rules::PIPELINE).at(span, label.into())
}

fn span(pair: &Pair<'_, Rule>) -> Span {
    Span::new(pair.as_span().start(), pair.as_span().end())
}

/// Parses the steps up to the token that closes `group`, whose opening token has this span. If `group` is
/// `None`, parses up to the end.
fn list<'a>(
    pairs: &mut impl Iterator<Item = Pair<'a, Rule>>,
    depth: usize,
    group: Option<Span>,
    reading: &mut Reading<'_>,
) -> Result<Vec<Step>, Diag> {
    let mut steps = Vec::new();
    let mut unknown: Option<Diag> = None;
    let done = |steps, unknown: Option<Diag>| unknown.map_or(Ok(steps), Err);
    while let Some(pair) = pairs.next() {
        let place = span(&pair);
        match pair.as_rule() {
            Rule::close if group.is_some() => return done(steps, unknown),
            Rule::close => {
                let d = unreadable(place, "expected `,` or the end, found `)`");
                return Err(unknown.unwrap_or(d));
            }
            Rule::EOI => {
                return match group {
                    None => done(steps, unknown),
                    Some(open) => Err(unreadable(place, "expected `,` or `)`").and(open, "opened here")),
                };
            }
            Rule::file => steps.extend(file(pair, depth, reading)?),
            rule => {
                let step = match rule {
                    Rule::group => fix(pair, pairs, depth, reading),
                    _ => step(pair, depth, reading),
                };
                match step {
                    Ok(step) => steps.push(step),
                    // Continue, because later names may be wrong too.
                    Err(d) if d.code == Some(rules::PASS_NAME) => {
                        unknown = Some(unknown.map_or(d.clone(), |first| both(first, d)));
                    }
                    Err(d) => return Err(unknown.unwrap_or(d)),
                }
            }
        }
    }
    done(steps, unknown)
}

/// Combines the diagnostics of two unknown passes: adds the labels, notes and suggestions of `second` to
/// `first`.
fn both(mut first: Diag, second: Diag) -> Diag {
    first.labels.extend(second.labels.into_iter().map(|label| Label { primary: false, ..label }));
    let new = |note: &String| !first.notes.contains(note);
    let notes: Vec<String> = second.notes.into_iter().filter(new).collect();
    first.notes.extend(notes);
    first.suggestions.extend(second.suggestions);
    first
}

/// Parses `@FILE`: returns the steps in the file.
fn file(pair: Pair<'_, Rule>, depth: usize, reading: &mut Reading<'_>) -> Result<Vec<Step>, Diag> {
    let mut parts = pair.into_inner();
    let Some(at_path) = parts.next() else { return Ok(Vec::new()) };
    let place = span(&at_path);
    let (path, _) = word(at_path.into_inner().next());
    options(parts.next(), &format!("@{path}"), &[])?;
    let deeper = inside(depth, place)?;
    let failed = |message: String| Diag::error(message).with_code(rules::PIPELINE).at(place, "");
    let file = reading.open(path).map_err(failed)?;
    let steps = steps(&file.text, deeper, reading);
    reading.close();
    steps.map_err(|d| reading.fail(d, file))
}

/// Returns the depth of steps that are nested inside a step of depth `depth`.
fn inside(depth: usize, place: Span) -> Result<usize, Diag> {
    if depth >= MAX_NESTING {
        return Err(unreadable(place, format!("pipelines are nested more than {MAX_NESTING} deep")));
    }
    Ok(depth + 1)
}

/// Parses `fix{limit=N}(` and the steps up to its `)`.
fn fix<'a>(
    pair: Pair<'a, Rule>,
    pairs: &mut impl Iterator<Item = Pair<'a, Rule>>,
    depth: usize,
    reading: &mut Reading<'_>,
) -> Result<Step, Diag> {
    let place = span(&pair);
    let mut parts = pair.into_inner();
    let (name, at) = word(parts.next());
    if name != "fix" {
        let d = unknown_pass(name, at);
        let d = d.note("passes run on the whole module; only `fix(…)` has passes in parentheses");
        return Err(match list(pairs, inside(depth, place)?, Some(place), reading) {
            Err(inner) if inner.code == Some(rules::PASS_NAME) => both(d, inner),
            _ => d,
        });
    }
    let written = parts.next().filter(|p| p.as_rule() == Rule::options);
    let braces = written.as_ref().map_or(at, span);
    let options = options(written, "fix", FIX_OPTIONS)?;
    let limit = options.count("limit");
    if limit == 0 {
        return Err(Diag::error("`fix` repeats its passes at least once, found a `limit` of 0")
            .with_code(rules::PASS_OPTION_VALUE)
            .at(braces, "nothing would run"));
    }
    let steps = list(pairs, inside(depth, place)?, Some(place), reading)?;
    Ok(Step::Fix { limit, steps })
}

/// Parses a pass or a named pipeline.
fn step(pair: Pair<'_, Rule>, depth: usize, reading: &mut Reading<'_>) -> Result<Step, Diag> {
    let mut parts = pair.into_inner();
    let (name, place) = word(parts.next());
    if let Some(info) = pass(name, reading) {
        let options = options(parts.next(), info.name, info.options)?;
        let pass = (info.build)(info, &options);
        return Ok(Step::Pass { info, options, pass });
    }
    let Some(info) = pipeline(name, reading) else {
        let names = registry::passes().into_iter().map(|p| p.name).chain(["fix"]);
        let names = names.chain(PIPELINES.iter().map(|p| p.name));
        let d = unknown_pass(name, place);
        let d = match pass_of_class(name) {
            Some(pass) => d.did_you_mean(place, pass),
            None => propose(d, place, name, names),
        };
        return Err(d.note(if registry::has_registered_groups() {
            "`hlo-opt --list-passes` lists them"
        } else {
            "this program does not have the passes of the crate `hlo-passes-xla`, which `hlo-opt --list-passes` lists, too"
        }));
    };
    options(parts.next(), info.name, &[])?;
    let deeper = inside(depth, place)?;
    let inner = steps(info.text, deeper, &mut Reading::new(&mut NoFiles)).map_err(|d| {
        // This is a defect in the list of named pipelines. The user did not write that text, so the error
        // does not point into it.
        Diag::error(format!("pipeline `{}` can't be read: {}", info.name, d.message))
            .with_code(rules::PIPELINE)
            .at(place, "")
    })?;
    Ok(Step::Named { info, steps: inner })
}

/// Returns the text and the span of a token.
fn word(pair: Option<Pair<'_, Rule>>) -> (&str, Span) {
    pair.map_or(("", Span::default()), |p| (p.as_str(), span(&p)))
}

fn unknown_pass(name: &str, place: Span) -> Diag {
    Diag::error(format!("there is no pass `{name}`"))
        .with_code(rules::PASS_NAME)
        .at(place, "not the name of a pass")
}

/// Finds a pass by name, and records a different spelling in `reading`.
fn pass(name: &str, reading: &mut Reading<'_>) -> Option<&'static PassInfo> {
    registry::find(name).or_else(|| {
        let info = registry::find_ignoring_case(name).filter(|_| find_pipeline(name).is_none())?;
        reading.respelt.push((name.to_owned(), info.name));
        Some(info)
    })
}

/// Finds a named pipeline, and records a different spelling in `reading`.
fn pipeline(name: &str, reading: &mut Reading<'_>) -> Option<&'static PipelineInfo> {
    find_pipeline(name).or_else(|| {
        let info = find_pipeline_ignoring_case(name)?;
        reading.respelt.push((name.to_owned(), info.name));
        Some(info)
    })
}

/// Parses the options `{name=value,…}`, if present.
fn options(
    braces: Option<Pair<'_, Rule>>,
    pass: &str,
    infos: &'static [OptionInfo],
) -> Result<Options, Diag> {
    let mut options = Options::defaults(infos);
    let mut seen: Vec<&str> = Vec::new();
    let written = braces.into_iter().flat_map(Pair::into_inner).filter(|p| p.as_rule() == Rule::option);
    for option in written {
        let mut parts = option.into_inner();
        let (name, place) = word(parts.next());
        let Some(info) = infos.iter().find(|o| o.name == name) else {
            let d = Diag::error(format!("`{pass}` has no option `{name}`")).with_code(rules::PASS_OPTION);
            let d = d.at(place, "not an option of this pass");
            return Err(if infos.is_empty() {
                d.note(format!("`{pass}` has no options"))
            } else {
                propose(d, place, name, infos.iter().map(|o| o.name))
            });
        };
        if seen.contains(&name) {
            let d =
                Diag::error(format!("option `{name}` is given twice")).with_code(rules::PASS_OPTION_TWICE);
            return Err(d.at(place, "given before"));
        }
        seen.push(name);
        options.set(name, value(info, parts.next(), place)?);
    }
    Ok(options)
}

/// Parses the value of an option whose name has the span `name`. A switch needs no value.
fn value(info: &OptionInfo, written: Option<Pair<'_, Rule>>, name: Span) -> Result<OptionValue, Diag> {
    let Some(written) = written else {
        return match info.default {
            OptionValue::Switch(_) => Ok(OptionValue::Switch(true)),
            OptionValue::Count(_) | OptionValue::Choice { .. } => {
                Err(unreadable(name, format!("expected `=` and a value for `{}`", info.name)))
            }
        };
    };
    let (text, place) = (written.as_str(), span(&written));
    let (value, expected) = match info.default {
        OptionValue::Count(_) => {
            (text.parse().ok().map(OptionValue::Count), "a number, not negative".to_owned())
        }
        OptionValue::Switch(_) => {
            (text.parse().ok().map(OptionValue::Switch), "`true` or `false`".to_owned())
        }
        OptionValue::Choice { of, .. } => {
            let found = of.iter().find(|w| **w == text);
            let words: Vec<String> = of.iter().map(|w| format!("`{w}`")).collect();
            (found.map(|word| OptionValue::Choice { word, of }), alternatives(&words))
        }
    };
    value.ok_or_else(|| {
        Diag::error(format!("`{text}` is no value for `{}`", info.name))
            .with_code(rules::PASS_OPTION_VALUE)
            .at(place, format!("expected {expected}"))
    })
}

/// Adds a "did you mean" suggestion if one of `names` is similar.
fn propose(diag: Diag, span: Span, name: &str, names: impl Iterator<Item = &'static str>) -> Diag {
    match nearest(name, names) {
        Some(n) => diag.did_you_mean(span, n),
        None => diag,
    }
}
