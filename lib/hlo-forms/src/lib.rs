//! The program formats, detected by their contents: HLO text, StableHLO as text and as bytecode, and protocol
//! buffers in binary and text form.
//!
//! # Example
//! ```
//! use hlo_forms::{Form, read};
//!
//! let text = "module @twice {
//!   func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
//!     %y = stablehlo.add %x, %x : tensor<2xf32>
//!     return %y : tensor<2xf32>
//!   }
//! }";
//! assert_eq!(Form::of(text.as_bytes()), Form::StableHlo);
//! let module = read(text.as_bytes()).expect("a program").module;
//! assert_eq!(module[module[module.entry()].root()].opcode().name(), "add");
//! ```

use hlo_ir::diag::Diag;
use hlo_ir::{Literal, Module};
use hlo_parser::Parsed;
use hlo_proto::file::{self, File, FileKind};
pub use hlo_stablehlo::Polymorphic;
use hlo_stablehlo::Tree;
pub use hlo_stablehlo::refine::{Argument, Parameter};

/// A program format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// HLO text; also the default for unrecognized contents.
    Hlo,
    /// StableHLO in MLIR's text form.
    StableHlo,
    /// StableHLO in MLIR bytecode, either a portable artifact in the VHLO dialect or not.
    Bytecode,
    /// A binary protocol buffer: HloModuleProto, HloProto, HloModuleProtoWithConfig or HloSnapshot.
    Proto,
    /// A protocol buffer in text form.
    ProtoText,
}

/// A program that was read.
#[derive(Clone, Debug)]
pub struct Program {
    /// The module. For text formats, its spans are positions in the text.
    pub module: Module,
    /// The warnings of the reader.
    pub warnings: Vec<Diag>,
    /// The arguments and results of a recorded run, if the file contains them.
    pub run: Option<Run>,
}

/// A recorded run of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The arguments of each partition, one for each parameter.
    pub arguments: Vec<Vec<Literal>>,
    /// The result, if it was recorded.
    pub result: Option<Literal>,
}

/// A program that was read as far as possible without its arguments.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A program with a known module.
    Program(Box<Program>),
    /// A StableHLO program whose arguments have unknown sizes. Its module depends on the shapes of the
    /// arguments.
    Polymorphic(Box<Polymorphic>),
}

impl From<Module> for Program {
    fn from(module: Module) -> Self {
        Self { module, warnings: Vec::new(), run: None }
    }
}

impl From<File> for Program {
    fn from(file: File) -> Self {
        let File { module, arguments, result, warnings, .. } = file;
        let run = (!arguments.is_empty()).then_some(Run { arguments, result });
        Self { module, warnings, run }
    }
}

impl From<Program> for Parsed {
    fn from(program: Program) -> Self {
        Self { module: program.module, warnings: program.warnings }
    }
}

/// The beginnings of MLIR modules, after comments.
const MLIR_PREFIXES: &[&str] = &[
    "module @",
    "module {",
    "module attributes",
    "builtin.module",
    "\"builtin.module\"",
    "func.func",
    "#loc",
    "sdy.mesh",
];

impl Form {
    /// Detects the format of a program from its beginning.
    pub fn of(program: &[u8]) -> Self {
        if hlo_stablehlo::bytecode::is_bytecode(program) {
            return Self::Bytecode;
        }
        match std::str::from_utf8(program) {
            Ok(text) if is_stablehlo(text) => Self::StableHlo,
            Ok(text) if FileKind::of_text(text).is_some() => Self::ProtoText,
            _ if FileKind::of_binary(program).is_some() => Self::Proto,
            _ => Self::Hlo,
        }
    }

    /// Returns whether the format is a text language, so that diagnostics can point into it.
    pub fn is_language(self) -> bool {
        matches!(self, Self::Hlo | Self::StableHlo)
    }

