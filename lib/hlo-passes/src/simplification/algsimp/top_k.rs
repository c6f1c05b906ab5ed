//! The pattern on the custom call `TopK`, which XLA's optimiser makes of sorts.

use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, OrTrue, TopkAttrs};
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[Pattern::new(
    "custom-call-topk",
    "custom-call(x), TopK → topk(x), largest=true, if its comparator, if any, puts larger elements first",
    &[Opcode::CustomCall],
    custom_call_top_k,
)];

fn custom_call_top_k(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::CustomCall(call) = &cx.module[id].op else { return None };
    if call.custom_call_target != "TopK" || call.custom_call_has_side_effect || call.to_apply.is_some() {
        return None;
    }
    let &[x] = cx.module[id].operands.as_slice() else { return None };
    let array = cx.array(x)?;
    let (k, line) = kept(cx, id, &array)?;
    let is_whole = i32::try_from(line).is_ok() && (0..=line).contains(&k);
    let largest_first = match call.called_computations.as_slice() {
        [] => true,
        &[c] => compares_first(cx, c, array.element_type),
        _ => false,
    };
    if !is_whole || !largest_first {
        return None;
    }
    Some(cx.instead(Op::TopK(TopkAttrs { k, largest: OrTrue(true), is_stable: None }), &[x]))
}

/// Returns how many elements of each line of `x` the call gives, and how long the lines are, if it gives the elements and their
/// positions, and all arrays are static and row-major.
fn kept(cx: &Cx<'_>, id: InstrId, x: &ArrayShape) -> Option<(i64, i64)> {
    let [elements, positions] = cx.module[id].shape.as_tuple()? else { return None };
    let (elements, positions) = (elements.as_array()?, positions.as_array()?);
    let ((&k, lines), (&line, batch)) = (elements.dims.split_last()?, x.dims.split_last()?);
    let plain = [x, elements, positions].iter().all(|a| a.is_static() && a.is_row_major());
    let fits = lines == batch
        && elements.element_type == x.element_type
        && positions.element_type == ElementType::S32
        && positions.dims == elements.dims;
    (plain && fits).then_some((k, line))
}

/// Returns whether a comparator of elements of a type puts the first of its parameters first if it is the greater one.
fn compares_first(cx: &Cx<'_>, comparator: ComputationId, ty: ElementType) -> bool {
    let module = &*cx.module;
    let root = module[comparator].root();
    let Op::Compare(CompareAttrs { direction: ComparisonDirection::Gt, comparison_type, .. }) =
        module[root].op
    else {
        return false;
    };
    let parameters = module.parameters(comparator);
    let in_order = match comparison_type {
        ComparisonType::TotalOrder => ty.is_float(),
        ComparisonType::Default => ty.is_integer(),
        _ => false,
    };
    in_order && parameters.len() >= 2 && module[root].operands[..] == parameters[..2]
}
