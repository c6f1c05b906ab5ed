//! Machines that programs are compiled for: triples, CPUs and features, checked before they are passed to
//! LLVM.
//!
//! LLVM only warns about an unknown CPU or feature, and ends the process if the CPU does not support 64-bit
//! code. Therefore this module has its own lists of names: the CPUs of LLVM 22 with 64-bit support, and the
//! instruction set features that programs use.

use llvm_sys::core::LLVMDisposeMessage;
use llvm_sys::target::*;
use llvm_sys::target_machine::{LLVMGetDefaultTargetTriple, LLVMGetHostCPUFeatures, LLVMGetHostCPUName};
use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::{Once, OnceLock};

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Architecture {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl Architecture {
    /// Returns the architecture's name in triples.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::X86_64 => "x86_64",
            Architecture::Aarch64 => "aarch64",
        }
    }

    /// Returns the CPU whose instructions all CPUs of the architecture support.
    pub fn baseline(self) -> &'static str {
        match self {
            Architecture::X86_64 => "x86-64",
            Architecture::Aarch64 => "generic",
        }
    }

    /// Returns the names of CPUs.
    pub fn cpus(self) -> impl Iterator<Item = &'static str> {
        match self {
            Architecture::X86_64 => include_str!("names/x86_64.txt").lines(),
            Architecture::Aarch64 => include_str!("names/aarch64.txt").lines(),
        }
    }

    /// Returns the names of features.
    pub fn features(self) -> &'static [&'static str] {
        match self {
            Architecture::X86_64 => &X86_64_FEATURES,
            Architecture::Aarch64 => &AARCH64_FEATURES,
        }
    }

    /// Returns the architecture of this process, or `None` if it is not supported.
    pub fn host() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Architecture::X86_64)
        } else {
            cfg!(target_arch = "aarch64").then_some(Architecture::Aarch64)
        }
    }
}

/// The instruction sets that not all x86-64 CPUs have, and the preferred width of vectors.
const X86_64_FEATURES: [&str; 43] = [
    "adx",
    "aes",
    "avx",
    "avx2",
    "avx512bf16",
    "avx512bitalg",
    "avx512bw",
    "avx512cd",
    "avx512dq",
    "avx512f",
    "avx512fp16",
    "avx512ifma",
    "avx512vbmi",
    "avx512vbmi2",
    "avx512vl",
    "avx512vnni",
    "avx512vpopcntdq",
    "avxifma",
    "avxneconvert",
    "avxvnni",
    "avxvnniint16",
    "avxvnniint8",
    "bmi",
    "bmi2",
    "f16c",
    "fma",
    "fma4",
    "gfni",
    "lzcnt",
    "movbe",
    "pclmul",
    "popcnt",
    "prefer-128-bit",
    "prefer-256-bit",
    "sha",
    "sse3",
    "sse4.1",
    "sse4.2",
    "sse4a",
    "ssse3",
    "vaes",
    "vpclmulqdq",
    "xop",
];

/// The instruction sets beyond Armv8.0 with NEON.
const AARCH64_FEATURES: [&str; 19] = [
    "aes",
    "bf16",
    "complxnum",
    "crc",
    "dotprod",
    "f32mm",
    "f64mm",
    "fp16fml",
    "fptoint",
    "fullfp16",
    "i8mm",
    "jsconv",
    "lse",
    "rcpc",
    "rdm",
    "sha2",
    "sha3",
    "sve",
    "sve2",
];

/// The triples that programs can be compiled for.
pub const TRIPLES: [&str; 6] = [
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "x86_64-unknown-none-elf",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
    "aarch64-unknown-none-elf",
];

/// A machine to compile for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    triple: CString,
    cpu: CString,
    /// The features in LLVM's notation: `+avx2,-fma`.
    features: CString,
    architecture: Architecture,
    native: bool,
}

/// The reason why a target is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The triple is not one of the supported ones.
    #[error("`{0}` is not a target: expected one of {list}", list = TRIPLES.join(", "))]
    Triple(String),
    /// The CPU is `native`, but the architecture is not that of this computer.
    #[error("`native` is this computer's CPU, which is no {0}: name a CPU, such as {1}")]
    Native(String, &'static str),
    /// The architecture has no CPU of this name.
    #[error("`{name}` is not a CPU of {architecture}{}: expected native, {baseline} or another of: {known}", hint(.similar))]
    Cpu {
        /// The name that was given.
        name: String,
        /// The name of the architecture.
        architecture: &'static str,
        /// The baseline CPU of the architecture.
        baseline: &'static str,
        /// The most similar valid name, if any.
        similar: Option<&'static str>,
        /// All valid names.
        known: String,
    },
    /// The architecture has no feature of this name.
    #[error("`{name}` is not a feature of {architecture}{}: expected `+` or `-` and one of: {known}", hint(.similar))]
    Feature {
        /// The name that was given.
        name: String,
        /// The name of the architecture.
        architecture: &'static str,
        /// The most similar valid name, if any.
        similar: Option<&'static str>,
        /// All valid names.
        known: String,
    },
}

