//! The options of ahead-of-time compilation (`--aot`).

use std::path::PathBuf;

/// The options of ahead-of-time compilation and the target machine.
#[derive(clap::Args, Clone, Debug)]
pub struct AotArgs {
    /// Write the program as an object file that C and Rust can call, instead of running it. Writes NAME.o,
    /// NAME.h, NAME.rs, and libhlo_runtime.a with the runtime functions that the program calls, if any, to
    /// the folder of -o, or to the current folder. With --threads=1 the program needs no threads, and often
    /// no runtime
    #[arg(long, value_name = "NAME", help_heading = "Ahead of time")]
    #[arg(conflicts_with_all = ["emit", "case", "engine", "inputs", "input_literals", "infeed", "outfeed", "seed"])]
    #[arg(conflicts_with_all = ["expected", "expected_literals", "time", "iterations", "warmup", "bisect_passes"])]
    #[arg(conflicts_with_all = ["isolate", "check_finite", "print_values", "trace", "full", "timeout"])]
    #[arg(conflicts_with_all = ["custom_calls", "stub_callbacks"])]
    pub aot: Option<String>,

    /// The target machine: x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu (-musl, -none-elf), or in
    /// short aarch64. Requires --aot, or --emit of one of LLVM's stages
    #[arg(long, value_name = "TRIPLE", help_heading = "Ahead of time")]
    pub target: Option<String>,

    /// The target CPU: native, x86-64, x86-64-v2 to -v4, generic, or an LLVM name such as znver4 and
    /// neoverse-v2. The default is this computer's CPU; with --target, the features that all CPUs of the
    /// target have
    #[arg(long, value_name = "CPU", help_heading = "Ahead of time", allow_hyphen_values = true)]
    pub cpu: Option<String>,

    /// Instruction sets to add to or remove from those of the CPU: +avx2,-fma
    #[arg(long, value_name = "+NAME,-NAME", value_delimiter = ',', help_heading = "Ahead of time")]
    #[arg(allow_hyphen_values = true)]
    pub features: Vec<String>,

    /// The library to take libhlo_runtime.a from; `none` omits it. The default is libhlo_aot_runtime.a in the
    /// folder of hlo-run, or libhlo_aot_runtime-TRIPLE.a for another machine
    #[arg(long, value_name = "FILE", help_heading = "Ahead of time", requires = "aot")]
    pub runtime: Option<PathBuf>,
}

impl AotArgs {
    /// Whether a target machine is given.
    pub fn names_target(&self) -> bool {
        self.target.is_some() || self.cpu.is_some() || !self.features.is_empty()
    }
}
