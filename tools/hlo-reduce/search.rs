//! The search: tries each reduction at many sites at once, then at fewer, until none makes the module smaller.
//!
//! Candidates are tried in one order that depends on the module alone. Several run at a time, as if those before them
//! failed; if one did not, what was learnt of those after it is thrown away. So the result does not depend on the
//! number of threads.

use crate::command::Tester;
use crate::cost::{Cost, instructions};
use crate::edit::tidy;
use crate::interrupt::Interrupt;
use crate::reductions::{REDUCTIONS, Reduction};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::verify::verify;
use hlo_ir::{Module, Shape};
use hlo_tools_common::Failure;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

/// Into how many parts sites are divided in the first rounds, and the factor for later ones.
const FEW_PARTS: usize = 16;

/// How a search is limited.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many candidates run at a time.
    pub threads: usize,
    /// The most runs of the command.
    pub max_runs: u64,
    /// The longest time for everything.
    pub budget: Option<Duration>,
    /// Someone who looks on may end it.
    pub interrupt: Interrupt,
    /// Parameters and results of the entry stay.
    pub keep_interface: bool,
    /// Candidates need not be valid modules.
    pub no_verify: bool,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing makes the module smaller.
    Smallest,
    /// The limit of runs.
    Runs,
    /// The limit of time.
    Time,
    /// Someone wanted it to.
    Interrupted,
}

/// The state of a search, for whoever watches.
pub struct Progress<'a> {
    /// The reduction that is tried.
    pub reduction: &'static str,
    /// The instructions left.
    pub instructions: usize,
    /// The runs whose answers counted.
    pub runs: u64,
    /// The smaller module, if there is a new one.
    pub found: Option<&'a str>,
}

/// A search for a small module.
pub struct Search<'a> {
    tester: &'a Tester,
    limits: Limits,
    watch: &'a mut dyn FnMut(&Progress<'_>) -> Result<(), Failure>,
    start: Instant,
    base: Module,
    text: String,
    cost: Cost,
    rejected: HashSet<u64>,
    runs: u64,
}

/// A smaller module that was not tried yet.
struct Candidate {
    module: Module,
    text: String,
    cost: Cost,
}

/// Where a reduction stands: ranges of `size` sites, the next one at `start`.
#[derive(Clone, Copy)]
struct Cursor {
    size: usize,
    start: usize,
    /// Into how many parts the sites are divided at most.
    parts: usize,
}

impl Cursor {
    /// The next range of a module with `count` sites; half as large ones after the last.
    fn next(&mut self, count: usize) -> Option<std::ops::Range<usize>> {
        self.size = self.size.min(count);
        while self.start >= count {
            if self.size <= 1 || self.size <= count / self.parts {
                return None;
            }
            self.size = self.size.div_ceil(2);
            self.start = 0;
        }
        let range = self.start..(self.start + self.size).min(count);
        self.start = range.end;
        Some(range)
    }
}