fn hint(similar: &Option<&'static str>) -> String {
    similar.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

impl Target {
    /// Returns the target of this computer's CPU, with all of its features.
    ///
    /// # Errors
    /// This computer is neither x86-64 nor aarch64.
    pub fn host() -> Result<Self, TargetError> {
        Self::new(None, None, &[])
    }

    /// Creates a target from a triple, a CPU and features.
    ///
    /// - `triple` may be a full triple or a short form such as `aarch64-linux-gnu` or `x86_64`. The default
    ///   is this computer's triple.
    /// - `cpu` may be `native`. The default is `native` without a triple. With a triple, it is the
    ///   architecture's baseline.
    /// - Each feature is a name with the prefix `+` or `-`.
    ///
    /// # Errors
    /// A name is unknown, or the CPU is `native` and the architecture is not that of this computer.
    pub fn new(triple: Option<&str>, cpu: Option<&str>, features: &[String]) -> Result<Self, TargetError> {
        let (full, architecture) = match triple {
            Some(triple) => {
                let full = full_triple(triple).ok_or_else(|| TargetError::Triple(triple.to_string()))?;
                let x86 = full.starts_with("x86_64");
                (full.to_string(), if x86 { Architecture::X86_64 } else { Architecture::Aarch64 })
            }
            None => {
                let host = host_triple();
                let architecture = Architecture::host().ok_or_else(|| TargetError::Triple(host.clone()))?;
                (host, architecture)
            }
        };
        let native = cpu.map_or(triple.is_none(), |cpu| cpu == "native");
        let (cpu, mut all) = match (native, cpu) {
            (true, _) if Architecture::host() != Some(architecture) => {
                return Err(TargetError::Native(architecture.name().to_string(), architecture.baseline()));
            }
            (true, _) => {
                let (cpu, features) = host_cpu();
                (cpu.to_string_lossy().into_owned(), vec![features.to_string_lossy().into_owned()])
            }
            (false, None) => (architecture.baseline().to_string(), Vec::new()),
            (false, Some(cpu)) => (known_cpu(architecture, cpu)?, Vec::new()),
        };
        for feature in features {
            known_feature(architecture, feature)?;
            all.push(feature.clone());
        }
        let text = |s: String| CString::new(s).unwrap_or_default();
        Ok(Self { triple: text(full), cpu: text(cpu), features: text(all.join(",")), architecture, native })
    }

    /// Returns the full triple.
    pub fn triple(&self) -> &CStr {
        &self.triple
    }

    /// Returns LLVM's name of the CPU.
    pub fn cpu(&self) -> &CStr {
        &self.cpu
    }

    /// Returns the features beyond those of the CPU, in LLVM's notation.
    pub fn features(&self) -> &CStr {
        &self.features
    }

    /// Returns the instruction set.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Returns whether the CPU is this computer's.
    pub fn is_native(&self) -> bool {
        self.native
    }
}

/// Prints the triple and the CPU for a user.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, CPU {}", self.triple.to_string_lossy(), self.cpu.to_string_lossy())?;
        match (self.native, self.features.to_string_lossy()) {
            (true, _) => write!(f, " (the computer that compiled it, with everything that it can do)"),
            (false, features) if !features.is_empty() => write!(f, " {features}"),
            _ => Ok(()),
        }
    }
}

/// Returns the one of [`TRIPLES`] that a full or shorter form names.
fn full_triple(text: &str) -> Option<&'static str> {
    let full = match text.split('-').collect::<Vec<_>>()[..] {
        [arch] => format!("{arch}-unknown-linux-gnu"),
        [arch, os @ ("linux" | "none"), env] => format!("{arch}-unknown-{os}-{env}"),
        [arch, "unknown" | "pc", "linux"] => format!("{arch}-unknown-linux-gnu"),
        [arch, "unknown" | "pc", "none"] | [arch, "none"] => format!("{arch}-unknown-none-elf"),
        [arch, "pc", os, env] => format!("{arch}-unknown-{os}-{env}"),
        _ => text.to_string(),
    };
    TRIPLES.into_iter().find(|t| *t == full)
}

fn host_triple() -> String {
    // SAFETY: LLVM returns a NUL-terminated string, which is freed after it is copied.
    unsafe {
        let text = LLVMGetDefaultTargetTriple();
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        copy
    }
}

/// Returns this computer's CPU and its features in LLVM's notation. Detecting them takes some time on a
/// virtual machine.
pub(crate) fn host_cpu() -> &'static (CString, CString) {
    static HOST: OnceLock<(CString, CString)> = OnceLock::new();
    HOST.get_or_init(|| {
        // SAFETY: both strings are NUL-terminated and must be freed by the caller.
        unsafe {
            [LLVMGetHostCPUName(), LLVMGetHostCPUFeatures()]
                .map(|text| {
                    let copy = CStr::from_ptr(text).to_owned();
                    LLVMDisposeMessage(text);
                    copy
                })
                .into()
        }
    })
}

fn known_cpu(architecture: Architecture, name: &str) -> Result<String, TargetError> {
    if architecture.cpus().any(|cpu| cpu == name) {
        return Ok(name.to_string());
    }
    Err(TargetError::Cpu {
        name: name.to_string(),
        architecture: architecture.name(),
        baseline: architecture.baseline(),
        similar: hlo_ir::diag::suggest::nearest(name, architecture.cpus()),
        known: architecture.cpus().collect::<Vec<_>>().join(" "),
    })
}

fn known_feature(architecture: Architecture, feature: &str) -> Result<(), TargetError> {
    let name = feature.strip_prefix(['+', '-']);
    if name.is_some_and(|name| architecture.features().contains(&name)) {
        return Ok(());
    }
    let meant = name.unwrap_or(feature);
    Err(TargetError::Feature {
        name: feature.to_string(),
        architecture: architecture.name(),
        similar: hlo_ir::diag::suggest::nearest(meant, architecture.features().iter().copied()),
        known: architecture.features().join(" "),
    })
}

/// Registers both architectures with LLVM.
pub(crate) fn initialize() {
    static ONCE: Once = Once::new();
    // SAFETY: the functions only register targets with LLVM. `Once` ensures that they do not run twice at the
    // same time.
    ONCE.call_once(|| unsafe {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeAArch64TargetInfo();
        LLVMInitializeAArch64Target();
        LLVMInitializeAArch64TargetMC();
        LLVMInitializeAArch64AsmPrinter();
    });
}
