//! `hlo-run`: arguments → parse → passes → compile or interpret → run → compare, print or write.
//!
//! The interpreter runs the module as it was parsed (after `--passes`, if it is the only engine), the compiler
//! what the passes make of it, so that `--engine=both` checks passes and code generation at once.

mod args;
mod arrays;
mod bisect;
mod case;
#[cfg(feature = "codegen")]
mod compiled;
mod custom_calls;
mod dynamic;
mod elided;
mod engine;
mod feed;
mod generate;
mod index_bounds;
mod isolate;
mod observe;
mod pipeline;
mod results;
mod timing;
mod watchdog;
/// A pass that is wrong on purpose.
#[cfg(feature = "wrong-rewrite")]
#[path = "../../lib/hlo-passes/tests/wrong/mod.rs"]
mod wrong_rewrite;

use args::{Args, Emit, Engine, Isolate, TimeFormat};
use arrays::{Arrays, Leaf, check_memory, name_leaves, parameter_leaves, result_leaves};
use case::Case;
use engine::Settings;
use feed::Feed;
use generate::Spec;
use hlo_ir::diag::Source;
use hlo_ir::{Literal, Module, Shape};
use hlo_tools_common::format::parse_and_verify;
use hlo_tools_common::{Failure, Reporter, parse_arguments, print, read_source, write_output};
use results::Tolerances;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use timing::Timings;
use watchdog::Watchdog;

fn main() -> ExitCode {
    #[cfg(feature = "wrong-rewrite")]
    hlo_passes::register(&wrong_rewrite::INFO);
    let args: Args = match parse_arguments("hlo-run") {
        Ok(args) => args,
        Err(code) => return code,
    };
    let reporter = args.show.reporter("hlo-run");
    reporter.finish(run(&args, reporter))
}

fn run(args: &Args, reporter: Reporter) -> Result<(), Failure> {
    check_output(args)?;
    #[cfg(not(feature = "codegen"))]
    engine::check_built_in(args)?;
    let case = args.case.as_deref().map(Case::load).transpose()?;
    let watchdog = args.timeout.map(|limit| Watchdog::start(limit, reporter)).transpose()?;
    let phase = |name| watchdog.iter().for_each(|w: &Watchdog| w.phase(name));
    let path = args.input.as_ref().or(case.as_ref().map(|c| &c.module));
    let path = path.ok_or_else(|| Failure::Usage("a FILE or --case is needed".to_string()))?;
    let source = read_source(path)?;

    let mut timings = Timings { warmup: args.warmup, ..Timings::default() };
    let start = Instant::now();
    let mut module = parse(args, reporter, &source)?;
    module.make_explicit();
    if let Some(seed) = args.random_inputs {
        let constants = elided::make_up(&mut module, seed)?;
        if constants > 0 && !args.quiet {
            reporter.note(&format!("values of {constants} elided constants (`{{...}}`) are made up"));
        }
    }
    if args.emit.is_some() {
        // What is shown is what `hlo-opt` shows.
        module.normalize();
    }
    timings.parse = start.elapsed();
    if args.allow_excess_precision {
        pipeline::allow_excess_precision(&mut module, &source)?;
    }

    let finds = args.bisect_passes || args.isolate.is_some();
    let watches = observe::is_asked(args);
    let evaluates = args.emit.is_none() && args.engine != Engine::Jit;
    let compiles = args.emit.is_some() || args.engine != Engine::Eval;
    // The interpreter alone needs no passes, but a person may want to see what they change.
    let transformed = if !finds && ((compiles && !watches) || args.passes.is_some()) {
        phase("in the passes before code generation");
        let start = Instant::now();
        let mut transformed = pipeline::run(&module, &source, args, reporter)?;
        if compiles && !watches && args.passes.is_some() && args.emit != Some(Emit::Hlo) {
            pipeline::lower(&mut transformed, &source)?;
        }
        timings.passes = Some(start.elapsed());
        Some(transformed)
    } else {
        None
    };
    let transformed = transformed.as_ref().unwrap_or(&module);
    if let Some(stage) = args.emit {
        let bytes = engine::emit(transformed, &source, stage, args.debug_info)?;
        return write_output(args.output.as_deref(), &bytes);
    }

    let custom_calls = custom_calls::load(args, reporter, &module)?;
    match hlo_ir::verify::verify_execution(&module) {
        refused if refused.is_empty() => {}
        refused => return Err(Failure::diags(&source, refused)),
    }
    let settings = Settings {
        threads: args.threads,
        seed: args.seed,
        debug_info: args.debug_info,
        custom_calls: &custom_calls,
        watchdog: watchdog.as_ref(),
    };
    phase("reading or making up the inputs");
    let parameters = parameter_leaves(&module);
    let results = result_leaves(&module);
    check_memory(&results, "results")?;
    if !args.bisect_passes {
        results::check_target(args.output.as_deref(), results.len())?;
    }
    let inputs = load_inputs(args, reporter, case.as_ref(), &module, &parameters)?;
    if finds {
        phase("looking for what broke");
        let tolerances = tolerances(args, case);
        return find(args, reporter, (&module, &source), &inputs, (settings, tolerances));
    }
    let expected = load_expected(args, case.as_ref(), &results)?;

    if evaluates {
        let subject = if compiles { &module } else { transformed };
        engine::check_memory(subject, &source)?;
    }
    let mut feed = Feed::open(&args.infeed, args.outfeed.as_deref(), compiles && evaluates)?;
    let shapes: Vec<Shape> = parameters.iter().map(|leaf| leaf.shape.clone()).collect();
    if watches {
        phase("watching values");
        let subject = observe::Subject {
            module: transformed,
            parameters: &shapes,
            source: &source,
            inputs: &inputs,
            settings,
        };
        let (compiled, evaluated) = observe::watch(args, reporter, &subject, &mut feed)?;
        let outcome = Outcome { compiled, evaluated, expected };
        outcome.show(args)?;
        return outcome.check(args, reporter, &results, &tolerances(args, case));
    }
    let compiled = if compiles {
        phase("generating code");
        let padded = dynamic::padded_inputs(&shapes, &inputs)?;
        let mut compiled = engine::compile(transformed, &source, settings, &padded)?;
        timings.codegen = Some(compiled.codegen());
        repeat(args, &mut timings.runs, || {
            feed.rewind(true);
            compiled.run(&mut feed)
        })?;
        let result = &module[module[module.entry()].root()].shape;
        let leaves = compiled.into_leaves();
        if !dynamic::sizes_fit(result, &leaves) {
            // Compiled code only says that it is so, the interpreter says where.
            feed.rewind(false);
            engine::interpret(&module, &source, &inputs, settings, &mut feed)?;
            return Err(Failure::Message("sizes known at run time only do not fit each other".to_string()));
        }
        Some(dynamic::real_result(result, leaves)?)
    } else {
        None
    };
    let sent = feed.take_sent();
    let evaluated = if evaluates {
        let (subject, runs) = match args.engine {
            Engine::Both => (&module, &mut timings.eval_runs),
            Engine::Eval | Engine::Jit => (transformed, &mut timings.runs),
        };
        // Both engines: the interpreter is there to compare with, not to be timed over and over.
        let once = Args { iterations: 1, warmup: 0, ..args.clone() };
        let args = if args.engine == Engine::Both { &once } else { args };
        Some(repeat(args, runs, || {
            feed.rewind(!compiles);
            engine::interpret(subject, &source, &inputs, settings, &mut feed)
        })?)
    } else {
        None
    };
    watchdog.iter().for_each(Watchdog::done);
    let tolerances = tolerances(args, case);
    if feed.left() > 0 && !args.quiet {
        reporter.note(&format!("arrays of --infeed that were not read: {}", feed.left()));
    }
    if compiled.is_some() && evaluated.is_some() {
        check_sent(&sent, &feed.take_sent(), &tolerances)?;
    }
    let outcome = Outcome { compiled, evaluated, expected };
    outcome.show(args)?;
    match args.time {
        Some(TimeFormat::Table) => print(timings.table().as_bytes())?,
        Some(TimeFormat::Json) => print(timings.json().as_bytes())?,
        None => {}
    }
    outcome.check(args, reporter, &results, &tolerances)
}

