//! Properties of all texts, which tests and fuzz targets check.
//!
//! Each function returns a description of the problem. A panic is a finding, too.

use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::rules::code;
use hlo_ir::{Module, Span};
use hlo_parser::{MAX_ERRORS, Parsed, parse_literal, parse_shape};

/// The result of a check, or a description of the problem.
pub type Check<T = ()> = Result<T, String>;

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(message()) }
}

fn check_span(span: Span, text: &str, of: &str) -> Check {
    ensure(text.get(span.range()).is_some(), || {
        format!("{of} has the span {}..{}, which is no part of the text", span.start, span.end)
    })
}

/// Checks the diagnostics of `text`: there is at least one, at most the parser's limit if `limited`, each
/// span is valid, and each can be rendered.
pub(crate) fn check_diags(diags: &[Diag], text: &str, limited: bool) -> Check {
    ensure(!diags.is_empty(), || "refused without a diagnostic".into())?;
    ensure(!limited || diags.len() <= MAX_ERRORS, || format!("{} errors at once", diags.len()))?;
    let source = Source { name: "input".into(), text: text.into() };
    // All spans are checked, but only some diagnostics are rendered, because rendering is expensive.
    for d in diags {
        for l in &d.labels {
            check_span(l.span, text, &format!("the error `{}`", d.message))?;
        }
    }
    for d in diags.iter().take(MAX_ERRORS) {
        ensure(!render(d, &source, false).is_empty(), || format!("`{}` is shown as nothing", d.message))?;
    }
    Ok(())
}

/// Returns the print forms that keep a module's information. The short form omits metadata.
fn forms() -> [(&'static str, PrintOptions); 2] {
    [("default", PrintOptions::default()), ("short", PrintOptions::short())]
}

/// Parses printed text.
fn reread(form: &str, printed: &str) -> Check<Module> {
    let finding = |what: &str, diags: &mut dyn Iterator<Item = &Diag>| {
        let source = Source { name: format!("{form} form"), text: printed.into() };
        let shown: String = diags.take(3).map(|d| render(d, &source, false)).collect();
        format!("what was printed {what}:\n{shown}\n{printed}")
    };
    let parsed = hlo_parser::parse(printed).map_err(|d| finding("does not parse", &mut d.iter()))?;
    // A module that is not normalized has the stack frames of its text.
    let mut unexpected = parsed.warnings.iter().filter(|d| d.code != Some(code::STACK_FRAME)).peekable();
    ensure(unexpected.peek().is_none(), || finding("is warned of", &mut unexpected))?;
    Ok(parsed.module)
}

/// Checks that the default form parses to the same module, and that every form prints the same text again
/// after parsing.
///
/// # Errors
/// Returns an error if the printed text does not parse, has warnings, parses to another module, or prints
/// differently.
pub fn round_trip(module: &Module) -> Check {
    fixed_points(module)?;
    reads_back(module)
}

/// Checks that the default form of a module parses to the same module.
///
/// # Errors
/// Returns an error if the printed text does not parse, has warnings, or parses to another module.
pub fn reads_back(module: &Module) -> Check {
    let printed = print_module(module, &PrintOptions::default());
    match module.difference(&reread("default", &printed)?) {
        Some(difference) => Err(format!("the default form reads back with another {difference}\n{printed}")),
        None => Ok(()),
    }
}

/// Checks that the default and the short form have the same lines after parsing and printing again.
fn fixed_points(module: &Module) -> Check {
    // The order of computations depends on the order in which they were parsed, as in XLA.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    for (form, options) in forms() {
        let mut printed = print_module(module, &options);
        let mut again = print_module(&reread(form, &printed)?, &options);
        if form == "short" {
            // The omitted information may have prevented the short form of an asynchronous operation, so
            // compare from the second print on.
            let next = print_module(&reread(form, &again)?, &options);
            printed = std::mem::replace(&mut again, next);
        }
        ensure(sorted(&printed) == sorted(&again), || {
            let difference = first_difference(&sorted(&printed), &sorted(&again));
            format!("the {form} form is no fixed point:\n{difference}\n{printed}\nprints as\n{again}")
        })?;
    }
    // The canonical form, which XLA uses to compare modules, has parts that neither XLA nor the parser reads.
    let _ = print_module(module, &PrintOptions::canonical());
    let _ = print_module(module, &PrintOptions::fingerprint());
    Ok(())
}

