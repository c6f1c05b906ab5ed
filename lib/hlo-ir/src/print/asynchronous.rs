//! The short form of asynchronous operations: `custom-call-start(…)` for an `async-start` that calls a computation
//! of one `custom-call`, as XLA prints them.

use crate::module::asynchronous::Chain;
use crate::{CommonAttrs, ComputationId, InstrId, Module, Op};
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
        let mut out = Self::default();
        let chains = Chain::all(module);
        if chains.is_empty() {
            return out;
        }
        let callers = module.callers();
        for chain in &chains {
            let callers = callers.get(&chain.calls).map_or(&[][..], Vec::as_slice);
            let starts = callers.iter().filter(|&&i| module[i].op.started().is_some()).count();
            let called_by_this_chain = starts <= 1 && callers.iter().all(|&i| is_asynchronous(&module[i].op));
            if called_by_this_chain && let Some(root) = only_operation(module, chain) {
                out.wrapped.extend(chain.instructions.iter().map(|&i| (i, root)));
                out.computations.insert(chain.calls, root);
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

fn is_asynchronous(op: &Op) -> bool {
    op.opcode().short_form_suffix().is_some()
}

/// The operation that a chain's computation consists of besides its parameters, if the short form says all there is
/// to say: the parameters are its operands in order, and nothing has attributes that the short form would lose.
fn only_operation(module: &Module, chain: &Chain) -> Option<InstrId> {
    let callee = chain.calls;
    if !module.is_live_computation(callee) || !module.has_root(callee) {
        return None;
    }
    let root = module[callee].root();
    let instructions = module[callee].instructions();
    let operands = &module[root].operands;
    let start = &module[*chain.instructions.first()?];
    let thread = match &start.op {
        Op::AsyncStart(a) => a.async_execution_thread.as_ref(),
        _ => None,
    };
    let callee_thread = module[callee].execution_thread.as_ref();
    // Updates may bind operands too.
    let of_updates = chain.instructions.iter().skip(1).map(|&i| module[i].operands.len().saturating_sub(1));
    let bound: usize = start.operands.len() + of_updates.sum::<usize>();
    let parameters_in_order = operands.len() + 1 == instructions.len()
        && operands.len() == bound
        && operands
            .iter()
            .enumerate()
            .all(|(n, &o)| matches!(&module[o].op, Op::Parameter(p) if p.number == n as i64));
    let short = module[root].opcode().has_short_form()
        && parameters_in_order
        && (callee_thread.is_none() || thread == callee_thread)
        && operands.iter().all(|&i| module[i].common.as_deref().is_none_or(|c| *c == CommonAttrs::default()))
        && says_all(module, chain, root);
    short.then_some(root)
}

/// True if the operation has those attributes only that the chain gives it.
fn says_all(module: &Module, chain: &Chain, root: InstrId) -> bool {
    let said = chain.of_operation(module);
    module[root].common.as_deref().map_or_else(|| said == Default::default(), |own| *own == said)
}
