//! Programs on several devices: the inputs, the runs and the results of each device.

use crate::args::{Args, Engine, TimeFormat};
use crate::arrays::Arrays;
use crate::case::Case;
use crate::engine;
use crate::feed::Feed;
use crate::leaves::{Leaf, name_leaves};
use crate::program::{Program, check_sent, repeat};
use crate::ranks::{OtherRanks, fail_on_all_ranks, gathered, local_devices};
use crate::results::{self, Tolerances};
use crate::timing::Timings;
use crate::unpartitioned::UnpartitionedProgram;
use crate::{Actions, load_expected_from, load_inputs_from};
use hlo_graph::{timeline_svg, timeline_trace};
use hlo_ir::devices::DeviceCounts;
use hlo_ir::{Literal, Module};
use hlo_tools_common::{Failure, Reporter, print, write_output};
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// Placeholder for the device number in file names.
const DEVICE_PLACEHOLDER: &str = "{d}";

/// Options that accept a device number: `--input@2`.
const PER_DEVICE_OPTIONS: [&str; 5] = ["--input", "--inputs", "--expect", "--expected", "--infeed"];

/// Moves device numbers from options to values: `--inputs@2 x.npy` becomes `--inputs @2 x.npy`, and
/// `--input@2 'f32[] 1'` becomes `--input '@2 f32[] 1'`.
pub fn expand_device_options(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut out = Vec::new();
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let Some((option, device, value)) = split_device_option(&argument) else {
            out.push(argument);
            continue;
        };
        let takes_one = matches!(option, "--input" | "--expect");
        out.push(option.into());
        let value = value.map(OsString::from);
        match (takes_one, value) {
            (true, value) => {
                let value = value.or_else(|| arguments.next()).unwrap_or_default();
                let mut marked = OsString::from(format!("@{device} "));
                marked.push(value);
                out.push(marked);
            }
            (false, value) => {
                out.push(format!("@{device}").into());
                out.extend(value);
            }
        }
    }
    out
}

/// Splits `--input@2` or `--input@2=value` into the option, the number and the value.
fn split_device_option(argument: &OsStr) -> Option<(&'static str, usize, Option<&str>)> {
    let text = argument.to_str()?;
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let (option, device) = name.split_once('@')?;
    let option = PER_DEVICE_OPTIONS.into_iter().find(|&o| o == option)?;
    Some((option, device.parse().ok()?, value))
}

/// Returns the items of a list for a device: those marked with its number, or the unmarked ones if there are
/// none.
fn list_for(list: &[String], device: usize) -> Vec<String> {
    let (mut common, mut own) = (Vec::new(), Vec::new());
    let mut of = None;
    for item in list {
        match item.strip_prefix('@').and_then(|n| n.parse::<usize>().ok()) {
            Some(n) => of = Some(n),
            None if of == Some(device) => own.push(item),
            None if of.is_none() => common.push(item),
            None => {}
        }
    }
    let chosen = if own.is_empty() { common } else { own };
    chosen.into_iter().map(|name| name.replace(DEVICE_PLACEHOLDER, &device.to_string())).collect()
}

/// Returns the literals for a device: those marked with its number, or the unmarked ones if there are none.
fn texts_for(texts: &[String], device: usize) -> Vec<String> {
    let marked = |text: &String| {
        let (number, text) = text.strip_prefix('@')?.split_once(' ')?;
        Some((number.parse::<usize>().ok()?, text.to_string()))
    };
    let own: Vec<String> =
        texts.iter().filter_map(marked).filter(|(n, _)| *n == device).map(|(_, text)| text).collect();
    if own.is_empty() { texts.iter().filter(|t| marked(t).is_none()).cloned().collect() } else { own }
}

/// Returns the arguments for one device.
fn args_for(args: &Args, device: usize) -> Args {
    Args {
        inputs: list_for(&args.inputs, device),
        input_literals: texts_for(&args.input_literals, device),
        expected: list_for(&args.expected, device),
        expected_literals: texts_for(&args.expected_literals, device),
        infeed: list_for(&args.infeed, device),
        outfeed: args.outfeed.as_ref().map(|path| path.replace(DEVICE_PLACEHOLDER, &device.to_string())),
        output: args.output.as_ref().map(|path| path.replace(DEVICE_PLACEHOLDER, &device.to_string())),
        ..args.clone()
    }
}

