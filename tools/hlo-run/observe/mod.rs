//! `--check-finite`, `--trace`, `--print-values`: observes the values of instructions while a program runs.
//!
//! The module runs with taps (`taps`), compiled or interpreted. Each watched instruction is computed
//! separately and reports its value, in the order of the program. The listener tracks the position in calls
//! and loops (`frames`). A second run, which only reports operands, determines the operands of the findings
//! of `--check-finite`.

mod element_sources;
mod finite;
mod frames;
mod numbers;
mod taps;
mod trace;

use crate::args::{Args, CheckFinite, TraceKind};
use crate::engine::{self, Settings};
use crate::feed::Feed;
use crate::pipeline;
use finite::Check;
use frames::Frames;
use hlo_ir::attr::HloString;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::host::Host;
use hlo_ir::print::write_value;
use hlo_ir::suggest::nearest;
use hlo_ir::{InstrId, Literal, Module, Opcode, Shape, SourceFrames};
use hlo_tools_common::{Failure, Reporter, print};
use std::collections::{HashMap, HashSet};
use taps::{Event, Tapped};
use trace::{Summary, Trace};

/// The program and its inputs.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The watched module: the given one, or the result of `--passes`.
    pub module: &'a Module,
    /// The text of the module.
    pub source: &'a Source,
    /// The flattened inputs.
    pub inputs: &'a [Literal],
    /// The settings of the engines.
    pub settings: Settings<'a>,
}

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// Compiled code.
    Compiled,
    /// The interpreter.
    Interpreted,
}

/// The outcome of a run.
pub struct WatchedRun {
    /// The result, unless the run was stopped early.
    pub result: Option<Literal>,
    /// The findings of `--check-finite`.
    pub found: Vec<Diag>,
}

/// Whether the arguments request watching values.
pub fn is_requested(args: &Args) -> bool {
    args.check_finite.is_some() || args.trace.is_some() || !args.print_values.is_empty()
}

/// Runs a program with one engine, and prints the requested values while it runs.
pub fn run(
    args: &Args,
    subject: &Subject<'_>,
    by: EngineKind,
    feed: &mut Feed,
) -> Result<WatchedRun, Failure> {
    let module = subject.module;
    let printed = named(module, &args.print_values)?;
    let wanted: HashMap<InstrId, Vec<InstrId>> = watched(module)
        .filter(|&id| {
            let computes = computes(module, id);
            printed.contains(&id)
                || (args.trace.is_some() && computes)
                || (args.check_finite.is_some() && computes && finite::has_specials(module, id))
        })
        .map(|id| (id, vec![id]))
        .collect();
    let tapped = Tapped::new(module, &wanted, true);
    let mut watcher = Watcher {
        args,
        module,
        tapped: &tapped,
        feed,
        frames: Frames::new(module, subject.inputs),
        printed,
        check: Check::default(),
        trace: Trace::default(),
        failure: None,
        ended: false,
    };
    let result = run_by(subject, &tapped.module, by, &mut watcher);
    let Watcher { mut check, trace, failure, ended, .. } = watcher;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let result = if ended { None } else { Some(result?) };
    if args.trace == Some(TraceKind::Table) {
        print(trace.table(module).as_bytes())?;
    }
    explain(subject, by, feed, &mut check)?;
    Ok(WatchedRun { result, found: check.diags(module, subject.source) })
}

/// Returns notes about NaN and infinities in parameters and constants, for the case that the findings do not
/// show where they originate.
pub fn given_specials(subject: &Subject<'_>) -> Vec<String> {
    let module = subject.module;
    let name_of = |what: &str, id: InstrId| format!("{what} `{}`", module[id].name);
    let mut inputs = subject.inputs.iter();
    let mut given: Vec<(String, Vec<&Literal>)> = Vec::new();
    for p in module.parameters(module.entry()) {
        let leaves = inputs.by_ref().take(module[p].shape.leaf_count()).collect();
        given.push((name_of("parameter", p), leaves));
    }
    for id in watched(module) {
        if let hlo_ir::Op::Constant(a) = &module[id].op {
            given.push((name_of("constant", id), a.literal.leaves()));
        }
    }
    let described = |(name, leaves): (String, Vec<&Literal>)| {
        let all = || leaves.iter().flat_map(|l| numbers::specials(l));
        let nans = all().filter(|(_, class)| *class == numbers::Class::Nan).count();
        let infinities = all().count() - nans;
        (nans + infinities > 0).then(|| format!("{name} has {nans} NaN and {infinities} infinite elements"))
    };
    given.into_iter().filter_map(described).collect()
}

