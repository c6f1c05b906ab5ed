//! The arguments of `hlo-run`.

#![allow(rustdoc::broken_intra_doc_links, reason = "the help texts are not Markdown")]

use crate::aot_args::AotArgs;
use clap::{Parser, ValueEnum};
use hlo_tools_common::args::ShowArgs;
use hlo_tools_common::devices::DeviceArgs;
use hlo_tools_common::language::LanguageArgs;

/// Runs an HLO module: compiles it for this computer's CPU, or interprets it, and prints its results.
#[derive(Parser, Clone, Debug)]
#[command(name = "hlo-run", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Args {
    /// The input file: HLO text, StableHLO as text or bytecode, or a protocol buffer. A snapshot also
    /// contains inputs and results. `-` reads standard input. With --case, the file replaces the case's own
    /// module
    #[arg(value_name = "FILE", required_unless_present = "case")]
    pub input: Option<String>,

    /// A folder with module.hlo and case.json: module, inputs, expected results and tolerance
    #[arg(long, value_name = "DIR", conflicts_with_all = ["inputs", "input_literals", "random_inputs"])]
    pub case: Option<String>,

    /// The inputs: .npy files, one per parameter in order (tuples flattened), or one .npz. From .safetensors
    /// files, each parameter gets the tensor with its name; the arrays of the other files, in order, are for
    /// the remaining parameters
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Inputs")]
    #[arg(conflicts_with_all = ["input_literals", "random_inputs"])]
    pub inputs: Vec<String>,

    /// One input as text, such as 'f32[4] {1,2,3,4}'; once per parameter
    #[arg(long = "input", value_name = "LITERAL", help_heading = "Inputs")]
    #[arg(conflicts_with = "random_inputs")]
    pub input_literals: Vec<String>,

    /// Generate inputs, and constants whose values the text omits, from a seed (0 if not given): small
    /// values, indices in range
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    #[arg(help_heading = "Inputs")]
    pub random_inputs: Option<u64>,

    /// The data of infeeds: the arrays of .npy and .npz files in order, one for each array of each infeed
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Inputs")]
    pub infeed: Vec<String>,

    /// The seed of the random numbers that `rng` and `rng-get-and-update-state` draw
    #[arg(long, value_name = "SEED", default_value_t = 0, help_heading = "Inputs")]
    pub seed: u64,

    #[command(flatten)]
    pub language: LanguageArgs,

    /// The engine: compiled code, the interpreter, or both with a comparison of their results
    #[arg(long, value_name = "ENGINE", default_value = DEFAULT_ENGINE)]
    pub engine: Engine,

    /// The passes to run before code generation (see hlo-opt --list-passes); @FILE reads them from a file; ''
    /// runs none
    #[arg(long, value_name = "PASSES")]
    pub passes: Option<String>,

    /// Do not round between operations on bf16 and f16. Only operands of matrix products, values of loops and
    /// results are rounded. This is faster and more accurate, but the bits differ from those of the program.
    /// It applies to both engines
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true)]
    #[arg(default_value_t = false, default_missing_value = "true", action = clap::ArgAction::Set)]
    pub allow_excess_precision: bool,

    /// The number of threads; 0 for all that this process may use
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = threads)]
    pub threads: usize,

    #[command(flatten)]
    pub devices: DeviceArgs,

    /// Partition a program for all devices into the programs of each partition, by the shardings of its
    /// values. Runs the passes expand-unreduced, sharding-propagation and spmd-partitioning before all
    /// others. Inputs and results are those of the whole program
    #[arg(long, help_heading = "Devices")]
    pub use_spmd_partitioning: bool,

    /// How long a device waits for others in a collective; 60 seconds if not given
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Devices")]
    pub collective_timeout: Option<std::time::Duration>,

    /// A folder that caches compiled code for this version and this CPU. Several processes may use it at the
    /// same time. Nobody else may write to it, because its code is executed
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<std::path::PathBuf>,

    /// Stop after this many seconds, and report the loop or instruction that was running
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<std::time::Duration>,

    /// A shared library that declares targets of custom calls; once per library
    #[arg(long, value_name = "LIB", help_heading = "Custom calls")]
    pub custom_calls: Vec<std::path::PathBuf>,

    /// A library function that handles the typed custom calls of a name, as with jax.ffi.register_ffi_target.
    /// The name of the function is that of the target unless given; once per target
    #[arg(long, value_name = "NAME[=FUNCTION]", requires = "custom_calls", help_heading = "Custom calls")]
    pub ffi_target: Vec<String>,

    /// Make every function that these libraries define a target of its name. A module can then call any of
    /// them, with any arguments
    #[arg(long, requires = "custom_calls", help_heading = "Custom calls")]
    pub custom_calls_by_name: bool,

    /// Return zeros for calls of Python functions (jax.pure_callback, io_callback, debug.print), and skip
    /// those without results
    #[arg(long, help_heading = "Custom calls")]
    pub stub_callbacks: bool,

    /// The expected results: .npy files, one per result in order (tuples flattened), or one .npz, or
    /// .safetensors files with tensors out_0, out_1, ...
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Checking")]
    #[arg(conflicts_with = "expected_literals")]
    pub expected: Vec<String>,

    /// One expected result as text; once per result
    #[arg(long = "expect", value_name = "LITERAL", help_heading = "Checking")]
    pub expected_literals: Vec<String>,

    /// The relative tolerance of floating-point results
    #[arg(long, value_name = "NUMBER", value_parser = tolerance, help_heading = "Checking")]
    pub rtol: Option<f64>,

    /// The absolute tolerance of floating-point results
    #[arg(long, value_name = "NUMBER", value_parser = tolerance, help_heading = "Checking")]
    pub atol: Option<f64>,

    /// The fraction of elements that may be outside the tolerance, from 0 to 1
    #[arg(long, value_name = "FRACTION", value_parser = fraction, help_heading = "Checking")]
    pub max_mismatches: Option<f64>,

    /// Do not print results
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Print results in full. By default only the first elements of results with more than 1000 are printed
    #[arg(long, help_heading = "Output")]
    pub full: bool,

    /// Write the results to an .npz, a .npy (one result), a .safetensors or a folder of .npy instead of
    /// printing them. With --emit, the output file; with --aot, the folder of its files
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub output: Option<String>,

    /// The folder for the data of outfeeds: outfeed_0.npy, outfeed_1.npy, ... in order, .npz for tuples
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub outfeed: Option<String>,

    /// Print a stage of the compilation instead of running
    #[arg(long, value_name = "STAGE", help_heading = "Output")]
    #[arg(conflicts_with_all = ["expected", "expected_literals", "time", "case"])]
    pub emit: Option<Emit>,

    /// Generate debug information. The LLVM IR, assembly and object files of --emit contain the line of the
    /// module for each operation. When the program runs, its code is registered with gdb and perf
    #[arg(short = 'g', long, help_heading = "Output")]
    pub debug_info: bool,

    /// Find the pass, and the rewrite in it, that changes the results. Compares the results after parts of
    /// the passes with those of the interpreter for the given module. With -o, writes the modules before and
    /// after to a folder
    #[arg(long, help_heading = "Finding what broke")]
    #[arg(conflicts_with_all = ["expected", "expected_literals", "time", "emit", "isolate"])]
    pub bisect_passes: bool,

    /// Compile each instruction separately, on operands that the interpreter computed, and print the largest
    /// differences first
    #[arg(long, value_name = "MODULE", num_args = 0..=1, require_equals = true, default_missing_value = "given")]
    #[arg(help_heading = "Finding what broke")]
    #[arg(conflicts_with_all = ["expected", "expected_literals", "time", "emit", "output", "engine"])]
    pub isolate: Option<Isolate>,

    /// With --isolate: only instructions with these names or opcodes
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "isolate")]
    #[arg(help_heading = "Finding what broke")]
    pub only: Vec<String>,

    /// Report the first instruction that computes a NaN or an infinity from finite numbers, with its
    /// operands, and stop; or continue and report all. Without --passes the instructions are those of the
    /// given module
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "first")]
    #[arg(help_heading = "Watching values")]
    #[arg(conflicts_with_all = ["time", "emit", "bisect_passes", "isolate", "iterations", "warmup"])]
    pub check_finite: Option<CheckFinite>,

    /// Print the values of these instructions each time they are computed
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Watching values")]
    #[arg(conflicts_with_all = ["time", "emit", "bisect_passes", "isolate", "iterations", "warmup"])]
    pub print_values: Vec<String>,

    /// Print the shape of each instruction, the minimum, maximum and mean of its elements, and the number of
    /// NaN and infinite elements
    #[arg(long, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    #[arg(help_heading = "Watching values")]
    #[arg(conflicts_with_all = ["time", "emit", "bisect_passes", "isolate", "iterations", "warmup"])]
    pub trace: Option<TraceKind>,

    /// Print the time of each stage, and the memory for temporary values
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    #[arg(help_heading = "Timing")]
    pub time: Option<TimeFormat>,

    /// Write a timeline of the waits in a program on several devices. FILE.svg is a picture of when each
    /// device waits for others, and in which collective. FILE.json contains events for Chrome's tracing and
    /// Perfetto. The timeline covers all runs, including those of --warmup
    #[arg(long, value_name = "FILE", help_heading = "Timing")]
    pub timeline: Option<String>,

    /// The number of timed runs
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Timing")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub iterations: u32,

    /// The number of untimed runs before them
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Timing")]
    pub warmup: u32,

    /// The options of ahead-of-time compilation.
    #[command(flatten)]
    pub aot: AotArgs,

    /// The options for diagnostics.
    #[command(flatten)]
    pub show: ShowArgs,
}

