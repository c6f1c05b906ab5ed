//! Running a pipeline: timing, checks after each pass, and whoever watches.

use crate::pipeline::Step;
use crate::{PassInfo, Pipeline, PipelineInfo, Rewrites, Schedule};
use hlo_ir::budget::Budget;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::rules::code;
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Watches a pipeline run.
pub trait Observer {
    /// Whether the module is verified after each pass, and a pass that says that it changed nothing is held to
    /// it. By default only where debug assertions are on.
    fn verify_each(&self) -> bool {
        cfg!(debug_assertions)
    }

    /// Whether the runner verifies the module before the first pass. An observer that verified it itself, or that has
    /// reasons to run passes on an invalid module, returns false.
    fn verify_first(&self) -> bool {
        true
    }

    /// Returns the budget of the compilation that the passes are part of, if it has one.
    fn budget(&self) -> Option<Arc<dyn Budget>> {
        None
    }

    /// Called before each pass: how much of it is run.
    fn before_pass(&mut self, _pass: &'static PassInfo, _module: &Module) -> Extent {
        Extent::Whole
    }

    /// Called after each pass that was run.
    fn after_pass(&mut self, _pass: &'static PassInfo, _run: &PassRun, _module: &Module) {}

    /// Called with the reason where a pass can't do anything on a module, and is passed over.
    fn passed_over(&mut self, _pass: &'static PassInfo, _why: Diag) {}

    /// Called before the passes of a pipeline with a name.
    fn before_pipeline(&mut self, _pipeline: &'static PipelineInfo, _module: &Module) {}

    /// Called after the passes of a pipeline with a name, but not if one of them failed.
    fn after_pipeline(&mut self, _pipeline: &'static PipelineInfo, _module: &Module) {}
}

/// How much of a pass is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// No more than this number of rewrites, if the pass makes them one by one.
    Rewrites(u64),
    /// Nothing.
    Skip,
}

/// What one run of a pass did.
#[derive(Debug)]
pub struct PassRun {
    /// Whether it changed the module.
    pub changed: bool,
    /// The time that it took.
    pub time: Duration,
    /// Its rewrites: those of a pass that changes the module as a whole are one, of the pass's name.
    pub rewrites: Rewrites,
}

/// Watches nothing.
impl Observer for () {}

impl Pipeline {
    /// Verifies the module, runs the passes in order and returns whether any of them changed it. Stops at the first
    /// pass that fails or, where the observer asks for it, leaves an invalid module.
    ///
    /// Passes see modules that say all that they do: [`Module::make_explicit`] comes first.
    ///
    /// # Errors
    /// The rules that the module breaks, a `bitcast` to another size in memory, what a pass finds wrong with the module,
    /// why it can't go on, a budget that is used up, or, where the observer asks for it, what is invalid after a pass. What
    /// was changed until then stays changed.
    pub fn run(&self, module: &mut Module, observer: &mut dyn Observer) -> Result<bool, Vec<Diag>> {
        if self.steps.is_empty() {
            return Ok(false);
        }
        if observer.verify_first() {
            let violations = hlo_ir::verify::verify(module);
            if !violations.is_empty() {
                return Err(violations);
            }
        }
        let resized = hlo_ir::verify::verify_bitcasts(module);
        if !resized.is_empty() {
            return Err(resized);
        }
        let changed = module.make_explicit();
        Ok(run_steps(&self.steps, module, observer)? || changed)
    }
}

fn run_steps(steps: &[Step], module: &mut Module, observer: &mut dyn Observer) -> Result<bool, Vec<Diag>> {
    let mut changed = false;
    for step in steps {
        changed |= match step {
            Step::Pass { info, pass, .. } => run_pass(info, pass.as_ref(), module, observer)?,
            Step::Fix { limit, steps } => {
                let mut any = false;
                for _ in 0..*limit {
                    if !run_steps(steps, module, observer)? {
                        break;
                    }
                    any = true;
                }
                any
            }
            Step::Named { info, steps } => {
                observer.before_pipeline(info, module);
                let changed = run_steps(steps, module, observer)?;
                observer.after_pipeline(info, module);
                changed
            }
        };
    }
    Ok(changed)
}

fn run_pass(
    info: &'static PassInfo,
    pass: &dyn crate::Pass,
    module: &mut Module,
    observer: &mut dyn Observer,
) -> Result<bool, Vec<Diag>> {
    let limit = match observer.before_pass(info, module) {
        Extent::Whole => None,
        Extent::Rewrites(n) => Some(n),
        Extent::Skip => return Ok(false),
    };
    let in_pass = |d: Diag| d.note(format!("from pass `{}`", info.name));
    let mut rewrites = Rewrites::new(limit).within(observer.budget());
    rewrites.check_budget().map_err(|d| vec![in_pass(d)])?;
    let wrong = pass.check(module);
    if !wrong.is_empty() {
        return Err(wrong.into_iter().map(in_pass).collect());
    }
    let needs_schedule = info.schedule == Schedule::Needed && !module.header.is_scheduled;
    let lacks = if needs_schedule { Some(without_schedule(info, module)) } else { (info.lacks)(module) };
    if let Some(why) = lacks {
        observer.passed_over(info, why);
        let nothing = PassRun { changed: false, time: Duration::ZERO, rewrites: Rewrites::default() };
        observer.after_pass(info, &nothing, module);
        return Ok(false);
    }
    let check = observer.verify_each();
    let before = check.then(|| print_module(module, &PrintOptions::default()));
    let start = Instant::now();
    // New instructions go to the end of the list: a pass works without a schedule, which is repaired after it.
    let scheduled = info.schedule == Schedule::Repaired && std::mem::take(&mut module.header.is_scheduled);
    let result = pass.run(module, &mut rewrites);
    if scheduled {
        repair_schedule(module);
    }
    let changed = result.map_err(|d| vec![in_pass(d)])?;
    // The pass may have stopped halfway.
    rewrites.check_budget().map_err(|d| vec![in_pass(d)])?;
    let time = start.elapsed();
    if changed && rewrites.total() == 0 {
        rewrites.made(info.name, "");
    }
    observer.after_pass(info, &PassRun { changed, time, rewrites }, module);
    if check {
        let broken = hlo_ir::verify::verify(module);
        if !broken.is_empty() {
            let note = format!("the module is invalid after pass `{}`: a defect of the pass", info.name);
            return Err(broken.into_iter().map(|d| d.note(note.clone())).collect());
        }
        if !changed && before.is_some_and(|b| b != print_module(module, &PrintOptions::default())) {
            let what = format!("pass `{}` said that it changed nothing, but it did", info.name);
            return Err(vec![Diag::error(what).with_code(code::PASS_UNCHANGED)]);
        }
    }
    Ok(changed)
}

/// The warning of a pass that needs a schedule.
fn without_schedule(info: &PassInfo, module: &Module) -> Diag {
    Diag::warning(format!(
        "pass `{}` leaves module `{}` as it is: the module has no schedule, by which the pass goes",
        info.name, module.name
    ))
    .with_code(code::PASS_WITHOUT_SCHEDULE)
    .note("`hlo-memory-scheduler` before it makes one, and so does `hlo-trivial-scheduler`")
}

/// Moves every instruction that comes after a user of it to just before the first one; the others keep their
/// order.
fn repair_schedule(module: &mut Module) {
    for c in module.computations().collect::<Vec<_>>() {
        let order = operands_first(module, c);
        module.set_order(c, order);
    }
    module.header.is_scheduled = true;
}

/// The instructions in the order of the list, but that what one needs comes just before it if it would come later.
fn operands_first(module: &Module, computation: ComputationId) -> Vec<InstrId> {
    let list = module[computation].instructions();
    let own = |id: InstrId| module[id].parent == computation;
    let mut done: HashSet<InstrId> = HashSet::with_capacity(list.len());
    let mut open: HashSet<InstrId> = HashSet::new();
    let mut order = Vec::with_capacity(list.len());
    for &start in list {
        let mut stack = vec![start];
        while let Some(&at) = stack.last() {
            // Seen for the second time: all that it needs is there.
            if done.contains(&at) || !open.insert(at) {
                stack.pop();
                if done.insert(at) {
                    order.push(at);
                }
                continue;
            }
            let control = module[at].control_predecessors();
            let needed = module[at].operands.iter().chain(control).rev().copied();
            stack.extend(needed.filter(|&p| own(p) && !done.contains(&p) && !open.contains(&p)));
        }
    }
    order
}
