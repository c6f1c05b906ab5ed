//! The pattern on the custom call `TopK`, which XLA's optimizer creates from sorts.

use crate::expansion::topk_decomposer;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, OrTrue, TopkAttrs};
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[Pattern::new(
    "custom-call-topk",
    "custom-call(x), TopK → topk(x), largest=true, if it has no comparator, or one that puts larger elements first",
    &[Opcode::CustomCall],
    custom_call_top_k,
)];

fn custom_call_top_k(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::CustomCall(call) = &cx.module[id].op else { return None };
    let &[x] = cx.module[id].operands.as_slice() else { return None };
    if !topk_decomposer::is_call(call) || call.to_apply.is_some() {
        return None;
    }
    let (array, result) = (cx.array(x)?, &cx.module[id].shape);
    let k = topk_decomposer::kept(result, &array)?;
    let plain = |a: &ArrayShape| a.is_static() && a.is_row_major();
    let all_plain = plain(&array) && result.leaves().into_iter().all(|s| s.as_array().is_some_and(plain));
    let counted = array.dims.last().is_some_and(|&line| i32::try_from(line).is_ok());
    let largest_first = match call.called_computations.as_slice() {
        [] => true,
        &[c] => compares_first(cx, c, array.element_type),
        _ => false,
    };
    if !all_plain || !counted || !largest_first {
        return None;
    }
    Some(cx.add_same_shape(Op::TopK(TopkAttrs { k, largest: OrTrue(true), is_stable: None }), &[x]))
}

/// Returns whether the comparator orders greater elements of the type first.
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
