//! `hlo-run`: arguments → parse → passes → compile or interpret → run → compare, print or write.
//!
//! The interpreter runs the module as parsed (after `--passes`, if it is the only engine). The compiler runs
//! the module after the passes. Therefore `--engine=both` checks the passes and the code generator together.

mod aot;
mod aot_args;
mod args;
mod array_files;
mod arrays;
mod bisect;
mod case;
mod custom_calls;
mod devices;
mod elided;
mod engine;
mod feed;
mod generate;
mod index_bounds;
mod isolate;
mod leaves;
#[cfg(feature = "mpi")]
mod mpi;
mod observe;
mod pipeline;
mod program;
mod ranks;
mod results;
mod stages;
mod timing;
mod unpartitioned;
mod watchdog;
/// An incorrect pass, for testing.
#[cfg(feature = "wrong-rewrite")]
#[path = "../../lib/hlo-passes/tests/suite/wrong.rs"]
mod wrong_rewrite;

use args::{Args, Emit, Engine, Isolate};
use arrays::Arrays;
use case::Case;
use devices::{DeviceData, TestedProgram};
use engine::Settings;
use feed::Feed;
use generate::Spec;
use hlo_client::{Client, ClientOptions};
use hlo_custom_call::Registry;
use hlo_forms::Run;
use hlo_ir::devices::DeviceCounts;
use hlo_ir::diag::Source;
use hlo_ir::{Literal, Module, Shape};
use hlo_tools_common::{Failure, Input, Reporter, parse_arguments_of, read_input, write_output};
use leaves::{Leaf, check_memory, parameter_leaves, result_leaves};
use program::{ExpectedResults, Program};
use ranks::OtherRanks;
use results::Tolerances;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Instant;
use timing::Timings;
use unpartitioned::UnpartitionedProgram;
use watchdog::Watchdog;

fn main() -> ExitCode {
    hlo_passes_xla::register();
    #[cfg(feature = "wrong-rewrite")]
    hlo_passes::register(&wrong_rewrite::INFO);
    let args: Args = match parse_arguments_of("hlo-run", devices::expand_device_options(std::env::args_os()))
    {
        Ok(args) => args,
        Err(code) => return code,
    };
    let reporter = args.show.reporter("hlo-run");
    #[cfg(feature = "mpi")]
    if let Some(code) = mpi::run(&args, reporter) {
        return code;
    }
    reporter.finish(run(&args, reporter, None))
}

