//! `hlo-diff`: matches two modules by structure and shows their differences.

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
    /// The old module; `-` reads standard input
    #[arg(value_name = "LEFT")]
    left: String,
    /// The new module
    #[arg(value_name = "RIGHT")]
    right: String,
    /// Differences to ignore
    #[arg(long, value_name = "WHAT,…", value_delimiter = ',')]
    ignore: Vec<Ignored>,
    /// Write a self-contained page with both modules side by side
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Also show instructions that are the same
    #[arg(long)]
    all: bool,
    /// Show only the counts
    #[arg(long, conflicts_with_all = ["all", "quiet"])]
    summary: bool,
    /// Show nothing; the exit code is the result
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
    /// Backend configs
    BackendConfig,
    /// Shardings
    Sharding,
    /// Frontend attributes
    FrontendAttributes,
    /// The header: the first line
    Header,
}

const AFTER_HELP: &str = "\
Examples:
  hlo-diff before.hlo after.hlo
  hlo-diff before.hlo after.hlo --ignore=names,metadata,layout
  hlo-diff before.hlo after.hlo --html=changes.html
  hlo-opt m.hlo --passes=algsimp | hlo-diff m.hlo -           show what a pass changed

Two instructions match if they compute the same from the same operands, or are used in the same way. Names decide only
where the structure does not. `+` is added, `-` removed, `~` changed (followed by the changes), `=` only renamed or moved.
In a module with a schedule, the order of instructions matters.

Exit codes: 0 the same, 1 different, 2 an error in the command line or in a file.";

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
            // Like other comparing tools, exit with 1 for a difference and with 2 for an error.
            let closed = matches!(failure, Failure::OutputClosed);
            reporter.finish(Err(failure));
            ExitCode::from(if closed { EXIT_OK } else { EXIT_USAGE })
        }
    }
}

/// Returns whether the modules are the same.
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
    // If the page goes to standard output, print nothing else there.
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

/// The data to show.
struct View<'a> {
    /// The names of the files.
    names: [&'a str; 2],
    /// The text of the instructions.
    lines: [words::Lines; 2],
    left: &'a Module,
    right: &'a Module,
    diff: &'a ModuleDiff,
    /// Whether to show instructions that are the same.
    all: bool,
}