/// What results may differ by.
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

/// Looks for the pass or the instructions that are wrong.
fn find(
    args: &Args,
    reporter: Reporter,
    (module, source): (&Module, &Source),
    inputs: &[Literal],
    (settings, tolerances): (Settings<'_>, Tolerances),
) -> Result<(), Failure> {
    let mut feed = Feed::open(&args.infeed, args.outfeed.as_deref(), true)?;
    if args.isolate != Some(Isolate::Optimised) {
        let subject = bisect::Subject { module, source, inputs, settings, tolerances };
        return match args.bisect_passes {
            true => bisect::run(args, reporter, &subject, &mut feed),
            false => isolate::run(args, reporter, &subject, &mut feed),
        };
    }
    let optimised = pipeline::run(module, source, args, reporter)?;
    let shapes: Vec<Shape> = parameter_leaves(module).into_iter().map(|leaf| leaf.shape).collect();
    // Where the passes put sizes beside padded arrays.
    let padded = parameter_leaves(&optimised).len() != shapes.len();
    let inputs = if padded { dynamic::padded_inputs(&shapes, inputs)? } else { inputs.to_vec() };
    let subject = bisect::Subject { module: &optimised, source, inputs: &inputs, settings, tolerances };
    isolate::run(args, reporter, &subject, &mut feed)
}

/// Refuses an output that can't be meant, before anything runs.
fn check_output(args: &Args) -> Result<(), Failure> {
    match (args.emit, &args.output) {
        // A folder for two modules.
        (None, Some(_)) if args.bisect_passes => Ok(()),
        (Some(Emit::Obj), None) if std::io::stdout().is_terminal() => Err(Failure::Usage(
            "--emit=obj: an object file is no text for a terminal; `-o FILE` writes it to a file".to_string(),
        )),
        (None, Some(path)) => results::Target::of(path).map(|_| ()),
        _ => Ok(()),
    }
}

/// Reads a module and verifies it.
fn parse(args: &Args, reporter: Reporter, source: &Source) -> Result<Module, Failure> {
    let parsed = parse_and_verify(&source.text, false).map_err(|diags| Failure::diags(source, diags))?;
    if !args.quiet {
        reporter.warnings(source, &parsed.warnings);
    }
    Ok(parsed.module)
}

/// The inputs, from where the arguments say; made up, and said so, if they say nothing.
fn load_inputs(
    args: &Args,
    reporter: Reporter,
    case: Option<&Case>,
    module: &Module,
    leaves: &[Leaf],
) -> Result<Vec<Literal>, Failure> {
    let arrays = if let Some(case) = case {
        case.inputs.clone()
    } else if !args.inputs.is_empty() {
        Arrays::Files(args.inputs.clone())
    } else if !args.input_literals.is_empty() {
        Arrays::Texts("--input", args.input_literals.clone())
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
    arrays.load(leaves, "inputs")
}

/// The results that are wanted, if any were given.
fn load_expected(args: &Args, case: Option<&Case>, leaves: &[Leaf]) -> Result<Option<Vec<Literal>>, Failure> {
    let arrays = if !args.expected.is_empty() {
        Some(Arrays::Files(args.expected.clone()))
    } else if !args.expected_literals.is_empty() {
        Some(Arrays::Texts("--expect", args.expected_literals.clone()))
    } else {
        case.and_then(|c| c.expected.clone())
    };
    arrays.map(|arrays| arrays.load(leaves, "expected results")).transpose()
}

/// Runs as often as asked for, and notes the time of each timed run.
fn repeat<T>(
    args: &Args,
    times: &mut Vec<Duration>,
    mut run: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    for _ in 0..args.warmup {
        run()?;
    }
    // The arguments allow no less than one.
    for _ in 1..args.iterations {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    let start = Instant::now();
    let result = run()?;
    times.push(start.elapsed());
    Ok(result)
}

/// Compares what compiled code and the interpreter sent.
fn check_sent(compiled: &[Literal], evaluated: &[Literal], tolerances: &Tolerances) -> Result<(), Failure> {
    if compiled.len() != evaluated.len() {
        return Err(Failure::Message(format!(
            "compiled code sent {} outfeeds, the interpreter {}",
            compiled.len(),
            evaluated.len()
        )));
    }
    // Given for the results, of which these are none.
    let tolerances = Tolerances { case: Vec::new(), ..tolerances.between_engines() };
    for (number, (got, want)) in compiled.iter().zip(evaluated).enumerate() {
        let name = format!("outfeed {number}");
        let leaves = name_leaves(want.shape(), &name);
        let want: Vec<Literal> = want.leaves().into_iter().cloned().collect();
        let what = "compiled code and the interpreter differ (got compiled, expected interpreted)";
        results::check(what, got, &want, &leaves, &tolerances)?;
    }
    Ok(())
}

/// What came out.
struct Outcome {
    compiled: Option<Literal>,
    evaluated: Option<Literal>,
    expected: Option<Vec<Literal>>,
}

impl Outcome {
    /// Prints or writes the results.
    fn show(&self, args: &Args) -> Result<(), Failure> {
        let Some(result) = self.compiled.as_ref().or(self.evaluated.as_ref()) else { return Ok(()) };
        match &args.output {
            Some(path) => results::write_result(result, path),
            None if args.quiet => Ok(()),
            None => results::print_result(result, args.full),
        }
    }

    /// Compares the engines with each other and with what is expected.
    fn check(
        &self,
        args: &Args,
        reporter: Reporter,
        leaves: &[Leaf],
        tolerances: &Tolerances,
    ) -> Result<(), Failure> {
        let mut agreed = Vec::new();
        if let Some(expected) = &self.expected {
            let engines = [("compiled code", &self.compiled), ("the interpreter", &self.evaluated)];
            for (engine, result) in engines {
                if let Some(result) = result {
                    let what = format!("{engine} and the expected results differ");
                    results::check(&what, result, expected, leaves, tolerances)?;
                }
            }
            agreed.push("match the expected ones");
        }
        if let Some(range) = tolerances.range {
            for result in [&self.compiled, &self.evaluated].into_iter().flatten() {
                results::check_range(result, range, leaves)?;
            }
            agreed.push("lie in the range");
        }
        if let (Some(compiled), Some(evaluated)) = (&self.compiled, &self.evaluated) {
            let want: Vec<Literal> = evaluated.leaves().into_iter().cloned().collect();
            let what = "compiled code and the interpreter differ (got compiled, expected interpreted)";
            results::check(what, compiled, &want, leaves, &tolerances.between_engines())?;
            agreed.push("are the same by compiled code and by the interpreter, within the tolerance");
        }
        if !args.quiet && !agreed.is_empty() {
            reporter.note(&format!("the results {}", agreed.join(", and ")));
        }
        Ok(())
    }
}
