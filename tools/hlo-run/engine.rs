//! The two engines: the interpreter, and compiled code if it is built in.

use crate::feed::Feed;
use crate::ranks::{OtherRanks, fail_on_all_ranks, local_devices};
use crate::timing::Codegen;
use crate::watchdog::Watchdog;
use hlo_client::{
    Arguments, Client, CompileOptions, DeviceRunOptions, Executable, Results, RunOptions, Wait, WaitEvent,
    Waits,
};
use hlo_graph::{Timeline, WaitSpan};
use hlo_ir::diag::{Diag, Source};
use hlo_ir::host::Host;
use hlo_ir::{Literal, Module, SourceFrames, Span};
use hlo_tools_common::Failure;
use hlo_tools_common::memory::available_bytes;
use std::time::Duration;

pub use hlo_client::Engine;

/// The settings of both engines.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The client, which compiles and runs programs.
    pub client: &'a Client,
    /// The number of threads of compiled code; 0 for all that this process may use.
    pub threads: usize,
    /// The seed of random numbers.
    pub seed: u64,
    /// Whether compiled code is registered with debuggers and profilers.
    pub debug_info: bool,
    /// The watchdog that stops runs that take too long.
    pub watchdog: Option<&'a Watchdog>,
    /// The other ranks of the job.
    pub ranks: OtherRanks<'a>,
}

/// Reports an error if interpreting the module needs more memory than is available, before it runs.
pub fn check_memory(module: &Module, source: &Source) -> Result<(), Failure> {
    let options = hlo_eval::Options { max_bytes: available_bytes(), ..hlo_eval::Options::default() };
    let refused = |e: hlo_eval::EvalError| vec![e.to_diag(module)];
    hlo_eval::check_memory(module, &options)
        .map_err(|e| Failure::diags(source, at_opcodes(refused(e), module, source)))
}

/// Converts an error of the client to a failure.
pub fn failure(
    error: hlo_client::Error,
    module: &Module,
    source: &Source,
    settings: Settings<'_>,
) -> Failure {
    use hlo_client::Error;
    match (error, settings.watchdog) {
        (Error::Diags(diags), _) => Failure::diags(source, at_opcodes(diags, module, source)),
        (Error::Stopped { instruction, .. }, Some(watchdog)) => watchdog.ended(module, source, instruction),
        (error, _) => Failure::Message(error.to_string()),
    }
}

/// A program with one set of inputs.
pub struct Loaded<'a> {
    program: Executable,
    arguments: Arguments,
    /// The result buffers. Runs reuse them, so that timings measure the program and not the allocator.
    results: Results,
    /// The module that runs.
    module: &'a Module,
    source: &'a Source,
    settings: Settings<'a>,
}

/// Creates a program from a module and the result of running passes on it. `inputs` are the flattened
/// parameters of the first module.
pub fn load<'a>(
    engine: Engine,
    (given, prepared): (&Module, &'a Module),
    source: &'a Source,
    settings: Settings<'a>,
    inputs: &[Literal],
) -> Result<Loaded<'a>, Failure> {
    let failed = |e| failure(e, prepared, source, settings);
    let options = options(engine, source, settings, inputs);
    let program = settings.client.load(given, prepared.clone(), &options).map_err(failed)?;
    let arguments = arguments(&program, inputs).map_err(failed)?;
    let results = program.allocate_results().map_err(failed)?;
    Ok(Loaded { program, arguments, results, module: prepared, source, settings })
}

/// Returns the compile options of a program with these inputs.
fn options(engine: Engine, source: &Source, settings: Settings<'_>, inputs: &[Literal]) -> CompileOptions {
    // The memory limit of compiled code includes the inputs, which are already allocated.
    let held: usize = match engine {
        Engine::Compiled => inputs.iter().map(|i| i.bytes().len()).sum(),
        Engine::Interpreted => 0,
    };
    CompileOptions {
        engine: Some(engine),
        threads: settings.threads,
        seed: settings.seed,
        memory_limit: Some(available_bytes().saturating_add(held) as u64),
        debug_info: settings.debug_info.then(|| std::sync::Arc::new(source.clone())),
        ..CompileOptions::default()
    }
}

