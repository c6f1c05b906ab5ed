//! `hlo-reduce`: shrinks a module while a command keeps failing on it.

mod command;
mod cost;
mod edit;
mod interrupt;
mod reductions;
mod search;

use clap::Parser;
use command::{FailureConditions, Tester, sibling_program};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_tools_common::args::ShowArgs;
use hlo_tools_common::{Failure, Reporter, check_output, parse_arguments, read_input, write_output};
use interrupt::Interrupt;
use regex_lite::Regex;
use search::{End, Limits, Progress, Search};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Shrinks an HLO module while a command keeps failing on it.
#[derive(Parser, Debug)]
#[command(name = "hlo-reduce", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    /// The input file, in any format that hlo-opt reads; `-` reads standard input
    #[arg(value_name = "FILE")]
    input: String,
    /// The command, after `--`; `{}` in its arguments stands for the file, which is otherwise the last
    /// argument
    #[arg(value_name = "COMMAND", last = true, required_unless_present = "when_differs")]
    command: Vec<String>,
    /// The output file, which is rewritten each time a smaller module is found; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,

    /// The command fails if it exits with this code; otherwise with any code but 0, or by a signal
    #[arg(long, value_name = "N", help_heading = "Failure condition")]
    expect_exit: Option<i32>,
    /// The command fails if its output matches. With --expect-exit, both conditions must hold
    #[arg(long = "match", value_name = "REGEX", help_heading = "Failure condition")]
    pattern: Option<String>,
    /// The command fails if it does not end within --timeout
    #[arg(long, help_heading = "Failure condition", conflicts_with_all = ["expect_exit", "pattern"])]
    expect_timeout: bool,
    /// Look for differences between compiled code and the interpreter. The arguments after `--` are passed to
    /// hlo-run
    #[arg(long, help_heading = "Failure condition")]
    #[arg(conflicts_with_all = ["expect_exit", "pattern", "expect_timeout"])]
    when_differs: bool,

    /// Keep the entry's parameters and its result, for commands with their own inputs
    #[arg(long, help_heading = "Search")]
    keep_interface: bool,
    /// Reduce an invalid module; the result may be invalid too
    #[arg(long, help_heading = "Search")]
    no_verify: bool,
    /// The number of commands that run at the same time; the result does not depend on it
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, help_heading = "Search")]
    jobs: usize,
    /// The maximum time of a run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, help_heading = "Search")]
    timeout: f64,
    /// The maximum total time, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Search")]
    budget: Option<f64>,
    /// The maximum number of runs of the command
    #[arg(long, value_name = "N", default_value_t = 100_000, help_heading = "Search")]
    max_runs: u64,
    /// Show each step on standard error
    #[arg(short, long)]
    verbose: bool,
    /// Do not show a summary
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    show: ShowArgs,
}

const AFTER_HELP: &str = "\
Examples:
  hlo-reduce m.hlo -o small.hlo -- ./my_compiler {}         while ./my_compiler fails on the module
  hlo-reduce m.hlo -o small.hlo --when-differs              while compiled code and interpreter differ
  hlo-reduce m.hlo --when-differs -- --random-inputs=7      the same, with other generated inputs
  hlo-reduce m.hlo --match 'assertion .* failed' -- ./my_compiler --opt {}
  hlo-reduce m.hlo --match 'fusion\\(' -- hlo-opt {} --passes=fusion
  hlo-reduce m.hlo --keep-interface --expect-exit 1 -- hlo-run {} --inputs in.npz --expected out.npz

The commands hlo-opt and hlo-run are those in the folder of hlo-reduce. Pass --match if a command can fail in several
ways. Otherwise the reduced module may fail in a different way.

Exit codes: 0 success, 1 an error in the file or a command that does not fail on the whole module, 2 an error in the
command line.";

fn seconds(text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    let fits = value.filter(|s| *s > 0.0 && Duration::try_from_secs_f64(*s).is_ok());
    fits.ok_or_else(|| "expected a number of seconds above 0".to_string())
}

