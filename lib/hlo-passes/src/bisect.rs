//! Finding the pass, and the rewrite in it, that breaks something.
//!
//! The pipeline is run up to some execution of a pass, and whoever asks says whether the module is still right. Passes
//! are deterministic, so that the executions of a shorter run are the first ones of a longer run, with the same
//! results.

use crate::{Extent, Observer, PassInfo, PassRun, Pipeline, Rewrite};
use hlo_ir::Module;

/// What a search found.
#[derive(Debug)]
pub enum Bisection {
    /// The whole pipeline keeps the module right.
    Kept {
        /// How often a pass was run.
        executions: usize,
    },
    /// The module is wrong before any pass has run, and why.
    WrongBefore(String),
    /// A pass that makes it wrong.
    Found(Box<Culprit>),
}

/// The execution of a pass before which the module is right, and after which it is not.
#[derive(Debug)]
pub struct Culprit {
    /// The pass.
    pub pass: &'static PassInfo,
    /// Which execution of any pass it is, counted from 1.
    pub execution: usize,
    /// How many there are in the whole pipeline, or up to the pass that fails.
    pub executions: usize,
    /// Which execution of this pass it is, counted from 1.
    pub run: usize,
    /// The rewrite, if the pass makes them one by one.
    pub rewrite: Option<CulpritRewrite>,
    /// The module before the rewrite, or before the pass.
    pub before: Module,
    /// The module after it.
    pub after: Module,
    /// What is wrong then.
    pub why: String,
}

/// The rewrite before which the module is right, and after which it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CulpritRewrite {
    /// What it is, and of which instruction.
    pub rewrite: Rewrite,
    /// Which rewrite of that execution it is, counted from 1.
    pub number: u64,
    /// How many that execution makes.
    pub total: u64,
}

/// Looks for the pass of the pipeline that makes a valid module wrong, and for the rewrite in it. `check` says what is
/// wrong with a module. It is asked once for the whole pipeline and then a number of times that goes by the logarithm
/// of how many executions change something.
///
/// Of several passes that break the module one is found, and before it the module is right; where it stays wrong from
/// the first on, that is the first.
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
    // The executions that change something; one that fails is the last.
    let changing: Vec<usize> =
        (0..executions).filter(|&n| whole.executions.get(n).is_some_and(|e| e.changed)).collect();
    let mut after = whole;
    // Right after `low` of them, wrong after `high`.
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
        // Nothing was changed, and yet it is wrong: `check` does not say the same every time.
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

/// Looks for the rewrite in one execution.
fn bisect_rewrites(
    pipeline: &Pipeline,
    module: &Module,
    execution: usize,
    total: u64,
    culprit: &mut Culprit,
    check: &mut dyn FnMut(&Module) -> Result<(), String>,
) {
    let none = Prefix::run(pipeline, module, execution, Extent::Rewrites(0));
    // A pass that changes the module as a whole does not ask.
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
    /// Why it stopped, if a pass failed.
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
    /// Runs all executions before number `last`, counted from 0, that one as far as `extent` says, and none after it.
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
    /// A pass that breaks the rules of the language is a finding too.
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
        // Until it has ended, and for good if it fails, it counts as a change.
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