/// Rejects options that only apply to one device, and device numbers that do not exist. A partitioned program
/// has inputs and results for each of its `replicas`.
fn check(args: &Args, devices: usize, replicas: Option<usize>) -> Result<(), Failure> {
    let usage = |message: String| Err(Failure::Usage(message));
    for (option, is_given) in [
        ("--bisect-passes", args.bisect_passes),
        ("--isolate", args.isolate.is_some()),
        ("--check-finite", args.check_finite.is_some()),
        ("--print-values", !args.print_values.is_empty()),
        ("--trace", args.trace.is_some()),
        ("--aot", args.aot.aot.is_some()),
    ] {
        if is_given {
            return usage(format!("{option} is for programs of one device, this one has {devices}"));
        }
    }
    let ends = replicas.map_or((devices, "device"), |replicas| (replicas, "replica"));
    for (option, path, (count, who)) in
        [("-o", &args.output, ends), ("--outfeed", &args.outfeed, (devices, "device"))]
    {
        if let Some(path) = path.as_ref().filter(|path| count > 1 && !path.contains(DEVICE_PLACEHOLDER)) {
            return usage(format!(
                "{option} {path}: each of the {count} {who}s has its own: `{DEVICE_PLACEHOLDER}` in the name stands for its number"
            ));
        }
    }
    let lists = args.inputs.iter().chain(&args.expected);
    let texts = args.input_literals.iter().chain(&args.expected_literals);
    let of_ends = lists.chain(texts).map(|item| (item, ends));
    for (item, (count, who)) in of_ends.chain(args.infeed.iter().map(|item| (item, (devices, "device")))) {
        let number = item.strip_prefix('@').map(|rest| rest.split(' ').next().unwrap_or(rest));
        if let Some(number) = number.and_then(|n| n.parse::<usize>().ok())
            && number >= count
        {
            let whole =
                if who == "replica" { "; inputs and results are those of the whole program" } else { "" };
            let last = count - 1;
            return usage(format!("there is no {who} {number}: the program runs on 0 to {last}{whole}"));
        }
    }
    Ok(())
}

/// The program whose inputs and expected results are loaded.
pub struct TestedProgram<'a> {
    /// The program of one device.
    pub module: &'a Module,
    /// The program before partitioning, if it was partitioned.
    pub whole: Option<&'a UnpartitionedProgram>,
    /// The parameters of a device, or of a replica of a partitioned program.
    pub parameters: &'a [Leaf],
    /// The results of a device, or of a replica of a partitioned program.
    pub results: Vec<Leaf>,
    /// Allowed differences between the results and the expected results.
    pub tolerances: Tolerances,
}

/// The inputs and the expected results of the devices of this process.
pub struct DeviceData<'a> {
    inputs: Vec<Vec<Literal>>,
    /// The arguments of each device.
    args: Vec<Args>,
    /// The expected results of each device, or of each replica of a partitioned program, and the arguments of
    /// each.
    expected: Vec<Option<Vec<Literal>>>,
    ends: Vec<Args>,
    results: Vec<Leaf>,
    tolerances: Tolerances,
    /// The devices of this process. The fields above describe these devices.
    local: Range<usize>,
    whole: Option<&'a UnpartitionedProgram>,
}