fn run(args: &Args, reporter: Reporter, ranks: OtherRanks<'_>) -> Result<(), Failure> {
    check_output(args)?;
    aot::check(args)?;
    if (args.emit.is_some() || args.aot.aot.is_some()) && ranks.is_some_and(|ranks| ranks.rank() > 0) {
        // The output is the same on all ranks, so only one writes it.
        return Ok(());
    }
    #[cfg(not(feature = "codegen"))]
    stages::check_built_in(args)?;
    let case = args.case.as_deref().map(Case::load).transpose()?;
    let watchdog = args.timeout.map(|limit| Watchdog::start(limit, reporter)).transpose()?;
    let phase = |name| watchdog.iter().for_each(|w: &Watchdog| w.phase(name));
    let path = args.input.as_ref().or(case.as_ref().map(|c| &c.module));
    let path = path.ok_or_else(|| Failure::Usage("a FILE or --case is needed".to_string()))?;
    let input = read_input(path)?;
    let source = &input.source;
    let mut timings = Timings { warmup: args.warmup, ..Timings::default() };

    let mut module = prepare(args, reporter, (&input, case.as_ref()), &mut timings)?;
    let whole = UnpartitionedProgram::cut(args, (reporter, ranks), &mut module, source)?;
    let asked = Actions::of(args);
    if asked.passes {
        phase("in the passes before code generation");
    }
    let transformed = transform(args, reporter, (&module, source), asked, &mut timings)?;
    let transformed = transformed.as_ref().unwrap_or(&module);
    if let Some(stage) = args.emit {
        let bytes = stages::emit(args, transformed, source, stage)?;
        return write_output(args.output.as_deref(), &bytes);
    }
    if let Some(name) = &args.aot.aot {
        return aot::run(args, reporter, name, (&module, transformed), source);
    }

    let custom_calls = custom_calls::load(args, reporter, &module)?;
    match hlo_ir::verify::verify_execution(&module) {
        refused if refused.is_empty() => {}
        refused => return Err(Failure::diags(source, refused)),
    }
    let devices = DeviceCounts::of(&module).map_or(1, DeviceCounts::devices);
    let client = client(args, custom_calls, devices)?;
    let settings = Settings {
        client: &client,
        threads: args.threads,
        seed: args.seed,
        debug_info: args.debug_info,
        watchdog: watchdog.as_ref(),
        ranks,
    };
    phase("reading or making up the inputs");
    let (parameters, results) = match &whole {
        Some(whole) => (whole.parameters.clone(), whole.results.clone()),
        None => (parameter_leaves(&module), result_leaves(&module)),
    };
    check_memory(&results, "results")?;
    if !args.bisect_passes {
        results::check_target(args.output.as_deref(), &results)?;
    }
    if devices > 1 {
        let tolerances = tolerances(args, case.clone());
        let whole = whole.as_ref();
        let tested = TestedProgram { module: &module, whole, parameters: &parameters, results, tolerances };
        let given = DeviceData::load(args, reporter, case.as_ref(), tested, ranks)?;
        let program = Program { module: &module, transformed, source, settings, inputs: Vec::new() };
        return program.run_on_devices(args, reporter, asked, timings, &given);
    }
    if args.timeline.is_some() {
        let message = "--timeline shows what devices wait for, and the program runs on one device";
        return Err(Failure::Usage(message.to_string()));
    }
    if ranks.is_some() {
        let message =
            "the program runs on one device: there is nothing to spread over the ranks of an MPI job";
        return Err(Failure::Usage(message.to_string()));
    }
    let kept = input.given.as_ref().and_then(|given| given.run.as_ref());
    if module.header.input_output_alias.is_empty() {
        // Large inputs take long to read or to generate, so memory for the results is checked first.
        check_memory(&[&parameters[..], &results].concat(), "inputs and results")?;
    }
    let inputs = load_inputs(args, reporter, (case.as_ref(), kept), &module, &parameters)?;
    if asked.finds {
        phase("looking for what broke");
        let tolerances = tolerances(args, case);
        return find(args, reporter, (&module, source), &inputs, (settings, tolerances));
    }
    let expected = load_expected(args, (case.as_ref(), kept), &results)?;
    let tolerances = tolerances(args, case);
    let program = Program { module: &module, transformed, source, settings, inputs };
    program.run(args, reporter, asked, timings, ExpectedResults { results, expected, tolerances })
}

/// Creates the client, which compiles and runs programs.
fn client(args: &Args, custom_calls: Registry, devices: usize) -> Result<Client, Failure> {
    let cache_dir = args.cache_dir.clone();
    let options = ClientOptions { devices, custom_calls, cache_dir, ..ClientOptions::default() };
    Client::new(&options).map_err(|e| Failure::Message(e.to_string()))
}

/// The actions that the arguments request.
#[derive(Clone, Copy)]
struct Actions {
    /// Whether to search for an incorrect pass or instruction.
    finds: bool,
    /// Whether to watch values.
    watches: bool,
    /// Whether to run passes. The interpreter alone needs none, but users may want to see their effect.
    passes: bool,
    /// Whether to run the interpreter.
    evaluates: bool,
    /// Whether to compile.
    compiles: bool,
}

impl Actions {
    fn of(args: &Args) -> Self {
        let finds = args.bisect_passes || args.isolate.is_some();
        let watches = observe::is_requested(args);
        let evaluates = args.emit.is_none() && args.engine != Engine::Jit;
        let compiles = args.emit.is_some() || args.engine != Engine::Eval;
        let passes = !finds && ((compiles && !watches) || args.passes.is_some());
        Self { finds, watches, passes, evaluates, compiles }
    }
}

