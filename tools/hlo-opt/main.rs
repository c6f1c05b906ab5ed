//! `hlo-opt`: reads HLO text, runs passes over it, prints the result.

mod args;
mod check_format;
mod cost;
mod emit;
mod explain;
mod format;
mod list;
mod memory;
mod print_options;
mod watch;

use args::{Cli, Emit, MemoryFormat};
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_parser::Parsed;
use hlo_passes::Pipeline;
use hlo_tools_common::args::DiagnosticsFormat;
use hlo_tools_common::format::read_module;
use hlo_tools_common::{
    Failure, Reporter, parse_arguments, print, read_pipeline, read_source, split, write_output,
};
use std::process::ExitCode;
use watch::Watcher;

fn main() -> ExitCode {
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
    let mut watcher = Watcher::new(cli, reporter, &pipeline, &print_options)?;
    // clap asks for the file.
    let source = read_source(cli.input.as_deref().unwrap_or("-"))?;
    if cli.format || cli.check_format {
        return format::run(cli, reporter, source, print_options);
    }
    let whole = 0..source.text.len();
    let parts = if cli.split_input_file {
        split::parts(&source.text).map_err(|d| Failure::diags(&source, d))?
    } else {
        Vec::from([whole])
    };
    let (mut out, mut modules) = (String::new(), 0);
    let (mut failed, mut warnings) = (Vec::new(), Vec::new());
    for part in parts {
        match process(&source.text[part.clone()], &pipeline, &mut watcher, !cli.no_verify) {
            Ok(Parsed { module, warnings: found }) => {
                warnings.extend(found.into_iter().map(|d| d.moved(part.start)));
                modules += 1;
                if modules > 1 {
                    out.push_str(between(cli, modules)?);
                }
                out.push_str(&written(cli, &module, &print_options)?);
            }
            // The other parts are looked at all the same.
            Err(diags) => failed.extend(diags.into_iter().map(|d| d.moved(part.start))),
        }
    }
    watcher.finish()?;
    reporter.warnings(&source, &warnings);
    if failed.is_empty() {
        return write_output(cli.output.as_deref(), out.as_bytes());
    }
    // What is right is printed all the same, but a file is written whole or not at all.
    if matches!(cli.output.as_deref(), None | Some("-")) {
        print(out.as_bytes())?;
    }
    Err(Failure::diags(&source, failed))
}

/// What is written of a module.
fn written(cli: &Cli, module: &Module, print_options: &PrintOptions) -> Result<String, Failure> {
    match (cli.cost, cli.memory, cli.emit) {
        (Some(format), ..) => Ok(cost::costs(module, format)),
        (_, Some(format), _) => memory::memory(cli, module, format),
        (None, None, Emit::Hlo) => Ok(print_module(module, print_options)),
        (None, None, format) => emit::graph(cli, module, format),
    }
}

/// What is written before a module that is not the first.
fn between(cli: &Cli, modules: usize) -> Result<&'static str, Failure> {
    let picture = matches!(cli.emit, Emit::Svg | Emit::Html) || cli.memory == Some(MemoryFormat::Svg);
    if picture {
        let message = format!("the text has {modules} modules or more, and a picture shows one");
        return Err(Failure::Message(message));
    }
    let plain = cli.emit == Emit::Hlo && cli.cost.is_none() && cli.memory.is_none();
    Ok(if plain { "// -----\n\n" } else { "" })
}

/// Parses, verifies, transforms and verifies again.
fn process(
    text: &str,
    pipeline: &Pipeline,
    watcher: &mut Watcher,
    verify: bool,
) -> Result<Parsed, Vec<Diag>> {
    let mut parsed = read_module(text, !verify)?;
    watcher.begin(&parsed.module);
    let changed = pipeline.run(&mut parsed.module, watcher);
    parsed.warnings.extend(watcher.end(&parsed.module));
    if changed? && verify {
        let diags = hlo_ir::verify::verify(&parsed.module);
        if !diags.is_empty() {
            return Err(diags);
        }
    }
    Ok(parsed)
}
