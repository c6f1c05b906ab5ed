//! Liveness of buffers: computes when the contents of each buffer are needed.
//!
//! All steps form one sequence, in which the steps of loop bodies and branches are in place. The step at
//! position `p` reads at time `2p` and writes at time `2p + 1`. A step may read and write in any order unless
//! stated otherwise, so its operands are needed until `2p + 2`.
//!
//! One backward walk over the tree of steps finds the exact intervals. A loop's state is not needed between
//! its last reader and the copy that writes its next value. A branch does not extend the life of a value that
//! only other branches read.

use crate::{BufId, Buffers, Pin, Step};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A half-open interval of time: `start` is included, `end` is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// The first moment.
    pub start: u64,
    /// One past the last moment.
    pub end: u64,
}

/// The times at which one buffer is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveIntervals {
    /// The intervals in order. They neither overlap nor touch.
    pub intervals: Vec<Interval>,
    /// The write times at which another buffer may take over this one. An interval ends there only because
    /// the step may write before it has read everything, but the step is known to read each element before it
    /// writes the element at the same index. A result may therefore use this buffer.
    pub soft: Vec<u64>,
}

/// The lives of all buffers.
#[derive(Clone, Debug)]
pub struct BufferLiveness {
    /// The lives, indexed by [`BufId::index`].
    pub lives: Vec<LiveIntervals>,
}

/// The buffers that the steps of a loop read before writing them (`exposed`), and those that they always
/// write (`defined`).
#[derive(Clone, Debug, Default)]
struct Summary {
    exposed: HashSet<BufId>,
    defined: HashSet<BufId>,
}

/// Computes the lives of all buffers.
pub fn liveness(steps: &[Step<BufId>], buffers: &Buffers) -> BufferLiveness {
    let mut walk = Walk {
        time: 2 * count(steps),
        open: BTreeMap::new(),
        lives: vec![LiveIntervals::default(); buffers.len()],
        exposed: HashMap::new(),
    };
    walk.summarize(steps);
    let end = walk.time;
    for (i, b) in buffers.iter().enumerate() {
        if matches!(b.pin, Pin::Output(_)) {
            walk.open.insert(BufId(i as u32), end);
        }
    }
    walk.block(steps);
    let still_open: Vec<BufId> = walk.open.keys().copied().collect();
    for b in still_open {
        walk.close(b, 0);
    }
    for life in &mut walk.lives {
        life.intervals.reverse();
        life.intervals = joined(&life.intervals);
        life.soft.reverse();
    }
    BufferLiveness { lives: walk.lives }
}

/// Returns the number of positions of the steps.
fn count(steps: &[Step<BufId>]) -> u64 {
    steps
        .iter()
        .map(|s| match s {
            Step::Kernel(_) | Step::Copy { .. } | Step::Runtime(_) => 1,
            Step::While { condition, body, .. } => 1 + count(condition) + count(body),
            Step::Conditional { branches, .. } => 1 + branches.iter().map(|b| count(b)).sum::<u64>(),
        })
        .sum()
}

/// Merges intervals that touch or overlap. They must be sorted by start.
pub(super) fn joined(intervals: &[Interval]) -> Vec<Interval> {
    let mut out: Vec<Interval> = Vec::with_capacity(intervals.len());
    for &i in intervals {
        match out.last_mut() {
            Some(last) if i.start <= last.end => last.end = last.end.max(i.end),
            _ => out.push(i),
        }
    }
    out
}

/// Returns the reads and writes of a step that is not a loop or conditional. Each read has a flag that says
/// whether it is soft.
fn accesses(step: &Step<BufId>) -> (Vec<(BufId, bool)>, Vec<BufId>) {
    match step {
        Step::Kernel(k) => {
            let mut reads: Vec<(BufId, bool)> = Vec::with_capacity(k.operands.len());
            for (i, operand) in k.operands.iter().enumerate() {
                let Some(b) = *operand else { continue };
                let soft = k.overwritable.contains(&i);
                match reads.iter_mut().find(|r| r.0 == b) {
                    // A buffer that is passed twice may be overwritten only if both uses allow it.
                    Some(known) => known.1 &= soft,
                    None => reads.push((b, soft)),
                }
            }
            (reads, k.results.clone())
        }
        Step::Copy { from, to, .. } => (vec![(*from, true)], vec![*to]),
        Step::Runtime(r) => (r.operands.iter().map(|&b| (b, false)).collect(), r.results.clone()),
        Step::While { .. } | Step::Conditional { .. } => (Vec::new(), Vec::new()),
    }
}

