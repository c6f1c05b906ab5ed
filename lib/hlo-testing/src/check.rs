//! What must hold for any text: the properties that tests and fuzz targets share.
//!
//! Each function returns what is wrong, in words. A panic inside is a finding just as well.

use hlo_ir::diag::{Diag, Source, render};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::rules::code;
use hlo_ir::{Module, Span};
use hlo_parser::{MAX_ERRORS, Parsed, parse_literal, parse_shape};

/// What is wrong, if something is.
pub type Check<T = ()> = Result<T, String>;

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(message()) }
}

fn check_span(span: Span, text: &str, of: &str) -> Check {
    ensure(text.get(span.range()).is_some(), || {
        format!("{of} has the span {}..{}, which is no part of the text", span.start, span.end)
    })
}

/// Diagnostics of `text`: at least one, no more than the parser's limit where `limited`, each pointing into the
/// text and fit to be shown.
pub(crate) fn check_diags(diags: &[Diag], text: &str, limited: bool) -> Check {
    ensure(!diags.is_empty(), || "refused without a diagnostic".into())?;
    ensure(!limited || diags.len() <= MAX_ERRORS, || format!("{} errors at once", diags.len()))?;
    let source = Source { name: "input".into(), text: text.into() };
    // All are looked at, some are shown: showing is the expensive part.
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

/// The forms of printing that keep a module's information; short leaves metadata out.
fn forms() -> [(&'static str, PrintOptions); 2] {
    [("default", PrintOptions::default()), ("short", PrintOptions::short())]
}

/// Reads what was printed.
fn reread(form: &str, printed: &str) -> Check<Module> {
    let finding = |what: &str, diags: &mut dyn Iterator<Item = &Diag>| {
        let source = Source { name: format!("{form} form"), text: printed.into() };
        let shown: String = diags.take(3).map(|d| render(d, &source, false)).collect();
        format!("what was printed {what}:\n{shown}\n{printed}")
    };
    let parsed = hlo_parser::parse(printed).map_err(|d| finding("does not parse", &mut d.iter()))?;
    // A module that is not normalized has the frames that it was read with.
    let mut unexpected = parsed.warnings.iter().filter(|d| d.code != Some(code::STACK_FRAME)).peekable();
    ensure(unexpected.peek().is_none(), || finding("is warned of", &mut unexpected))?;
    Ok(parsed.module)
}

/// The default form reads back as the same module, and every form prints as itself once it was read back.
///
/// # Errors
/// What was printed does not parse, is warned of, gives another module, or prints differently.
pub fn round_trip(module: &Module) -> Check {
    fixed_points(module)?;
    reads_back(module)
}

/// Checks that the default form of a module reads back as the same module.
///
/// # Errors
/// What was printed does not parse, is warned of, or gives another module.
pub fn reads_back(module: &Module) -> Check {
    let printed = print_module(module, &PrintOptions::default());
    match module.difference(&reread("default", &printed)?) {
        Some(difference) => Err(format!("the default form reads back with another {difference}\n{printed}")),
        None => Ok(()),
    }
}

/// What the default and the short form print has the same lines when it was read and is printed again.
fn fixed_points(module: &Module) -> Check {
    // In which order computations print depends, as with XLA, on the order in which they were read.
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort_unstable();
        lines.join("\n")
    };
    for (form, options) in forms() {
        let mut printed = print_module(module, &options);
        let mut again = print_module(&reread(form, &printed)?, &options);
        if form == "short" {
            // What it leaves out may have kept an asynchronous operation from its short form: from here on.
            let next = print_module(&reread(form, &again)?, &options);
            printed = std::mem::replace(&mut again, next);
        }
        ensure(sorted(&printed) == sorted(&again), || {
            let difference = first_difference(&sorted(&printed), &sorted(&again));
            format!("the {form} form is no fixed point:\n{difference}\n{printed}\nprints as\n{again}")
        })?;
    }
    // The canonical form, XLA's for comparing modules, has parts that neither XLA nor the parser reads.
    let _ = print_module(module, &PrintOptions::canonical());
    let _ = print_module(module, &PrintOptions::fingerprint());
    Ok(())
}

/// The first line in which two texts differ.
pub fn first_difference(a: &str, b: &str) -> String {
    let n = a.lines().zip(b.lines()).take_while(|(x, y)| x == y).count();
    let line = |t: &str| t.lines().nth(n).unwrap_or("(end)").to_string();
    format!("line {}\n  first:  {}\n  second: {}", n + 1, line(a), line(b))
}

/// Any text: it is a module that prints and reads back, or it is refused with diagnostics. It may be a shape
/// or a literal, too. Gives the module.
///
/// # Errors
/// A refusal without a diagnostic or with too many, a span that is no part of the text, or what
/// [`round_trip`] finds.
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
        // Nothing is promised of what an invalid module prints, but that it prints.
        for options in [PrintOptions::default(), PrintOptions::short(), PrintOptions::canonical()] {
            let _ = print_module(&module, &options);
        }
        return Ok(None);
    }
    round_trip(&module)?;
    Ok(Some(module))
}

/// The whole of `hlo-opt` on `input`, whose first line is the pipeline: parse, verify, run the passes, verify,
/// print. Passes run with small budgets.
///
/// # Errors
/// What [`parse`] finds, a refusal without a diagnostic, or a module that is invalid after the passes or
/// prints differently once it was read back.
#[cfg(feature = "passes")]
pub fn hlo_opt(input: &str) -> Check {
    let (passes, text) = input.split_once('\n').unwrap_or(("", input));
    let pipeline = match hlo_passes::Pipeline::parse(passes) {
        Ok(pipeline) => budgeted(&pipeline),
        Err(d) => return check_diags(&[d], passes, true),
    };
    let Some(mut module) = parse(text)? else { return Ok(()) };
    // In builds with debug assertions each pass is followed by the verifier.
    match pipeline.run(&mut module, &mut ()) {
        Err(diags) => check_diags(&diags, text, false),
        Ok(_) => {
            let diags = hlo_ir::verify::verify(&module);
            ensure(diags.is_empty(), || {
                format!("`{passes}` leaves an invalid module: {}", diags[0].message)
            })?;
            // What passes make may differ from what is read in how it says the same: a layout that is the default.
            fixed_points(&module)
        }
    }
}

/// The passes of a pipeline, the first few of them, each count among their options set to a small number.
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