impl Args {
    /// Whether no option specifies the inputs.
    pub fn has_no_inputs(&self) -> bool {
        self.inputs.is_empty() && self.input_literals.is_empty() && self.random_inputs.is_none()
    }
}

const DEFAULT_ENGINE: &str = if cfg!(feature = "codegen") { "jit" } else { "eval" };

const AFTER_HELP: &str = "\
Elements without a numpy type (bf16, f8e4m3fn, s4, ...) are stored as raw bits in an unsigned type of the
same size. Types narrower than a byte take one byte per element.

Weights by name: the tensor `w` is the parameter `w`. If a parameter `p` is a tuple, `p.0` and `p.1` are its elements, and
`p.1.0` is an element of `p.1`. Results are out_0, out_1, ... in .npz and .safetensors files.
  hlo-run model.hlo --inputs weights.safetensors x.npy -o y.safetensors

A floating-point element is correct if |got - expected| <= atol + rtol * |expected|. A NaN equals a NaN.
Integers and pred must be equal. By default, rtol and atol depend on the element type:
f64 and c128 1e-10 and 1e-12, f32 and c64 1e-4 and 1e-5, f16 and bf16 2e-2 and 1e-2, smaller 0.25 and 0.1.
--engine=both multiplies the default atol by the largest finite magnitude of the array, if that exceeds 1:
rounding errors grow with the magnitude of terms that cancel.