/// Returns the first line in which two texts differ.
pub fn first_difference(a: &str, b: &str) -> String {
    let n = a.lines().zip(b.lines()).take_while(|(x, y)| x == y).count();
    let line = |t: &str| t.lines().nth(n).unwrap_or("(end)").to_string();
    format!("line {}\n  first:  {}\n  second: {}", n + 1, line(a), line(b))
}

/// Checks any text: either it is a module that prints and parses again, or it is rejected with diagnostics.
/// Also parses the text as a shape and as a literal. Returns the module.
///
/// # Errors
/// Returns an error if the text is rejected without a diagnostic or with too many, if a span is invalid, or
/// if [`round_trip`] fails.
pub fn parse(text: &str) -> Check<Option<Module>> {
    for refused in [parse_shape(text).err(), parse_literal(text).err()].into_iter().flatten() {
        check_diags(&refused, text, true)?;
    }
    let Parsed { module, warnings } = match hlo_parser::parse(text) {
        Ok(parsed) => parsed,
        Err(diags) => return check_diags(&diags, text, true).map(|()| None),
    };
    if !warnings.is_empty() {
        check_diags(&warnings, text, true)?;
    }
    for c in module.computations() {
        for &i in module[c].instructions() {
            check_span(module.span(i), text, &module[i].name)?;
        }
    }
    let diags = hlo_ir::verify::verify(&module);
    if !diags.is_empty() {
        check_diags(&diags, text, false)?;
        // An invalid module can be printed, but nothing is guaranteed about the text.
        for options in [PrintOptions::default(), PrintOptions::short(), PrintOptions::canonical()] {
            let _ = print_module(&module, &options);
        }
        return Ok(None);
    }
    round_trip(&module)?;
    Ok(Some(module))
}

/// Runs `hlo-opt` on `input`, whose first line is the pipeline: parses, verifies, runs the passes, verifies,
/// prints. The passes run with small budgets.
///
/// # Errors
/// Returns an error if [`parse`] fails, if a pass fails without a diagnostic, or if the module is invalid
/// after the passes or prints differently after parsing.
#[cfg(feature = "passes")]
pub fn hlo_opt(input: &str) -> Check {
    let (passes, text) = input.split_once('\n').unwrap_or(("", input));
    hlo_passes_xla::register();
    let pipeline = match hlo_passes::Pipeline::parse(passes) {
        Ok(pipeline) => budgeted(&pipeline),
        Err(d) => return check_diags(&[d], passes, true),
    };
    let Some(mut module) = parse(text)? else { return Ok(()) };
    // In builds with debug assertions, the verifier runs after each pass.
    match pipeline.run(&mut module, &mut ()) {
        Err(diags) => check_diags(&diags, text, false),
        Ok(_) => {
            let diags = hlo_ir::verify::verify(&module);
            ensure(diags.is_empty(), || {
                format!("`{passes}` leaves an invalid module: {}", diags[0].message)
            })?;
            // Passes may express the same module in another way than the parser, for example with an explicit
            // default layout.
            fixed_points(&module)
        }
    }
}

/// Returns the first few passes of a pipeline, with every option that is a count set to a small number.
#[cfg(feature = "passes")]
fn budgeted(pipeline: &hlo_passes::Pipeline) -> hlo_passes::Pipeline {
    use hlo_passes::{OptionValue, Pipeline};
    const PASSES: usize = 6;
    const BUDGET: u64 = 1000;
    let bounded = |name: &&'static str| {
        let options = hlo_passes::find(name).map_or(&[][..], |p| p.options).iter();
        let counts = options.filter(|o| matches!(o.default, OptionValue::Count(_)));
        let settings: Vec<String> = counts.map(|o| format!("{}={BUDGET}", o.name)).collect();
        format!("{name}{{{}}}", settings.join(","))
    };
    let names: Vec<String> = pipeline.pass_names().iter().take(PASSES).map(bounded).collect();
    Pipeline::parse(&names.join(",")).unwrap_or_else(|d| panic!("a pipeline of known passes: {}", d.message))
}