struct Walk {
    /// The time just after the current step.
    time: u64,
    /// The buffers that are needed now, with the ends of their intervals.
    open: BTreeMap<BufId, u64>,
    /// The lives so far. Intervals are collected from last to first.
    lives: Vec<LiveIntervals>,
    /// The buffers that each loop reads before writing them, by the address of the loop's step.
    exposed: HashMap<*const Step<BufId>, HashSet<BufId>>,
}

impl Walk {
    /// Fills `exposed` for all loops in `steps`.
    fn summarize(&mut self, steps: &[Step<BufId>]) -> Summary {
        let mut all = Summary::default();
        let read = |all: &mut Summary, b: BufId| {
            if !all.defined.contains(&b) {
                all.exposed.insert(b);
            }
        };
        for step in steps {
            match step {
                Step::Kernel(_) | Step::Copy { .. } | Step::Runtime(_) => {
                    let (reads, writes) = accesses(step);
                    reads.iter().for_each(|r| read(&mut all, r.0));
                    all.defined.extend(writes);
                }
                Step::While { condition, predicate, body, .. } => {
                    let first = self.summarize(condition);
                    let second = self.summarize(body);
                    let mut exposed = first.exposed;
                    exposed.extend(second.exposed.difference(&first.defined));
                    if !first.defined.contains(predicate) {
                        exposed.insert(*predicate);
                    }
                    exposed.iter().for_each(|&b| read(&mut all, b));
                    all.defined.extend(first.defined);
                    self.exposed.insert(std::ptr::from_ref(step), exposed);
                }
                Step::Conditional { selector, branches, .. } => {
                    read(&mut all, *selector);
                    let parts: Vec<Summary> = branches.iter().map(|b| self.summarize(b)).collect();
                    for p in &parts {
                        p.exposed.iter().for_each(|&b| read(&mut all, b));
                    }
                    if let Some((first, rest)) = parts.split_first() {
                        let always =
                            first.defined.iter().filter(|b| rest.iter().all(|p| p.defined.contains(b)));
                        all.defined.extend(always);
                    }
                }
            }
        }
        all
    }

    fn close(&mut self, b: BufId, start: u64) {
        if let Some(end) = self.open.remove(&b)
            && start < end
        {
            self.lives[b.index()].intervals.push(Interval { start, end });
        }
    }

    /// Makes `wanted` exactly the set of buffers that are needed just before the current time.
    fn switch_to(&mut self, wanted: &HashSet<BufId>) {
        let gone: Vec<BufId> = self.open.keys().filter(|b| !wanted.contains(b)).copied().collect();
        for b in gone {
            self.close(b, self.time);
        }
        self.add_open(wanted);
    }

    fn add_open(&mut self, wanted: &HashSet<BufId>) {
        for &b in wanted {
            self.open.entry(b).or_insert(self.time);
        }
    }

    fn open_buffers(&self) -> HashSet<BufId> {
        self.open.keys().copied().collect()
    }

    fn block(&mut self, steps: &[Step<BufId>]) {
        for step in steps.iter().rev() {
            match step {
                Step::Kernel(_) | Step::Copy { .. } | Step::Runtime(_) => {
                    let (reads, writes) = accesses(step);
                    self.simple(&reads, &writes);
                }
                Step::While { condition, predicate, body, .. } => {
                    let after = self.open_buffers();
                    let mut head = self.exposed.get(&std::ptr::from_ref(step)).cloned().unwrap_or_default();
                    // A buffer that is needed after the loop is needed in every iteration. The condition
                    // writes only buffers of its own, which are not visible outside.
                    head.extend(&after);
                    self.add_open(&head);
                    self.block(body);
                    self.add_open(&after);
                    self.simple(&[(*predicate, false)], &[]);
                    self.block(condition);
                    self.switch_to(&head);
                }
                Step::Conditional { selector, branches, .. } => {
                    let after = self.open_buffers();
                    let mut before = HashSet::new();
                    for branch in branches.iter().rev() {
                        self.switch_to(&after);
                        self.block(branch);
                        before.extend(self.open_buffers());
                    }
                    self.switch_to(&before);
                    self.simple(&[(*selector, false)], &[]);
                }
            }
        }
    }

    /// Processes one position.
    fn simple(&mut self, reads: &[(BufId, bool)], writes: &[BufId]) {
        self.time -= 2;
        let write = self.time + 1;
        for &b in writes {
            // A result without readers is still written.
            self.open.entry(b).or_insert(write + 1);
            self.close(b, write);
        }
        for &(b, soft) in reads {
            let updated = writes.contains(&b);
            let last = !self.open.contains_key(&b);
            self.open.entry(b).or_insert(write + 1);
            if last && soft && !updated {
                self.lives[b.index()].soft.push(write);
            }
        }
    }
}
