//! Plans: the order in which the instructions of a computation run, and the last use of each value.

use crate::error::EvalError;
use crate::kernel::Kernel;
use crate::ops::elementwise;
use hlo_ir::effects::Effects;
use hlo_ir::{ArrayShape, ComputationId, InstrId, Module, Op, Shape};
use smallvec::SmallVec;
use std::collections::HashMap;

/// The plan of a computation.
pub(crate) struct Plan {
    /// The instructions to run, in order.
    pub(crate) steps: Vec<Step>,
    /// The step that computes the result.
    pub(crate) root: usize,
    /// Number of parameters.
    pub(crate) parameters: usize,
    /// Whether a value may have another size than the bounds of its shape.
    pub(crate) dynamic: bool,
}

/// One instruction of a plan. Its value is stored at the step's position.
pub(crate) struct Step {
    pub(crate) id: InstrId,
    pub(crate) operands: SmallVec<[Use; 3]>,
    /// The kernel of an element-wise instruction on arrays.
    pub(crate) kernel: Option<Kernel>,
}

/// An operand of a step.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    /// The step that computes the value.
    pub(crate) step: usize,
    /// Whether this is the last use of the value.
    pub(crate) last: bool,
}

impl Plan {
    /// Plans a computation: the instructions that the root needs, and those with effects.
    pub(crate) fn new(
        module: &Module,
        computation: ComputationId,
        effects: &Effects,
    ) -> Result<Self, EvalError> {
        if !module.has_root(computation) {
            return Err(EvalError::new(format!("computation `{}` has no root", module[computation].name)));
        }
        let root = module[computation].root();
        let order = order(module, computation, effects);
        let position: HashMap<InstrId, usize> = order.iter().enumerate().map(|(i, &id)| (id, i)).collect();
        let root = position
            .get(&root)
            .copied()
            .ok_or_else(|| EvalError::new("a root that is not in its computation"))?;
        let dynamic = order.iter().any(|&id| module[id].shape.is_dynamic());
        if let Some(&id) = order.iter().find(|&&id| dynamic && is_unbounded(&module[id].shape)) {
            let (name, shape) = (&module[id].name, &module[id].shape);
            return Err(EvalError::new(format!(
                "`{name}` has shape {shape}: a dimension without a bound can't be executed"
            ))
            .at(id));
        }
        let mut steps = Vec::with_capacity(order.len());
        for &id in &order {
            let operands = module[id]
                .operands
                .iter()
                .map(|o| position.get(o).map(|&step| Use { step, last: false }))
                .collect::<Option<SmallVec<[Use; 3]>>>()
                .ok_or_else(|| EvalError::new("an operand from another computation"))?;
            steps.push(Step { id, operands, kernel: kernel(module, id) });
        }
        // Backwards, the first use found is the last one. The root is never freed.
        let mut seen = vec![false; steps.len()];
        seen[root] = true;
        for (at, step) in steps.iter_mut().enumerate().rev() {
            for operand in step.operands.iter_mut().rev() {
                if operand.step >= at {
                    let name = &module[computation].name;
                    return Err(EvalError::new(format!("computation `{name}` has a cycle")));
                }
                operand.last = !std::mem::replace(&mut seen[operand.step], true);
            }
        }
        Ok(Self { steps, root, parameters: module.parameters(computation).len(), dynamic })
    }
}

/// Returns the instructions that the root needs and those with effects, operands first. A `get-tuple-element`
/// runs as early as possible. After all of them have run, the tuple is freed and each element has one owner,
/// so updates happen in place.
pub(crate) fn order(module: &Module, computation: ComputationId, effects: &Effects) -> Vec<InstrId> {
    let all = effects.order(module, computation);
    let effectful = effects.any(computation);
    let mut needed: HashMap<InstrId, bool> = HashMap::with_capacity(all.len());
    needed.insert(module[computation].root(), true);
    for &id in all.iter().rev() {
        if needed.contains_key(&id) || (effectful && effects.has(module, id)) {
            needed.insert(id, true);
            for &o in &module[id].operands {
                needed.insert(o, true);
            }
        }
    }
    let mut placed: HashMap<InstrId, ()> = HashMap::with_capacity(all.len());
    let mut out = Vec::with_capacity(needed.len());
    for id in all {
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            if !needed.contains_key(&id) || placed.insert(id, ()).is_some() {
                continue;
            }
            out.push(id);
            if module[id].shape.is_tuple() {
                let elements = module.users(id).iter().rev();
                pending.extend(elements.filter(|&&u| matches!(module[u].op, Op::GetTupleElement(_))));
            }
        }
    }
    out
}

/// Checks whether an array in the shape has a dimension without a bound.
fn is_unbounded(shape: &Shape) -> bool {
    shape.leaves().iter().filter_map(|s| s.as_array()).any(|a| a.dims.contains(&ArrayShape::UNBOUNDED))
}

/// Returns the kernel of an element-wise instruction whose operands and result are arrays. If the types do
/// not fit, there is no kernel, and the evaluator reports the error when the instruction runs.
fn kernel(module: &Module, id: InstrId) -> Option<Kernel> {
    let instr = &module[id];
    let types: Option<SmallVec<[_; 3]>> =
        instr.operands.iter().map(|&o| module[o].shape.as_array().map(|a| a.element_type)).collect();
    let Shape::Array(result) = &instr.shape else { return None };
    elementwise::kernel(instr.op.elementwise()?, &types?, result.element_type).ok()
}
