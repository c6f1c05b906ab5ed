//! `hlo-opt`: reads HLO text, runs passes over it, prints the result.

mod check_format;
mod explain;
mod list;
mod print_options;
mod watch;

use clap::Parser;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_parser::Parsed;
use hlo_passes::Pipeline;
use hlo_tools_common::args::{DiagnosticsFormat, ShowArgs};
use hlo_tools_common::format::{FormatOptions, Formatted, Unformatted, format_text, read_module};
use hlo_tools_common::{Failure, Reporter, parse_arguments, print, read_source, split, write_output};
use std::process::ExitCode;

/// Reads HLO text, runs passes over it and prints the result.
#[derive(Parser, Debug)]
#[command(name = "hlo-opt", version, after_help = EXAMPLES)]
struct Cli {
    /// The HLO text file; `-` reads standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["list_passes", "list_rules", "explain"])]
    input: Option<String>,
    /// The passes to run, separated by commas; without it the module is only printed
    #[arg(long, value_name = "PIPELINE", default_value = "", hide_default_value = true)]
    passes: String,
    /// List the passes with their options
    #[arg(long)]
    list_passes: bool,
    /// List the verifier's rules with their codes
    #[arg(long)]
    list_rules: bool,
    /// Explain a rule, with an example: a code such as `E0306`, a rule's name, or `all`
    #[arg(long, value_name = "RULE")]
    explain: Option<String>,
    /// How modules are printed, such as `short,metadata=on`: see --help
    #[arg(long, value_name = "FORM,…", default_value = "default", long_help = print_options::HELP)]
    print_options: String,
    /// Format: print the text in the form in which modules are printed, with its comments
    #[arg(long, conflicts_with = "passes")]
    format: bool,
    /// Fail, and show where, if the text is not in the form that `--format` gives it
    #[arg(long, conflicts_with_all = ["passes", "format", "output", "in_place"])]
    check_format: bool,
    /// With `--format`: write the result to the file itself
    #[arg(short, long, requires = "format", conflicts_with = "output")]
    in_place: bool,
    /// With `--format`: leave comments out; else a text is refused that has comments inside of instructions
    #[arg(long, requires = "format")]
    drop_comments: bool,
    /// Print the module to standard error after each of these passes; `all` for every pass
    #[arg(long, value_name = "PASS,…", value_delimiter = ',')]
    print_after: Vec<String>,
    /// Verify the module after each pass, and hold a pass that says it changed nothing to it
    #[arg(long)]
    verify_each: bool,
    /// Don't verify the module before and after the passes
    #[arg(long)]
    no_verify: bool,
    /// Show on standard error how long each pass took
    #[arg(long)]
    time_passes: bool,
    /// Treat each part between lines `// -----` as a module of its own
    #[arg(long)]
    split_input_file: bool,
    /// Where the result goes; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    #[command(flatten)]
    show: ShowArgs,
}

const EXAMPLES: &str = "\
Examples:
  hlo-opt module.hlo                                    check the text and print it in XLA's form
  hlo-opt module.hlo --passes=algsimp,dce               run two passes
  hlo-opt - --passes='fix{limit=10}(algsimp,cse,dce)'   repeat passes until nothing changes
  hlo-opt m.hlo --passes=constant_folding{max-elements=64} --print-after=all -o out.hlo
  hlo-opt m.hlo --print-options=short                   print it without metadata, signatures and %
  hlo-opt m.hlo --print-options=large-constants=off,operand-shapes
  hlo-opt m.hlo --format -i                             format the file
  hlo-opt m.hlo --check-format                          tell whether it is formatted

Exit codes: 0 fine, 1 something is wrong with a file, 2 with the command line.";

