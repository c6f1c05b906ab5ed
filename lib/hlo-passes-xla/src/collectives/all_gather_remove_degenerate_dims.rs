//! `all-gather-remove-degenerate-dims`: removes dimensions of size 1 from the arrays of an all-gather.
//!
//! ```text
//! g = f32[1,8,1] all-gather(x), dimensions={1}, …    →    h = f32[8] all-gather(reshape(x)), dimensions={0}, …
//!                                                         g = f32[1,8,1] reshape(h)
//! ```
//!
//! The concatenated dimension stays. If there are several arrays, a dimension before it is removed only if it
//! has size 1 in all results. Dimensions after it are removed from each array separately.
//!
//! All-gathers with `constrain_layout`, control dependencies, shardings or a `backend_config`, and
//! all-gathers of arrays in layouts with tiles stay unchanged.

use hlo_ir::attr::AllGatherAttrs;
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, InstrId, Layout, Module, Op, Shape};
use hlo_passes::support::device_groups::is_marked;
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::{PassInfo, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all-gather-remove-degenerate-dims",
    summary: "remove dimensions of size 1 from all-gathers",
    example: "\
HloModule all_gather_remove_degenerate_dims, replica_count=2

ENTRY e {
  x = f32[1,4,1] parameter(0)
  ROOT g = f32[1,8,1] all-gather(x), replica_groups={}, dimensions={1}
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        (!pinned.contains(&id) && !is_marked(e.module, id)).then(|| without_ones(e, id))?
    };
    Ok(expand_all(module, "drop", |op| matches!(op, Op::AllGather(_)), expand, rewrites))
}

fn without_ones(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::AllGather(attrs) = e.module[id].op.clone() else { return None };
    if attrs.constrain_layout {
        return None;
    }
    let along = usize::try_from(*attrs.dimensions.first()?).ok()?;
    let operands = e.module[id].operands.to_vec();
    let from: Vec<ArrayShape> = operands.iter().map(|&o| e.array(o)).collect::<Option<_>>()?;
    let shape = e.shape();
    let to: Vec<ArrayShape> =
        shape.leaves().into_iter().map(|s| s.as_array().cloned()).collect::<Option<_>>()?;
    if from.len() != to.len() || !from.iter().chain(&to).all(|a| a.is_static() && a.layout_items().is_none())
    {
        return None;
    }
    let one = |a: &ArrayShape, d: usize| a.dims.get(d) == Some(&1);
    let before: Vec<usize> = (0..along).filter(|&d| to.iter().all(|a| one(a, d))).collect();
    let (mut parts, mut shapes) = (Vec::new(), Vec::new());
    for ((&operand, from), to) in operands.iter().zip(&from).zip(&to) {
        let after = (along + 1..from.rank()).filter(|&d| one(from, d));
        let gone: Vec<usize> = before.iter().copied().chain(after).collect();
        parts.push(if gone.is_empty() {
            operand
        } else {
            e.add(without(from, &gone), Op::reshape(), &[operand])
        });
        shapes.push(Shape::Array(without(to, &gone)));
    }
    if parts == operands {
        return None;
    }
    let dimensions = [(along - before.len()) as i64].into_iter().collect();
    let op = Op::AllGather(Box::new(AllGatherAttrs { dimensions, ..*attrs }));
    if !shape.is_tuple() {
        let gathered = e.add(shapes.pop()?, op, &parts);
        return Some(e.add(shape, Op::reshape(), &[gathered]));
    }
    let gathered = e.add(Shape::tuple(shapes), op, &parts);
    let mut results = Vec::new();
    for (part, to) in e.elements(gathered)?.into_iter().zip(to) {
        results.push(e.add(to, Op::reshape(), &[part]));
    }
    Some(e.tuple(&results))
}

/// Returns the shape without some dimensions. The other dimensions keep their order in memory.
fn without(shape: &ArrayShape, gone: &[usize]) -> ArrayShape {
    let kept: Vec<usize> = (0..shape.rank()).filter(|d| !gone.contains(d)).collect();
    let new = ArrayShape::new(shape.element_type, kept.iter().map(|&d| shape.dims[d]));
    let order = shape.minor_to_major().into_iter();
    let order = order.filter_map(|d| kept.iter().position(|&k| k == d)).map(|d| d as u32);
    if shape.layout.is_some() { new.with_layout(Layout::new(order)) } else { new }
}
