//! `dot-merger`: merges dots that share an operand.
//!
//! ```text
//! a = f32[4,5] dot(x, y), …                c = f32[8,8] concatenate(y, z), dimensions={1}
//! b = f32[4,3] dot(x, z), …           →    d = f32[4,8] dot(x, c), …
//!                                          a = f32[4,5] slice(d), b = f32[4,3] slice(d)
//! ```
//!
//! Both dots must have the same dimension numbers, and one free dimension on the side that differs. The
//! operands are concatenated along it. Neither dot may depend on the other. Dots above a size limit stay,
//! because large products gain nothing.

use hlo_ir::attr::{DimensionAttrs, DotAttrs, SliceDim};
use hlo_ir::{ArrayShape, InstrId, Module, Op};
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::rewrite::{accuracy, same_sharding};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites};
use std::collections::{HashMap, HashSet, VecDeque};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dot-merger",
    summary: "merge dots that share an operand",
    options: &[OptionInfo {
        name: "max-bytes",
        summary: "maximum bytes of the operands and the result of each dot to merge",
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

/// Maximum number of instructions that are visited to show that one dot does not depend on another.
const MAX_VISITS: usize = 1000;

/// Maximum number of visited instructions in a computation, per instruction of it.
const VISITS_PER_INSTRUCTION: usize = 64;

fn run(module: &mut Module, max_bytes: u64, rewrites: &mut Rewrites) -> bool {
    let pinned = control_dependent(module);
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        let order = module.post_order(c);
        let is_dot = |i: &InstrId| matches!(module[*i].op, Op::Dot(_)) && !pinned.contains(i);
        let dots: Vec<InstrId> = order.iter().copied().filter(is_dot).collect();
        if dots.len() < 2 {
            continue;
        }
        let depths = depths(module, &order);
        let budget = order.len().saturating_mul(VISITS_PER_INSTRUCTION);
        let mut merger = Merger {
            module,
            rewrites,
            pinned: &pinned,
            max_bytes,
            budget,
            merged: Vec::new(),
            gone: HashSet::new(),
        };
        merger.merge_beside(&dots, &depths);
        merger.merge_apart(&dots);
        let gone: Vec<InstrId> =
            dots.iter().chain(&merger.merged).copied().filter(|i| merger.gone.contains(i)).collect();
        module.remove_all(&gone);
        changed |= !gone.is_empty();
    }
    changed
}

/// Returns the length of the longest path to each instruction.
fn depths(module: &Module, order: &[InstrId]) -> HashMap<InstrId, usize> {
    let mut depths: HashMap<InstrId, usize> = HashMap::with_capacity(order.len());
    for &i in order {
        let control = module[i].control_predecessors();
        let before = module[i].operands.iter().chain(control).filter_map(|o| depths.get(o));
        let depth = before.max().map_or(0, |d| d + 1);
        depths.insert(i, depth);
    }
    depths
}

/// Merges the dots of one computation.
struct Merger<'a> {
    module: &'a mut Module,
    rewrites: &'a mut Rewrites,
    /// The instructions with control dependencies.
    pinned: &'a HashSet<InstrId>,
    max_bytes: u64,
    /// Number of instructions that may still be visited.
    budget: usize,
    /// The merged dots. `gone` contains the dots that they replace.
    merged: Vec<InstrId>,
    gone: HashSet<InstrId>,
}