A program with several replicas or partitions runs on several devices, each with its own inputs. `{d}` in the name of
a file is replaced by the number of the device. --input@D, --inputs@D, --expect@D and --expected@D apply only to device D.
Without @D, they apply to all devices. Device `replica * P + partition` is that replica and partition (docs/distributed.md).
  hlo-run psum.hlo --num-replicas=4 --inputs 'x.dev{d}.npy' -o 'out.dev{d}.npz'
  hlo-run psum.hlo --num-replicas=2 --input@0 'f32[2] {1,2}' --input@1 'f32[2] {3,4}'
Partition a program with shardings that is for all devices together. It has one set of inputs and results:
  hlo-run step.hlo --use-spmd-partitioning --num-partitions=4 --inputs x.npy -o out.npz

Infeeds read the arrays of --infeed in order, also in loops: `(f32[2], s32[])` reads two. Each run starts
with the first array. For example, a loop of three iterations with one infeed and one outfeed:
  hlo-run loop.hlo --infeed items.npz --outfeed sent/     (reads 3 arrays, writes sent/outfeed_0.npy to _2.npy)

Find the pass or instruction that makes the results of compiled code and the interpreter differ:
  hlo-run m.hlo --bisect-passes                  the pass and the rewrite, with compiled code
  hlo-run m.hlo --bisect-passes --engine=eval    the same with the interpreter, without code generation
  hlo-run m.hlo --isolate --only=dot,fusion.3    these instructions separately, worst first

