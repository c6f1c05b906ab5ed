//! Runs a program with one or both engines: prints and compares results and timings.

use crate::args::{Args, Engine, TimeFormat};
use crate::engine::Settings;
use crate::feed::Feed;
use crate::leaves::{Leaf, name_leaves};
use crate::results::Tolerances;
use crate::timing::Timings;
use crate::watchdog::Watchdog;
use crate::{Actions, engine, observe, results};
use hlo_ir::diag::Source;
use hlo_ir::{Literal, Module};
use hlo_tools_common::{Failure, Reporter, print};
use std::time::{Duration, Instant};

/// The program to run.
pub struct Program<'a> {
    /// The given module.
    pub module: &'a Module,
    /// The module after the passes.
    pub transformed: &'a Module,
    /// The text of the module.
    pub source: &'a Source,
    /// The settings of the engines.
    pub settings: Settings<'a>,
    /// The values of the flattened parameters.
    pub inputs: Vec<Literal>,
}

/// The expected results.
pub struct ExpectedResults {
    /// The leaves of the results.
    pub results: Vec<Leaf>,
    /// The expected values, if they were given.
    pub expected: Option<Vec<Literal>>,
    /// The tolerances of the comparison.
    pub tolerances: Tolerances,
}

impl Program<'_> {
    /// Runs the program, then prints and compares the requested results.
    pub fn run(
        &self,
        args: &Args,
        reporter: Reporter,
        asked: Actions,
        mut timings: Timings,
        wanted: ExpectedResults,
    ) -> Result<(), Failure> {
        let Actions { evaluates, compiles, .. } = asked;
        if evaluates {
            let subject = if compiles { self.module } else { self.transformed };
            engine::check_memory(subject, self.source)?;
        }
        let mut feed = Feed::open(&args.infeed, args.outfeed.as_deref(), compiles && evaluates)?;
        if asked.watches {
            let outcome = self.watch(args, reporter, &mut feed)?;
            outcome.show(args)?;
            return outcome.check(args, reporter, &wanted);
        }
        let compiled = compiles.then(|| self.compiled(args, &mut feed, &mut timings)).transpose()?;
        let sent = feed.take_sent();
        let evaluated =
            evaluates.then(|| self.evaluated(args, asked, &mut feed, &mut timings)).transpose()?;
        self.settings.watchdog.iter().for_each(|w| w.done());
        if feed.left() > 0 && !args.quiet {
            reporter.note(&format!("arrays of --infeed that were not read: {}", feed.left()));
        }
        if compiled.is_some() && evaluated.is_some() {
            check_sent(&sent, &feed.take_sent(), &wanted.tolerances)?;
        }
        let outcome = Outcome { compiled, evaluated };
        outcome.show(args)?;
        match args.time {
            Some(TimeFormat::Table) => print(timings.table().as_bytes())?,
            Some(TimeFormat::Json) => print(timings.json().as_bytes())?,
            None => {}
        }
        outcome.check(args, reporter, &wanted)
    }

    pub(crate) fn phase(&self, name: &'static str) {
        self.settings.watchdog.iter().for_each(|w: &&Watchdog| w.phase(name));
    }

    /// Runs the program and prints values while it runs.
    fn watch(&self, args: &Args, reporter: Reporter, feed: &mut Feed) -> Result<Outcome, Failure> {
        self.phase("watching values");
        let subject = observe::Subject {
            module: self.transformed,
            source: self.source,
            inputs: &self.inputs,
            settings: self.settings,
        };
        let (compiled, evaluated) = observe::watch(args, reporter, &subject, feed)?;
        Ok(Outcome { compiled, evaluated })
    }

    /// Returns the result of compiled code.
    fn compiled(&self, args: &Args, feed: &mut Feed, timings: &mut Timings) -> Result<Literal, Failure> {
        self.phase("generating code");
        let modules = (self.module, self.transformed);
        let mut program =
            engine::load(engine::Engine::Compiled, modules, self.source, self.settings, &self.inputs)?;
        timings.codegen = program.codegen();
        let fits = repeat(args, &mut timings.runs, || {
            feed.rewind(true);
            program.run(feed)
        })?;
        if !fits {
            // Compiled code only reports that sizes do not match. The interpreter reports where.
            feed.rewind(false);
            engine::interpret(self.module, self.source, &self.inputs, self.settings, feed)?;
            return Err(Failure::Message(hlo_client::Error::Sizes.to_string()));
        }
        program.result()
    }

    /// Returns the interpreter's result.
    fn evaluated(
        &self,
        args: &Args,
        asked: Actions,
        feed: &mut Feed,
        timings: &mut Timings,
    ) -> Result<Literal, Failure> {
        let (subject, runs) = match args.engine {
            Engine::Both => (self.module, &mut timings.eval_runs),
            Engine::Eval | Engine::Jit => (self.transformed, &mut timings.runs),
        };
        // With both engines, the interpreter only serves for comparison, so it runs once.
        let once = Args { iterations: 1, warmup: 0, ..args.clone() };
        let args = if args.engine == Engine::Both { &once } else { args };
        let modules = (subject, subject);
        let mut program =
            engine::load(engine::Engine::Interpreted, modules, self.source, self.settings, &self.inputs)?;
        repeat(args, runs, || {
            feed.rewind(!asked.compiles);
            program.run(feed)
        })?;
        program.result()
    }
}

/// Runs the requested number of times, and records the time of each timed run.
pub(crate) fn repeat<T>(
    args: &Args,
    times: &mut Vec<Duration>,
    mut run: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    for _ in 0..args.warmup {
        run()?;
    }
    // The number of iterations is at least one.
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

/// Compares the outfeeds of compiled code and of the interpreter.
pub fn check_sent(
    compiled: &[Literal],
    evaluated: &[Literal],
    tolerances: &Tolerances,
) -> Result<(), Failure> {
    if compiled.len() != evaluated.len() {
        return Err(Failure::Message(format!(
            "compiled code sent {} outfeeds, the interpreter {}",
            compiled.len(),
            evaluated.len()
        )));
    }
    // The tolerances of a case apply to results, not to outfeeds.
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

/// The results of the engines.
struct Outcome {
    compiled: Option<Literal>,
    evaluated: Option<Literal>,
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

    /// Compares the engines with each other and with the expected results.
    fn check(&self, args: &Args, reporter: Reporter, wanted: &ExpectedResults) -> Result<(), Failure> {
        let ExpectedResults { results: leaves, expected, tolerances } = wanted;
        let mut agreed = Vec::new();
        if let Some(expected) = expected {
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
