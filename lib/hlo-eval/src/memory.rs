//! Memory check before an evaluation: computes a lower bound of the memory that it needs, so that it fails
//! early instead of after minutes.

use crate::error::EvalError;
use crate::options::Options;
use crate::plan::{Plan, Step};
use hlo_ir::effects::Effects;
use hlo_ir::{InstrId, Module, Op, Shape, human_bytes};
use std::collections::HashMap;
use std::rc::Rc;

/// Rejects a module whose evaluation needs more memory than `options` allow. The memory inside loops,
/// branches and called computations is not counted, so a module that passes may still run out of memory.
///
/// # Errors
/// Reports the instruction at which memory runs out, with the values that are live there.
pub fn check_memory(module: &Module, options: &Options) -> Result<(), EvalError> {
    let sizes = module[module.entry()].instructions().iter().map(|&i| module[i].shape.byte_size());
    if sizes.fold(0usize, usize::saturating_add) <= options.max_bytes {
        return Ok(());
    }
    let mut effects = Effects::default();
    effects.reach(module, module.entry());
    let plan = Plan::new(module, module.entry(), &effects)?;
    if plan.dynamic {
        return Ok(());
    }
    let mut walk = Walk { module, ids: 0, holders: HashMap::new(), live: 0 };
    walk.run(&plan, options.max_bytes)
}

/// The memory of an array: its number, and its size in bytes.
type Memory = (usize, usize);

/// The memory of the leaves of a value. `None` for leaves that do not count.
type Leaves = Rc<[Option<Memory>]>;

struct Walk<'m> {
    module: &'m Module,
    /// Number of ids assigned so far.
    ids: usize,
    /// Number of values that use each memory.
    holders: HashMap<usize, usize>,
    live: usize,
}

impl Walk<'_> {
    fn run(&mut self, plan: &Plan, limit: usize) -> Result<(), EvalError> {
        let mut values: Vec<Leaves> = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            let operands: Vec<Leaves> = step.operands.iter().map(|u| values[u.step].clone()).collect();
            let dying: Vec<&Leaves> =
                step.operands.iter().zip(&operands).filter(|(u, _)| u.last).map(|(_, l)| l).collect();
            // An element-wise operation reads its operands while it writes. Other operations may reuse the
            // memory of an operand.
            let in_place = step.kernel.is_none();
            let shared = self.shared(step, &operands);
            if let Some(leaves) = &shared {
                self.retain(leaves);
            }
            if in_place {
                dying.iter().for_each(|leaves| self.release(leaves));
            }
            let value = shared.unwrap_or_else(|| self.made(step.id));
            if self.live > limit {
                return Err(too_much(self.module, step.id, self.live, limit));
            }
            if !in_place {
                dying.iter().for_each(|leaves| self.release(leaves));
            }
            values.push(value);
        }
        Ok(())
    }

    /// Returns the memory of a value that is or may be that of its operands, or `None` if the value always
    /// needs new memory.
    fn shared(&self, step: &Step, operands: &[Leaves]) -> Option<Leaves> {
        let none = || vec![None; self.module[step.id].shape.leaf_count()].into();
        match &self.module[step.id].op {
            Op::Tuple => Some(operands.iter().flat_map(|l| l.iter().copied()).collect()),
            Op::GetTupleElement(g) => {
                let elements = self.module[*self.module[step.id].operands.first()?].shape.as_tuple()?;
                let index = usize::try_from(g.index).ok()?;
                let before: usize = elements.get(..index)?.iter().map(Shape::leaf_count).sum();
                let count = elements.get(index)?.leaf_count();
                Some(operands.first()?.get(before..before + count)?.into())
            }
            // The state has the same size in each iteration.
            Op::While(_) | Op::OptBarrier | Op::Copy | Op::Bitcast | Op::Reshape(_) => {
                operands.first().cloned()
            }
            // Inputs and constants don't count. The memory of the others is unknown.
            Op::Parameter(_) | Op::Constant(_) => Some(none()),
            op if !op.called_computations().is_empty() && !is_applied(op) => Some(none()),
            _ => None,
        }
    }

    /// Returns new memory for a value.
    fn made(&mut self, id: InstrId) -> Leaves {
        let module = self.module;
        let leaf = |shape: &Shape| {
            let bytes = shape.byte_size();
            self.ids += 1;
            shape.as_array().map(|_| (self.ids, bytes))
        };
        let leaves: Leaves = module[id].shape.leaves().into_iter().map(leaf).collect();
        self.retain(&leaves);
        leaves
    }

    fn retain(&mut self, leaves: &Leaves) {
        for &(id, bytes) in leaves.iter().flatten() {
            let holders = self.holders.entry(id).or_default();
            if *holders == 0 {
                self.live = self.live.saturating_add(bytes);
            }
            *holders += 1;
        }
    }

    fn release(&mut self, leaves: &Leaves) {
        for &(id, bytes) in leaves.iter().flatten() {
            // Memory without users no longer counts.
            let Some(holders) = self.holders.get_mut(&id) else { continue };
            *holders = holders.saturating_sub(1);
            if *holders == 0 {
                self.holders.remove(&id);
                self.live = self.live.saturating_sub(bytes);
            }
        }
    }
}

/// Checks whether an operation always creates a new array, whatever computation it applies to elements.
fn is_applied(op: &Op) -> bool {
    matches!(op, Op::Reduce(_) | Op::ReduceWindow(_) | Op::Map(_) | Op::SelectAndScatter(_))
}

fn too_much(module: &Module, id: InstrId, needed: usize, limit: usize) -> EvalError {
    EvalError::memory(format!(
        "there is no memory for a value of {}: {} are needed with it, {} are available",
        human_bytes(module[id].shape.byte_size() as u64),
        human_bytes(needed as u64),
        human_bytes(limit as u64),
    ))
    .at(id)
}
