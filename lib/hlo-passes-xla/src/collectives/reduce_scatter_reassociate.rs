//! `reduce-scatter-reassociate`: replaces two reduce-scatters whose results are combined by their own
//! operation with one.
//!
//! ```text
//! a = f32[4] reduce-scatter(x), …
//! b = f32[4] reduce-scatter(y), …    →    s = f32[8] add(x, y)
//! ROOT r = f32[4] add(a, b)               ROOT r = f32[4] reduce-scatter(s), …
//! ```
//!
//! The reduce-scatters must have the same devices and dimension, and no other users. Reduce-scatters with
//! control dependencies, shardings or a `backend_config` stay unchanged.

use hlo_ir::attr::ReduceScatterAttrs;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::device_groups::{is_marked, reduction, rewrite_each};
use hlo_passes::support::rewrite::same_layout;
use hlo_passes::{PassInfo, Preservation, Rewrites};
use std::collections::HashSet;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reduce-scatter-reassociate",
    summary: "combine the operands of reduce-scatters instead of their results",
    // The same values are added in another order.
    keeps: Preservation::Values,
    example: "\
HloModule reduce_scatter_reassociate, replica_count=2

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  a = f32[4] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add
  b = f32[4] reduce-scatter(y), replica_groups={{0,1}}, dimensions={0}, to_apply=add
  ROOT r = f32[4] add(a, b)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    // In sums of sums, the inner ones come first.
    Ok(rewrite_each(module, rewrites, |module, id, pinned, rewrites| {
        let Some([a, b]) = reassociable(module, id, pinned) else { return Vec::new() };
        rewrites.made("reassociate", &module[id].name);
        let (x, y) = (module[a].operands[0], module[b].operands[0]);
        let (parent, base) = (module[id].parent, module[id].name.clone());
        let (shape, op) = (module[x].shape.clone(), module[id].op.clone());
        let sum = module.add_like(id, shape, op, [x, y]);
        let name = module.unique_name(&base);
        let (shape, op) = (module[id].shape.clone(), module[a].op.clone());
        let scattered = module.add(parent, &name, shape, op, [sum]);
        module.copy_provenance(a, scattered);
        module.replace_all_uses_with(id, scattered);
        vec![id, a, b]
    }))
}

/// Returns the two reduce-scatters whose results are combined.
fn reassociable(module: &Module, id: InstrId, pinned: &HashSet<InstrId>) -> Option<[InstrId; 2]> {
    let &[a, b] = &module[id].operands[..] else { return None };
    let (Op::ReduceScatter(x), Op::ReduceScatter(y)) = (&module[a].op, &module[b].op) else { return None };
    let plain =
        |i: InstrId| !pinned.contains(&i) && !is_marked(module, i) && module[i].shape.as_array().is_some();
    let one = |i: InstrId| module[i].operands.len() == 1 && module.users(i) == [id];
    let operands = (*module[a].operands.first()?, *module[b].operands.first()?);
    let (first, second) = (&module[operands.0].shape, &module[operands.1].shape);
    let shapes = first.compatible(second) && same_layout(first, second);
    let operation = reduction(module, x.to_apply)?;
    let agree = operation == module[id].opcode() && reduction(module, y.to_apply) == Some(operation);
    let rest = |attrs: &ReduceScatterAttrs| ReduceScatterAttrs {
        channel_id: attrs.channel_id.map(|_| 0),
        to_apply: x.to_apply,
        ..attrs.clone()
    };
    let root = module[module[id].parent].root();
    let fits = a != b && a != root && b != root && shapes && agree && rest(x) == rest(y);
    (fits && one(a) && one(b) && [id, a, b].into_iter().all(plain)).then_some([a, b])
}
