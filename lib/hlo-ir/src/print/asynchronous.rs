//! The short form of asynchronous operations: `custom-call-start(…)` for an `async-start` that calls a computation
//! of one `custom-call`, as XLA prints them.

use crate::{ComputationId, InstrId, Module, Op, Opcode};
use std::collections::HashMap;

/// The asynchronous instructions of a module that print in the short form.
#[derive(Debug, Default)]
pub struct ShortForms {
    /// For each start, update and end: the operation that runs.
    wrapped: HashMap<InstrId, InstrId>,
    /// The computations that need not be printed, each with its one operation.
    computations: HashMap<ComputationId, InstrId>,
}

impl ShortForms {
    /// Finds them. Linear; modules without asynchronous starts cost one look at each instruction.
    pub fn of(module: &Module) -> Self {
        let starts = |c: ComputationId| {
            let list = module[c].instructions().iter().copied();
            list.filter_map(|i| Some((i, start_of(&module[i].op)?)))
        };
        let mut out = Self::default();
        let candidates: Vec<(InstrId, ComputationId)> = module.computations().flat_map(starts).collect();
        if candidates.is_empty() {
            return out;
        }
        let callers = module.callers();
        for &(start, callee) in &candidates {
            let called_by_this_chain = callers
                .get(&callee)
                .is_none_or(|l| l.iter().filter(|&&i| start_of(&module[i].op).is_some()).count() == 1)
                && callers.get(&callee).is_none_or(|l| l.iter().all(|&i| is_asynchronous(&module[i].op)));
            if called_by_this_chain && let Some(root) = only_operation(module, start, callee) {
                out.wrapped.insert(start, root);
                out.computations.insert(callee, root);
            }
        }
        let mut parents: Vec<ComputationId> = candidates.iter().map(|&(i, _)| module[i].parent).collect();
        parents.sort_unstable();
        parents.dedup();
        for parent in parents {
            for i in module.post_order(parent) {
                let follows = matches!(module[i].op, Op::AsyncUpdate(_) | Op::AsyncDone(_));
                let before = module[i].operands.first().and_then(|o| out.wrapped.get(o)).copied();
                if follows && let Some(root) = before {
                    out.wrapped.insert(i, root);
                }
            }
        }
        out
    }

    /// The operation that the asynchronous instruction `id` runs, if it prints in the short form.
    pub fn wrapped(&self, id: InstrId) -> Option<InstrId> {
        self.wrapped.get(&id).copied()
    }

    /// The one operation of a computation that is not printed.
    pub fn only_operation(&self, id: ComputationId) -> Option<InstrId> {
        self.computations.get(&id).copied()
    }
}

fn start_of(op: &Op) -> Option<ComputationId> {
    match op {
        Op::AsyncStart(a) => a.calls,
        _ => None,
    }
}

fn is_asynchronous(op: &Op) -> bool {
    matches!(op, Op::AsyncStart(_) | Op::AsyncUpdate(_) | Op::AsyncDone(_))
}

/// The operation that `callee` consists of besides its parameters, if the short form says all there is to say:
/// the parameters are its operands in order, and nothing has attributes that the short form would lose. The
/// opcodes that have asynchronous forms of their own have no short form.
fn only_operation(module: &Module, start: InstrId, callee: ComputationId) -> Option<InstrId> {
    if !module.is_live_computation(callee) || !module.has_root(callee) {
        return None;
    }
    let root = module[callee].root();
    let instructions = module[callee].instructions();
    let operands = &module[root].operands;
    let thread = match &module[start].op {
        Op::AsyncStart(a) => a.async_execution_thread.as_ref(),
        _ => None,
    };
    let parameters_in_order = operands.len() + 1 == instructions.len()
        && operands.len() == module[start].operands.len()
        && operands
            .iter()
            .enumerate()
            .all(|(n, &o)| matches!(&module[o].op, Op::Parameter(p) if p.number == n as i64));
    let short = has_short_form(module[root].opcode())
        && parameters_in_order
        && (module[callee].execution_thread.is_empty() || thread == Some(&module[callee].execution_thread))
        && instructions.iter().all(|&i| module[i].common.is_none());
    short.then_some(root)
}

/// False for the opcodes whose names with `-start` are opcodes of their own, and for those that stand for no
/// operation.
fn has_short_form(opcode: Opcode) -> bool {
    let taken = |suffix: &str| Opcode::from_name(&format!("{}{suffix}", opcode.name())).is_some();
    !taken("-start")
        && !taken("-done")
        && !matches!(
            opcode,
            Opcode::Parameter
                | Opcode::Constant
                | Opcode::AsyncStart
                | Opcode::AsyncUpdate
                | Opcode::AsyncDone
        )
}