impl Merger<'_> {
    /// Merges dots of the same depth, which do not depend on each other. A merged dot has the depth of its
    /// parts, so the depths stay valid.
    fn merge_beside(&mut self, dots: &[InstrId], depths: &HashMap<InstrId, usize>) {
        /// Maximum number of dots that are kept as candidates for a merge.
        const MAX_CANDIDATES: usize = 8;
        for side in [Shared::Left, Shared::Right] {
            let mut open: HashMap<(InstrId, usize), VecDeque<InstrId>> = HashMap::new();
            for &next in dots.iter().filter(|i| !self.gone.contains(i)).collect::<Vec<_>>() {
                let Some(&shared) = self.module[next].operands.get(side.number()) else { continue };
                let Some(&depth) = depths.get(&next) else { continue };
                let open = open.entry((shared, depth)).or_default();
                let fits =
                    |&first: &InstrId| mergeable(self.module, first, next, side, self.max_bytes).is_some();
                match open.iter().position(fits) {
                    Some(n) => {
                        if let Some(merged) = self.merge(open[n], next, side) {
                            open[n] = merged;
                        }
                    }
                    None => {
                        if open.len() == MAX_CANDIDATES {
                            open.pop_front();
                        }
                        open.push_back(next);
                    }
                }
            }
        }
    }

    /// Merges the remaining dots that do not depend on each other.
    fn merge_apart(&mut self, dots: &[InstrId]) {
        let mut queue: VecDeque<InstrId> = dots.iter().chain(&self.merged).copied().collect();
        while let Some(first) = queue.pop_front() {
            if self.gone.contains(&first) || self.budget == 0 {
                continue;
            }
            if let Some((second, side)) = self.partner(first)
                && let Some(merged) = self.merge(first, second, side)
            {
                queue.push_back(merged);
            }
        }
    }

    /// Returns another dot that can be merged with `first`.
    fn partner(&mut self, first: InstrId) -> Option<(InstrId, Shared)> {
        for side in [Shared::Left, Shared::Right] {
            let operand = *self.module[first].operands.get(side.number())?;
            for other in self.module.users(operand).iter().copied().take(MAX_VISITS).collect::<Vec<_>>() {
                self.budget = self.budget.saturating_sub(1);
                let fits = other != first
                    && !self.pinned.contains(&other)
                    && mergeable(self.module, first, other, side, self.max_bytes).is_some();
                if fits && !self.needs(first, other) && !self.needs(other, first) {
                    return Some((other, side));
                }
            }
        }
        None
    }

    /// Returns whether `id` depends on `from`. Also returns true if finding out takes too long.
    fn needs(&mut self, id: InstrId, from: InstrId) -> bool {
        let (mut stack, mut seen) = (vec![id], HashSet::from([id]));
        while let Some(i) = stack.pop() {
            if i == from || seen.len() > MAX_VISITS || self.budget == 0 {
                return true;
            }
            self.budget -= 1;
            let control = self.module[i].control_predecessors();
            let before = self.module[i].operands.iter().chain(control);
            stack.extend(before.copied().filter(|o| seen.insert(*o)));
        }
        false
    }

    /// Replaces two dots by slices of a single dot, and returns that dot.
    fn merge(&mut self, first: InstrId, second: InstrId, side: Shared) -> Option<InstrId> {
        if !self.rewrites.allowed() {
            return None;
        }
        let merged = merge(self.module, first, second, side)?;
        self.rewrites.made("merge", &self.module[first].name);
        for gone in [first, second] {
            // Without operands, the dot is no longer among their users.
            self.module.set_operands(gone, []);
            self.gone.insert(gone);
        }
        self.merged.push(merged);
        Some(merged)
    }
}

/// The operand that two dots share.
#[derive(Clone, Copy, PartialEq)]
enum Shared {
    Left,
    Right,
}

impl Shared {
    /// Returns the number of the shared operand.
    fn number(self) -> usize {
        match self {
            Self::Left => 0,
            Self::Right => 1,
        }
    }

    /// Returns the number of the other operand.
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

/// Returns the free dimension of the operand that is not shared, if the dots differ only in its size.
fn mergeable(module: &Module, a: InstrId, b: InstrId, side: Shared, max_bytes: u64) -> Option<usize> {
    let ((attrs, lhs, rhs), (other, lhs2, rhs2)) = (dot(module, a)?, dot(module, b)?);
    let (shared, differs) = match side {
        Shared::Left => (lhs == lhs2, (rhs, rhs2)),
        Shared::Right => (rhs == rhs2, (lhs, lhs2)),
    };
    let (x, y) = (array(module, differs.0)?, array(module, differs.1)?);
    let (to, to2) = (array(module, a)?, array(module, b)?);
    let same = shared
        && differs.0 != differs.1
        && attrs == other
        && x.element_type == y.element_type
        && to.element_type == to2.element_type
        && [x, y, to, to2].iter().all(|s| s.layout.is_none())
        && accuracy(module, a) == accuracy(module, b)
        && same_sharding(module, a, b);
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

/// Adds a single dot and two slices that replace the two dots. Returns the dot.
fn merge(module: &mut Module, a: InstrId, b: InstrId, side: Shared) -> Option<InstrId> {
    let d = mergeable(module, a, b, side, u64::MAX)?;
    let computation = module[a].parent;
    let op = module[a].op.clone();
    let (attrs, lhs, rhs) = dot(module, a)?;
    let (x, y) = (module[a].operands[side.other()], module[b].operands[side.other()]);
    // The free dimension of a left operand follows the batch dimensions in the result. That of a right
    // operand is last.
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
        module.add_like_in(computation, like, shape, op, operands.iter().copied())
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
        let part = add(module, shape, Op::slice(ranges), &[product], id);
        module.copy_annotations(id, part);
        module.replace_all_uses_with(id, part);
    }
    Some(product)
}
