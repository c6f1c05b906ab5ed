//! The short form of asynchronous operations, as XLA prints them. An `async-start` that calls a computation
//! with one `custom-call` is printed as `custom-call-start(…)`.

use crate::module::asynchronous::Chain;
use crate::{CommonAttrs, ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;

/// The asynchronous instructions of a module that are printed in the short form.
#[derive(Debug, Default)]
pub struct ShortForms {
    /// For each start, update and done, the operation that runs.
    wrapped: HashMap<InstrId, InstrId>,
    /// The computations that are not printed, each with its only operation.
    computations: HashMap<ComputationId, InstrId>,
}

impl ShortForms {
    /// Finds the short forms of a module in linear time. Without asynchronous starts, each instruction is
    /// visited once.
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

    /// Returns the operation that the asynchronous instruction `id` runs, if it is printed in the short form.
    pub fn wrapped(&self, id: InstrId) -> Option<InstrId> {
        self.wrapped.get(&id).copied()
    }

    /// Returns the only operation of a computation that is not printed.
    pub fn only_operation(&self, id: ComputationId) -> Option<InstrId> {
        self.computations.get(&id).copied()
    }
}

fn is_asynchronous(op: &Op) -> bool {
    op.opcode().short_form_suffix().is_some()
}

/// Returns the only operation of a chain's computation, besides its parameters, if the short form loses no
/// information: the operands are the parameters in order, and no instruction has attributes that the short
/// form does not print.
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
        && is_implied_by_chain(module, chain, root)
        && derived_shape(module, chain).is_none_or(|shape| shape.compatible(&module[root].shape));
    short.then_some(root)
}

/// Returns the shape that a reader of the short form gives to the operation: that of the start's result, or of the
/// computation that a call or a fusion runs. Each later result that differs in more than dynamic dimensions replaces it.
fn derived_shape<'m>(module: &'m Module, chain: &Chain) -> Option<&'m Shape> {
    let mut results = chain.instructions.iter().filter_map(|&i| match (&module[i].op, &module[i].shape) {
        (Op::AsyncDone(_), shape) => Some(shape),
        (_, shape) => shape.as_tuple()?.get(1),
    });
    let of_start = results.next()?;
    let callee = match &module[module[chain.calls].root()].op {
        Op::Call(a) => Some(a.to_apply),
        Op::Fusion(a) => Some(a.calls),
        _ => None,
    };
    let first = callee.filter(|&c| module.has_root(c)).map_or(of_start, |c| &module[module[c].root()].shape);
    Some(results.fold(first, |known, next| if next.compatible_but_dynamic(known) { known } else { next }))
}

/// Returns whether the operation has no attributes except those that the chain implies.
fn is_implied_by_chain(module: &Module, chain: &Chain, root: InstrId) -> bool {
    let said = chain.of_operation(module);
    module[root].common.as_deref().map_or_else(|| said == Default::default(), |own| *own == said)
}
