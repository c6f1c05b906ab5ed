//! `dot-merger`: products that share an operand become one.
//!
//! ```text
//! a = f32[4,5] dot(x, y), …                c = f32[8,8] concatenate(y, z), dimensions={1}
//! b = f32[4,3] dot(x, z), …           →    d = f32[4,8] dot(x, c), …
//!                                          a = f32[4,5] slice(d), b = f32[4,3] slice(d)
//! ```
//!
//! Both have the same dimension numbers and one free dimension on the side that differs, along which it is concatenated.
//! Neither may need the other's result. Results of more than a limit stay: large products gain nothing.

use crate::support::effects::control_dependent;
use crate::support::rewrite::slice_op;
use crate::{OptionInfo, OptionValue, PassInfo, Rewrites};
use hlo_ir::attr::{DimensionAttrs, DotAttrs, SliceDim};
use hlo_ir::{ArrayShape, InstrId, Module, Op};
use std::collections::HashSet;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "dot-merger",
    summary: "make one dot of those that share an operand",
    options: &[OptionInfo {
        name: "max-bytes",
        summary: "the largest sum of sizes of operands and result of a dot that is merged",
        default: OptionValue::Count(32 << 20),
    }],
    example: "\
HloModule dot_merger

ENTRY e {
  x = f32[4,8] parameter(0)
  y = f32[8,5] parameter(1)
  z = f32[8,3] parameter(2)
  a = f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[4,3] dot(x, z), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,5], f32[4,3]) tuple(a, b)
}
",
    build: |_, options| {
        let max_bytes = options.count("max-bytes");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, max_bytes, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// The most instructions that are looked at to see that one dot does not need another.
const MAX_VISITS: usize = 1000;

fn run(module: &mut Module, max_bytes: u64, rewrites: &mut Rewrites) -> bool {
    let pinned = control_dependent(module);
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        // New dots are shared operands' users as well: the list grows.
        let mut dots: Vec<InstrId> =
            module.post_order(c).into_iter().filter(|&i| matches!(module[i].op, Op::Dot(_))).collect();
        let mut gone = HashSet::new();
        let mut at = 0;
        while let Some(&first) = dots.get(at) {
            at += 1;
            if gone.contains(&first) || pinned.contains(&first) {
                continue;
            }
            let second = partner(module, first, max_bytes, |i| gone.contains(&i) || pinned.contains(&i));
            let Some((second, side)) = second.filter(|_| rewrites.allowed()) else { continue };
            let name = module[first].name.to_string();
            if let Some(merged) = merge(module, first, second, side) {
                rewrites.made("merge", &name);
                gone.extend([first, second]);
                dots.push(merged);
                changed = true;
            }
        }
        let gone: Vec<InstrId> = dots.into_iter().filter(|i| gone.contains(i)).collect();
        module.remove_all(&gone);
    }
    changed
}

/// Which operand two dots have in common.
#[derive(Clone, Copy, PartialEq)]
enum Shared {
    Left,
    Right,
}

impl Shared {
    /// The number of the other operand.
    fn other(self) -> usize {
        match self {
            Self::Left => 1,
            Self::Right => 0,
        }
    }
}

fn dot(module: &Module, id: InstrId) -> Option<(&DotAttrs, InstrId, InstrId)> {
    let Op::Dot(a) = &module[id].op else { return None };
    match module[id].operands.as_slice() {
        &[lhs, rhs] => Some((a, lhs, rhs)),
        _ => None,
    }
}

fn array(module: &Module, id: InstrId) -> Option<&ArrayShape> {
    module[id].shape.as_array().filter(|a| a.is_static())
}

/// A later dot that can be merged with `first`.
fn partner(
    module: &Module,
    first: InstrId,
    max_bytes: u64,
    excluded: impl Fn(InstrId) -> bool,
) -> Option<(InstrId, Shared)> {
    let (_, lhs, rhs) = dot(module, first)?;
    for (operand, side) in [(lhs, Shared::Left), (rhs, Shared::Right)] {
        for &other in module.users(operand) {
            let fits = other != first
                && !excluded(other)
                && mergeable(module, first, other, side, max_bytes).is_some()
                && !needs(module, first, other)
                && !needs(module, other, first);
            if fits {
                return Some((other, side));
            }
        }
    }
    None
}