impl<'a> DeviceData<'a> {
    /// Loads the inputs and expected results for each device, or for each replica of a partitioned program,
    /// from the arguments or a case.
    pub fn load(
        args: &Args,
        reporter: Reporter,
        case: Option<&Case>,
        program: TestedProgram<'a>,
        ranks: OtherRanks<'_>,
    ) -> Result<Self, Failure> {
        let TestedProgram { module, whole, parameters, results, tolerances } = program;
        let devices = DeviceCounts::of(module).map_or(1, DeviceCounts::devices);
        let replicas = whole.map(|whole| devices / whole.partitions());
        check(args, devices, replicas)?;
        if let Some(path) =
            args.timeline.as_ref().filter(|path| ranks.is_some() && !path.contains(DEVICE_PLACEHOLDER))
        {
            return Err(Failure::Usage(format!(
                "--timeline {path}: each rank has its own: `{DEVICE_PLACEHOLDER}` in the name stands for the number of its first device"
            )));
        }
        let local = local_devices(ranks, devices);
        let numbers = replicas.map_or(local.clone(), |replicas| 0..replicas);
        let ends: Vec<Args> = numbers.clone().map(|number| args_for(args, number)).collect();
        let (mut inputs, mut expected) = (Vec::new(), Vec::new());
        for (number, args) in numbers.zip(&ends) {
            let of_case = |arrays: &Arrays| arrays.for_device(number);
            // Generated inputs are the same for all devices, so the note about them is printed once.
            let said = Args { quiet: args.quiet || number > 0, ..args.clone() };
            let given = case.map(|c| of_case(&c.inputs));
            let module = whole.map_or(module, |whole| &whole.module);
            inputs.push(load_inputs_from(&said, reporter, given, module, parameters)?);
            let given = case.and_then(|c| c.expected.as_ref()).map(of_case);
            expected.push(load_expected_from(args, given, &results)?);
        }
        if let Some(whole) = whole {
            let part = |device: usize| whole.shard(&inputs[device / whole.partitions()], device);
            inputs = local.clone().map(part).collect::<Result<_, _>>()?;
        }
        let args = local.clone().map(|device| args_for(args, device)).collect();
        Ok(Self { inputs, args, expected, ends, results, tolerances, local, whole })
    }
}

/// The values that a device's outfeeds received.
type Sent = Vec<Literal>;

/// The runs of the devices of this process, by each requested engine.
struct Runs<'a> {
    compiled: Option<engine::LoadedOnDevices<'a>>,
    evaluated: Option<engine::LoadedOnDevices<'a>>,
    /// The values that the outfeeds of each device received from compiled code and from the interpreter, if
    /// both ran.
    sent: Option<(Vec<Sent>, Vec<Sent>)>,
}

/// The results of the runs.
struct Computed {
    compiled: Option<Vec<Literal>>,
    evaluated: Option<Vec<Literal>>,
}

impl Runs<'_> {
    /// Returns the results of the devices, and writes the timeline.
    fn finish(self, args: &Args, tolerances: &Tolerances) -> Result<Computed, Failure> {
        if let Some(program) = self.compiled.as_ref().or(self.evaluated.as_ref()) {
            write_timeline(args, program)?;
        }
        for (a, b) in self.sent.iter().flat_map(|(compiled, evaluated)| compiled.iter().zip(evaluated)) {
            check_sent(a, b, tolerances)?;
        }
        let results = |program: Option<engine::LoadedOnDevices<'_>>| program.map(|p| p.results()).transpose();
        Ok(Computed { compiled: results(self.compiled)?, evaluated: results(self.evaluated)? })
    }
}

