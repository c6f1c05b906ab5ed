//! `--bisect-passes`: finds the pass, and the rewrite in it, that changes the results.

use crate::args::{Args, Engine};
use crate::engine::{self, Settings};
use crate::feed::Feed;
use crate::leaves::{Leaf, result_leaves};
use crate::results::Tolerances;
use crate::{pipeline, results};
use hlo_ir::diag::Source;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{Literal, Module};
use hlo_passes::{Bisection, CPU_PIPELINE, Culprit, bisect};
use hlo_tools_common::args::DiagnosticsFormat;
use hlo_tools_common::{Failure, Reporter, print, read_pipeline, write_output};
use std::fmt::Write as _;
use std::path::Path;

/// A module, its inputs, and the tolerances for comparing results.
pub struct Subject<'a> {
    pub module: &'a Module,
    pub source: &'a Source,
    /// The flattened parameters.
    pub inputs: &'a [Literal],
    pub settings: Settings<'a>,
    pub tolerances: Tolerances,
}

/// Runs parts of the pipeline and reports the first pass after which the results differ from those of the
/// interpreter for the given module.
pub fn run(args: &Args, reporter: Reporter, subject: &Subject<'_>, feed: &mut Feed) -> Result<(), Failure> {
    let text = args.passes.as_deref().unwrap_or(CPU_PIPELINE);
    let passes = read_pipeline(text, reporter)?;
    feed.rewind(false);
    let Subject { module, source, inputs, settings, .. } = *subject;
    let want = engine::interpret(module, source, inputs, settings, feed)?;
    let sent = feed.take_sent();
    let want: Vec<Literal> = want.leaves().into_iter().cloned().collect();
    let leaves = result_leaves(module);
    // The diagnostics of failed runs are part of the report.
    let reporter = Reporter { format: DiagnosticsFormat::Text, ..reporter };
    let mut check = |candidate: &Module| -> Result<(), String> {
        let engines: &[Engine] = match args.engine {
            Engine::Both => &[Engine::Eval, Engine::Jit],
            Engine::Eval => &[Engine::Eval],
            Engine::Jit => &[Engine::Jit],
        };
        for &engine in engines {
            feed.rewind(false);
            let result = subject.results(candidate, engine, feed);
            let compared = result.and_then(|got| subject.compare(&got, &want, &leaves));
            let compared = compared
                .and_then(|()| crate::program::check_sent(&feed.take_sent(), &sent, &subject.tolerances));
            compared.map_err(|failure| reporter.failure(&failure).trim_end().to_string())?;
        }
        Ok(())
    };
    match bisect(&passes, module, &mut check) {
        Bisection::Kept { executions } => {
            print(format!("no pass changes the results ({executions} executions of passes)\n").as_bytes())
        }
        Bisection::WrongBefore(why) => {
            let message = "the results differ before any pass: no pass is to blame (--isolate looks at each instruction)";
            print(format!("{message}\n{why}\n").as_bytes())?;
            Err(Failure::Shown)
        }
        Bisection::Found(culprit) => {
            print(report(&culprit).as_bytes())?;
            if let Some(folder) = &args.output {
                write_modules(folder, &culprit)?;
            }
            Err(Failure::Shown)
        }
    }
}

impl Subject<'_> {
    /// Returns the results of a transformed module.
    fn results(&self, module: &Module, engine: Engine, feed: &mut Feed) -> Result<Literal, Failure> {
        let Self { source, inputs, settings, .. } = *self;
        let mut prepared = module.clone();
        let by = match engine {
            Engine::Eval => engine::Engine::Interpreted,
            Engine::Jit | Engine::Both => {
                pipeline::lower(&mut prepared, source)?;
                engine::Engine::Compiled
            }
        };
        engine::run_once(by, (self.module, &prepared), source, inputs, settings, feed)
    }

    fn compare(&self, got: &Literal, want: &[Literal], leaves: &[Leaf]) -> Result<(), Failure> {
        let what = "the results differ (got after the passes, expected before them)";
        results::check(what, got, want, leaves, &self.tolerances.between_engines())
    }
}

/// Returns the report.
fn report(culprit: &Culprit) -> String {
    let Culprit { pass, execution, executions, run, rewrite, why, .. } = culprit;
    let mut out = format!("pass `{}` changes the results\n", pass.name);
    // Writing to a string does not fail.
    let _ = writeln!(out, "  execution {execution} of {executions} in the pipeline, run {run} of this pass");
    let _ = match rewrite {
        Some(r) => writeln!(
            out,
            "  rewrite {} of {}: `{}` of instruction `{}`",
            r.number, r.total, r.rewrite.name, r.rewrite.instruction
        ),
        None => writeln!(out, "  it changes the module as a whole"),
    };
    let _ = writeln!(out, "{why}");
    out
}

/// Writes the modules before and after the change that was found.
fn write_modules(folder: &str, culprit: &Culprit) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, e))?;
    for (name, module) in [("before.hlo", &culprit.before), ("after.hlo", &culprit.after)] {
        let path = Path::new(folder).join(name);
        let text = print_module(module, &PrintOptions::default());
        write_output(Some(&path.to_string_lossy()), text.as_bytes())?;
    }
    Ok(())
}
