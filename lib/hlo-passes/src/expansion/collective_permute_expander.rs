//! `collective_permute_expander`: converts each `collective-permute` of slices to slices and updates. If
//! there are several devices, it adds permutes of whole arrays between them.
//!
//! ```text
//! p = f32[8] collective-permute(x, y, (i), (o)),     →  s = f32[2] dynamic-slice(x, i)
//!     source_target_pairs={{0,0}}, slice_sizes={{2}}     p = f32[8] dynamic-update-slice(y, s, o)
//! ```
//!
//! If a device receives nothing, its output does not change. With several devices, each slice is therefore
//! sent with a `true`, which arrives as `false` if nothing is sent. A start becomes the tuple of its results,
//! and its done becomes an element of that tuple.

use crate::pass_info::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::attr::{CollectivePermuteAttrs, SliceSizes, SourceTargetPairs};
use hlo_ir::build::Build;
use hlo_ir::devices::pairs_of_slice;
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "collective_permute_expander",
    summary: "replace permutes of slices by slices, permutes of whole arrays, and updates",
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
    match e.module[id].op.clone() {
        Op::CollectivePermute(attrs) => {
            let value = permuted(e, id, &attrs)?;
            let shape = e.shape();
            e.finish(value, &shape)
        }
        Op::CollectivePermuteStart(attrs) => state(e, id, &attrs),
        // The operand is a start, unless it has been replaced already.
        Op::CollectivePermuteDone => {
            let start = *e.module[id].operands.first()?;
            let value = matches!(e.module[start].op, Op::Tuple).then(|| e.element(start, 1))??;
            let shape = e.shape();
            e.finish(value, &shape)
        }
        _ => None,
    }
}

/// Returns the replacement of a start: its input or all its operands, the result, and zeros for the contexts.
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

/// Returns the output with the slices inserted.
fn permuted(e: &mut Emitter<'_>, id: InstrId, attrs: &CollectivePermuteAttrs) -> Option<InstrId> {
    let &[input, output, from, to] = e.module[id].operands.as_slice() else { return None };
    let header = &e.module.header;
    let alone = header.replica_count.0 == 1 && header.num_partitions.0 == 1;
    let pairs = &attrs.source_target_pairs.0;
    if alone && pairs.iter().any(|pair| *pair != (0, 0)) {
        return None;
    }
    let mut value = output;
    let source = e.array(input)?;
    let (from, to) = (leaves(e, from)?, leaves(e, to)?);
    for (n, sizes) in attrs.slice_sizes.0.iter().enumerate() {
        let pairs = pairs_of_slice(pairs, n);
        if pairs.is_empty() {
            continue;
        }
        let starts = |all: &[InstrId]| all.get(n * sizes.len()..(n + 1) * sizes.len()).map(<[_]>::to_vec);
        let (from, to) = (starts(&from)?, starts(&to)?);
        let part = ArrayShape::new(source.element_type, sizes.iter().copied());
        let operands: Vec<InstrId> = std::iter::once(input).chain(from).collect();
        let slice = e.add(part.clone(), Op::dynamic_slice(part.dims.clone()), &operands);
        let (slice, came) =
            if alone { (slice, None) } else { sent(e, slice, &part, pairs, attrs.channel_id)? };
        let operands: Vec<InstrId> = [value, slice].into_iter().chain(to).collect();
        let array = e.array(value)?;
        let updated = e.add(array.clone(), Op::DynamicUpdateSlice, &operands);
        value = match came {
            None => updated,
            Some(came) => {
                let all = e.broadcast(came, &array.with_element_type(ElementType::Pred), &[]);
                e.add(array, Op::Select, &[all, updated, value])
            }
        };
    }
    Some(value)
}

/// Returns a slice as received from another device, and whether one was received.
fn sent(
    e: &mut Emitter<'_>,
    slice: InstrId,
    part: &ArrayShape,
    pairs: Vec<(i64, i64)>,
    channel: Option<i64>,
) -> Option<(InstrId, Option<InstrId>)> {
    let yes = e.scalar(ElementType::Pred, &[1])?;
    let channel_id = channel.map(|_| next_channel(e.module));
    let op = Op::CollectivePermute(Box::new(CollectivePermuteAttrs {
        channel_id,
        source_target_pairs: SourceTargetPairs(pairs),
        slice_sizes: SliceSizes::default(),
    }));
    let shape = Shape::tuple(vec![part.clone().into(), Shape::scalar(ElementType::Pred)]);
    let both = e.add(shape, op, &[slice, yes]);
    Some((e.element(both, 0)?, Some(e.element(both, 1)?)))
}

/// Returns an unused channel number.
fn next_channel(module: &Module) -> i64 {
    let instructions = module.computations().flat_map(|c| module[c].instructions());
    let channels = instructions.filter_map(|&i| module[i].op.effect().channel());
    channels.max().unwrap_or(0).saturating_add(1)
}

/// Returns the arrays in a value, in order.
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
