//! Buffer assignment: decides which values share memory and assigns each buffer an offset in the arena.
//!
//! 1. `live` computes the intervals in which the contents of each buffer are needed, in positions of the
//!    program's sequence of steps.
//! 2. `coalesce` merges buffers that a copy connects, if they are never needed at the same time. The copy
//!    then does nothing. It also merges results with operands that they may overwrite.
//! 3. `pack` assigns offsets in one arena. Buffers that are needed at the same time don't overlap.

mod coalesce;
mod live;
mod pack;

use crate::expand::{Body, Expanded};
use crate::{BufId, BufferRef, Constant, Pin, Plan, RuntimeCall, Step, copy};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::{InstrId, Module, human_bytes};

pub use coalesce::Classes;
pub use live::{BufferLiveness, Interval};
use pack::Packed;

/// Number of the largest buffers that an out-of-memory message lists.
const MAX_LISTED_BUFFERS: usize = 5;

/// Assigns each buffer of an expanded program a location.
///
/// # Errors
/// Parameters, results, constants and the arena together need more than `limit` bytes.
pub fn assign(module: &Module, mut expanded: Expanded, limit: u64) -> Result<Plan, Diag> {
    let (functions, main) = assigned(module, &mut expanded, limit)?;
    let bodies = functions.iter().zip(&expanded.functions);
    Ok(Plan {
        steps: main.steps(&expanded.main),
        functions: bodies.map(|(assigned, body)| assigned.steps(body)).collect(),
        constants: expanded.constants,
        transfers: expanded.transfers,
        custom_calls: expanded.custom_calls,
        collectives: expanded.collectives,
        arena_bytes: main.packed.bytes,
        param_bytes: expanded.main.param_bytes,
        output_bytes: expanded.main.output_bytes,
        donations: expanded.donations,
    })
}

/// Assigns the buffers of each function and of the entry computation.
pub(crate) fn assigned(
    module: &Module,
    expanded: &mut Expanded,
    limit: u64,
) -> Result<(Vec<Assigned>, Assigned), Diag> {
    let Expanded { main, functions, constants, .. } = expanded;
    let (mut frames, mut out) = (Vec::with_capacity(functions.len()), Vec::with_capacity(functions.len()));
    for body in functions {
        let assigned = Assigned::new(module, body, &frames, constants, limit)?;
        frames.push(assigned.packed.bytes);
        out.push(assigned);
    }
    let main = Assigned::new(module, main, &frames, constants, limit)?;
    Ok((out, main))
}

/// The locations of the buffers of the entry computation or of a function.
pub(crate) struct Assigned {
    pub(crate) classes: Classes,
    pub(crate) packed: Packed,
}

impl Assigned {
    /// Assigns the buffers of a body. `frames` contains the sizes of the arenas of the functions that it may
    /// call.
    fn new(
        module: &Module,
        body: &mut Body,
        frames: &[u64],
        constants: &[Constant],
        limit: u64,
    ) -> Result<Self, Diag> {
        for &(buffer, function) in &body.frames {
            body.buffers.set_bytes(buffer, frames.get(function).copied().unwrap_or(0));
        }
        let Body { steps, buffers, param_bytes, output_bytes, .. } = &*body;
        let liveness = live::liveness(steps, buffers);
        let classes = coalesce::coalesce(steps, buffers, &liveness);
        let packed = pack::pack(&classes);
        let outside = param_bytes
            .iter()
            .chain(output_bytes)
            .copied()
            .chain(constants.iter().map(|c| c.bytes.len() as u64))
            .fold(0u64, u64::saturating_add);
        let total = packed.as_ref().map(|p| p.bytes.saturating_add(outside));
        match (packed, total.is_some_and(|t| t <= limit)) {
            (Some(packed), true) => Ok(Self { classes, packed }),
            _ => Err(too_large(module, buffers, total, limit)),
        }
    }

    /// Returns the location of a class of buffers.
    pub(crate) fn place(&self, class: usize) -> BufferRef {
        match self.classes.pin(class) {
            Pin::Param(n) => BufferRef::Param(n),
            Pin::Output(n) => BufferRef::Output(n),
            Pin::Constant(n) => BufferRef::Constant(n),
            Pin::Free => BufferRef::Arena(self.packed.offsets[class]),
        }
    }

    /// Returns the steps of the body with the buffers' locations.
    fn steps(&self, body: &Body) -> Vec<Step<BufferRef>> {
        let place = |b: BufId| self.place(self.classes.of(b));
        parallel_copies(Step::map_all(&body.steps, &place), body.root)
    }
}

/// Replaces large copies by runtime calls, which divide the copy among the threads. `instruction` is the
/// instruction that the calls are attributed to.
fn parallel_copies(steps: Vec<Step<BufferRef>>, instruction: InstrId) -> Vec<Step<BufferRef>> {
    let all = |steps| parallel_copies(steps, instruction);
    let one = |step| match step {
        Step::Copy { from, to, bytes } => match copy::plain(bytes) {
            Some(words) => Step::Runtime(RuntimeCall::with_descriptor(
                instruction,
                copy::SYMBOL,
                words,
                vec![from],
                vec![to],
            )),
            None => Step::Copy { from, to, bytes },
        },
        Step::While { instruction, condition, predicate, body } => {
            Step::While { instruction, condition: all(condition), predicate, body: all(body) }
        }
        Step::Conditional { selector, by_pred, branches } => {
            Step::Conditional { selector, by_pred, branches: branches.into_iter().map(all).collect() }
        }
        Step::Kernel(_) | Step::Runtime(_) => step,
    };
    steps.into_iter().map(one).collect()
}

/// Creates the error for a program that needs too much memory. It lists the instructions that need the most.
fn too_large(module: &Module, buffers: &crate::Buffers, total: Option<u64>, limit: u64) -> Diag {
    let needed = match total {
        Some(t) => human_bytes(t),
        None => "more than can be addressed".to_string(),
    };
    let mut largest: Vec<_> = buffers.iter().filter_map(|b| b.instruction.map(|i| (b.bytes, i))).collect();
    largest.sort_by_key(|&(bytes, i)| (std::cmp::Reverse(bytes), i));
    largest.dedup_by_key(|(_, i)| *i);
    let message = format!("the program needs {needed} of memory, the limit is {}", human_bytes(limit));
    let mut diag = Diag::error(message).with_code(code::MEMORY);
    for (n, &(bytes, i)) in largest.iter().take(MAX_LISTED_BUFFERS).enumerate() {
        let size = human_bytes(bytes);
        diag = match n {
            0 => diag.at(module.span(i), size.clone()),
            _ => diag.and(module.span(i), size.clone()),
        };
        diag = diag.note(format!("`{}` takes {size}", module[i].name));
    }
    diag
}