fn arguments(program: &Executable, inputs: &[Literal]) -> Result<Arguments, hlo_client::Error> {
    let buffers = program.buffers(inputs)?;
    program.arguments(&buffers.iter().collect::<Vec<_>>())
}

/// Like [`load`], for a program on several devices with the inputs of each. Records up to `events` individual
/// waits.
pub fn load_on_devices<'a>(
    engine: Engine,
    (given, prepared): (&Module, &'a Module),
    source: &'a Source,
    settings: Settings<'a>,
    (inputs, events): (&[Vec<Literal>], usize),
) -> Result<LoadedOnDevices<'a>, Failure> {
    let failed = |e| failure(e, prepared, source, settings);
    let options = options(engine, source, settings, inputs.first().map_or(&[], Vec::as_slice));
    let program = settings.client.load(given, prepared.clone(), &options).map_err(failed)?;
    let of_device = |inputs: &Vec<Literal>| arguments(&program, inputs);
    let arguments = inputs.iter().map(of_device).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let results =
        inputs.iter().map(|_| program.allocate_results()).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let (waits, runs) = (Waits::with_events(events), Vec::new());
    Ok(LoadedOnDevices { program, arguments, results, module: prepared, source, settings, waits, runs })
}

/// Maximum number of waits recorded for a timeline.
pub const MAX_EVENTS: usize = 200_000;

/// A program on several devices with the inputs of each.
pub struct LoadedOnDevices<'a> {
    program: Executable,
    arguments: Vec<Arguments>,
    results: Vec<Results>,
    module: &'a Module,
    source: &'a Source,
    settings: Settings<'a>,
    waits: Waits,
    /// The start and end of each run, relative to the start of the recording.
    runs: Vec<(Duration, Duration)>,
}

impl LoadedOnDevices<'_> {
    /// Runs the program once, each device with its feed.
    pub fn run(&mut self, feeds: &mut [Feed], timeout: Option<Duration>) -> Result<(), Failure> {
        fail_on_all_ranks(self.settings.ranks, Ok(()))?;
        let running = self.settings.watchdog.map(|w| w.run(self.module, self.source));
        let options = DeviceRunOptions {
            hosts: feeds.iter_mut().map(|feed| feed as &mut dyn Host).collect(),
            watch: running.as_ref().map(|r| r.watch.clone()),
            time_limit: None,
            collective_timeout: timeout,
            waits: Some(&self.waits),
            world: self.settings.ranks.map(|ranks| ranks.world()),
        };
        let begin = self.waits.start().elapsed();
        let outcome = self.program.execute_on_devices_into(&self.arguments, &mut self.results, options);
        self.runs.push((begin, self.waits.start().elapsed()));
        outcome.map_err(|e| failure(e, self.module, self.source, self.settings))
    }

    /// Returns the timeline of the devices of this process over all runs so far.
    pub fn timeline(&self) -> Timeline {
        let (events, left_out) = self.waits.events();
        let span = |e: WaitEvent| WaitSpan { device: e.device, name: e.name, start: e.start, time: e.time };
        Timeline {
            title: self.module.name.to_string(),
            runs: self.runs.clone(),
            devices: local_devices(self.settings.ranks, self.program.devices().len()).collect(),
            waits: events.into_iter().map(span).collect(),
            left_out,
        }
    }

    /// Returns the waits of the devices in all runs so far.
    pub fn waits(&self) -> Vec<Wait> {
        self.waits.all()
    }

    /// Returns the results of the last run.
    pub fn results(self) -> Result<Vec<Literal>, Failure> {
        let Self { program, results, module, source, settings, .. } = self;
        let value = |results| program.leaves(results).and_then(|leaves| program.value(leaves));
        let values = results.into_iter().map(value).collect::<Result<Vec<_>, _>>();
        values.map_err(|e| failure(e, module, source, settings))
    }

    /// Returns the compilation statistics, or `None` for an interpreted program.
    pub fn codegen(&self) -> Option<Codegen> {
        codegen(&self.program)
    }
}

