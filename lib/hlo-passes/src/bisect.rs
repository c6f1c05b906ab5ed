//! Bisection: finds the pass, and the rewrite in it, that breaks a module.
//!
//! The search runs the pipeline up to some execution of a pass, and asks the caller whether the module is
//! still correct. Passes are deterministic. The executions of a shorter run are therefore the first
//! executions of a longer run, with the same results.

use crate::pass_info::PassInfo;
use crate::pipeline::Pipeline;
use crate::rewrites::Rewrite;
use crate::run::{Extent, Observer, PassRun};
use hlo_ir::Module;

/// The result of a search.
#[derive(Debug)]
pub enum Bisection {
    /// The module is correct after the whole pipeline.
    Kept {
        /// Number of executions of passes.
        executions: usize,
    },
    /// The module is wrong before any pass runs. Contains the reason.
    WrongBefore(String),
    /// A pass makes the module wrong.
    Found(Box<Culprit>),
}

/// The execution of a pass that makes a correct module wrong.
#[derive(Debug)]
pub struct Culprit {
    /// The pass.
    pub pass: &'static PassInfo,
    /// Number of this execution among the executions of all passes, counted from 1.
    pub execution: usize,
    /// Number of executions in the whole pipeline, or up to the pass that fails.
    pub executions: usize,
    /// Number of this execution among the executions of this pass, counted from 1.
    pub run: usize,
    /// The rewrite, if the pass makes its rewrites one by one.
    pub rewrite: Option<CulpritRewrite>,
    /// The module before the rewrite, or before the pass.
    pub before: Module,
    /// The module after the rewrite or the pass.
    pub after: Module,
    /// The reason why `after` is wrong.
    pub why: String,
}

/// The rewrite that makes a correct module wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CulpritRewrite {
    /// The name of the rewrite and of the instruction that it rewrites.
    pub rewrite: Rewrite,
    /// Number of this rewrite in the execution, counted from 1.
    pub number: u64,
    /// Number of rewrites in the execution.
    pub total: u64,
}

/// Finds the pass of the pipeline that makes a valid module wrong, and the rewrite in that pass. `check`
/// returns the reason if a module is wrong. It is called once for the whole pipeline. The number of further
/// calls is logarithmic in the number of executions that change the module.
///
/// If several passes break the module, the search finds one of them, and the module before that pass is
/// correct. If the module stays wrong after the first such pass, the search finds the first.
pub fn bisect(
    pipeline: &Pipeline,
    module: &Module,
    check: &mut dyn FnMut(&Module) -> Result<(), String>,
) -> Bisection {
    let whole = Prefix::run(pipeline, module, usize::MAX, Extent::Whole);
    let executions = whole.executions.len();
    let Err(mut why) = whole.check(check) else { return Bisection::Kept { executions } };
    if let Err(why) = check(module) {
        return Bisection::WrongBefore(why);
    }
    // The executions that change the module. An execution that fails is the last.
    let changing: Vec<usize> =
        (0..executions).filter(|&n| whole.executions.get(n).is_some_and(|e| e.changed)).collect();
    let mut after = whole;
    // The module is correct after `low` of these executions and wrong after `high`.
    let (mut low, mut high) = (0, changing.len());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let Some(&last) = changing.get(middle - 1) else { break };
        let prefix = Prefix::run(pipeline, module, last, Extent::Whole);
        match prefix.check(check) {
            Ok(()) => low = middle,
            Err(reason) => {
                (high, why, after) = (middle, reason, prefix);
            }
        }
    }
    let Some(&number) = changing.get(high.saturating_sub(1)) else {
        // No execution changed the module, yet it is wrong: `check` is not deterministic.
        return Bisection::WrongBefore(why);
    };
    let before = Prefix::run(pipeline, module, number, Extent::Skip);
    let Some(execution) = after.executions.get(number) else { return Bisection::WrongBefore(why) };
    let (pass, total) = (execution.pass, execution.rewrites);
    let run = after.executions.iter().take(number + 1).filter(|e| e.pass.name == pass.name).count();
    let mut culprit = Culprit {
        pass,
        execution: number + 1,
        executions,
        run,
        rewrite: None,
        before: before.module,
        after: after.module,
        why,
    };
    bisect_rewrites(pipeline, module, number, total, &mut culprit, check);
    Bisection::Found(Box::new(culprit))
}

