//! `collective-permute-cse`: merges collective-permutes of the same value between the same devices. A permute
//! of a slice becomes a slice of the permute of the whole value.
//!
//! ```text
//! a = f32[8] collective-permute(x), source_target_pairs=p          a = f32[8] collective-permute(x), …
//! s = f32[4] slice(x), slice={[0:4]}                          →    b = f32[4] slice(a), slice={[0:4]}
//! b = f32[4] collective-permute(s), source_target_pairs=p
//! ```
//!
//! Channel ids may differ. Permutes with control dependencies, shardings or a `backend_config`, and in-place
//! permutes stay unchanged.

use hlo_ir::attr::SliceDim;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::device_groups::is_marked;
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::places::Places;
use hlo_passes::support::rewrite::same_layout;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::HashMap;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "collective-permute-cse",
    summary: "merge collective-permutes of a value and of its slices",
    example: "\
HloModule collective_permute_cse, replica_count=2

ENTRY e {
  x = f32[8] parameter(0)
  a = f32[8] collective-permute(x), source_target_pairs={{0,1},{1,0}}
  s = f32[4] slice(x), slice={[0:4]}
  b = f32[4] collective-permute(s), source_target_pairs={{0,1},{1,0}}
  ROOT t = (f32[8], f32[4]) tuple(a, b)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// Maximum number of parts of a value that are compared with each other.
const MAX_PARTS: usize = 64;

/// The value that is sent, or of which a slice is sent, and the pairs of devices.
type Key = (InstrId, Vec<(i64, i64)>);

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let mut gone = Vec::new();
    for c in module.computations().collect::<Vec<_>>() {
        let mut known: HashMap<Key, Vec<InstrId>> = HashMap::new();
        let mut places = Places::default();
        let mut replaced = Vec::new();
        for id in module.post_order(c) {
            let Some(key) = key(module, id).filter(|_| !pinned.contains(&id) && !is_marked(module, id))
            else {
                continue;
            };
            let list = known.entry(key).or_default();
            let mut n = 0;
            let mut merged = false;
            while n < list.len() && rewrites.allowed() {
                let other = list[n];
                let (large, small) = match (contains(module, other, id), contains(module, id, other)) {
                    (Some(ranges), _) => ((other, ranges), id),
                    (None, Some(ranges)) => ((id, ranges), other),
                    (None, None) => {
                        n += 1;
                        continue;
                    }
                };
                rewrites.made("merge", &module[small].name);
                let (large, ranges) = large;
                let value = places.at(module, small, |module| part(module, large, small, ranges));
                module.replace_all_uses_with(small, value);
                replaced.push(small);
                merged = small == id;
                if merged {
                    break;
                }
                list.swap_remove(n);
            }
            if !merged && list.len() < MAX_PARTS {
                list.push(id);
            }
        }
        places.arrange(module, c);
        gone.extend(replaced);
    }
    module.remove_all(&gone);
    Ok(!gone.is_empty())
}

/// Returns the key of a `collective-permute` that sends one static array.
fn key(module: &Module, id: InstrId) -> Option<Key> {
    let Op::CollectivePermute(attrs) = &module[id].op else { return None };
    let &[operand] = &module[id].operands[..] else { return None };
    if !attrs.slice_sizes.0.is_empty() || !module[operand].shape.as_array()?.is_static() {
        return None;
    }
    let mut pairs = attrs.source_target_pairs.0.clone();
    pairs.sort_unstable();
    Some((slice(module, operand).map_or(operand, |(whole, _)| whole), pairs))
}

/// Returns the operand and the ranges of a slice.
fn slice(module: &Module, id: InstrId) -> Option<(InstrId, &[SliceDim])> {
    let Op::Slice(a) = &module[id].op else { return None };
    Some((*module[id].operands.first()?, &a.slice))
}

/// Returns the ranges of `small` within `large` if `large` contains it, or `Some(None)` if both are equal.
/// Both send parts of the same value.
fn contains(module: &Module, large: InstrId, small: InstrId) -> Option<Option<Vec<SliceDim>>> {
    let operand = |id: InstrId| module[id].operands.first().copied();
    let (whole, of) = (operand(large)?, operand(small)?);
    if whole == of {
        let same = same_layout(&module[large].shape, &module[small].shape);
        return same.then_some(None);
    }
    let part = slice(module, of);
    match (slice(module, whole), part) {
        (_, Some((value, ranges))) if value == whole => Some(Some(ranges.to_vec())),
        (Some((_, outer)), Some((_, inner))) if outer.len() == inner.len() => {
            let sizes = &module[large].shape.as_array()?.dims;
            let counts = &module[small].shape.as_array()?.dims;
            let ranges = outer.iter().zip(inner).zip(sizes.iter().zip(counts));
            ranges
                .map(|((outer, inner), (&size, &count))| inside(outer, inner, size, count))
                .collect::<Option<_>>()
                .map(Some)
        }
        _ => None,
    }
}

/// Returns the position of `count` elements of `inner` among the `size` elements of `outer`.
fn inside(outer: &SliceDim, inner: &SliceDim, size: i64, count: i64) -> Option<SliceDim> {
    let ahead = inner.start.checked_sub(outer.start)?;
    if outer.stride != inner.stride || outer.stride < 1 || ahead < 0 || ahead % outer.stride != 0 {
        return None;
    }
    let start = ahead / outer.stride;
    let limit = start.checked_add(count)?;
    (limit <= size).then_some(SliceDim { start, limit, stride: 1 })
}

/// Adds the slice of `large` that equals `small`.
fn part(module: &mut Module, large: InstrId, small: InstrId, ranges: Option<Vec<SliceDim>>) -> InstrId {
    let Some(ranges) = ranges else { return large };
    let (parent, shape) = (module[small].parent, module[small].shape.clone());
    let name = module.unique_name("slice");
    let value = module.add(parent, &name, shape, Op::slice(ranges), [large]);
    module.copy_provenance(small, value);
    value
}