/// Returns the source of an instruction from its metadata: `train.py:12 in step, jit(step)/log`.
fn origin(frames: &SourceFrames<'_>, module: &Module, id: InstrId) -> Option<String> {
    let name = module[id].common.as_deref()?.metadata.op_name.to_text();
    let line = frames.line(id).unwrap_or_default();
    let parts: Vec<&str> = [&*line, &*name].into_iter().filter(|p| !p.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the instructions of all computations that can be watched.
fn watched(module: &Module) -> impl Iterator<Item = InstrId> + '_ {
    taps::running(module).into_iter().flat_map(|c| module[c].instructions().iter().copied())
}

/// Whether the instruction itself computes something.
fn computes(module: &Module, id: InstrId) -> bool {
    let structural = matches!(
        module[id].opcode(),
        Opcode::Parameter | Opcode::Constant | Opcode::Tuple | Opcode::GetTupleElement | Opcode::AfterAll
    );
    !structural && taps::runs(module, id).is_empty()
}

/// Returns the instructions that `--print-values` names.
fn named(module: &Module, names: &[String]) -> Result<HashSet<InstrId>, Failure> {
    let mut found = HashSet::new();
    for name in names {
        let plain = name.trim_start_matches('%');
        let before = found.len();
        found.extend(watched(module).filter(|&i| *module[i].name == *plain));
        if found.len() > before || watched(module).any(|i| *module[i].name == *plain) {
            continue;
        }
        let applied = module.computations().flat_map(|c| module[c].instructions());
        if let Some(&id) = applied.into_iter().find(|&&i| *module[i].name == *plain) {
            return Err(Failure::Message(format!(
                "--print-values: `{name}` is in `{}`, which is applied to elements: only the values of whole \
                 instructions can be shown",
                module[module[id].parent].name
            )));
        }
        let known: Vec<&str> = watched(module).map(|i| &*module[i].name).collect();
        let proposal = nearest(plain, known);
        let proposal = proposal.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        return Err(Failure::Message(format!(
            "--print-values: no instruction of the module has the name `{name}`{proposal}"
        )));
    }
    Ok(found)
}

/// Runs a module with taps.
fn run_by(
    subject: &Subject<'_>,
    tapped: &Module,
    by: EngineKind,
    host: &mut dyn Host,
) -> Result<Literal, Failure> {
    let Subject { source, inputs, settings, .. } = *subject;
    if by == EngineKind::Interpreted {
        return engine::interpret(tapped, source, inputs, settings, host);
    }
    let mut lowered = tapped.clone();
    pipeline::lower(&mut lowered, source)?;
    engine::run_once(engine::Engine::Compiled, (tapped, &lowered), source, inputs, settings, host)
}

/// Runs the program again up to the findings, and records their operands.
fn explain(subject: &Subject<'_>, by: EngineKind, feed: &mut Feed, check: &mut Check) -> Result<(), Failure> {
    let module = subject.module;
    let left: HashMap<InstrId, u64> = check.found().iter().map(|(id, f)| (*id, f.before)).collect();
    if left.is_empty() {
        return Ok(());
    }
    let operands = |id: InstrId| module[id].operands.to_vec();
    let wanted = left.keys().filter(|&&id| !operands(id).is_empty()).map(|&id| (id, operands(id))).collect();
    let tapped = Tapped::new(module, &wanted, false);
    feed.rewind(false);
    let mut explainer = Explainer { module, tapped: &tapped, feed, left, check };
    let result = run_by(subject, &tapped.module, by, &mut explainer);
    // The run is stopped on purpose once all operands are known.
    if explainer.left.is_empty() { Ok(()) } else { result.map(drop) }
}

/// The message that stops a run. It is never printed.
const STOP_MESSAGE: &str = "all that was asked for is known";

/// The listener of a run.
struct Watcher<'a> {
    args: &'a Args,
    module: &'a Module,
    tapped: &'a Tapped,
    feed: &'a mut Feed,
    frames: Frames<'a>,
    printed: HashSet<InstrId>,
    check: Check,
    trace: Trace,
    /// The error after which nothing can be printed.
    failure: Option<Failure>,
    ended: bool,
}

impl Watcher<'_> {
    fn value(&mut self, id: InstrId, event: Event, arrays: &[Literal]) -> Result<(), String> {
        let operands = self.frames.follow(event, arrays);
        if self.printed.contains(&id) {
            self.print(&self.line(id, &values(arrays, self.args.full)))?;
        }
        if computes(self.module, id) {
            match self.args.trace {
                Some(TraceKind::Table) => self.trace.value(id, arrays),
                Some(TraceKind::Each) => self.print(&self.line(id, &Summary::of(arrays).line()))?,
                None => {}
            }
        }
        if let Some(which) = self.args.check_finite
            && finite::may_introduce_special(self.module, id)
        {
            let frames = &self.frames;
            let new = self.check.value(self.module, id, arrays, &operands, || frames.place());
            if new && which == CheckFinite::First {
                self.ended = true;
                return Err(STOP_MESSAGE.to_string());
            }
        }
        Ok(())
    }

    /// Formats a line such as ``iteration 3 of `while.5`: add.1 f32[4] …``.
    fn line(&self, id: InstrId, what: &str) -> String {
        let place = self.frames.place();
        let place = if place.is_empty() { place } else { format!("{place}: ") };
        let instr = &self.module[id];
        format!("{place}{} {} {what}\n", instr.name, trace::shape_text(&instr.shape))
    }

    fn print(&mut self, text: &str) -> Result<(), String> {
        print(text.as_bytes()).map_err(|failure| {
            self.failure = Some(failure);
            STOP_MESSAGE.to_string()
        })
    }
}