/// Returns the module that both engines start from.
fn prepare(
    args: &Args,
    reporter: Reporter,
    (input, case): (&Input, Option<&Case>),
    timings: &mut Timings,
) -> Result<Module, Failure> {
    let start = Instant::now();
    let source = &input.source;
    let mut module = parse(args, reporter, input, case)?;
    args.devices.set(&mut module, true).map_err(|diags| Failure::diags(source, diags))?;
    module.make_explicit();
    if let Some(seed) = args.random_inputs {
        let constants = elided::fill_elided_constants(&mut module, seed)?;
        if constants > 0 && !args.quiet {
            reporter.note(&format!("values of {constants} elided constants (`{{...}}`) are made up"));
        }
    }
    if args.emit.is_some() {
        // The output matches that of `hlo-opt`.
        module.normalize();
    }
    timings.parse = start.elapsed();
    if args.allow_excess_precision {
        pipeline::allow_excess_precision(&mut module, source)?;
    }
    Ok(module)
}

/// Runs the passes on a copy of the module, if requested.
fn transform(
    args: &Args,
    reporter: Reporter,
    (module, source): (&Module, &Source),
    asked: Actions,
    timings: &mut Timings,
) -> Result<Option<Module>, Failure> {
    if !asked.passes {
        return Ok(None);
    }
    let start = Instant::now();
    // For the interpreter and for output, run only the passes of the arguments.
    let lowers = asked.compiles && !asked.watches && args.emit != Some(Emit::Hlo);
    let engine = if lowers { engine::Engine::Compiled } else { engine::Engine::Interpreted };
    let transformed = pipeline::run(module, source, args, reporter, engine)?;
    timings.passes = Some(start.elapsed());
    Ok(Some(transformed))
}

/// Returns the tolerances for comparing results.
fn tolerances(args: &Args, case: Option<Case>) -> Tolerances {
    Tolerances {
        rtol: args.rtol,
        atol: args.atol,
        max_mismatches: args.max_mismatches.or(case.as_ref().map(|c| c.max_mismatches)).unwrap_or(0.0),
        range: case.as_ref().and_then(|c| c.range),
        case: case.map(|c| c.tolerances).unwrap_or_default(),
        scaled: false,
    }
}

