//! `hlo-opt`: reads HLO text, runs passes on it and prints the result.

mod args;
mod check_format;
mod cost;
mod emit;
mod expected;
mod explain;
mod format;
mod forms;
mod list;
mod memory;
mod print_options;
mod reproducer;
mod watch;

use args::{Cli, Emit, MemoryFormat};
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_parser::Parsed;
use hlo_passes::Pipeline;
use hlo_tools_common::args::DiagnosticsFormat;
use hlo_tools_common::{
    Failure, Input, Reporter, parse_arguments, print, read_input, read_pipeline, split, write_output,
};
use reproducer::Conditions;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use watch::Watcher;

/// The text between two modules.
const MODULE_SEPARATOR: &str = "// -----\n\n";

fn main() -> ExitCode {
    hlo_passes_xla::register();
    let cli: Cli = match parse_arguments("hlo-opt") {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let reporter = cli.show.reporter("hlo-opt");
    reporter.finish(run(&cli, reporter))
}

fn run(cli: &Cli, reporter: Reporter) -> Result<(), Failure> {
    if let Some(format) = cli.list_passes {
        return print(list::listed(format, cli.show.enabled_on_stdout()).as_bytes());
    }
    if cli.list_rules {
        return print(explain::table(cli.show.enabled_on_stdout()).as_bytes());
    }
    if let Some(rule) = &cli.explain {
        return print(explain::explain(rule, cli.show.enabled_on_stdout())?.as_bytes());
    }
    if reporter.format == DiagnosticsFormat::Json && cli.watches() {
        let message = "with --diagnostics=json standard error has nothing but JSON: no --print-before, --print-after, \
                       --print-changed, --time-passes or --stats=table";
        return Err(Failure::Usage(message.to_string()));
    }
    cli.check_view()?;
    let pipeline = read_pipeline(&cli.passes, reporter)?;
    if cli.print_pipeline {
        return write_output(cli.output.as_deref(), pipeline.to_string().as_bytes());
    }
    let print_options = print_options::parse(&cli.print_options)?;
    let watcher = Watcher::new(cli, reporter, &pipeline, &print_options)?;
    let conditions = Conditions { verify_each: cli.verify_each, no_verify: cli.no_verify };
    let mut session =
        Session { cli, reporter, pipeline, conditions, print_options, watcher, out: Vec::new(), modules: 0 };
    let files = cli.files()?;
    let mut failures = Vec::new();
    for file in &files {
        // An error in one file does not prevent processing of the others.
        match session.file(file) {
            Ok(()) => {}
            Err(failure @ (Failure::Usage(_) | Failure::Argument { .. } | Failure::OutputClosed)) => {
                return Err(failure);
            }
            Err(failure) => failures.push(failure),
        }
    }
    session.finish(failures)
}

/// The settings for all files of a run, and the output so far.
struct Session<'a> {
    cli: &'a Cli,
    reporter: Reporter,
    pipeline: Pipeline,
    conditions: Conditions,
    print_options: PrintOptions,
    watcher: Watcher,
    out: Vec<u8>,
    modules: usize,
}