fn main() -> ExitCode {
    let cli: Cli = match parse_arguments("hlo-opt") {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let reporter = cli.show.reporter("hlo-opt");
    reporter.finish(run(&cli, reporter))
}

fn run(cli: &Cli, reporter: Reporter) -> Result<(), Failure> {
    if cli.list_passes {
        return print(list::pass_list(cli.show.enabled_on_stdout()).as_bytes());
    }
    if cli.list_rules {
        return print(explain::table(cli.show.enabled_on_stdout()).as_bytes());
    }
    if let Some(rule) = &cli.explain {
        return print(explain::explain(rule, cli.show.enabled_on_stdout())?.as_bytes());
    }
    let pipeline =
        Pipeline::parse(&cli.passes).map_err(|d| Failure::argument("--passes", &cli.passes, vec![d]))?;
    let selection = watch::Selection::parse(&cli.print_after)?;
    if reporter.format == DiagnosticsFormat::Json && (cli.time_passes || !cli.print_after.is_empty()) {
        let message =
            "with --diagnostics=json standard error has nothing but JSON: no --print-after or --time-passes";
        return Err(Failure::Usage(message.to_string()));
    }
    for pass in selection.missing(&pipeline.pass_names()) {
        reporter.warning(&format!("--print-after={pass}: the passes that run do not have `{pass}`"));
    }
    let print_options = print_options::parse(&cli.print_options)?;
    // clap asks for the file.
    let source = read_source(cli.input.as_deref().unwrap_or("-"))?;
    if cli.format || cli.check_format {
        return format(cli, reporter, source, print_options);
    }
    let whole = 0..source.text.len();
    let parts = if cli.split_input_file {
        split::parts(&source.text).map_err(|d| Failure::diags(&source, d))?
    } else {
        Vec::from([whole])
    };
    let mut watcher = watch::Watcher::new(selection, print_options.clone(), cli.verify_each, cli.time_passes);
    let mut out = String::new();
    let (mut failed, mut warnings) = (Vec::new(), Vec::new());
    for part in parts {
        match process(&source.text[part.clone()], &pipeline, &mut watcher, !cli.no_verify) {
            Ok(Parsed { module, warnings: found }) => {
                warnings.extend(found.into_iter().map(|d| d.moved(part.start)));
                if !out.is_empty() {
                    out.push_str("// -----\n\n");
                }
                out.push_str(&print_module(&module, &print_options));
            }
            // The other parts are looked at all the same.
            Err(diags) => failed.extend(diags.into_iter().map(|d| d.moved(part.start))),
        }
    }
    watcher.report();
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

/// `--format` and `--check-format`.
fn format(cli: &Cli, reporter: Reporter, source: Source, print_options: PrintOptions) -> Result<(), Failure> {
    let options = FormatOptions {
        print: print_options,
        split: cli.split_input_file,
        no_verify: cli.no_verify,
        drop_comments: cli.drop_comments,
    };
    let formatted = match format_text(&source.text, &options) {
        Ok(Formatted { text, warnings }) => {
            reporter.warnings(&source, &warnings);
            text
        }
        Err(Unformatted::Errors(diags)) => return Err(Failure::diags(&source, diags)),
        Err(Unformatted::Comment(span)) => {
            let diag = Diag::error("formatting would lose this comment")
                .at(span, "it stands inside of what is printed as one line")
                .note("move it to a line of its own, or leave all comments out with `--drop-comments`");
            return Err(Failure::diags(&source, vec![diag]));
        }
    };
    if cli.check_format {
        return match check_format::difference(&source.name, &source.text, &formatted) {
            None => Ok(()),
            Some(shown) => print(shown.as_bytes()).and(Err(Failure::Shown)),
        };
    }
    let file = if cli.in_place { cli.input.as_deref() } else { cli.output.as_deref() };
    if cli.in_place && file == Some("-") {
        return Err(Failure::Usage("--in-place needs a file, not standard input".into()));
    }
    write_output(file, formatted.as_bytes())
}

/// Parses, verifies, transforms and verifies again.
fn process(
    text: &str,
    pipeline: &Pipeline,
    watcher: &mut watch::Watcher,
    verify: bool,
) -> Result<Parsed, Vec<Diag>> {
    let mut parsed = read_module(text, !verify)?;
    if pipeline.run(&mut parsed.module, watcher)? && verify {
        let diags = hlo_ir::verify::verify(&parsed.module);
        if !diags.is_empty() {
            return Err(diags);
        }
    }
    Ok(parsed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