    /// Reads a program of this format. The module may be invalid: [`hlo_ir::verify::verify`] checks it.
    ///
    /// # Errors
    /// Returns an error if the program is damaged, or if HLO cannot express it.
    pub fn read(self, program: &[u8]) -> Result<Program, Vec<Diag>> {
        match self {
            Self::Hlo => {
                let parsed = hlo_parser::parse(text(program)?)?;
                Ok(Program { module: parsed.module, warnings: parsed.warnings, run: None })
            }
            Self::StableHlo | Self::Bytecode => {
                hlo_stablehlo::import::import(&self.tree(program)?).map(Program::from)
            }
            Self::Proto => file::read(program).map(Program::from),
            Self::ProtoText => file::read_text(text(program)?).map(Program::from),
        }
    }

    /// Reads a program of this format, whose arguments may have unknown sizes. For StableHLO the module is
    /// that of `function`, or by default of `main` or the only function. Other formats have only one entry.
    ///
    /// # Errors
    /// As [`Form::read`]. Also returns an error if there is no such function.
    pub fn open(self, program: &[u8], function: Option<&str>) -> Result<Opened, Vec<Diag>> {
        if !matches!(self, Self::StableHlo | Self::Bytecode) {
            return self.read(program).map(|program| Opened::Program(Box::new(program)));
        }
        Ok(match hlo_stablehlo::Program::new(self.tree(program)?, function)? {
            hlo_stablehlo::Program::Module(module) => Opened::Program(Box::new((*module).into())),
            hlo_stablehlo::Program::Polymorphic(polymorphic) => Opened::Polymorphic(polymorphic),
        })
    }

    /// Parses a StableHLO program.
    fn tree(self, program: &[u8]) -> Result<Tree, Vec<Diag>> {
        match self {
            Self::Bytecode => hlo_stablehlo::bytecode::read(program).map_err(|diag| vec![diag]),
            _ => hlo_stablehlo::text::parse(text(program)?),
        }
    }
}

/// Returns StableHLO bytecode as text if its module depends on a choice of the caller: the shapes of the
/// arguments, or one of several functions.
pub fn text_of_undecided(bytecode: &[u8]) -> Option<String> {
    let tree = hlo_stablehlo::bytecode::read(bytecode).ok()?;
    let is_undecided = hlo_stablehlo::refine::needs_shapes(&tree, None).unwrap_or(true);
    is_undecided.then(|| hlo_stablehlo::text::print(&tree))
}

/// Detects the format of a program and reads it.
///
/// # Errors
/// As [`Form::read`].
pub fn read(program: &[u8]) -> Result<Program, Vec<Diag>> {
    Form::of(program).read(program)
}

/// Returns whether a text is MLIR. Its first word decides, because no other format begins with these words.
fn is_stablehlo(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while rest.starts_with("//") {
        rest = rest.find('\n').map_or("", |end| rest[end..].trim_start());
    }
    // An alias may have any name.
    let line = rest.lines().next().unwrap_or_default();
    let is_alias = rest.starts_with(['#', '!']) && line.contains(" = ");
    is_alias || MLIR_PREFIXES.iter().any(|begin| rest.starts_with(begin))
}

fn text(program: &[u8]) -> Result<&str, Vec<Diag>> {
    std::str::from_utf8(program).map_err(|e| {
        let byte = program.get(e.valid_up_to()).copied().unwrap_or_default();
        vec![Diag::error(format!(
            "byte 0x{byte:02x} at {} is not UTF-8; HLO text is expected",
            e.valid_up_to()
        ))]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_how_they_begin() {
        for text in [
            "module @jit_f {\n}",
            "// RUN: x\n\n#loc1 = loc(\"x\")\nmodule {",
            "\"builtin.module\"() ({",
            "!t = tensor<2xf32>\n",
        ] {
            assert_eq!(Form::of(text.as_bytes()), Form::StableHlo, "{text}");
        }
        for text in [
            "",
            "HloModule m",
            "// module @a\nHloModule m",
            "# x\n",
            "/* */ HloModule m",
            "ENTRY e {",
            "module.1 {",
        ] {
            assert_eq!(Form::of(text.as_bytes()), Form::Hlo, "{text}");
        }
        assert_eq!(Form::of(b"ML\xefR\x06"), Form::Bytecode);
        assert_eq!(Form::of(b"\xff\xfe"), Form::Hlo);
    }
}
