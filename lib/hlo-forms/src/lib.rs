//! The forms that modules come in, told apart by what they contain: HLO text, StableHLO as text and as bytecode, protocol buffers in
//! their binary and text form.
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

/// A form of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// HLO text, or what is no other form.
    Hlo,
    /// StableHLO as MLIR prints it.
    StableHlo,
    /// StableHLO as MLIR's bytecode: a portable artifact, in the dialect VHLO, or not.
    Bytecode,
    /// A protocol buffer: HloModuleProto, HloProto, HloModuleProtoWithConfig or HloSnapshot.
    Proto,
    /// One of these in text form.
    ProtoText,
}

/// What is read of a program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The module. Of a text in a language its spans are places there.
    pub module: Module,
    /// What there is to warn of.
    pub warnings: Vec<Diag>,
    /// What the program was run on, if that came with it.
    pub run: Option<Run>,
}

/// A run of a program that came with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The arguments of each partition, one for each parameter.
    pub arguments: Vec<Vec<Literal>>,
    /// The result, if it was kept.
    pub result: Option<Literal>,
}

/// A program, read as far as it can be without its arguments.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A program whose module is known.
    Program(Box<Program>),
    /// A program of StableHLO whose arguments have unknown sizes: its module is that for the shapes of its arguments.
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

/// What MLIR's modules begin with, after comments.
const MLIR_BEGINS: &[&str] = &[
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
    /// The form of a program: by how it begins.
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

    /// True if it is a text in a language, into which diagnostics point.
    pub fn is_language(self) -> bool {
        matches!(self, Self::Hlo | Self::StableHlo)
    }

    /// Reads a program of this form. The module need not be valid: [`hlo_ir::verify::verify`] says whether it is.
    ///
    /// # Errors
    /// It is damaged, or says what HLO has not.
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

    /// Reads a program of this form, which may be for arguments of unknown sizes. Of StableHLO the module is that of
    /// `function`, or else of `main` or the only function; other forms have one entry.
    ///
    /// # Errors
    /// As [`Form::read`]; there is no such function.
    pub fn open(self, program: &[u8], function: Option<&str>) -> Result<Opened, Vec<Diag>> {
        if !matches!(self, Self::StableHlo | Self::Bytecode) {
            return self.read(program).map(|program| Opened::Program(Box::new(program)));
        }
        Ok(match hlo_stablehlo::Program::new(self.tree(program)?, function)? {
            hlo_stablehlo::Program::Module(module) => Opened::Program(Box::new((*module).into())),
            hlo_stablehlo::Program::Polymorphic(polymorphic) => Opened::Polymorphic(polymorphic),
        })
    }

    /// The tree of a program of StableHLO.
    fn tree(self, program: &[u8]) -> Result<Tree, Vec<Diag>> {
        match self {
            Self::Bytecode => hlo_stablehlo::bytecode::read(program).map_err(|diag| vec![diag]),
            _ => hlo_stablehlo::text::parse(text(program)?),
        }
    }
}

/// Returns StableHLO's bytecode as text if its module depends on what a caller chooses: the shapes of its arguments, or one of
/// several functions.
pub fn text_of_undecided(bytecode: &[u8]) -> Option<String> {
    let tree = hlo_stablehlo::bytecode::read(bytecode).ok()?;
    let is_undecided = hlo_stablehlo::refine::needs_shapes(&tree, None).unwrap_or(true);
    is_undecided.then(|| hlo_stablehlo::text::print(&tree))
}

/// Reads a program of whatever form.
///
/// # Errors
/// As [`Form::read`].
pub fn read(program: &[u8]) -> Result<Program, Vec<Diag>> {
    Form::of(program).read(program)
}

/// True for a text of MLIR: by its first word, for which nothing else begins so.
fn is_stablehlo(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while rest.starts_with("//") {
        rest = rest.find('\n').map_or("", |end| rest[end..].trim_start());
    }
    // An alias may be called anything.
    let line = rest.lines().next().unwrap_or_default();
    let is_alias = rest.starts_with(['#', '!']) && line.contains(" = ");
    is_alias || MLIR_BEGINS.iter().any(|begin| rest.starts_with(begin))
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