impl Program<'_> {
    /// Runs on all devices, then prints and compares the requested results.
    pub fn run_on_devices(
        &self,
        args: &Args,
        reporter: Reporter,
        asked: Actions,
        mut timings: Timings,
        given: &DeviceData<'_>,
    ) -> Result<(), Failure> {
        let ranks = self.settings.ranks;
        let runs = self.runs_on_devices(args, asked, &mut timings, given)?;
        // A failure on one rank ends all ranks, before they exchange results.
        let computed = fail_on_all_ranks(ranks, runs.finish(args, &given.tolerances))?;
        let outcome = Outcome::of(given, computed, ranks)?;
        outcome.show(args, given, ranks)?;
        let is_first = ranks.is_none_or(|ranks| ranks.rank() == 0);
        match args.time.filter(|_| is_first) {
            Some(TimeFormat::Table) => print(timings.table().as_bytes())?,
            Some(TimeFormat::Json) => print(timings.json().as_bytes())?,
            None => {}
        }
        let agreed = fail_on_all_ranks(ranks, outcome.check(given))?;
        if !args.quiet && !agreed.is_empty() && is_first {
            reporter.note(&format!("the results {}", agreed.join(", and ")));
        }
        Ok(())
    }

    /// Runs the devices of this process, by each requested engine. A failed run fails on all ranks.
    fn runs_on_devices(
        &self,
        args: &Args,
        asked: Actions,
        timings: &mut Timings,
        given: &DeviceData<'_>,
    ) -> Result<Runs<'_>, Failure> {
        let Actions { evaluates, compiles, .. } = asked;
        let open = |args: &Args| Feed::open(&args.infeed, args.outfeed.as_deref(), compiles && evaluates);
        let mut feeds = given.args.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let sent = |feeds: &mut [Feed]| feeds.iter_mut().map(Feed::take_sent).collect::<Vec<_>>();
        let events = if args.timeline.is_some() { engine::MAX_EVENTS } else { 0 };
        let load = |engine, modules| {
            engine::load_on_devices(engine, modules, self.source, self.settings, (&given.inputs, events))
        };
        let compiled = compiles.then(|| {
            self.phase("generating code");
            let mut program = load(engine::Engine::Compiled, (self.module, self.transformed))?;
            timings.codegen = program.codegen();
            repeat(args, &mut timings.runs, || {
                feeds.iter_mut().for_each(|feed| feed.rewind(true));
                program.run(&mut feeds, args.collective_timeout)
            })?;
            timings.waits = program.waits();
            Ok(program)
        });
        let compiled = compiled.transpose()?;
        let sent_compiled = sent(&mut feeds);
        let evaluated = evaluates.then(|| {
            let (subject, runs) = match args.engine {
                Engine::Both => (self.module, &mut timings.eval_runs),
                Engine::Eval | Engine::Jit => (self.transformed, &mut timings.runs),
            };
            let once = Args { iterations: 1, warmup: 0, ..args.clone() };
            let args = if args.engine == Engine::Both { &once } else { args };
            let mut program = load(engine::Engine::Interpreted, (subject, subject))?;
            repeat(args, runs, || {
                feeds.iter_mut().for_each(|feed| feed.rewind(!compiles));
                program.run(&mut feeds, args.collective_timeout)
            })?;
            if !compiles {
                timings.waits = program.waits();
            }
            Ok(program)
        });
        let evaluated = evaluated.transpose()?;
        self.settings.watchdog.iter().for_each(|w| w.done());
        let both = compiled.is_some() && evaluated.is_some();
        let sent = both.then(|| (sent_compiled, sent(&mut feeds)));
        Ok(Runs { compiled, evaluated, sent })
    }
}

/// Writes the timeline of waits, if requested. Each of several ranks writes its own file.
fn write_timeline(args: &Args, program: &engine::LoadedOnDevices<'_>) -> Result<(), Failure> {
    let Some(path) = &args.timeline else { return Ok(()) };
    let timeline = program.timeline();
    let Some(first) = timeline.devices.first() else { return Ok(()) };
    let text = if path.ends_with(".json") { timeline_trace(&timeline) } else { timeline_svg(&timeline) };
    write_output(Some(&path.replace(DEVICE_PLACEHOLDER, &first.to_string())), text.as_bytes())
}

/// The results of each device of this process. If the program is partitioned here, the results of each
/// replica, at the first rank.
struct Outcome {
    compiled: Option<Vec<Literal>>,
    evaluated: Option<Vec<Literal>>,
    /// The word for the owners of the results, and the number of the first one.
    who: &'static str,
    first: usize,
}

impl Outcome {
    fn of(
        given: &DeviceData<'_>,
        Computed { compiled, evaluated }: Computed,
        ranks: OtherRanks<'_>,
    ) -> Result<Self, Failure> {
        let Some(whole) = given.whole else {
            return Ok(Self { compiled, evaluated, who: "device", first: given.local.start });
        };
        let gathered = |own: Option<Vec<Literal>>| own.map(|own| whole.gathered(own, ranks)).transpose();
        let (compiled, evaluated) = (gathered(compiled)?, gathered(evaluated)?);
        let join = |all: Option<Vec<Literal>>| all.map(|all| whole.joined(&all)).transpose();
        Ok(Self { compiled: join(compiled)?, evaluated: join(evaluated)?, who: "replica", first: 0 })
    }

