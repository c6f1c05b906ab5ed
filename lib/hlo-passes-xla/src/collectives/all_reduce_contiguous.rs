//! `all-reduce-contiguous`: replaces an all-reduce of several arrays by one of their concatenated elements.
//!
//! ```text
//! r = (f32[4], f32[2,3]) all-reduce(x, y), …    →    all = f32[10] concatenate(x, reshape(y)), dimensions={0}
//!                                                    r = f32[10] all-reduce(all), …
//!                                                    … slices of r, reshaped, as a tuple
//! ```
//!
//! The arrays must be static and have the same element type. All-reduces with control dependencies or
//! `constrain_layout` stay unchanged.

use hlo_ir::attr::{DimensionAttrs, SliceDim};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, InstrId, Module, Op};
use hlo_passes::support::device_groups::is_marked;
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::{PassInfo, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all-reduce-contiguous",
    summary: "concatenate the operands of each all-reduce of several arrays",
    example: "\
HloModule all_reduce_contiguous

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[2,3] parameter(1)
  ROOT r = (f32[4], f32[2,3]) all-reduce(x, y), replica_groups={}, to_apply=add
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let wanted = |op: &Op| matches!(op, Op::AllReduce(a) if !a.constrain_layout);
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        (!pinned.contains(&id) && !is_marked(e.module, id)).then(|| flatten(e, id))?
    };
    Ok(expand_all(module, "flatten", wanted, expand, rewrites))
}

fn flatten(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let operands = e.module[id].operands.to_vec();
    let arrays: Vec<ArrayShape> = operands.iter().map(|&o| e.array(o)).collect::<Option<_>>()?;
    let ty = arrays.first()?.element_type;
    if arrays.len() < 2 || arrays.iter().any(|a| a.element_type != ty || !a.is_static()) {
        return None;
    }
    let sizes: Vec<i64> = arrays.iter().map(ArrayShape::checked_element_count).collect::<Option<_>>()?;
    let total = sizes.iter().try_fold(0i64, |sum, &n| sum.checked_add(n))?;
    let mut rows = Vec::with_capacity(operands.len());
    for (&o, &size) in operands.iter().zip(&sizes) {
        rows.push(e.add(ArrayShape::new(ty, [size]), Op::reshape(), &[o]));
    }
    let whole = ArrayShape::new(ty, [total]);
    let along = DimensionAttrs { dimensions: [0].into_iter().collect() };
    let all = e.add(whole.clone(), Op::Concatenate(along), &rows);
    let op = e.module[id].op.clone();
    let reduced = e.add(whole, op, &[all]);
    let mut at = 0;
    let mut results = Vec::with_capacity(sizes.len());
    for (array, &size) in arrays.iter().zip(&sizes) {
        let range = SliceDim { start: at, limit: at + size, stride: 1 };
        let row = e.add(ArrayShape::new(ty, [size]), Op::slice(vec![range]), &[reduced]);
        results.push(e.add(ArrayShape::new(ty, array.dims.iter().copied()), Op::reshape(), &[row]));
        at += size;
    }
    e.results(&results)
}
