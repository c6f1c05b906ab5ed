//! The search: tries each reduction at many sites at once, then at fewer, until none makes the module
//! smaller.
//!
//! The order of candidates only depends on the module. Several of them run at the same time, on the
//! assumption that the previous ones fail. If one succeeds, the results of the later ones are discarded.
//! Therefore the result does not depend on the number of threads.

use crate::command::Tester;
use crate::cost::{Cost, instructions};
use crate::edit::clean_up;
use crate::interrupt::Interrupt;
use crate::reductions::{REDUCTIONS, Reduction};
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::verify::verify;
use hlo_ir::{Module, Shape};
use hlo_tools_common::Failure;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

/// The number of parts that sites are divided into in the first rounds, and the factor for later rounds.
const PARTS_FACTOR: usize = 16;

/// The limits of a search.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The number of candidates that run at the same time.
    pub threads: usize,
    /// The maximum number of runs of the command.
    pub max_runs: u64,
    /// The maximum total time.
    pub budget: Option<Duration>,
    /// An interrupt that stops the search.
    pub interrupt: Interrupt,
    /// Whether to keep the parameters and the result of the entry.
    pub keep_interface: bool,
    /// Whether candidates may be invalid modules.
    pub no_verify: bool,
}

/// The reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No reduction makes the module smaller.
    Smallest,
    /// The limit of runs was reached.
    Runs,
    /// The time limit was reached.
    Time,
    /// The user interrupted the search.
    Interrupted,
}

/// The progress of a search.
pub struct Progress<'a> {
    /// The current reduction.
    pub reduction: &'static str,
    /// The number of remaining instructions.
    pub instructions: usize,
    /// The number of runs whose results were used.
    pub runs: u64,
    /// The smaller module, if one was just found.
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

/// The progress of a reduction: ranges of `size` sites, the next one at `start`.
#[derive(Clone, Copy)]
struct Cursor {
    size: usize,
    start: usize,
    /// The maximum number of parts that the sites are divided into.
    parts: usize,
}

impl Cursor {
    /// Returns the next range of a module with `count` sites. Halves the size of ranges after the last one.
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
    /// Creates a search that starts with a module and its text.
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

    /// Reduces the module as far as possible.
    pub fn run(&mut self) -> Result<End, Failure> {
        // Try large parts with all reductions first, because one reduction may allow the next to remove much
        // more at once.
        let mut parts = PARTS_FACTOR;
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
                parts = parts.saturating_mul(PARTS_FACTOR);
            }
        }
    }

    /// Returns the current module.
    pub fn module(&self) -> &Module {
        &self.base
    }

    /// Returns the text of the current module.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the number of runs whose results were used.
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

    /// Applies one reduction repeatedly, with the sites divided into at most `parts` parts. Returns whether
    /// the module changed.
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
                // After a success, the same position contains sites that were not tried.
                let again = Cursor { start: range.start, ..cursor };
                let new = |c: &Candidate| batch.iter().all(|(b, _)| b.text != c.text);
                if let Some(candidate) = self.candidate(reduction, range).filter(new) {
                    batch.push((candidate, again));
                }
            }
            if batch.is_empty() {
                break;
            }
            self.report_progress(reduction, false)?;
            match self.first_wanted(&batch)? {
                Some(n) => {
                    self.reject(batch.iter().take(n));
                    self.runs += n as u64 + 1;
                    let Some((candidate, again)) = batch.into_iter().nth(n) else { break };
                    self.accept(candidate)?;
                    self.report_progress(reduction, true)?;
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

    fn report_progress(&mut self, reduction: &Reduction, found: bool) -> Result<(), Failure> {
        (self.watch)(&Progress {
            reduction: reduction.name,
            instructions: instructions(&self.base),
            runs: self.runs,
            found: found.then_some(self.text.as_str()),
        })
    }

    /// Returns the module with a range of sites reduced, if it is smaller, valid and not known to be
    /// uninteresting.
    fn candidate(&self, reduction: &Reduction, range: std::ops::Range<usize>) -> Option<Candidate> {
        let mut module = self.base.clone();
        reduction.apply(&mut module, range);
        clean_up(&mut module);
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

    /// Runs the command on all candidates and returns the first one that meets the conditions.
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
        // Parse the text again, so that the module matches the file and contains no removed items.
        self.base = match hlo_parser::parse(&candidate.text) {
            Ok(parsed) => parsed.module,
            Err(_) => candidate.module,
        };
        self.text = candidate.text;
        self.cost = candidate.cost;
        Ok(())
    }
}

/// Returns the shapes of the entry's parameters and result, without layouts.
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
