//! `all_to_all_decomposer`: replaces an all-to-all along a dimension with an all-to-all of slices.
//!
//! ```text
//! r = f32[8] all-to-all(x), dimensions={0}, …    →    a = f32[4] slice(x), slice={[0:4]}
//!                                                     b = f32[4] slice(x), slice={[4:8]}
//!                                                     t = (f32[4], f32[4]) all-to-all(a, b), …
//!                                                     r = f32[8] concatenate(t.0, t.1), dimensions={0}
//! ```
//!
//! The number of slices is the number of devices in a group. The groups must determine this number, which
//! must be at least two and divide the size of the dimension. The pass does not change an all-to-all with
//! control dependencies or `constrain_layout`.

use hlo_ir::attr::{AllToAllAttrs, DimensionAttrs, SliceDim};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Shape};
use hlo_passes::support::device_groups::{MAX_DEVICES, is_marked, participants};
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::{PassInfo, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all_to_all_decomposer",
    summary: "replace an all-to-all along a dimension by one that exchanges slices",
    example: "\
HloModule all_to_all_decomposer, replica_count=2

ENTRY e {
  x = f32[8] parameter(0)
  ROOT r = f32[8] all-to-all(x), replica_groups={{0,1}}, dimensions={0}
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let wanted = |op: &Op| matches!(op, Op::AllToAll(a) if !a.constrain_layout && a.dimensions.len() == 1);
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        (!pinned.contains(&id) && !is_marked(e.module, id)).then(|| decompose(e, id))?
    };
    Ok(expand_all(module, "decompose", wanted, expand, rewrites))
}

fn decompose(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let Op::AllToAll(attrs) = e.module[id].op.clone() else { return None };
    let operand = e.operand(0)?;
    let whole = e.array(operand).filter(|a| a.is_static())?;
    let d = usize::try_from(*attrs.dimensions.first()?).ok().filter(|&d| d < whole.rank())?;
    let parts = participants(e.module, &attrs.replica_groups, attrs.channel_id, false)?;
    let size = whole.dims[d];
    if parts < 2 || parts > size || size % parts != 0 || usize::try_from(parts).ok()? > MAX_DEVICES {
        return None;
    }
    let step = size / parts;
    let mut part = hlo_ir::ArrayShape::new(whole.element_type, whole.dims.iter().copied());
    part.dims[d] = step;
    let mut slices = Vec::new();
    for n in 0..parts {
        let ranges = whole.dims.iter().enumerate().map(|(k, &size)| {
            if k == d {
                SliceDim { start: n * step, limit: (n + 1) * step, stride: 1 }
            } else {
                SliceDim { start: 0, limit: size, stride: 1 }
            }
        });
        slices.push(e.add(part.clone(), Op::slice(ranges.collect()), &[operand]));
    }
    let shape = Shape::tuple(vec![Shape::Array(part); slices.len()]);
    let along = attrs.dimensions.clone();
    let attrs = AllToAllAttrs { dimensions: Default::default(), ..*attrs };
    let exchanged = e.add(shape, Op::AllToAll(Box::new(attrs)), &slices);
    let received = e.elements(exchanged)?;
    let flat = hlo_ir::ArrayShape::new(whole.element_type, whole.dims.iter().copied());
    let joined = e.add(flat, Op::Concatenate(DimensionAttrs { dimensions: along }), &received);
    let shape = e.shape();
    e.finish(joined, &shape)
}