fn main() -> ExitCode {
    let cli: Cli = match parse_arguments("hlo-reduce") {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let reporter = cli.show.reporter("hlo-reduce");
    reporter.finish(run(&cli, reporter))
}

fn run(cli: &Cli, reporter: Reporter) -> Result<(), Failure> {
    let parsed = read_input(&cli.input)?.read_module(cli.no_verify)?;
    check_output(cli.output.as_deref())?;
    let module = parsed.module;
    let text = print_module(&module, &PrintOptions::default());
    let timeout = Duration::from_secs_f64(cli.timeout);
    let interrupt =
        Interrupt::on_signals().map_err(|e| Failure::Message(format!("Ctrl-C can't be waited for: {e}")))?;
    let tester = Tester::new(&command(cli)?, wanted(cli)?, timeout, interrupt.clone())?;
    let outcome = tester.run(&text)?;
    if interrupt.is_set() {
        return Err(Failure::Message("interrupted before there was anything smaller".into()));
    }
    if !tester.is_wanted(&outcome) {
        return Err(Failure::Message(tester.explain(&outcome)));
    }
    let threads = match cli.jobs {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n.min(MAX_JOBS),
    };
    let limits = Limits {
        threads,
        max_runs: cli.max_runs,
        budget: cli.budget.map(Duration::from_secs_f64),
        interrupt,
        keep_interface: cli.keep_interface,
        no_verify: cli.no_verify,
    };
    let start = Instant::now();
    let before = Size::of(&module, &text);
    let mut display = Display {
        // A progress line that is overwritten is only useful on a terminal.
        live: !cli.quiet && !cli.verbose && std::io::stderr().is_terminal(),
        verbose: cli.verbose,
        instructions: before.instructions,
        start,
        shown: 0,
    };
    let mut watch = |progress: &Progress<'_>| -> Result<(), Failure> {
        if let (Some(text), Some(path)) = (progress.found, cli.output.as_deref().filter(|p| *p != "-")) {
            write_output(Some(path), text.as_bytes())?;
        }
        display.show(progress);
        Ok(())
    };
    let mut search = Search::new(module, text, &tester, limits, &mut watch);
    let end = search.run()?;
    let after = Size::of(search.module(), search.text());
    let (text, runs) = (search.text().to_string(), search.runs());
    display.clear();
    if !cli.quiet {
        let why = match end {
            End::Smallest => "",
            End::Runs => "; stopped at --max-runs, it may get smaller",
            End::Time => "; stopped at --budget, it may get smaller",
            End::Interrupted => "; interrupted, it may get smaller",
        };
        reporter.note(&format!(
            "{} → {} instructions, {} → {} computations, {} → {} bytes of text; {} runs in {:.1} s{why}",
            before.instructions,
            after.instructions,
            before.computations,
            after.computations,
            before.bytes,
            after.bytes,
            runs + 1,
            start.elapsed().as_secs_f64(),
        ));
    }
    write_output(cli.output.as_deref(), text.as_bytes())
}

/// Maximum number of commands that run at the same time.
const MAX_JOBS: usize = 256;

/// Returns the command to run.
fn command(cli: &Cli) -> Result<Vec<String>, Failure> {
    if !cli.when_differs {
        return Ok(cli.command.clone());
    }
    let hlo_run = sibling_program("hlo-run").ok_or_else(|| {
        Failure::Message("--when-differs: there is no hlo-run in the folder of hlo-reduce".to_string())
    })?;
    let mut command =
        vec![hlo_run.display().to_string(), "--engine=both".into(), "--quiet".into(), "{}".into()];
    command.extend(cli.command.iter().cloned());
    Ok(command)
}

/// Returns the conditions for a failure.
fn wanted(cli: &Cli) -> Result<FailureConditions, Failure> {
    let pattern = match (&cli.pattern, cli.when_differs) {
        (_, true) => Some("compiled code and the interpreter differ"),
        (pattern, false) => pattern.as_deref(),
    };
    let pattern = pattern
        .map(Regex::new)
        .transpose()
        .map_err(|e| Failure::Usage(format!("--match: not a regular expression: {e}")))?;
    Ok(FailureConditions { exit: cli.expect_exit, pattern, hang: cli.expect_timeout })
}

/// The size of a module.
struct Size {
    instructions: usize,
    computations: usize,
    bytes: usize,
}

impl Size {
    fn of(module: &hlo_ir::Module, text: &str) -> Self {
        Self {
            instructions: cost::instructions(module),
            computations: module.computations().count(),
            bytes: text.len(),
        }
    }
}

/// The progress display of a search.
struct Display {
    live: bool,
    verbose: bool,
    instructions: usize,
    start: Instant,
    /// The width of the line on the terminal.
    shown: usize,
}

impl Display {
    fn show(&mut self, progress: &Progress<'_>) {
        let Progress { reduction, instructions, runs, found } = progress;
        let seconds = self.start.elapsed().as_secs_f64();
        let all = self.instructions;
        if self.verbose && found.is_some() {
            eprint_quietly(&format!(
                "{seconds:7.1} s  {runs:6} runs  {instructions:6} instructions  {reduction}\n"
            ));
        } else if self.live {
            let line =
                format!("{all} → {instructions} instructions, {runs} runs, {seconds:.0} s: {reduction}");
            let width = line.chars().count();
            let blanks = " ".repeat(self.shown.saturating_sub(width));
            eprint_quietly(&format!("\r{line}{blanks}"));
            self.shown = width;
        }
    }

    fn clear(&mut self) {
        if self.live {
            eprint_quietly(&format!("\r{}\r", " ".repeat(self.shown)));
        }
    }
}

/// Like `eprint!`, but does not panic if standard error is closed.
fn eprint_quietly(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