impl Session<'_> {
    /// Reads a file, runs the passes and stores the output.
    fn file(&mut self, file: &str) -> Result<(), Failure> {
        let (cli, reporter) = (self.cli, self.reporter);
        let input = read_input(file)?;
        let source = &input.source;
        if cli.format || cli.check_format {
            if input.given.is_some() {
                return Err(Failure::file(&source.name, "HLO text can be formatted, and this is no text"));
            }
            let text = format::run(cli, reporter, file, source, &self.print_options)?;
            if !self.out.is_empty() && !text.is_empty() {
                self.out.extend(MODULE_SEPARATOR.bytes());
            }
            self.out.extend(text.bytes());
            return Ok(());
        }
        if cli.run_reproducer {
            let (pipeline, conditions) = reproducer::read(&source.name, &source.text, reporter)?;
            self.watcher.set_verify_each(conditions.verify_each || cli.verify_each);
            (self.pipeline, self.conditions) = (pipeline, conditions);
        }
        let parts = if cli.split_input_file {
            split::parts(&source.text).map_err(|d| Failure::diags(source, d))?
        } else {
            std::iter::once(0..source.text.len()).collect()
        };
        let (mut failed, mut warnings) = (Vec::new(), Vec::new());
        for part in parts {
            match self.process(&input, &source.text[part.clone()])? {
                Ok(Parsed { module, warnings: found }) => {
                    warnings.extend(found.into_iter().map(|d| d.moved(part.start)));
                    self.modules += 1;
                    if self.modules > 1 {
                        self.out.extend(between(cli, self.modules)?.bytes());
                    }
                    match written(cli, &module, &self.print_options)? {
                        Ok(bytes) => self.out.extend(bytes),
                        Err(diags) => failed.extend(diags.into_iter().map(|d| d.moved(part.start))),
                    }
                }
                // An error in one part does not prevent processing of the others.
                Err(diags) => failed.extend(diags.into_iter().map(|d| d.moved(part.start))),
            }
        }
        if cli.verify_diagnostics {
            warnings.append(&mut failed);
            failed = expected::differences(&source.text, &warnings);
        } else {
            reporter.warnings(source, &warnings);
        }
        if failed.is_empty() { Ok(()) } else { Err(Failure::diags(source, failed)) }
    }

    /// Parses, verifies, transforms and verifies again. The outer error is an I/O error.
    fn process(&mut self, input: &Input, text: &str) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        let (cli, verify) = (self.cli, !self.conditions.no_verify);
        let mut parsed = match cli.language.read(input, text, !verify)? {
            Ok(parsed) => parsed,
            Err(diags) => return Ok(Err(diags)),
        };
        if let Err(diags) = cli.devices.set(&mut parsed.module, verify) {
            return Ok(Err(diags));
        }
        let before = cli
            .reproducer
            .as_ref()
            .map(|file| (file, reproducer::text(&parsed.module, &self.pipeline, self.conditions)));
        let asked = hlo_ir::verify::verify_strictly(&parsed.module, &cli.verify);
        if !asked.is_empty() {
            return Ok(Err(asked));
        }
        let result = self.transform(&mut parsed, verify);
        if let (Some((file, text)), Err(_)) = (before, &result) {
            reproducer::write(file, &text, self.reporter)?;
        }
        Ok(result.map(|()| parsed))
    }

    /// Runs the passes and verifies the result.
    fn transform(&mut self, parsed: &mut Parsed, verify: bool) -> Result<(), Vec<Diag>> {
        self.watcher.begin(&parsed.module);
        let (pipeline, watcher) = (&self.pipeline, &mut self.watcher);
        let changed = match self.cli.reproducer {
            // Reproducers are most useful for passes that panic.
            Some(_) => {
                let run = || pipeline.run(&mut parsed.module, &mut *watcher);
                catch_unwind(AssertUnwindSafe(run))
                    .unwrap_or_else(|_| Err(vec![Diag::error("internal error: a pass panicked")]))
            }
            None => pipeline.run(&mut parsed.module, &mut *watcher),
        };
        parsed.warnings.extend(watcher.end(&parsed.module));
        if changed? && verify {
            let mut diags = hlo_ir::verify::verify(&parsed.module);
            if diags.is_empty() {
                diags = hlo_ir::verify::verify_strictly(&parsed.module, &self.cli.verify);
            }
            if !diags.is_empty() {
                return Err(diags);
            }
        }
        Ok(())
    }

    /// Writes the output and reports the failures.
    fn finish(self, mut failures: Vec<Failure>) -> Result<(), Failure> {
        let Self { cli, reporter, watcher, out, .. } = self;
        watcher.finish()?;
        let nothing = cli.check_format || cli.in_place;
        if failures.is_empty() {
            return if nothing { Ok(()) } else { write_output(cli.output.as_deref(), &out) };
        }
        // Output of successful files is printed in spite of failures, but an output file is complete or not
        // written.
        if !nothing && matches!(cli.output.as_deref(), None | Some("-")) {
            print(&out)?;
        }
        let last = failures.pop().unwrap_or(Failure::Shown);
        failures.iter().for_each(|failure| reporter.show(failure));
        Err(last)
    }
}

/// Returns the output for a module. The inner error contains diagnostics of the module.
fn written(
    cli: &Cli,
    module: &Module,
    print_options: &PrintOptions,
) -> Result<Result<Vec<u8>, Vec<Diag>>, Failure> {
    let text = match (cli.cost, cli.memory, cli.emit) {
        (Some(format), ..) => cost::costs(module, format),
        (_, Some(format), _) => match memory::memory(cli, module, format) {
            Ok(text) => text,
            Err(diags) => return Ok(Err(diags)),
        },
        (None, None, Emit::Hlo) => print_module(module, print_options),
        (None, None, Emit::Dot | Emit::Svg | Emit::Html) => emit::graph(cli, module, cli.emit)?,
        (None, None, form) => return Ok(forms::written(cli, module, form)),
    };
    Ok(Ok(text.into_bytes()))
}

/// Returns the text before a module that is not the first.
fn between(cli: &Cli, modules: usize) -> Result<&'static str, Failure> {
    let picture = matches!(cli.emit, Emit::Svg | Emit::Html) || cli.memory == Some(MemoryFormat::Svg);
    if picture || cli.emit.is_one_module() {
        let what = if picture { "a picture shows" } else { "such a file has" };
        return Err(Failure::Message(format!("there are {modules} modules or more, and {what} one")));
    }
    let plain = matches!(cli.emit, Emit::Hlo | Emit::Stablehlo) && cli.cost.is_none() && cli.memory.is_none();
    Ok(if plain { MODULE_SEPARATOR } else { "" })
}
