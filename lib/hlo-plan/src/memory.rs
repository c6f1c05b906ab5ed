//! Memory report: the buffers of a compiled program, where they are, and when they are live.

use crate::assignment::{Assigned, Interval, assigned};
use crate::expand::Body;
use crate::{BufId, BufferRef, Step};
use hlo_ir::diag::Diag;
use hlo_ir::verify::Verified;
use hlo_ir::{InstrId, Module};
use std::collections::{BTreeMap, HashSet};

/// The memory of a compiled program.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The memory of the entry computation, including the computations expanded in it.
    pub main: BodyMemory,
    /// The memory of the functions, callees first. The arena of each is part of the caller's arena.
    pub functions: Vec<BodyMemory>,
    /// The size of the constants in memory, in bytes.
    pub constant_bytes: u64,
}

/// The memory of the entry computation or of a function.
#[derive(Clone, Debug)]
pub struct BodyMemory {
    /// The computation's root.
    pub root: InstrId,
    /// The steps in program order. The steps of a loop or branch occur once, in place.
    pub steps: Vec<StepName>,
    /// The allocations, ordered by place.
    pub allocations: Vec<Allocation>,
    /// The size of the arena in bytes: the temporaries and the gaps between them.
    pub arena_bytes: u64,
    /// The size of the parameters in bytes.
    pub parameter_bytes: u64,
    /// The size of the results in bytes.
    pub output_bytes: u64,
}

/// A step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepName {
    /// The instruction that the step computes, or whose value it copies or tests.
    pub instruction: Option<InstrId>,
    /// `kernel`, `runtime`, `copy`, `while` or `conditional`.
    pub kind: &'static str,
}

/// Memory that one or more values use, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The location of the memory.
    pub place: BufferRef,
    /// The size in bytes.
    pub bytes: u64,
    /// The instructions whose values are stored there, in the order in which they occur.
    pub values: Vec<InstrId>,
    /// The first and last step of each period in which the contents are needed.
    pub live: Vec<(usize, usize)>,
}

impl Allocation {
    /// Checks whether the contents are needed while a step runs.
    pub fn is_live(&self, step: usize) -> bool {
        self.live.iter().any(|&(first, last)| (first..=last).contains(&step))
    }
}

impl BodyMemory {
    /// Returns for each step the bytes of the temporaries and results that are needed while it runs.
    pub fn live_bytes(&self) -> Vec<u64> {
        let mut change = vec![0i128; self.steps.len() + 1];
        let counted = |a: &&Allocation| matches!(a.place, BufferRef::Arena(_) | BufferRef::Output(_));
        for allocation in self.allocations.iter().filter(counted) {
            for &(first, last) in &allocation.live {
                change[first] += i128::from(allocation.bytes);
                change[last + 1] -= i128::from(allocation.bytes);
            }
        }
        let mut now = 0i128;
        let running = change.iter().map(|c| {
            now += c;
            u64::try_from(now).unwrap_or(u64::MAX)
        });
        running.take(self.steps.len()).collect()
    }

    fn new(body: &Body, assigned: &Assigned) -> Self {
        let mut line = Line { body, assigned, positions: 0, steps: Vec::new(), kept: Vec::new() };
        line.add(&body.steps);
        let mut found: BTreeMap<usize, Allocation> = BTreeMap::new();
        let mut met = HashSet::new();
        for (n, info) in body.buffers.iter().enumerate() {
            let class = assigned.classes.of(BufId(n as u32));
            let allocation = found.entry(class).or_insert_with(|| Allocation {
                place: assigned.place(class),
                bytes: assigned.classes.bytes(class),
                values: Vec::new(),
                live: line.spans(assigned.classes.intervals(class)),
            });
            allocation.values.extend(info.instruction.filter(|&i| met.insert((class, i))));
        }
        let mut allocations: Vec<Allocation> =
            found.into_values().filter(|a| a.bytes > 0 && !a.live.is_empty()).collect();
        allocations.sort_by_key(|a| (a.place, a.live[0]));
        let sum = |sizes: &[u64]| sizes.iter().fold(0u64, |n, &b| n.saturating_add(b));
        Self {
            root: body.root,
            steps: line.steps,
            allocations,
            arena_bytes: assigned.packed.bytes,
            parameter_bytes: sum(&body.param_bytes),
            output_bytes: sum(&body.output_bytes),
        }
    }
}

/// Computes the memory of a module on which the passes of `LOWERING` have run.
///
/// # Errors
/// The errors of [`crate::plan`] without a memory limit.
pub fn memory(module: Verified<&Module>) -> Result<Memory, Vec<Diag>> {
    let mut expanded = crate::expanded(module, Vec::new())?;
    let (functions, main) = assigned(&module, &mut expanded, u64::MAX).map_err(|e| vec![e])?;
    let bodies = expanded.functions.iter().zip(&functions);
    Ok(Memory {
        main: BodyMemory::new(&expanded.main, &main),
        functions: bodies.map(|(body, assigned)| BodyMemory::new(body, assigned)).collect(),
        constant_bytes: expanded.constants.iter().map(|c| c.bytes.len() as u64).sum(),
    })
}

/// The sequence of steps whose positions liveness uses. Only steps that do something are kept.
struct Line<'a> {
    body: &'a Body,
    assigned: &'a Assigned,
    /// Number of positions so far.
    positions: u64,
    steps: Vec<StepName>,
    /// The position of each step that is kept.
    kept: Vec<u64>,
}

impl Line<'_> {
    fn add(&mut self, steps: &[Step<BufId>]) {
        for step in steps {
            match step {
                Step::Kernel(k) => self.keep(Some(k.instruction), "kernel"),
                Step::Runtime(r) => self.keep(Some(r.instruction), "runtime"),
                Step::Copy { from, to, bytes } => {
                    let class = |b: &BufId| self.assigned.classes.of(*b);
                    if class(from) == class(to) || *bytes == 0 {
                        self.positions += 1
                    } else {
                        self.keep(self.defining_instruction(*from), "copy")
                    }
                }
                Step::While { instruction, condition, body, .. } => {
                    self.add(condition);
                    self.keep(Some(*instruction), "while");
                    self.add(body);
                }
                Step::Conditional { selector, branches, .. } => {
                    self.keep(self.defining_instruction(*selector), "conditional");
                    branches.iter().for_each(|branch| self.add(branch));
                }
            }
        }
    }

    fn defining_instruction(&self, buffer: BufId) -> Option<InstrId> {
        self.body.buffers[buffer].instruction
    }

    fn keep(&mut self, instruction: Option<InstrId>, kind: &'static str) {
        self.steps.push(StepName { instruction, kind });
        self.kept.push(self.positions);
        self.positions += 1;
    }

    /// Returns the ranges of kept steps that the intervals cover. The step at position `p` has the times `2p`
    /// and `2p + 1`.
    fn spans(&self, intervals: &[Interval]) -> Vec<(usize, usize)> {
        let mut out: Vec<(usize, usize)> = Vec::new();
        for interval in intervals {
            let first = self.kept.partition_point(|&p| 2 * p + 2 <= interval.start);
            let end = self.kept.partition_point(|&p| 2 * p < interval.end);
            match out.last_mut() {
                _ if first >= end => {}
                Some(before) if first <= before.1 + 1 => before.1 = end - 1,
                _ => out.push((first, end - 1)),
            }
        }
        out
    }
}