/// Searches one execution for the rewrite that makes the module wrong.
fn bisect_rewrites(
    pipeline: &Pipeline,
    module: &Module,
    execution: usize,
    total: u64,
    culprit: &mut Culprit,
    check: &mut dyn FnMut(&Module) -> Result<(), String>,
) {
    let none = Prefix::run(pipeline, module, execution, Extent::Rewrites(0));
    // A pass that changes the module as a whole does not count its rewrites.
    if total == 0 || none.check(check).is_err() {
        return;
    }
    let all = Prefix::run(pipeline, module, execution, Extent::Rewrites(total));
    let Err(mut why) = all.check(check) else { return };
    let mut before = none;
    let mut after = all;
    let (mut low, mut high) = (0, total);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let prefix = Prefix::run(pipeline, module, execution, Extent::Rewrites(middle));
        match prefix.check(check) {
            Ok(()) => (low, before) = (middle, prefix),
            Err(reason) => (high, why, after) = (middle, reason, prefix),
        }
    }
    let Some(rewrite) = after.executions.get(execution).and_then(|e| e.last.clone()) else { return };
    culprit.rewrite = Some(CulpritRewrite { rewrite, number: high, total });
    culprit.before = before.module;
    culprit.after = after.module;
    culprit.why = why;
}

/// A pipeline run up to one execution.
struct Prefix {
    module: Module,
    executions: Vec<Execution>,
    /// The reason why the run stopped, if a pass failed.
    failed: Option<String>,
}

/// One execution of a pass.
struct Execution {
    pass: &'static PassInfo,
    changed: bool,
    rewrites: u64,
    last: Option<Rewrite>,
}

impl Prefix {
    /// Runs the executions before number `last`, counted from 0. Runs execution `last` as far as `extent`
    /// says, and skips all later ones.
    fn run(pipeline: &Pipeline, module: &Module, last: usize, extent: Extent) -> Self {
        let mut module = module.clone();
        let mut watcher = Watcher { last, extent, executions: Vec::new() };
        let failed = pipeline.run(&mut module, &mut watcher).err();
        let failed = failed.map(|diags| {
            let messages: Vec<String> =
                diags.iter().flat_map(|d| std::iter::once(&d.message).chain(&d.notes)).cloned().collect();
            messages.join("\n")
        });
        Self { module, executions: watcher.executions, failed }
    }

    fn check(&self, check: &mut dyn FnMut(&Module) -> Result<(), String>) -> Result<(), String> {
        match &self.failed {
            Some(why) => Err(why.clone()),
            None => check(&self.module),
        }
    }
}

struct Watcher {
    last: usize,
    extent: Extent,
    executions: Vec<Execution>,
}

impl Observer for Watcher {
    /// Verifies after each pass, because a pass that leaves an invalid module is a culprit too.
    fn verify_each(&self) -> bool {
        true
    }

    fn before_pass(&mut self, pass: &'static PassInfo, _module: &Module) -> Extent {
        let number = self.executions.len();
        let extent = match number.cmp(&self.last) {
            std::cmp::Ordering::Less => Extent::Whole,
            std::cmp::Ordering::Equal => self.extent,
            std::cmp::Ordering::Greater => Extent::Skip,
        };
        // The execution counts as a change until it ends. If it fails, it keeps counting as one.
        let changed = extent != Extent::Skip;
        self.executions.push(Execution { pass, changed, rewrites: 0, last: None });
        extent
    }

    fn after_pass(&mut self, _pass: &'static PassInfo, run: &PassRun, _module: &Module) {
        if let Some(execution) = self.executions.last_mut() {
            execution.changed = run.changed;
            execution.rewrites = run.rewrites.total();
            execution.last = run.rewrites.last().cloned();
        }
    }
}
