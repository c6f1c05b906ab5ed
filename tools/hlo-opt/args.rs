//! The command-line arguments of `hlo-opt`.

use crate::print_options;
use clap::{Parser, ValueEnum};
use hlo_ir::verify::Strictness;
use hlo_stablehlo::dialect::Version;
use hlo_tools_common::Failure;
use hlo_tools_common::args::ShowArgs;
use hlo_tools_common::devices::DeviceArgs;
use hlo_tools_common::language::LanguageArgs;
use std::io::IsTerminal as _;

/// Default maximum number of boxes in a graph (`--max-boxes`). With more instructions, groups of instructions
/// become boxes. A reader can still survey a graph of this size.
pub const MAX_BOXES: usize = 200;

/// Reads a module as HLO text, StableHLO or a protocol buffer, runs passes on it and prints the result.
#[derive(Parser, Debug)]
#[command(name = "hlo-opt", version, after_help = EXAMPLES)]
pub struct Cli {
    /// The input files: HLO text, StableHLO as text or bytecode, or protocol buffers. `-` reads standard
    /// input, as does no FILE if standard input is not a terminal
    #[arg(value_name = "FILE")]
    pub inputs: Vec<String>,
    /// The passes to run, separated by commas; @FILE reads them from a file. Without this option the module
    /// is only printed
    #[arg(long, value_name = "PIPELINE", default_value = "", hide_default_value = true)]
    pub passes: String,
    /// List the passes and named pipelines with their options; `names` lists only the names of the passes,
    /// one per line
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub list_passes: Option<ListFormat>,
    /// List the verifier's rules with their codes
    #[arg(long)]
    pub list_rules: bool,
    /// Explain a rule or a pass, with an example. NAME is a code such as `E0306`, the name of a rule, pass or
    /// pipeline, or `all` for every rule
    #[arg(long, value_name = "NAME")]
    pub explain: Option<String>,
    /// The form in which modules are printed, such as `short,metadata=on`: see --help
    #[arg(long, value_name = "FORM,…", default_value = "default", long_help = print_options::HELP)]
    pub print_options: String,
    /// Verify the module after each pass, and check that a pass that reports no change made none
    #[arg(long)]
    pub verify_each: bool,
    /// Apply stricter rules to the module before and after the passes: `layouts` (only instructions that may
    /// change layouts change them), `order` (broadcast dimensions are in order), `precision` (an instruction
    /// has one floating-point type), `sizes` (all dimensions have sizes or bounds), `async` (the computation
    /// of an asynchronous operation has one instruction), `shardings` (the value of a loop or a conditional
    /// has one sharding), `transfers` (both ends of a transfer are together in a schedule)
    #[arg(long, value_name = "RULES", value_delimiter = ',', value_parser = strictness)]
    pub verify: Vec<Strictness>,
    /// Do not verify the module before and after the passes
    #[arg(long)]
    pub no_verify: bool,
    /// Treat each part between lines `// -----` as a separate module
    #[arg(long)]
    pub split_input_file: bool,
    /// The output file; standard output if not given
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// Compare the diagnostics with comments such as `// expected-error @below {{message}}`; the exit code is
    /// 0 if they match
    #[arg(long, conflicts_with_all = ["format", "check_format"])]
    pub verify_diagnostics: bool,
    /// If a pass fails, write the module and the passes to this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "check_format"])]
    pub reproducer: Option<String>,
    /// Run the passes that are listed in the file, which --reproducer wrote
    #[arg(long, conflicts_with_all = ["passes", "format", "check_format", "print_pipeline"])]
    pub run_reproducer: bool,

    /// Format the text: print it in the form in which modules are printed, with its comments
    #[arg(long, conflicts_with_all = ["passes", "emit", "cost", "memory", "num_replicas", "num_partitions"])]
    #[arg(help_heading = "Formatting")]
    pub format: bool,
    /// Fail if `--format` would change the text, and show the first difference
    #[arg(long, conflicts_with_all = ["passes", "format", "output", "in_place", "emit", "cost", "memory"])]
    #[arg(conflicts_with_all = ["num_replicas", "num_partitions"], help_heading = "Formatting")]
    pub check_format: bool,
    /// With `--format`: write the result back to each file
    #[arg(short, long, requires = "format", conflicts_with = "output", help_heading = "Formatting")]
    pub in_place: bool,
    /// With `--format`: remove comments. Without this option, a text with comments inside instructions is
    /// rejected
    #[arg(long, requires = "format", help_heading = "Formatting")]
    pub drop_comments: bool,

    #[command(flatten)]
    pub devices: DeviceArgs,
    #[command(flatten)]
    pub language: LanguageArgs,