    fn show(&self, args: &Args, given: &DeviceData<'_>, ranks: OtherRanks<'_>) -> Result<(), Failure> {
        let Some(all) = self.compiled.as_ref().or(self.evaluated.as_ref()) else { return Ok(()) };
        if args.output.is_some() {
            let paths = given.ends.iter().filter_map(|args| args.output.as_deref());
            return all.iter().zip(paths).try_for_each(|(result, path)| results::write_result(result, path));
        }
        if args.quiet {
            return Ok(());
        }
        let own = all.iter().map(|result| (digest(result), results::result_text(result, args.full)));
        // The results of replicas are all at this rank.
        let ranks = ranks.filter(|_| given.whole.is_none());
        let Some(all) = gathered(ranks, own.collect())? else { return Ok(()) };
        match &all[..] {
            [] => Ok(()),
            [only] if given.whole.is_some() => print(only.1.as_bytes()),
            [first, others @ ..] if others.iter().all(|other| first == other) => {
                print(format!("all {} {}s:\n{}", all.len(), self.who, first.1).as_bytes())
            }
            _ => all.iter().enumerate().try_for_each(|(number, (_, text))| {
                print(format!("{} {number}:\n{text}", self.who).as_bytes())
            }),
        }
    }

    /// Returns the prefix of messages about the result of a device or replica.
    fn name(&self, number: usize, given: &DeviceData<'_>) -> String {
        if given.whole.is_some() && given.ends.len() == 1 {
            String::new()
        } else {
            format!("{} {number}: ", self.who)
        }
    }

    /// Compares the requested results. Returns descriptions of the comparisons that succeeded.
    fn check(&self, given: &DeviceData<'_>) -> Result<Vec<&'static str>, Failure> {
        let DeviceData { results: leaves, expected, tolerances, .. } = given;
        let mut agreed = Vec::new();
        for (place, expected) in expected.iter().enumerate() {
            let Some(expected) = expected else { continue };
            let name = self.name(self.first + place, given);
            let engines = [("compiled code", &self.compiled), ("the interpreter", &self.evaluated)];
            for (engine, all) in engines {
                if let Some(result) = all.as_ref().and_then(|all| all.get(place)) {
                    let what = format!("{name}{engine} and the expected results differ");
                    results::check(&what, result, expected, leaves, tolerances)?;
                }
            }
        }
        if expected.iter().any(Option::is_some) {
            agreed.push("match the expected ones");
        }
        if let (Some(compiled), Some(evaluated)) = (&self.compiled, &self.evaluated) {
            for (place, (got, want)) in compiled.iter().zip(evaluated).enumerate() {
                let name = self.name(self.first + place, given);
                let what = format!(
                    "{name}compiled code and the interpreter differ (got compiled, expected interpreted)"
                );
                let want: Vec<Literal> = want.leaves().into_iter().cloned().collect();
                let leaves = name_leaves(got.shape(), "result");
                results::check(&what, got, &want, &leaves, &tolerances.between_engines())?;
            }
            agreed.push("are the same by compiled code and by the interpreter, within the tolerance");
        }
        Ok(agreed)
    }
}

/// Returns a hash of a value's bits.
fn digest(value: &Literal) -> u64 {
    let mut hasher = DefaultHasher::new();
    for leaf in value.leaves() {
        leaf.shape().to_string().hash(&mut hasher);
        leaf.bytes().hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_for_one_device_are_values_of_those_for_all() {
        let line =
            ["m.hlo", "--input@2", "f32[] 1", "--inputs@0=a.npy", "b.npy", "--input@x", "--expect@1=s32[] 2"];
        let spelt = expand_device_options(line.iter().map(OsString::from));
        let expected = [
            "m.hlo",
            "--input",
            "@2 f32[] 1",
            "--inputs",
            "@0",
            "a.npy",
            "b.npy",
            "--input@x",
            "--expect",
            "@1 s32[] 2",
        ];
        assert_eq!(spelt, expected.map(OsString::from));
    }

    #[test]
    fn a_device_has_its_own_or_what_is_for_all() {
        let list = ["x{d}.npy", "@1", "y.npy", "@2", "z.npy"].map(String::from);
        assert_eq!(list_for(&list, 0), ["x0.npy"]);
        assert_eq!(list_for(&list, 1), ["y.npy"]);
        let texts = ["f32[] 1", "@1 f32[] 2"].map(String::from);
        assert_eq!(texts_for(&texts, 0), ["f32[] 1"]);
        assert_eq!(texts_for(&texts, 1), ["f32[] 2"]);
    }
}