impl<'a> Search<'a> {
    /// A search that begins with a module and its text.
    pub fn new(
        module: Module,
        text: String,
        tester: &'a Tester,
        limits: Limits,
        watch: &'a mut dyn FnMut(&Progress<'_>) -> Result<(), Failure>,
    ) -> Self {
        let cost = Cost::of(&module, &text);
        Self {
            tester,
            limits,
            watch,
            start: Instant::now(),
            base: module,
            text,
            cost,
            rejected: HashSet::new(),
            runs: 0,
        }
    }

    /// Makes the module as small as it gets.
    pub fn run(&mut self) -> Result<End, Failure> {
        // Large parts first, for all reductions: what one leaves the next may take away at once.
        let mut parts = FEW_PARTS;
        loop {
            let mut changed = false;
            let mut coarse = false;
            for reduction in REDUCTIONS {
                if reduction.changes_interface && self.limits.keep_interface {
                    continue;
                }
                changed |= self.reduce(reduction, parts)?;
                coarse |= reduction.count(&self.base) > parts;
                if let Some(end) = self.exhausted() {
                    return Ok(end);
                }
            }
            if !changed && !coarse {
                return Ok(End::Smallest);
            }
            if !changed {
                parts = parts.saturating_mul(FEW_PARTS);
            }
        }
    }

    /// The module as it is now.
    pub fn module(&self) -> &Module {
        &self.base
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of runs whose answers counted.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    fn exhausted(&self) -> Option<End> {
        if self.limits.interrupt.is_set() {
            return Some(End::Interrupted);
        }
        if self.runs >= self.limits.max_runs {
            return Some(End::Runs);
        }
        self.limits.budget.is_some_and(|b| self.start.elapsed() >= b).then_some(End::Time)
    }

    /// Applies one reduction as often as it goes, with the sites divided into so many parts at most; true if it did at
    /// all.
    fn reduce(&mut self, reduction: &Reduction, parts: usize) -> Result<bool, Failure> {
        let mut changed = false;
        let mut count = reduction.count(&self.base);
        let mut cursor = Cursor { size: count, start: 0, parts };
        while self.exhausted().is_none() {
            let mut batch: Vec<(Candidate, Cursor)> = Vec::new();
            let most = (self.limits.max_runs - self.runs).min(self.limits.threads as u64) as usize;
            while batch.len() < most
                && let Some(range) = cursor.next(count)
            {
                // After a success the same place holds sites that were not tried.
                let again = Cursor { start: range.start, ..cursor };
                let new = |c: &Candidate| batch.iter().all(|(b, _)| b.text != c.text);
                if let Some(candidate) = self.candidate(reduction, range).filter(new) {
                    batch.push((candidate, again));
                }
            }
            if batch.is_empty() {
                break;
            }
            self.tell(reduction, false)?;
            match self.first_wanted(&batch)? {
                Some(n) => {
                    self.reject(batch.iter().take(n));
                    self.runs += n as u64 + 1;
                    let Some((candidate, again)) = batch.into_iter().nth(n) else { break };
                    self.accept(candidate)?;
                    self.tell(reduction, true)?;
                    changed = true;
                    count = reduction.count(&self.base);
                    cursor = again;
                }
                None => {
                    self.runs += batch.len() as u64;
                    self.reject(batch.iter());
                }
            }
        }
        Ok(changed)
    }

    fn tell(&mut self, reduction: &Reduction, found: bool) -> Result<(), Failure> {
        (self.watch)(&Progress {
            reduction: reduction.name,
            instructions: instructions(&self.base),
            runs: self.runs,
            found: found.then_some(self.text.as_str()),
        })
    }

    /// The module with a range of sites reduced, if it is smaller, valid and not known to be of no interest.
    fn candidate(&self, reduction: &Reduction, range: std::ops::Range<usize>) -> Option<Candidate> {
        let mut module = self.base.clone();
        reduction.apply(&mut module, range);
        tidy(&mut module);
        if interface(&module) != interface(&self.base) {
            if self.limits.keep_interface {
                return None;
            }
            module.header.entry_computation_layout = None;
            module.header.input_output_alias.clear();
            module.header.buffer_donor.clear();
        }
        if !self.limits.no_verify && !verify(&module).is_empty() {
            return None;
        }
        let text = print_module(&module, &PrintOptions::default());
        let cost = Cost::of(&module, &text);
        let smaller = if reduction.grows {
            text != self.text && instructions(&module) <= 2 * instructions(&self.base)
        } else {
            cost < self.cost
        };
        let new = smaller && !self.rejected.contains(&hash(&text));
        new.then_some(Candidate { module, text, cost })
    }

    /// Runs the command on all of them, and gives the first that is of interest.
    fn first_wanted(&self, batch: &[(Candidate, Cursor)]) -> Result<Option<usize>, Failure> {
        let run = |candidate: &Candidate| -> Result<bool, Failure> {
            self.tester.run(&candidate.text).map(|outcome| self.tester.is_wanted(&outcome))
        };
        let answers: Vec<Result<bool, Failure>> = match batch {
            [(one, _)] => vec![run(one)],
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> =
                    batch.iter().map(|(candidate, _)| scope.spawn(move || run(candidate))).collect();
                threads
                    .into_iter()
                    .map(|t| {
                        t.join()
                            .unwrap_or_else(|_| Err(Failure::Message("a run of the command failed".into())))
                    })
                    .collect()
            }),
        };
        for (n, answer) in answers.into_iter().enumerate() {
            if answer? {
                return Ok(Some(n));
            }
        }
        Ok(None)
    }

    fn reject<'b>(&mut self, batch: impl Iterator<Item = &'b (Candidate, Cursor)>) {
        self.rejected.extend(batch.map(|(candidate, _)| hash(&candidate.text)));
    }

    fn accept(&mut self, candidate: Candidate) -> Result<(), Failure> {
        // Read back, the module is what the file says, without what was removed.
        self.base = match hlo_parser::parse(&candidate.text) {
            Ok(parsed) => parsed.module,
            Err(_) => candidate.module,
        };
        self.text = candidate.text;
        self.cost = candidate.cost;
        Ok(())
    }
}

/// The shapes of the entry's parameters and result, without layouts.
fn interface(module: &Module) -> (Vec<Shape>, Shape) {
    let entry = module.entry();
    let parameters = module.parameters(entry).into_iter().map(|p| module[p].shape.without_layout()).collect();
    (parameters, module[module[entry].root()].shape.without_layout())
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