    /// Print the full pipeline with all options instead of running it
    #[arg(long, help_heading = "Watching the passes")]
    pub print_pipeline: bool,
    /// Print the module to standard error before each of these passes and pipelines; `all` for every pass
    #[arg(long, value_name = "PASS,…", value_delimiter = ',', help_heading = "Watching the passes")]
    pub print_before: Vec<String>,
    /// Print the module to standard error after each of these passes and pipelines; `all` for every pass
    #[arg(long, value_name = "PASS,…", value_delimiter = ',', help_heading = "Watching the passes")]
    pub print_after: Vec<String>,
    /// Print the changes of each pass to standard error, as a unified diff
    #[arg(long, help_heading = "Watching the passes")]
    pub print_changed: bool,
    /// Write the module to a file in this folder after each pass that changes it
    #[arg(long, value_name = "DIR", help_heading = "Watching the passes")]
    pub dump_dir: Option<String>,
    /// Print the time of each pass to standard error
    #[arg(long, help_heading = "Watching the passes")]
    pub time_passes: bool,
    /// Print the number of rewrites of each pass and pattern, and the number of remaining instructions, to
    /// standard error
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    #[arg(help_heading = "Watching the passes")]
    pub stats: Option<TableFormat>,

    /// The output format: the module in one of several forms, or a graph of it
    #[arg(long, value_name = "FORMAT", default_value = "hlo", help_heading = "Output formats and graphs")]
    pub emit: Emit,
    /// With --emit=vhlo: the version of StableHLO that the reader supports, such as 1.0.0; 1.13.0 if not
    /// given
    #[arg(long, value_name = "VERSION", help_heading = "Output formats and graphs")]
    pub target: Option<Version>,
    /// The computation to draw; the entry if not given
    #[arg(long, value_name = "NAME", help_heading = "Output formats and graphs")]
    pub computation: Option<String>,
    /// Draw only the instructions near this one
    #[arg(long, value_name = "NAME", help_heading = "Output formats and graphs")]
    pub around: Option<String>,
    /// The maximum distance from the instruction of --around, in edges
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        requires = "around",
        help_heading = "Output formats and graphs"
    )]
    pub depth: usize,
    /// Draw fused and called computations inside the box of their caller
    #[arg(long, help_heading = "Output formats and graphs")]
    pub open: bool,
    /// The maximum number of boxes in a graph. If there are more instructions, those of the same scope
    /// (metadata's op_name) share a box
    #[arg(long, value_name = "N", default_value_t = MAX_BOXES, help_heading = "Output formats and graphs")]
    pub max_boxes: usize,
    /// Print the cost of the module instead: operations and bytes, for each instruction and in total
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    #[arg(help_heading = "Output formats and graphs", conflicts_with_all = ["memory", "emit"])]
    pub cost: Option<TableFormat>,
    /// Print the memory use of the program that hlo-run compiles instead: the position and lifetime of each
    /// value
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "plot")]
    #[arg(help_heading = "Output formats and graphs", conflicts_with = "emit")]
    pub memory: Option<MemoryFormat>,

    #[command(flatten)]
    pub show: ShowArgs,
}

/// The format of a list of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table of the passes by group, with summaries and options, and of the named pipelines
    Table,
    /// The names of the passes, sorted, one per line
    Names,
    /// The names of the named pipelines, one per line
    Pipelines,
}

/// The output format of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// HLO text
    Hlo,
    /// StableHLO as text
    Stablehlo,
    /// StableHLO as portable bytecode, for JAX's `deserialize` and other readers: see --target
    Vhlo,
    /// A protocol buffer, HloModuleProto
    Proto,
    /// The same protocol buffer in text form
    ProtoText,
    /// A graph in Graphviz format
    Dot,
    /// A graph as a picture
    Svg,
    /// A graph as a page with boxes that can be opened
    Html,
}

impl Emit {
    /// Whether the output is binary.
    pub fn is_binary(self) -> bool {
        matches!(self, Emit::Vhlo | Emit::Proto)
    }

    /// Whether an output file can contain only one module.
    pub fn is_one_module(self) -> bool {
        self.is_binary() || self == Emit::ProtoText
    }
}

/// The format of memory use over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemoryFormat {
    /// Text, for a terminal
    Plot,
    /// A picture
    Svg,
    /// JSON, with every step and every allocation
    Json,
}

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// A readable table
    Table,
    /// JSON
    Json,
}

impl Cli {
    /// Returns the files to read; `-` stands for standard input.
    pub fn files(&self) -> Result<Vec<String>, Failure> {
        if !self.inputs.is_empty() {
            return Ok(self.inputs.clone());
        }
        if std::io::stdin().is_terminal() {
            let message = "which FILE? (`-` reads standard input from a terminal)";
            return Err(Failure::Usage(message.to_string()));
        }
        Ok(vec!["-".to_string()])
    }

