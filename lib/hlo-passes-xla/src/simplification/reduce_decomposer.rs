//! `reduce-decomposer`: makes reductions keep the memory order of the remaining dimensions. A copy then
//! changes the order if needed.
//!
//! ```text
//! r = f32[2,3]{0,1} reduce(x, v), dimensions={2}, …     x = f32[2,3,4]{2,1,0}
//! →
//! s = f32[2,3]{1,0} reduce(x, v), dimensions={2}, …
//! r = f32[2,3]{0,1} copy(s)
//! ```
//!
//! Arrays that are reduced together get the layout of the first one. A conversion of the result stays next to
//! the reduction, and the copy follows it. Layouts with tiles or element sizes stay unchanged.

use hlo_ir::{ArrayShape, InstrId, Layout, Op, Opcode, Shape};
use hlo_passes::PassInfo;
use hlo_passes::support::rewrite::{Cx, Pattern, same_layout};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reduce-decomposer",
    summary: "split reductions that change the layout into a reduction and a copy",
    example: "\
HloModule reduce_decomposer

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  x = f32[2,3,4]{2,1,0} parameter(0)
  v = f32[] parameter(1)
  r = f32[2,3]{0,1} reduce(x, v), dimensions={2}, to_apply=add
  ROOT n = f32[2,3]{0,1} negate(r)
}
",
    patterns: &[PATTERNS],
    ..PassInfo::PLAIN
};

static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "one-layout",
        "reduce(x, y) with different layouts → reduce(x, copy(y)), all with the layout of the first",
        &[Opcode::Reduce],
        one_layout,
    ),
    Pattern::new(
        "reduce-and-copy",
        "reduce with another layout than its operand → copy(reduce)",
        &[Opcode::Reduce],
        reduce_and_copy,
    ),
    Pattern::new(
        "convert-and-copy",
        "convert(reduce) with another layout than its operand → copy(convert(reduce))",
        &[Opcode::Convert],
        convert_and_copy,
    ),
];

/// Returns whether the layouts consist only of an order of dimensions.
fn is_plain(shape: &Shape) -> bool {
    shape.leaves().iter().all(|s| s.as_array().is_some_and(|a| a.layout_items().is_none()))
}

/// Returns whether all layouts of a reduction consist only of an order of dimensions.
fn all_plain(cx: &Cx<'_>, reduce: InstrId) -> bool {
    let operands = &cx.module[reduce].operands;
    is_plain(&cx.module[reduce].shape) && operands.iter().all(|&o| is_plain(&cx.module[o].shape))
}

fn one_layout(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let mut operands = cx.module[id].operands.to_vec();
    let arrays = operands.len() / 2;
    let order = cx.module[*operands.first()?].shape.as_array()?.minor_to_major();
    let mut changed = false;
    for operand in operands.iter_mut().take(arrays).skip(1) {
        let shape = cx.module[*operand].shape.as_array()?.clone();
        if shape.minor_to_major() != order {
            if !all_plain(cx, id) {
                return None;
            }
            let layout = Layout::new(order.iter().map(|&d| d as u32));
            *operand = cx.add(shape.with_layout(layout), Op::Copy, &[*operand]);
            changed = true;
        }
    }
    let op = cx.module[id].op.clone();
    changed.then(|| cx.add_same_shape(op, &operands))
}

/// Returns the shape of the result in the layout of the first operand without the reduced dimensions. Returns
/// `None` if the result already has this layout.
fn natural_shape(cx: &Cx<'_>, reduce: InstrId) -> Option<Shape> {
    let Op::Reduce(a) = &cx.module[reduce].op else { return None };
    let from = cx.module[*cx.module[reduce].operands.first()?].shape.as_array()?;
    // The new numbers of the kept dimensions, starting with the minor-most.
    let kept: Vec<usize> = (0..from.rank()).filter(|d| !a.dimensions.contains(&(*d as i64))).collect();
    let order = from.minor_to_major().into_iter();
    let order = order.filter_map(|d| kept.iter().position(|&k| k == d)).map(|d| d as u32);
    let layout = Layout::new(order);
    let natural = |s: &Shape| -> Option<Shape> {
        let bare = ArrayShape { layout: None, ..s.as_array()?.clone() };
        Some(bare.with_layout(layout.clone()).into())
    };
    let shape = &cx.module[reduce].shape;
    let to = match shape {
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(natural).collect::<Option<_>>()?),
        one => natural(one)?,
    };
    (!same_layout(&to, shape) && all_plain(cx, reduce)).then_some(to)
}

/// Returns the conversion of a reduction's result, if it is the only user.
fn only_conversion(cx: &Cx<'_>, reduce: InstrId) -> Option<InstrId> {
    let &[user] = cx.module.users(reduce) else { return None };
    (cx.opcode(user) == Opcode::Convert && cx.used_only_by(reduce, user)).then_some(user)
}

fn reduce_and_copy(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let natural = natural_shape(cx, id)?;
    // The conversion stays next to the reduction; `convert_and_copy` handles this case.
    if !natural.is_tuple() && only_conversion(cx, id).is_some() {
        return None;
    }
    let (op, operands) = (cx.module[id].op.clone(), cx.module[id].operands.to_vec());
    let reduced = cx.add(natural.clone(), op, &operands);
    let (Shape::Tuple(from), Shape::Tuple(to)) = (natural, cx.module[id].shape.clone()) else {
        return Some(cx.add_same_shape(Op::Copy, &[reduced]));
    };
    let mut copies = Vec::with_capacity(to.len());
    for (n, (from, to)) in from.iter().zip(&to).enumerate() {
        let element = Op::get_tuple_element(n as i64);
        let element = cx.add(from.clone(), element, &[reduced]);
        copies.push(cx.add(to.clone(), Op::Copy, &[element]));
    }
    Some(cx.add_same_shape(Op::Tuple, &copies))
}

fn convert_and_copy(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let reduce = cx.operand(id, 0)?;
    let Shape::Array(natural) = natural_shape(cx, reduce)? else { return None };
    if only_conversion(cx, reduce) != Some(id) {
        return None;
    }
    let to = cx.module[id].shape.as_array()?.element_type;
    let (op, operands) = (cx.module[reduce].op.clone(), cx.module[reduce].operands.to_vec());
    let reduced = cx.add(natural.clone(), op, &operands);
    cx.module.copy_provenance(reduce, reduced);
    let converted = cx.add(natural.with_element_type(to), Op::Convert, &[reduced]);
    Some(cx.add_same_shape(Op::Copy, &[converted]))
}