/// Searches for the incorrect pass or instructions.
fn find(
    args: &Args,
    reporter: Reporter,
    (module, source): (&Module, &Source),
    inputs: &[Literal],
    (settings, tolerances): (Settings<'_>, Tolerances),
) -> Result<(), Failure> {
    let mut feed = Feed::open(&args.infeed, args.outfeed.as_deref(), true)?;
    if args.isolate != Some(Isolate::Optimized) {
        let subject = bisect::Subject { module, source, inputs, settings, tolerances };
        return if args.bisect_passes {
            bisect::run(args, reporter, &subject, &mut feed)
        } else {
            isolate::run(args, reporter, &subject, &mut feed)
        };
    }
    let optimized = pipeline::run(module, source, args, reporter, engine::Engine::Interpreted)?;
    let shapes: Vec<Shape> = parameter_leaves(module).into_iter().map(|leaf| leaf.shape).collect();
    // The passes may have added sizes as additional parameters for padded arrays.
    let padded = parameter_leaves(&optimized).len() != shapes.len();
    let inputs = if padded {
        hlo_client::padded_inputs(&shapes, inputs).map_err(|e| Failure::Message(e.to_string()))?
    } else {
        inputs.to_vec()
    };
    let subject = bisect::Subject { module: &optimized, source, inputs: &inputs, settings, tolerances };
    isolate::run(args, reporter, &subject, &mut feed)
}

/// Rejects an invalid output path before anything runs.
fn check_output(args: &Args) -> Result<(), Failure> {
    match (args.emit, &args.output) {
        // A folder for two modules.
        (None, Some(_)) if args.bisect_passes => Ok(()),
        (Some(Emit::Obj), None) if std::io::stdout().is_terminal() => Err(Failure::Usage(
            "--emit=obj: an object file is no text for a terminal; `-o FILE` writes it to a file".to_string(),
        )),
        (None, Some(_)) if args.aot.aot.is_some() => Ok(()),
        (None, Some(path)) => results::Target::of(path).map(|_| ()),
        _ => Ok(()),
    }
}

/// Parses and verifies a module. Shapes that it leaves open are determined by the inputs.
fn parse(args: &Args, reporter: Reporter, input: &Input, case: Option<&Case>) -> Result<Module, Failure> {
    let source = &input.source;
    let given = || match given_inputs(args, case.map(|c| &c.inputs)) {
        Some(arrays) => arrays.given(),
        None => Ok(Vec::new()),
    };
    let parsed = args.language.parse(input, &source.text, false, &given)?;
    let parsed = parsed.map_err(|diags| Failure::diags(source, diags))?;
    if !args.quiet {
        reporter.warnings(source, &parsed.warnings);
    }
    Ok(parsed.module)
}

/// Loads the inputs from the source in the arguments. Without one, uses the inputs stored with the program,
/// or generates inputs and prints a note.
fn load_inputs(
    args: &Args,
    reporter: Reporter,
    (case, kept): (Option<&Case>, Option<&Run>),
    module: &Module,
    leaves: &[Leaf],
) -> Result<Vec<Literal>, Failure> {
    if let (None, Some(run), true) = (case, kept, args.has_no_inputs()) {
        let arguments = run.arguments.iter().flatten();
        let arrays = arguments.flat_map(|argument| argument.leaves().into_iter().cloned());
        return Ok(Arrays::Kept(arrays.collect()).load(leaves, "inputs")?.arrays);
    }
    load_inputs_from(args, reporter, case.map(|c| c.inputs.clone()), module, leaves)
}

/// Returns the inputs from the arguments or a case, if there are any.
fn given_inputs(args: &Args, of_case: Option<&Arrays>) -> Option<Arrays> {
    match of_case {
        Some(arrays) => Some(arrays.clone()),
        None if !args.inputs.is_empty() => Some(Arrays::Files(args.inputs.clone())),
        None if !args.input_literals.is_empty() => {
            Some(Arrays::Texts("--input", args.input_literals.clone()))
        }
        None => None,
    }
}

/// Like [`load_inputs`], but uses the inputs of a case if there are any.
fn load_inputs_from(
    args: &Args,
    reporter: Reporter,
    of_case: Option<Arrays>,
    module: &Module,
    leaves: &[Leaf],
) -> Result<Vec<Literal>, Failure> {
    let arrays = if let Some(arrays) = given_inputs(args, of_case.as_ref()) {
        arrays
    } else {
        let seed = args.random_inputs.unwrap_or(0);
        if args.random_inputs.is_none() && !leaves.is_empty() && !args.quiet {
            let seed = format!("they are made up from seed {seed} (--random-inputs={seed})");
            reporter.note(&format!("no inputs are given; {seed}"));
        }
        let bounds = index_bounds::index_bounds(module);
        let specs = leaves.iter().zip(bounds).enumerate().filter_map(|(i, (leaf, bound))| {
            let ty = leaf.shape.as_array()?.element_type;
            Some(Spec::small(ty, bound, seed.wrapping_mul(1 << 20).wrapping_add(i as u64)))
        });
        Arrays::Generated(specs.collect())
    };
    let loaded = arrays.load(leaves, "inputs")?;
    if let Some(unused) = loaded.unused.filter(|_| !args.quiet) {
        reporter.note(&unused);
    }
    Ok(loaded.arrays)
}

/// Loads the expected results, if there are any.
fn load_expected(
    args: &Args,
    (case, kept): (Option<&Case>, Option<&Run>),
    leaves: &[Leaf],
) -> Result<Option<Vec<Literal>>, Failure> {
    let of_case = case.and_then(|c| c.expected.clone());
    // The stored results only match the stored inputs.
    let kept = kept.filter(|_| case.is_none() && args.has_no_inputs()).and_then(|run| run.result.as_ref());
    let of_run = kept.map(|result| Arrays::Kept(result.leaves().into_iter().cloned().collect()));
    load_expected_from(args, of_case.or(of_run), leaves)
}

/// Like [`load_expected`], but uses the results of a case if there are any.
fn load_expected_from(
    args: &Args,
    of_case: Option<Arrays>,
    leaves: &[Leaf],
) -> Result<Option<Vec<Literal>>, Failure> {
    let arrays = if !args.expected.is_empty() {
        Some(Arrays::Files(args.expected.clone()))
    } else if !args.expected_literals.is_empty() {
        Some(Arrays::Texts("--expect", args.expected_literals.clone()))
    } else {
        of_case
    };
    let Some(arrays) = arrays else { return Ok(None) };
    let loaded = arrays.load(leaves, "expected results")?;
    // Files with inputs may contain arrays for other modules. Expected results that do not exist are an
    // error.
    match loaded.unused {
        Some(unused) => Err(Failure::Message(unused)),
        None => Ok(Some(loaded.arrays)),
    }
}
