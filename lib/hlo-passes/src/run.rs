//! Runs a pipeline: measures times, checks the module after each pass, and informs an observer.

use crate::pass::Pass;
use crate::pass_info::{PassInfo, Schedule};
use crate::pipeline::{Pipeline, Step};
use crate::pipelines::PipelineInfo;
use crate::rewrites::Rewrites;
use crate::rules;
use hlo_ir::budget::Budget;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Observes the run of a pipeline.
pub trait Observer {
    /// Whether the runner verifies the module after each pass. It then also checks that a pass that reports
    /// no change made none. The default is whether debug assertions are enabled.
    fn verify_each(&self) -> bool {
        cfg!(debug_assertions)
    }

    /// Whether the runner verifies the module before the first pass. Return false if the module was already
    /// verified, or if passes should run on an invalid module.
    fn verify_first(&self) -> bool {
        true
    }

    /// Returns the budget of the compilation that the passes are part of, if it has one.
    fn budget(&self) -> Option<Arc<dyn Budget>> {
        None
    }

    /// Called before each pass. Returns how much of the pass to run.
    fn before_pass(&mut self, _pass: &'static PassInfo, _module: &Module) -> Extent {
        Extent::Whole
    }

    /// Called after each pass that ran.
    fn after_pass(&mut self, _pass: &'static PassInfo, _run: &PassRun, _module: &Module) {}

    /// Called when the runner skips a pass because it cannot do anything on the module. `why` is the reason.
    fn pass_skipped(&mut self, _pass: &'static PassInfo, _why: Diag) {}

    /// Called before the passes of a named pipeline.
    fn before_pipeline(&mut self, _pipeline: &'static PipelineInfo, _module: &Module) {}

    /// Called after the passes of a named pipeline, unless one of them failed.
    fn after_pipeline(&mut self, _pipeline: &'static PipelineInfo, _module: &Module) {}
}

/// How much of a pass to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole pass.
    Whole,
    /// At most this number of rewrites, if the pass makes its rewrites one by one.
    Rewrites(u64),
    /// Nothing.
    Skip,
}

/// The result of one run of a pass.
#[derive(Debug)]
pub struct PassRun {
    /// Whether it changed the module.
    pub changed: bool,
    /// The duration of the run.
    pub time: Duration,
    /// The rewrites of the run. A pass that changes the module as a whole counts as one rewrite with the
    /// pass's name.
    pub rewrites: Rewrites,
}

/// An observer that does nothing.
impl Observer for () {}

impl Pipeline {
    /// Verifies the module, runs the passes in order, and returns whether any of them changed the module. It
    /// stops at the first pass that fails. If the observer requests verification, it also stops at the first
    /// pass that leaves an invalid module.
    ///
    /// [`Module::make_explicit`] runs before the passes, so passes see only explicit forms.
    ///
    /// # Errors
    /// - The rules that the module violates, or a `bitcast` to another size in memory.
    /// - The diagnostics of [`crate::Pass::check`], or the reason why a pass cannot continue.
    /// - A budget that is used up.
    /// - The rules that the module violates after a pass, if the observer requests verification.
    ///
    /// Changes made before the error remain in the module.
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
    pass: &dyn Pass,
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
        observer.pass_skipped(info, why);
        let nothing = PassRun { changed: false, time: Duration::ZERO, rewrites: Rewrites::default() };
        observer.after_pass(info, &nothing, module);
        return Ok(false);
    }
    let check = observer.verify_each();
    let before = check.then(|| print_module(module, &PrintOptions::default()));
    let start = Instant::now();
    // Passes append new instructions to the list. The pass therefore runs without a schedule, which is
    // repaired after it.
    let scheduled = info.schedule == Schedule::Repaired && std::mem::take(&mut module.header.is_scheduled);
    let result = pass.run(module, &mut rewrites);
    if scheduled {
        repair_schedule(module);
    }
    let changed = result.map_err(|d| vec![in_pass(d)])?;
    // The pass may have stopped early because the budget was used up.
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
            return Err(vec![Diag::error(what).with_code(rules::PASS_UNCHANGED)]);
        }
    }
    Ok(changed)
}

/// Returns the warning about a pass that requires a schedule.
fn without_schedule(info: &PassInfo, module: &Module) -> Diag {
    Diag::warning(format!(
        "pass `{}` leaves module `{}` as it is: the module has no schedule, by which the pass goes",
        info.name, module.name
    ))
    .with_code(rules::PASS_WITHOUT_SCHEDULE)
    .note("`hlo-memory-scheduler` before it makes one, and so does `hlo-trivial-scheduler`")
}

/// Moves every instruction that comes after one of its users to just before its first user. The other
/// instructions keep their order.
fn repair_schedule(module: &mut Module) {
    for c in module.computations().collect::<Vec<_>>() {
        let order = operands_first(module, c);
        module.set_order(c, order);
    }
    module.header.is_scheduled = true;
}

/// Returns the instructions in the order of the list. An operand or control predecessor that would come too
/// late moves to just before its first user.
fn operands_first(module: &Module, computation: ComputationId) -> Vec<InstrId> {
    let list = module[computation].instructions();
    let own = |id: InstrId| module[id].parent == computation;
    let mut done: HashSet<InstrId> = HashSet::with_capacity(list.len());
    let mut open: HashSet<InstrId> = HashSet::new();
    let mut order = Vec::with_capacity(list.len());
    for &start in list {
        let mut stack = vec![start];
        while let Some(&at) = stack.last() {
            // This is the second visit, so all predecessors of the instruction are in `order`.
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
