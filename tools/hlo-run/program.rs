//! A program's run by one engine or both: results, what is compared, and what took how long.

use crate::args::{Args, Engine, TimeFormat};
use crate::arrays::{Leaf, name_leaves};
use crate::engine::Settings;
use crate::feed::Feed;
use crate::results::Tolerances;
use crate::timing::Timings;
use crate::watchdog::Watchdog;
use crate::{Asked, engine, observe, results};
use hlo_ir::diag::Source;
use hlo_ir::{Literal, Module};
use hlo_tools_common::{Failure, Reporter, print};
use std::time::{Duration, Instant};

/// What is run.
pub struct Program<'a> {
    /// The module as it was given.
    pub module: &'a Module,
    /// What the passes made of it.
    pub transformed: &'a Module,
    /// The text.
    pub source: &'a Source,
    /// What the engines need besides.
    pub settings: Settings<'a>,
    /// The values of the flattened parameters.
    pub inputs: Vec<Literal>,
}

/// What the results should be.
pub struct Wanted {
    /// The results' leaves.
    pub results: Vec<Leaf>,
    /// Their values, if they were given.
    pub expected: Option<Vec<Literal>>,
    /// What they may differ by.
    pub tolerances: Tolerances,
}

impl Program<'_> {
    /// Runs, shows and compares what is asked for.
    pub fn run(
        &self,
        args: &Args,
        reporter: Reporter,
        asked: Asked,
        mut timings: Timings,
        wanted: Wanted,
    ) -> Result<(), Failure> {
        let Asked { evaluates, compiles, .. } = asked;
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

    /// Runs, and shows values on the way.
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

    /// The result of compiled code.
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
            // Compiled code only says that it is so, the interpreter says where.
            feed.rewind(false);
            engine::interpret(self.module, self.source, &self.inputs, self.settings, feed)?;
            return Err(Failure::Message(hlo_client::Error::Sizes.to_string()));
        }
        program.result()
    }

    /// The interpreter's result.
    fn evaluated(
        &self,
        args: &Args,
        asked: Asked,
        feed: &mut Feed,
        timings: &mut Timings,
    ) -> Result<Literal, Failure> {
        let (subject, runs) = match args.engine {
            Engine::Both => (self.module, &mut timings.eval_runs),
            Engine::Eval | Engine::Jit => (self.transformed, &mut timings.runs),
        };
        // Both engines: the interpreter is there to compare with, not to be timed over and over.
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

/// Runs as often as asked for, and notes the time of each timed run.
pub(crate) fn repeat<T>(
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
    fn check(&self, args: &Args, reporter: Reporter, wanted: &Wanted) -> Result<(), Failure> {
        let Wanted { results: leaves, expected, tolerances } = wanted;
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