impl Loaded<'_> {
    /// Runs the program once. Returns false if sizes that are only known at run time do not match.
    pub fn run(&mut self, host: &mut dyn Host) -> Result<bool, Failure> {
        let running = self.settings.watchdog.map(|w| w.run(self.module, self.source));
        let watch = running.as_ref().map(|r| r.watch.clone());
        let options = RunOptions { host: Some(host), watch, time_limit: None };
        match self.program.execute_into(&self.arguments, &mut self.results, options) {
            Ok(()) => Ok(true),
            Err(hlo_client::Error::Sizes) => Ok(false),
            Err(e) => Err(failure(e, self.module, self.source, self.settings)),
        }
    }

    /// Returns the result of the last run.
    pub fn result(self) -> Result<Literal, Failure> {
        let Self { program, results, module, source, settings, .. } = self;
        let value = program.leaves(results).and_then(|leaves| program.value(leaves));
        value.map_err(|e| failure(e, module, source, settings))
    }

    /// Returns the compilation statistics, or `None` for an interpreted program.
    pub fn codegen(&self) -> Option<Codegen> {
        codegen(&self.program)
    }
}

#[cfg(feature = "codegen")]
fn codegen(program: &Executable) -> Option<Codegen> {
    let program = program.compiled()?;
    let t = program.timings();
    Some(Codegen {
        total: t.plan + t.compile,
        plan: t.plan,
        mlir: t.mlir,
        llvm: t.llvm,
        link: t.link,
        was_kept: t.was_kept,
        arena: program.arena_bytes(),
        threads: program.threads(),
    })
}

/// Returns `None`, because this build has no compiler.
#[cfg(not(feature = "codegen"))]
fn codegen(_: &Executable) -> Option<Codegen> {
    None
}

/// Runs a program once and returns its result.
pub fn run_once(
    engine: Engine,
    (given, prepared): (&Module, &Module),
    source: &Source,
    inputs: &[Literal],
    settings: Settings<'_>,
    host: &mut dyn Host,
) -> Result<Literal, Failure> {
    let mut program = load(engine, (given, prepared), source, settings, inputs)?;
    if program.run(host)? {
        program.result()
    } else {
        Err(Failure::Message(hlo_client::Error::Sizes.to_string()))
    }
}

/// Runs the interpreter. `inputs` are the flattened parameters.
pub fn interpret(
    module: &Module,
    source: &Source,
    inputs: &[Literal],
    settings: Settings<'_>,
    host: &mut dyn Host,
) -> Result<Literal, Failure> {
    run_once(Engine::Interpreted, (module, module), source, inputs, settings, host)
}

/// Adjusts diagnostics about instructions that an engine does not support. A label on a whole instruction
/// moves to its opcode, and a note adds the source line in the user's program.
pub fn at_opcodes(mut diags: Vec<Diag>, module: &Module, source: &Source) -> Vec<Diag> {
    for diag in &mut diags {
        let Some(label) = diag.labels.iter_mut().find(|l| l.primary) else { continue };
        let mut instructions = module.computations().flat_map(|c| module[c].instructions());
        let Some(&id) = instructions.find(|&&i| module.span(i) == label.span) else { continue };
        if let Some(trace) = SourceFrames::of(module).line(id) {
            diag.notes.push(format!("from {trace}"));
        }
        let opcode = module[id].opcode().name();
        // A pass may have changed the opcode, so the text may contain another one.
        if let Some(span) = source.text.get(label.span.range()).and_then(|t| opcode_in(t, opcode)) {
            let start = label.span.start as usize + span.start as usize;
            label.span = Span::new(start, start + opcode.len());
        }
    }
    diags
}

/// Returns the span of the opcode in an instruction's text: the first occurrence of its name before a
/// parenthesis.
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
