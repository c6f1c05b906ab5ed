//! The two ways to a result: the interpreter, and compiled code where it is built in.

use crate::custom_calls::CustomCalls;
use crate::watchdog::Watchdog;
use hlo_eval::EvalError;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::host::Host;
use hlo_ir::{Literal, Module, SourceFrames, Span};
use hlo_tools_common::Failure;
use hlo_tools_common::memory::available_bytes;

#[cfg(feature = "codegen")]
pub use crate::compiled::{compile, emit};
#[cfg(not(feature = "codegen"))]
pub use missing::{check_built_in, compile, emit};

/// What both engines are told besides the module and its inputs.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The number of threads of compiled code; 0 for all that this process may use.
    #[cfg_attr(
        not(feature = "codegen"),
        expect(dead_code, reason = "the interpreter computes on one thread")
    )]
    pub threads: usize,
    /// The seed of random numbers.
    pub seed: u64,
    /// Whether debuggers and profilers are told of compiled code.
    #[cfg_attr(not(feature = "codegen"), expect(dead_code, reason = "nothing is compiled"))]
    pub debug_info: bool,
    /// The targets of custom calls.
    pub custom_calls: &'a CustomCalls,
    /// Who ends runs that take too long.
    pub watchdog: Option<&'a Watchdog>,
}

/// Refuses a module whose interpretation needs more memory than there is, before anything is computed.
pub fn check_memory(module: &Module, source: &Source) -> Result<(), Failure> {
    let options = hlo_eval::Options { max_bytes: available_bytes(), ..hlo_eval::Options::default() };
    hlo_eval::check_memory(module, &options).map_err(|e| failure(&e, module, source))
}

fn failure(error: &EvalError, module: &Module, source: &Source) -> Failure {
    Failure::diags(source, at_opcodes(vec![error.to_diag(module)], module, source))
}

/// Runs the interpreter. `inputs` are the flattened parameters.
pub fn interpret(
    module: &Module,
    source: &Source,
    inputs: &[Literal],
    settings: Settings<'_>,
    host: &mut dyn Host,
) -> Result<Literal, Failure> {
    let mut leaves = inputs.iter().cloned();
    let parameters = module.parameters(module.entry());
    let arguments = parameters.iter().map(|&p| Literal::from_leaves(&module[p].shape, &mut leaves));
    let arguments: Option<Vec<Literal>> = arguments.collect();
    let arguments = arguments.ok_or_else(|| Failure::Message("too few inputs".to_string()))?;
    let running = settings.watchdog.map(|w| w.run(module, source));
    let options = hlo_eval::Options {
        max_bytes: available_bytes(),
        custom_calls: settings.custom_calls.interpreted.clone(),
        seed: settings.seed,
        watch: running.as_ref().map(|r| r.watch.clone()),
        ..hlo_eval::Options::default()
    };
    hlo_eval::evaluate_with_host(module, &arguments, &options, host).map_err(|e| {
        match (settings.watchdog, &running) {
            (Some(watchdog), Some(r)) if r.watch.is_stopped() => {
                watchdog.ended(module, source, e.instruction)
            }
            _ => failure(&e, module, source),
        }
    })
}

/// Diagnostics of what an engine can't do: what marks a whole instruction marks its opcode instead, and says where in the
/// program of the user that comes from.
pub fn at_opcodes(mut diags: Vec<Diag>, module: &Module, source: &Source) -> Vec<Diag> {
    for diag in &mut diags {
        let Some(label) = diag.labels.iter_mut().find(|l| l.primary) else { continue };
        let mut instructions = module.computations().flat_map(|c| module[c].instructions());
        let Some(&id) = instructions.find(|&&i| module.span(i) == label.span) else { continue };
        if let Some(trace) = SourceFrames::of(module).line(id) {
            diag.notes.push(format!("from {trace}"));
        }
        let opcode = module[id].opcode().name();
        // A pass may have put another opcode in the place of what is written.
        if let Some(span) = source.text.get(label.span.range()).and_then(|t| opcode_in(t, opcode)) {
            let start = label.span.start as usize + span.start as usize;
            label.span = Span::new(start, start + opcode.len());
        }
    }
    diags
}

/// Where an instruction's text has its opcode: the first word of that name before a parenthesis.
fn opcode_in(text: &str, opcode: &str) -> Option<Span> {
    let continues = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '%');
    let found = text.match_indices(opcode).find(|&(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + opcode.len()..].trim_start();
        !before.is_some_and(continues) && after.starts_with('(')
    });
    found.map(|(at, _)| Span::new(at, at + opcode.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opcode_is_found_in_its_instruction() {
        assert_eq!(opcode_in("%add.1 = f32[] add(f32[] %add)", "add"), Some(Span::new(15, 18)));
        assert_eq!(opcode_in("x = f32[2] negate(y)", "add"), None);
    }
}

#[cfg(not(feature = "codegen"))]
mod missing {
    use super::Settings;
    use crate::args::{Args, Emit, Engine};
    use crate::timing::Codegen;
    use hlo_ir::diag::Source;
    use hlo_ir::host::Host;
    use hlo_ir::{Literal, Module};
    use hlo_tools_common::Failure;

    /// Without code generation nothing is ever compiled.
    pub enum Compiled {}

    fn not_built_in() -> Failure {
        Failure::Message(
            "compiled execution was not built in: use --engine=eval, or build with the feature `codegen`"
                .into(),
        )
    }

    /// Says so before anything is read, if compiled execution is asked for.
    pub fn check_built_in(args: &Args) -> Result<(), Failure> {
        let needs = match (args.emit, args.engine) {
            (
                Some(Emit::Mlir | Emit::LlvmDialect | Emit::Llvm | Emit::LlvmOpt | Emit::Asm | Emit::Obj),
                _,
            ) => "--emit shows what the module is compiled to",
            (None, _) if args.isolate.is_some() => "--isolate compares compiled code with the interpreter",
            (None, Engine::Jit | Engine::Both) => return Err(not_built_in()),
            _ => return Ok(()),
        };
        Err(Failure::Message(format!(
            "{needs}, and compiled execution was not built in: build with the feature `codegen`"
        )))
    }

    /// Says that compiled execution was not built in.
    pub fn compile(_: &Module, _: &Source, _: Settings<'_>, _: &[Literal]) -> Result<Compiled, Failure> {
        Err(not_built_in())
    }

    impl Compiled {
        /// Never called.
        pub fn run(&mut self, _: &mut dyn Host) -> Result<(), Failure> {
            match *self {}
        }

        /// Never called.
        pub fn codegen(&self) -> Codegen {
            match *self {}
        }

        /// Never called.
        pub fn into_leaves(self) -> Vec<Literal> {
            match self {}
        }
    }

    /// The HLO after the passes; other stages were not built in.
    pub fn emit(module: &Module, _: &Source, stage: Emit, _: bool) -> Result<Vec<u8>, Failure> {
        match stage {
            Emit::Hlo => {
                let options = hlo_ir::print::PrintOptions::default();
                Ok(hlo_ir::print::print_module(module, &options).into_bytes())
            }
            Emit::Mlir | Emit::LlvmDialect | Emit::Llvm | Emit::LlvmOpt | Emit::Asm | Emit::Obj => {
                Err(not_built_in())
            }
        }
    }
}