Find the instruction that makes the loss NaN:
  hlo-run step.hlo --inputs batch.npz --check-finite             the first instruction, its operands, the line in Python
  hlo-run step.hlo --inputs batch.npz --check-finite=all         all such instructions, each at its first occurrence
  hlo-run step.hlo --inputs batch.npz --print-values=loss,norm   these values each time they are computed
  hlo-run step.hlo --inputs batch.npz --trace                    the range of every value; --trace=each: by iterations
With --passes=cpu, the instructions are those after the compiler's own passes.

Compile a program ahead of time, for C and Rust (docs/ahead-of-time.md):
  hlo-run mlp.hlo --aot=mlp -o build/                         build/mlp.o, mlp.h, mlp.rs, libhlo_runtime.a
  hlo-run mlp.hlo --aot=mlp --target=x86_64 --cpu=x86-64-v3   for all CPUs with AVX2
  hlo-run f.hlo --aot=f --target=aarch64 --threads=1          for 64-bit Arm, without threads

Exit codes: 0 success, 1 an error in a file or results that differ, 2 an error in the command line.";

/// The engine that computes the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Compiled code
    Jit,
    /// The interpreter
    Eval,
    /// Both, with a comparison of their results
    Both,
}

/// A stage of the compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The HLO text after the passes
    Hlo,
    /// The kernels: their loops, what they compute and what they read
    Kernels,
    /// The generated MLIR modules
    Mlir,
    /// The MLIR modules in the LLVM dialect
    LlvmDialect,
    /// LLVM IR before LLVM's passes
    Llvm,
    /// LLVM IR after LLVM's passes
    LlvmOpt,
    /// Assembly
    Asm,
    /// An object file
    Obj,
}

/// The instructions that `--isolate` compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Isolate {
    /// The instructions of the given module
    Given,
    /// The instructions after the passes: the default ones or those of --passes
    #[value(alias = "optimised")]
    Optimized,
}

/// The instructions that `--check-finite` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFinite {
    /// Only the first; the run stops there
    First,
    /// All, each at its first occurrence
    All,
}

/// The format of `--trace`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TraceKind {
    /// One line per instruction, over all its runs
    Table,
    /// One line each time an instruction is computed, with the iteration
    Each,
}

/// The format of timings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeFormat {
    /// A readable table
    Table,
    /// One line of JSON, times in seconds
    Json,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("expected a number that is not negative".to_string()),
    }
}

fn fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a fraction from 0 to 1, such as 0.01 for one in a hundred".to_string()),
    }
}

fn seconds(text: &str) -> Result<std::time::Duration, String> {
    let wanted = || "expected a number of seconds above 0".to_string();
    let number: f64 = text.parse().map_err(|_| wanted())?;
    let time = std::time::Duration::try_from_secs_f64(number).map_err(|_| wanted())?;
    if time.is_zero() { Err(wanted()) } else { Ok(time) }
}

/// Maximum number of threads: more than any machine has cores, fewer than a process may start.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let n: Option<usize> = text.parse().ok();
    n.filter(|&n| n <= MAX_THREADS).ok_or_else(|| format!("expected a number from 0 to {MAX_THREADS}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Args::command().debug_assert();
    }
}
