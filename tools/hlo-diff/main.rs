//! `hlo-diff`: matches two modules by structure and says what changed.

mod html;
mod text;
mod words;

use clap::{Parser, ValueEnum};
use hlo_ir::Module;
use hlo_module_diff::{Ignore, ModuleDiff, diff};
use hlo_tools_common::args::ShowArgs;
use hlo_tools_common::{
    EXIT_FAILURE, EXIT_OK, EXIT_USAGE, Failure, parse_arguments, print, read_input, write_output,
};
use std::process::ExitCode;

/// Shows what changed between two HLO modules, matched by structure.
#[derive(Parser, Debug)]
#[command(name = "hlo-diff", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    /// The module before; `-` reads standard input
    #[arg(value_name = "LEFT")]
    left: String,
    /// The module after
    #[arg(value_name = "RIGHT")]
    right: String,
    /// Differences that do not count
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',')]
    ignore: Vec<Ignored>,
    /// Write a page with both modules side by side, which needs no other files
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Show instructions that are the same too
    #[arg(long)]
    all: bool,
    /// Show the counts only
    #[arg(long, conflicts_with_all = ["all", "quiet"])]
    summary: bool,
    /// Show nothing: the exit code tells
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    show: ShowArgs,
}

/// The values of `--ignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Ignored {
    /// Element types and sizes
    Shape,
    /// Layouts
    Layout,
    /// Metadata, origins, statistics
    Metadata,
    /// Names of the module, computations and instructions
    Names,
    /// What backends note for themselves
    BackendConfig,
    /// Shardings
    Sharding,
    /// What front ends note for themselves
    FrontendAttributes,
    /// The first line
    Header,
}

const AFTER_HELP: &str = "\
Examples:
  hlo-diff before.hlo after.hlo
  hlo-diff before.hlo after.hlo --ignore=names,metadata,layout
  hlo-diff before.hlo after.hlo --html=changes.html
  hlo-opt m.hlo --passes=algsimp | hlo-diff m.hlo -           what a pass changed

An instruction is matched with the one that computes the same from the same, or is used for the same; names decide only
where structure does not. `+` is added, `-` removed, `~` changed (with what changed below), `=` renamed or moved only.
In a module with a schedule the order counts.

Exit codes: 0 the same, 1 different, 2 something is wrong with the command line or with a file.";

fn main() -> ExitCode {
    let cli: Cli = match parse_arguments("hlo-diff") {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let reporter = cli.show.reporter("hlo-diff");
    match run(&cli) {
        Ok(true) => ExitCode::from(EXIT_OK),
        Ok(false) => ExitCode::from(EXIT_FAILURE),
        Err(failure) => {
            // As for every tool that compares: 1 is a difference, what went wrong is 2.
            let closed = matches!(failure, Failure::OutputClosed);
            reporter.finish(Err(failure));
            ExitCode::from(if closed { EXIT_OK } else { EXIT_USAGE })
        }
    }
}

/// True if nothing differs.
fn run(cli: &Cli) -> Result<bool, Failure> {
    if cli.left == "-" && cli.right == "-" {
        return Err(Failure::Usage("only one of the modules can be read from standard input".to_string()));
    }
    let (left, right) = (read(&cli.left)?, read(&cli.right)?);
    let is = |what: Ignored| cli.ignore.contains(&what);
    let ignore = Ignore {
        shape: is(Ignored::Shape),
        layout: is(Ignored::Layout),
        metadata: is(Ignored::Metadata),
        names: is(Ignored::Names),
        backend_config: is(Ignored::BackendConfig),
        sharding: is(Ignored::Sharding),
        frontend_attributes: is(Ignored::FrontendAttributes),
        header: is(Ignored::Header),
    };
    let found = diff(&left, &right, ignore);
    let view = View {
        names: [&cli.left, &cli.right],
        lines: [words::lines(&left, ignore), words::lines(&right, ignore)],
        left: &left,
        right: &right,
        diff: &found,
        all: cli.all,
    };
    if let Some(path) = &cli.html {
        write_output(Some(path), html::page(&view).as_bytes())?;
    }
    // A page on standard output has nothing else beside it.
    if !cli.quiet && cli.html.as_deref() != Some("-") {
        let color = cli.show.enabled_on_stdout();
        let text = if cli.summary { text::summary(&view) } else { text::report(&view, color) };
        print(text.as_bytes())?;
    }
    Ok(found.is_same())
}

fn read(path: &str) -> Result<Module, Failure> {
    Ok(read_input(path)?.read_module(false)?.module)
}

/// What is shown.
struct View<'a> {
    /// The files.
    names: [&'a str; 2],
    /// The instructions as they print.
    lines: [words::Lines; 2],
    left: &'a Module,
    right: &'a Module,
    diff: &'a ModuleDiff,
    /// Whether what is the same is shown too.
    all: bool,
}