    /// Reports an error for graph options without a graph.
    pub fn check_view(&self) -> Result<(), Failure> {
        let graph = matches!(self.emit, Emit::Dot | Emit::Svg | Emit::Html);
        let (around, open) = (self.around.is_some(), self.open);
        let unused = [
            (around && !graph, "--around", "--emit=dot, svg or html"),
            (open && !graph, "--open", "--emit=dot, svg or html"),
            (self.computation.is_some() && !graph, "--computation", "--emit=dot, svg or html"),
            (self.target.is_some() && self.emit != Emit::Vhlo, "--target", "--emit=vhlo"),
        ];
        if let Some((_, option, needs)) = unused.iter().find(|(wrong, ..)| *wrong) {
            return Err(Failure::Usage(format!("{option} needs {needs}")));
        }
        if self.emit.is_binary() && self.output.is_none() && std::io::stdout().is_terminal() {
            let message = "what --emit=vhlo and --emit=proto write is no text for a terminal; `-o FILE` writes it to a file";
            return Err(Failure::Usage(message.to_string()));
        }
        Ok(())
    }

    /// Whether text for readers is written to standard error.
    pub fn watches(&self) -> bool {
        self.time_passes
            || self.print_changed
            || !self.print_before.is_empty()
            || !self.print_after.is_empty()
            || self.stats == Some(TableFormat::Table)
    }
}

const EXAMPLES: &str = "\
Examples:
  hlo-opt module.hlo                                    check the text and print it in XLA's form
  hlo-opt module.hlo --passes=algsimp,dce               run two passes
  hlo-opt - --passes='fix{limit=10}(algsimp,cse,dce)'   repeat passes until nothing changes
  hlo-opt m.hlo --passes=cpu                            print the module that hlo-run compiles
  hlo-opt m.hlo --passes=@my.pipeline                   read passes from a file, with comments and line breaks
  hlo-opt m.hlo --passes='dce,@my.pipeline,fix(@more)'  combine files and passes, also inside `fix`
  hlo-opt --list-passes=names                           list the names of the passes, for scripts
  hlo-opt --passes=cpu --print-pipeline                 print the passes of the pipeline `cpu`
  hlo-opt --explain algsimp                             explain a pass: options, rewrites, an example
  hlo-opt m.hlo --passes=constant_folding{max-elements=64} --print-after=all -o out.hlo
  hlo-opt m.hlo --passes=cpu --print-changed -o out.hlo print the changes of each pass as a diff
  hlo-opt m.hlo --passes=cpu --dump-dir=dump --stats    write a file for each pass, and count rewrites
  hlo-opt m.hlo --passes=cpu --emit=html -o m.html      draw a graph for a browser, with fusions as boxes that open
  hlo-opt m.hlo --emit=svg --around=dot.5 --depth=2 -o dot.svg
  hlo-opt m.hlo --passes=cpu --cost                     print flops, bytes and arithmetic intensity
  hlo-opt m.hlo --memory                                print the memory use of the program that hlo-run compiles
  hlo-opt step.mlir --emit=hlo -o step.hlo              convert StableHLO, as text or bytecode, to HLO
  hlo-opt m.hlo --emit=vhlo --target=1.0.0 -o m.bc      write a portable artifact for JAX and others; --emit=stablehlo writes text
  hlo-opt m.hlo --emit=proto -o m.pb                    write a HloModuleProto; --emit=proto-text writes it as text
  hlo-opt m.hlo --print-options=short                   print the module without metadata, signatures and %
  hlo-opt m.hlo --print-options=large-constants=off,operand-shapes
  hlo-opt m.hlo --format -i                             format the file
  hlo-opt m.hlo --check-format                          check whether the file is formatted
  hlo-opt a.hlo b.hlo --passes=dce                      read several files, and print the results as parts of one text
  hlo-opt m.hlo --passes=cpu --reproducer=failed.hlo    if a pass fails, write the module and the passes to a file
  hlo-opt failed.hlo --run-reproducer                   run that module and its passes again
  hlo-opt errors.hlo --verify-diagnostics               compare errors with `// expected-error @below {{message}}`

Exit codes: 0 success, 1 an error in a file, 2 an error in the command line.";

/// Parses a rule of `--verify`.
fn strictness(text: &str) -> Result<Strictness, String> {
    let found = Strictness::ALL.into_iter().find(|s| s.name() == text);
    found.ok_or_else(|| format!("the rules are {}", Strictness::ALL.map(Strictness::name).join(", ")))
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
