//! `topk-decomposer`: converts `topk` to a sort and slices of the first elements.
//!
//! ```text
//! topk(x), k=2  →  s = sort(x, iota), is_stable=true, by the total order of x
//!                  (s.0[0:2], s.1[0:2])
//! ```
//!
//! The custom call `TopK` is converted in the same way. If it has a comparator, the sort uses that
//! comparator.

use crate::pass_info::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType, CustomCallAttrs, SortAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "topk-decomposer",
    summary: "replace topk by a sort and slices",
    example: "\
HloModule topk_decomposer

ENTRY e {
  x = f32[3,8] parameter(0)
  ROOT t = (f32[3,2], s32[3,2]) topk(x), k=2, largest=true
}
",
    build: |_, _| expansion_pass("topk", is_top_k, expand),
    ..PassInfo::PLAIN
};

fn is_top_k(op: &Op) -> bool {
    match op {
        Op::TopK(_) => true,
        Op::CustomCall(a) => is_call(a),
        _ => false,
    }
}

/// Checks for the custom call that returns the largest elements of each line.
pub(crate) fn is_call(call: &CustomCallAttrs) -> bool {
    call.custom_call_target == "TopK" && !call.custom_call_has_side_effect
}

/// The element type of positions.
const POSITION_TYPE: ElementType = ElementType::S32;

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let &[x] = e.module[id].operands.as_slice() else { return None };
    let shape = e.array(x)?;
    let along = shape.rank().checked_sub(1)?;
    let length = *shape.dims.get(along)?;
    let kept = kept(&e.shape(), &shape)?;
    if !e.is_static(id) || i32::try_from(length).is_err() {
        return None;
    }
    let to_apply = match e.module[id].op.clone() {
        Op::TopK(a) => comparator(e, shape.element_type, a.largest.0)?,
        op => match op.called_computations()[..] {
            [] => comparator(e, shape.element_type, true)?,
            [c] if compares(e, c, shape.element_type) => c,
            _ => return None,
        },
    };
    let positions = e.iota(POSITION_TYPE, &shape.dims, along);
    let operands = [x, positions];
    let sorted = Shape::Tuple(operands.iter().map(|&o| e.module[o].shape.without_layout()).collect());
    let attrs = SortAttrs { dimensions: [along as i64].into_iter().collect(), is_stable: true, to_apply };
    let sorted = e.add(sorted, Op::Sort(attrs), &operands);
    let mut results = Vec::new();
    for part in e.elements(sorted)? {
        results.push(e.sliced(part, along, 0, kept)?);
    }
    e.results(&results)
}

/// Returns the number of elements that the result contains for each line of `x`. The result must be a tuple
/// of elements and positions. The declared shape of a custom call may be any other.
pub(crate) fn kept(result: &Shape, x: &ArrayShape) -> Option<i64> {
    let [elements, positions] = result.as_tuple()? else { return None };
    let (elements, positions) = (elements.as_array()?, positions.as_array()?);
    let (&kept, lines) = elements.dims.split_last()?;
    let fits = lines == x.dims.split_last()?.1
        && x.dims.last().is_some_and(|&length| kept <= length)
        && elements.element_type == x.element_type
        && positions.element_type == POSITION_TYPE
        && positions.dims == elements.dims;
    fits.then_some(kept)
}

/// Checks whether a computation compares two elements and their positions.
fn compares(e: &Emitter<'_>, c: ComputationId, ty: ElementType) -> bool {
    let parameters = e.module.parameters(c);
    let shapes = parameters.iter().map(|&p| e.module[p].shape.without_layout());
    shapes.eq([ty, ty, POSITION_TYPE, POSITION_TYPE].map(Shape::scalar))
        && e.module[e.module[c].root()].shape.without_layout() == Shape::scalar(ElementType::Pred)
}

/// Returns a comparator that places larger or smaller elements first.
fn comparator(e: &mut Emitter<'_>, ty: ElementType, largest: bool) -> Option<ComputationId> {
    let direction = if largest { ComparisonDirection::Gt } else { ComparisonDirection::Lt };
    let comparison_type = if ty.is_float() { ComparisonType::TotalOrder } else { ComparisonType::Default };
    e.computation("topk_compare", |e| {
        let elements = [0, 1].map(|n| e.parameter(n, Shape::scalar(ty)));
        for n in [2, 3] {
            e.parameter(n, Shape::scalar(POSITION_TYPE));
        }
        let compare = Op::Compare(CompareAttrs { direction, comparison_type });
        Some(e.add(Shape::scalar(ElementType::Pred), compare, &elements))
    })
}