/// Returns the elements of arrays as text.
fn values(arrays: &[Literal], full: bool) -> String {
    let shown = (!full).then_some(crate::results::MAX_SHOWN_ELEMENTS);
    let mut text = String::new();
    for (n, array) in arrays.iter().enumerate() {
        if n > 0 {
            text.push_str(", ");
        }
        // Writing to a string does not fail.
        let _ = write_value(&mut text, array, shown);
    }
    text
}

impl Host for Watcher<'_> {
    fn infeed(&mut self, shape: &Shape) -> Result<Literal, String> {
        self.feed.infeed(shape)
    }

    fn outfeed(&mut self, value: Literal) -> Result<(), String> {
        self.feed.outfeed(value)
    }

    fn outfeed_configured(&mut self, config: &HloString, value: Literal) -> Result<(), String> {
        let tapped = self.tapped;
        match tapped.decode_event(config, &value) {
            None => self.feed.outfeed_configured(config, value),
            Some((event @ Event::Value(id), arrays)) => self.value(id, event, &arrays),
            Some((event, arrays)) => {
                self.frames.follow(event, &arrays);
                Ok(())
            }
        }
    }
}

/// The listener of the second run.
struct Explainer<'a> {
    module: &'a Module,
    tapped: &'a Tapped,
    feed: &'a mut Feed,
    /// The instructions whose operands are needed, with the number of earlier computations of each.
    left: HashMap<InstrId, u64>,
    check: &'a mut Check,
}

impl Host for Explainer<'_> {
    fn infeed(&mut self, shape: &Shape) -> Result<Literal, String> {
        self.feed.infeed(shape)
    }

    fn outfeed(&mut self, value: Literal) -> Result<(), String> {
        self.feed.outfeed(value)
    }

    fn outfeed_configured(&mut self, config: &HloString, value: Literal) -> Result<(), String> {
        let tapped = self.tapped;
        let Some((Event::Value(id), arrays)) = tapped.decode_event(config, &value) else {
            return self.feed.outfeed_configured(config, value);
        };
        match self.left.get_mut(&id) {
            Some(0) => {
                self.check.explain(self.module, id, &arrays);
                self.left.remove(&id);
            }
            Some(before) => *before -= 1,
            None => {}
        }
        if self.left.is_empty() { Err(STOP_MESSAGE.to_string()) } else { Ok(()) }
    }
}

/// Watches a program with the engines that the arguments select. Returns the results of compiled code and of
/// the interpreter.
pub fn watch(
    args: &Args,
    reporter: Reporter,
    subject: &Subject<'_>,
    feed: &mut Feed,
) -> Result<(Option<Literal>, Option<Literal>), Failure> {
    use crate::args::Engine;
    let both = args.engine == Engine::Both;
    let mut results = [None, None];
    let mut found: Vec<(EngineKind, Vec<Diag>)> = Vec::new();
    for (by, asked) in [(EngineKind::Compiled, Engine::Jit), (EngineKind::Interpreted, Engine::Eval)] {
        if args.engine != asked && !both {
            continue;
        }
        if both && (args.trace.is_some() || !args.print_values.is_empty()) {
            let engine = if by == EngineKind::Compiled { "compiled code" } else { "the interpreter" };
            print(format!("{engine}:\n").as_bytes())?;
        }
        feed.rewind(by == EngineKind::Compiled || !both);
        let watched = run(args, subject, by, feed)?;
        results[usize::from(by == EngineKind::Interpreted)] = watched.result;
        found.push((by, watched.found));
    }
    report(args, reporter, subject, found)?;
    let [compiled, interpreted] = results;
    Ok((compiled, interpreted))
}

/// Prints the findings of `--check-finite`. Returns an error if there are any.
fn report(
    args: &Args,
    reporter: Reporter,
    subject: &Subject<'_>,
    mut found: Vec<(EngineKind, Vec<Diag>)>,
) -> Result<(), Failure> {
    if args.check_finite.is_none() {
        return Ok(());
    }
    let given = given_specials(subject);
    if found.iter().all(|(_, diags)| diags.is_empty()) {
        if !args.quiet {
            reporter.note("no instruction makes a NaN or an infinity");
            given.iter().for_each(|g| reporter.note(g));
        }
        return Ok(());
    }
    // Print the findings once if both engines agree.
    if let [(_, a), (_, b)] = &found[..]
        && a == b
    {
        found.pop();
        found
            .iter_mut()
            .flat_map(|(_, diags)| diags)
            .for_each(|d| d.notes.push("by both engines".to_string()));
    } else if found.len() == 2 {
        for (by, diags) in &mut found {
            let engine = if *by == EngineKind::Compiled { "by compiled code" } else { "by the interpreter" };
            diags.iter_mut().for_each(|d| d.notes.push(engine.to_string()));
        }
    }
    let mut diags: Vec<Diag> = found.into_iter().flat_map(|(_, diags)| diags).collect();
    if let Some(last) = diags.last_mut() {
        last.notes.extend(given);
    }
    Err(Failure::diags(subject.source, diags))
}