/// The free dimension of the operand that is not shared, if the two dots differ in nothing but its size.
fn mergeable(module: &Module, a: InstrId, b: InstrId, side: Shared, max_bytes: u64) -> Option<usize> {
    let ((attrs, lhs, rhs), (other, lhs2, rhs2)) = (dot(module, a)?, dot(module, b)?);
    let (shared, differs) = match side {
        Shared::Left => (lhs == lhs2, (rhs, rhs2)),
        Shared::Right => (rhs == rhs2, (lhs, lhs2)),
    };
    let (x, y) = (array(module, differs.0)?, array(module, differs.1)?);
    let (to, to2) = (array(module, a)?, array(module, b)?);
    let accuracy = |i: InstrId| module[i].common.as_deref().map(|c| (c.result_accuracy, &c.backend_config));
    let same = shared
        && differs.0 != differs.1
        && attrs == other
        && x.element_type == y.element_type
        && to.element_type == to2.element_type
        && [x, y, to, to2].iter().all(|s| s.layout.is_none())
        && accuracy(a) == accuracy(b);
    let (batch, contracting) = match side {
        Shared::Left => (&attrs.rhs_batch_dims, &attrs.rhs_contracting_dims),
        Shared::Right => (&attrs.lhs_batch_dims, &attrs.lhs_contracting_dims),
    };
    let free: Vec<usize> = (0..x.rank())
        .filter(|&d| !batch.contains(&(d as i64)) && !contracting.contains(&(d as i64)))
        .collect();
    let size = |i: InstrId| -> u64 {
        let all = module[i].operands.iter().chain([&i]);
        all.map(|&o| module[o].shape.byte_size() as u64).fold(0, u64::saturating_add)
    };
    match free.as_slice() {
        &[d] if same && x.rank() == y.rank() && size(a) <= max_bytes && size(b) <= max_bytes => Some(d),
        _ => None,
    }
}

/// True if `id` is computed from `from`, or if that takes too long to see.
fn needs(module: &Module, id: InstrId, from: InstrId) -> bool {
    let (mut stack, mut seen) = (vec![id], HashSet::from([id]));
    while let Some(i) = stack.pop() {
        if i == from || seen.len() > MAX_VISITS {
            return true;
        }
        let control = module[i].common.as_deref().map_or(&[][..], |c| &c.control_predecessors);
        stack.extend(module[i].operands.iter().chain(control).copied().filter(|o| seen.insert(*o)));
    }
    false
}

/// Puts one dot and two slices of it in place of two dots; returns the dot.
fn merge(module: &mut Module, a: InstrId, b: InstrId, side: Shared) -> Option<InstrId> {
    let d = mergeable(module, a, b, side, u64::MAX)?;
    let computation = module[a].parent;
    let op = module[a].op.clone();
    let (attrs, lhs, rhs) = dot(module, a)?;
    let (x, y) = (module[a].operands[side.other()], module[b].operands[side.other()]);
    // The free dimension of a left operand comes after the batch, that of a right one last.
    let result_dim = match side {
        Shared::Right => attrs.lhs_batch_dims.len(),
        Shared::Left => array(module, a)?.rank().checked_sub(1)?,
    };
    let joined = |x: &ArrayShape, y: &ArrayShape, d: usize| -> Option<ArrayShape> {
        let mut dims = x.dims.clone();
        *dims.get_mut(d)? = x.dims.get(d)?.checked_add(*y.dims.get(d)?)?;
        Some(ArrayShape::new(x.element_type, dims))
    };
    let operand_shape = joined(array(module, x)?, array(module, y)?, d)?;
    let (shape_a, shape_b) = (array(module, a)?.clone(), array(module, b)?.clone());
    let result_shape = joined(&shape_a, &shape_b, result_dim)?;
    let add = |module: &mut Module, shape: ArrayShape, op: Op, operands: &[InstrId], like: InstrId| {
        let base = module[like].name.clone();
        let name = module.unique_name(&base);
        let id = module.add(computation, &name, shape.into(), op, operands.iter().copied());
        module.copy_provenance(like, id);
        id
    };
    let along = DimensionAttrs { dimensions: [d as i64].into_iter().collect() };
    let both = add(module, operand_shape, Op::Concatenate(along), &[x, y], a);
    let operands = match side {
        Shared::Left => [lhs, both],
        Shared::Right => [both, rhs],
    };
    let product = add(module, result_shape, op, &operands, a);
    if let Some(common) = module[a].common.clone() {
        let to = module.common_mut(product);
        (to.result_accuracy, to.backend_config) = (common.result_accuracy, common.backend_config);
    }
    let mut start = 0;
    for (id, shape) in [(a, shape_a), (b, shape_b)] {
        let size = *shape.dims.get(result_dim)?;
        let mut ranges: Vec<SliceDim> =
            shape.dims.iter().map(|&limit| SliceDim { start: 0, limit, stride: 1 }).collect();
        *ranges.get_mut(result_dim)? = SliceDim { start, limit: start + size, stride: 1 };
        start += size;
        let part = add(module, shape, slice_op(ranges), &[product], id);
        module.replace_all_uses_with(id, part);
    }
    Some(product)
}
