//! The aggregations of contractions, as operations.

use super::form::Form;
use super::labeled::{Label, Labeled};
use crate::support::combiner::identity;
use crate::support::expander::Emitter;
use hlo_ir::build::Build;
use hlo_ir::contraction::Aggregation;
use hlo_ir::{ElementType, InstrId, Op, Opcode};

/// Returns the operation that performs an aggregation, or `None` for `=`.
pub(super) fn aggregate(aggregation: Aggregation, ty: ElementType) -> Option<Op> {
    Some(match aggregation {
        Aggregation::Sum if ty.is_pred() => Op::Or,
        Aggregation::Sum => Op::Add,
        Aggregation::Product if ty.is_pred() => Op::And,
        Aggregation::Product => Op::Multiply,
        Aggregation::Max => Op::Maximum,
        Aggregation::Min => Op::Minimum,
        Aggregation::Assign => return None,
    })
}

/// Returns the initial value of an aggregation.
pub(super) fn initial(e: &mut Emitter<'_>, aggregation: Aggregation, ty: ElementType) -> Option<InstrId> {
    let opcode = match aggregate(aggregation, ty)? {
        // Sums start with +0, not -0.
        Op::Add | Op::Or => return e.zero(ty),
        Op::Multiply => Opcode::Multiply,
        Op::And => Opcode::And,
        Op::Maximum => Opcode::Maximum,
        _ => Opcode::Minimum,
    };
    e.scalar(ty, &identity(opcode, ty)?)
}

/// Aggregates an array over some of its indices.
pub(super) fn aggregated(
    e: &mut Emitter<'_>,
    form: &Form,
    array: &Labeled,
    over: &[usize],
) -> Option<Labeled> {
    if over.is_empty() {
        return Some(array.clone());
    }
    let ty = e.array(array.value)?.element_type;
    let Some(op) = aggregate(form.aggregation, ty) else {
        // For `=`, there is only one element.
        let gone = |label: &Label| matches!(label, Label::Index(i) if over.contains(i));
        let dims = e.array(array.value)?.dims;
        let kept = || array.labels.iter().zip(&dims).filter(|(label, _)| !gone(label));
        let single = over.iter().all(|&i| form.count(i) == 1);
        let sizes: Vec<i64> = kept().map(|(_, &size)| size).collect();
        let value = single.then(|| e.reshaped(array.value, &sizes)).flatten()?;
        return Some(Labeled { value, labels: kept().map(|(label, _)| *label).collect() });
    };
    let init = initial(e, form.aggregation, ty)?;
    array.reduced(e, over, &op, init)
}
