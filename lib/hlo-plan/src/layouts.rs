//! Implicit layout changes: places where a value changes its layout without an instruction for it. These are
//! between a tuple's elements and its operands, between arguments and parameters, between a computation's
//! root and its caller, and between the entry and the module's `entry_computation_layout`. Opcodes that
//! return their operand unchanged generate no code, so expansion adds a copy for such a change.

use hlo_analysis::{Alias, alias};
use hlo_ir::{ArrayShape, ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashSet;

/// Returns the instructions of some computations at which a leaf changes its layout.
pub(super) fn changes(module: &Module, computations: &[ComputationId]) -> HashSet<InstrId> {
    let mut out = HashSet::new();
    for &c in computations {
        out.extend(module[c].instructions().iter().copied().filter(|&i| changes_at(module, i)));
    }
    out
}

/// Checks whether both shapes have the same leaves in the same layouts.
pub(super) fn agree(a: &Shape, b: &Shape) -> bool {
    let (a, b) = (a.leaves(), b.leaves());
    a.len() == b.len() && a.into_iter().zip(b).all(|(a, b)| change(a, b).is_none())
}

/// Returns the two array shapes of a leaf if its layout changes from `a` to `b`.
pub(super) fn change<'s>(a: &'s Shape, b: &'s Shape) -> Option<(&'s ArrayShape, &'s ArrayShape)> {
    match (a.as_array(), b.as_array()) {
        (Some(a), Some(b)) if a.element_count() > 0 && !a.same_strides(b) => Some((a, b)),
        _ => None,
    }
}

/// Returns the shape of the parameter at a position.
pub(super) fn parameter(module: &Module, computation: ComputationId, position: usize) -> Option<&Shape> {
    let id = module.parameters(computation).get(position).copied()?;
    Some(&module[id].shape)
}

/// Returns the shape of a computation's root.
pub(super) fn result(module: &Module, computation: ComputationId) -> &Shape {
    &module[module[computation].root()].shape
}

fn changes_at(module: &Module, id: InstrId) -> bool {
    let instr = &module[id];
    let operand = |n: usize| instr.operands.get(n).map(|&o| &module[o].shape);
    let differ = |a: Option<&Shape>, b: Option<&Shape>| match (a, b) {
        (Some(a), Some(b)) => !agree(a, b),
        _ => false,
    };
    let own = Some(&instr.shape);
    let element = || {
        let elements = operand(0).and_then(Shape::as_tuple)?;
        match alias(module, id)? {
            Alias::Element(n) => elements.get(usize::try_from(n).ok()?),
            Alias::Tuple | Alias::Whole => None,
        }
    };
    let arguments = |c: ComputationId| {
        let parameters = module.parameters(c);
        instr.operands.iter().zip(parameters).any(|(&o, p)| !agree(&module[o].shape, &module[p].shape))
    };
    match &instr.op {
        Op::Tuple => match instr.shape.as_tuple() {
            Some(elements) => (0..elements.len()).any(|n| differ(operand(n), elements.get(n))),
            None => false,
        },
        Op::GetTupleElement(_) | Op::CopyDone | Op::AsyncDone(_) => differ(element(), own),
        Op::AllGatherDone | Op::CollectivePermuteDone => differ(element(), own),
        Op::OptBarrier | Op::AddDependency | Op::Domain(_) => differ(operand(0), own),
        Op::Copy if instr.shape.is_tuple() => differ(operand(0), own),
        Op::AsyncUpdate(_) | Op::AllReduceDone => differ(operand(0), own),
        Op::Call(c) => arguments(c.to_apply) || differ(Some(result(module, c.to_apply)), own),
        Op::Fusion(f) => arguments(f.calls) || differ(Some(result(module, f.calls)), own),
        Op::While(w) => {
            differ(operand(0), own)
                || differ(own, parameter(module, w.condition, 0))
                || differ(own, parameter(module, w.body, 0))
                || differ(Some(result(module, w.body)), own)
        }
        Op::Conditional(c) => c.branches().into_iter().enumerate().any(|(n, branch)| {
            differ(operand(n + 1), parameter(module, branch, 0)) || differ(Some(result(module, branch)), own)
        }),
        _ => false,
    }
}
