//! `simplify-sorts`: removes operands of sorts that are neither used nor compared.
//!
//! ```text
//! s = (f32[8], s32[8]) sort(x, i), …       s = f32[8] sort(x), …
//! ROOT r = f32[8] get-tuple-element(s), index=0   →   ROOT s
//! ```
//!
//! An operand is removed if its result is unused and the comparator does not read it.

use crate::pass_info::PassInfo;
use crate::simplification::tuple_simplifier;
use crate::support::clone::inline_computation;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::{ComputationId, InstrId, Op, Opcode, Shape};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "simplify-sorts",
    summary: "remove unused operands of sorts",
    example: "\
HloModule simplify_sorts

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT l = pred[] compare(a, b), direction=LT
}

ENTRY e {
  x = f32[8] parameter(0)
  i = s32[8] parameter(1)
  s = (f32[8], s32[8]) sort(x, i), dimensions={0}, to_apply=less
  ROOT r = f32[8] get-tuple-element(s), index=0
}
",
    patterns: &[PATTERNS, tuple_simplifier::ELEMENT_OF_TUPLE],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[Pattern::new(
    "unused-operand",
    "sort(x, y), if y is neither used nor compared → sort(x)",
    &[Opcode::Sort],
    remove_unused,
)];

fn remove_unused(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Sort(attrs) = cx.module[id].op.clone() else { return None };
    let operands = cx.module[id].operands.to_vec();
    let is_root = cx.module.is_root(id);
    if is_root || operands.len() < 2 || !cx.module[id].shape.is_tuple() {
        return None;
    }
    let mut used = vec![false; operands.len()];
    for &user in cx.module.users(id) {
        let Op::GetTupleElement(a) = &cx.module[user].op else { return None };
        *used.get_mut(usize::try_from(a.index).ok()?)? = true;
    }
    let parameters = cx.module.parameters(attrs.to_apply);
    let root = cx.module[attrs.to_apply].root();
    for (n, &p) in parameters.iter().enumerate() {
        if p == root || !cx.module.users(p).is_empty() {
            *used.get_mut(n / 2)? = true;
        }
    }
    let kept: Vec<usize> = (0..operands.len()).filter(|&n| used[n]).collect();
    if kept.len() == operands.len() || kept.is_empty() || parameters.len() != 2 * operands.len() {
        return None;
    }
    let to_apply = comparator(cx, attrs.to_apply, &parameters, &kept)?;
    let sorted: Vec<InstrId> = kept.iter().map(|&n| operands[n]).collect();
    let op = Op::Sort(hlo_ir::attr::SortAttrs { to_apply, ..attrs });
    let shapes: Vec<Shape> = sorted.iter().map(|&o| cx.module[o].shape.clone()).collect();
    let mut results = operands.clone();
    if let (&[n], [shape]) = (kept.as_slice(), shapes.as_slice()) {
        *results.get_mut(n)? = cx.add(shape.clone(), op, &sorted);
    } else {
        let sort = cx.add(Shape::tuple(shapes.clone()), op, &sorted);
        for (at, (&n, shape)) in kept.iter().zip(shapes).enumerate() {
            let element = Op::get_tuple_element(at as i64);
            *results.get_mut(n)? = cx.add(shape, element, &[sort]);
        }
    }
    // The results of removed operands are unused, so the operands can stand in for them.
    Some(cx.add_same_shape(Op::Tuple, &results))
}

/// Returns the comparator for the remaining operands.
fn comparator(
    cx: &mut Cx<'_>,
    from: ComputationId,
    parameters: &[InstrId],
    kept: &[usize],
) -> Option<ComputationId> {
    let (module, namer) = cx.naming();
    let name = namer.fresh(&module[from].name);
    let to = module.add_computation(&name);
    let mut arguments: Vec<Option<InstrId>> = vec![None; parameters.len()];
    for (n, &k) in kept.iter().flat_map(|k| [2 * k, 2 * k + 1]).collect::<Vec<_>>().iter().enumerate() {
        let old = *parameters.get(k)?;
        let (shape, base) = (module[old].shape.clone(), module[old].name.clone());
        let name = module.unique_name(&base);
        let parameter = Op::parameter(n as i64);
        *arguments.get_mut(k)? = Some(module.add(to, &name, shape, parameter, []));
    }
    // Parameters of removed operands have no users, so any argument can replace them.
    let any = arguments.iter().flatten().next().copied()?;
    let arguments: Vec<InstrId> = arguments.into_iter().map(|a| a.unwrap_or(any)).collect();
    let root = inline_computation(module, namer, from, to, &arguments)?;
    module.set_root(to, root);
    Some(to)
}
