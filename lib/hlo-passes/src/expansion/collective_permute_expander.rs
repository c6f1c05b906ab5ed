//! `collective_permute_expander`: turns each `collective-permute` of slices into slices and updates, on the one device.
//!
//! ```text
//! p = f32[8] collective-permute(x, y, (i), (o)),     →  s = f32[2] dynamic-slice(x, i)
//!     source_target_pairs={{0,0}}, slice_sizes={{2}}     p = f32[8] dynamic-update-slice(y, s, o)
//! ```
//!
//! Where nothing is sent to the device, its output stays as it is. A start becomes the tuple of what it gives, its done
//! form an element of that.

use crate::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::CollectivePermuteAttrs;
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, InstrId, Op, Shape};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "collective_permute_expander",
    summary: "turn permutes of slices into slices and updates, on the one device",
    example: "\
HloModule collective_permute_expander

ENTRY e {
  from = f32[8] parameter(0)
  to = f32[8] parameter(1)
  a = s32[] parameter(2)
  b = s32[] parameter(3)
  a_t = (s32[]) tuple(a)
  b_t = (s32[]) tuple(b)
  ROOT p = f32[8] collective-permute(from, to, a_t, b_t), source_target_pairs={{0,0}}, slice_sizes={{4}}
}
",
    build: |_, _| expansion_pass("collective-permute", is_permute, expand),
    ..PassInfo::PLAIN
};

fn is_permute(op: &Op) -> bool {
    match op {
        Op::CollectivePermute(a) | Op::CollectivePermuteStart(a) => !a.slice_sizes.0.is_empty(),
        Op::CollectivePermuteDone => true,
        _ => false,
    }
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let header = &e.module.header;
    if header.replica_count.0 > 1 || header.num_partitions.0 > 1 {
        return None;
    }
    match e.module[id].op.clone() {
        Op::CollectivePermute(attrs) => {
            let value = permuted(e, id, &attrs)?;
            let shape = e.shape();
            e.finish(value, &shape)
        }
        Op::CollectivePermuteStart(attrs) => state(e, id, &attrs),
        // Its operand is a start, unless that has been replaced.
        Op::CollectivePermuteDone => {
            let start = *e.module[id].operands.first()?;
            let value = matches!(e.module[start].op, Op::Tuple).then(|| e.element(start, 1))??;
            let shape = e.shape();
            e.finish(value, &shape)
        }
        _ => None,
    }
}

/// What a start gives: its input, or all of its operands; the result; zeros for the contexts.
fn state(e: &mut Emitter<'_>, id: InstrId, attrs: &CollectivePermuteAttrs) -> Option<InstrId> {
    let shape = e.shape();
    let (given, rest) = shape.as_tuple()?.split_first()?;
    let (made, contexts) = rest.split_first()?;
    let operands = e.module[id].operands.to_vec();
    let given = match given {
        Shape::Tuple(_) => e.add(given.clone(), Op::Tuple, &operands),
        _ => e.finish(*operands.first()?, given)?,
    };
    let value = permuted(e, id, attrs)?;
    let mut parts = vec![given, e.finish(value, made)?];
    for context in contexts {
        let array = context.as_array().filter(|a| a.is_static())?;
        let zero = e.zero(array.element_type)?;
        parts.push(e.broadcast(zero, array, &[]));
    }
    Some(e.add(shape, Op::Tuple, &parts))
}

/// The output with the slices in it.
fn permuted(e: &mut Emitter<'_>, id: InstrId, attrs: &CollectivePermuteAttrs) -> Option<InstrId> {
    let &[input, output, from, to] = e.module[id].operands.as_slice() else { return None };
    let mut value = output;
    if attrs.source_target_pairs.0.iter().any(|pair| *pair != (0, 0)) {
        return None;
    }
    if attrs.source_target_pairs.0.contains(&(0, 0)) {
        let source = e.array(input)?;
        let (from, to) = (leaves(e, from)?, leaves(e, to)?);
        for (n, sizes) in attrs.slice_sizes.0.iter().enumerate() {
            let starts = |all: &[InstrId]| all.get(n * sizes.len()..(n + 1) * sizes.len()).map(<[_]>::to_vec);
            let (from, to) = (starts(&from)?, starts(&to)?);
            let part = ArrayShape::new(source.element_type, sizes.iter().copied());
            let slice = Op::dynamic_slice(part.dims.clone());
            let operands: Vec<InstrId> = std::iter::once(input).chain(from).collect();
            let slice = e.add(part, slice, &operands);
            let operands: Vec<InstrId> = [value, slice].into_iter().chain(to).collect();
            value = e.same(Op::DynamicUpdateSlice, &operands);
        }
    }
    Some(value)
}

/// The arrays in a value, in order.
fn leaves(e: &mut Emitter<'_>, value: InstrId) -> Option<Vec<InstrId>> {
    if !e.module[value].shape.is_tuple() {
        return Some(vec![value]);
    }
    let mut out = Vec::new();
    for element in e.elements(value)? {
        out.extend(leaves(e, element)?);
    }
    Some(out)
}
