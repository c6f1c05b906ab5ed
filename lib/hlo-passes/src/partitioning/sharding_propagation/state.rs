//! The known shardings during propagation.

use super::links::{Leaf, Link, Order, forwards_device_array, leaf_count, links, shard_groups};
use crate::partitioning::factors::{DimensionFactors, Factors, merged};
use crate::partitioning::reshapes::reshaped;
use crate::partitioning::tilings::tilings;
use hlo_ir::attr::{PropagationAllowed, Sharding, ShardingKind, SingleSharding, TileAssignment};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, Dims, InstrId, Module, Op, Shape};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of rounds. Propagation ends because each change splits more finely, and no real program
/// needs this many rounds.
const MAX_ROUNDS: usize = 64;

/// The direction of propagation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// In both directions, only through data movement.
    Moves,
    /// From operands to results, through all operations.
    Forward,
    /// In both directions, through all operations.
    All,
}

/// The shardings of all leaves.
pub(super) struct State {
    devices: usize,
    /// The known tile assignments of leaves.
    known: HashMap<Leaf, TileAssignment>,
    /// The leaves whose tile assignment must not change.
    fixed: HashSet<Leaf>,
    /// For leaves that may be split further along some dimensions only: whether each dimension may.
    open: HashMap<Leaf, Vec<bool>>,
    /// The sizes of parameters and results of the program that may get a sharding. Their tiles must have
    /// equal sizes, because callers of the program do not know padding.
    ends: HashMap<Leaf, Dims>,
    links: Vec<(Order, Link)>,
}

impl State {
    pub(super) fn new(module: &Module, devices: usize) -> Result<Self, Diag> {
        let mut state = Self {
            devices,
            known: HashMap::new(),
            fixed: HashSet::new(),
            open: HashMap::new(),
            ends: HashMap::new(),
            links: Vec::new(),
        };
        let order = reached(module);
        for &c in &order {
            for id in module.post_order(c) {
                for (n, tiling) in tilings(module, id, devices)?.into_iter().enumerate() {
                    let Some(tiling) = tiling else { continue };
                    match open_dimensions(module, id) {
                        Some(open) => {
                            state.open.insert((id, n), open);
                        }
                        None => {
                            state.fixed.insert((id, n));
                        }
                    }
                    state.known.insert((id, n), tiling);
                }
                state.links.extend(links(module, id));
            }
        }
        state.fix_ends(module);
        state.links.extend(shard_groups(module));
        Ok(state)
    }

    /// Fixes the parameters and results of the program, except those that may get a sharding.
    fn fix_ends(&mut self, module: &Module) {
        let entry = module.entry();
        let may = |allowed: &PropagationAllowed, n: usize| match &allowed.0[..] {
            [all] => *all,
            each => each.get(n).copied().unwrap_or(false),
        };
        let root = module[entry].root();
        let header = &module.header;
        let mut end = |leaf: Leaf, may_be_cut: bool| match module[leaf.0].shape.leaves().get(leaf.1) {
            Some(Shape::Array(array)) if may_be_cut => {
                self.ends.insert(leaf, array.dims.clone());
            }
            _ => {
                self.fixed.insert(leaf);
            }
        };
        let mut leaf = 0;
        for p in module.parameters(entry) {
            for n in 0..leaf_count(&module[p].shape) {
                end((p, n), may(&header.allow_spmd_sharding_propagation_to_parameters, leaf));
                leaf += 1;
            }
        }
        if !matches!(module[root].op, Op::Parameter(_)) {
            for n in 0..leaf_count(&module[root].shape) {
                end((root, n), may(&header.allow_spmd_sharding_propagation_to_output, n));
            }
        }
    }

    /// Propagates shardings until nothing changes.
    pub(super) fn propagate(&mut self, module: &Module) {
        let links = std::mem::take(&mut self.links);
        for stage in [Stage::Moves, Stage::Forward, Stage::All] {
            for _ in 0..MAX_ROUNDS {
                let mut changed = false;
                for (order, link) in &links {
                    changed |= self.follow(module, *order, link, stage);
                }
                for (order, link) in links.iter().rev() {
                    changed |= self.follow(module, *order, link, stage);
                }
                if !changed {
                    break;
                }
            }
        }
    }

    fn follow(&mut self, module: &Module, order: Order, link: &Link, stage: Stage) -> bool {
        if stage == Stage::Moves && order != Order::Moves {
            return false;
        }
        match link {
            Link::Same(a, b) => self.same(*a, *b),
            Link::Reshape(from, to) => self.reshape(module, *from, *to),
            Link::Loops { factors, results, operands } => {
                let back = order == Order::Moves || stage == Stage::All;
                self.loops(module, factors, results, operands, back)
            }
        }
    }

    /// Propagates between two leaves that are split in the same way.
    fn same(&mut self, a: Leaf, b: Leaf) -> bool {
        let to_b = self.known.get(&a).cloned().is_some_and(|t| self.add(b, &t));
        let to_a = self.known.get(&b).cloned().is_some_and(|t| self.add(a, &t));
        to_a || to_b
    }

    fn reshape(&mut self, module: &Module, from: Leaf, to: Leaf) -> bool {
        let dims = |leaf: Leaf| module[leaf.0].shape.as_array().map(|a| a.dims.clone());
        let (Some(a), Some(b)) = (dims(from), dims(to)) else { return false };
        let through = |t: &TileAssignment, a: &[i64], b: &[i64]| reshaped(t, a, b).map(|(_, made)| made);
        let there = self.known.get(&from).and_then(|t| through(t, &a, &b));
        let back = self.known.get(&to).and_then(|t| through(t, &b, &a));
        let forward = there.is_some_and(|t| self.add(to, &t));
        back.is_some_and(|t| self.add(from, &t)) || forward
    }

    /// Splits factors as the values that use them are split, and then splits the other values alike. Larger
    /// values have priority, because gathering others costs less. Next in priority are annotated values, and
    /// then the most finely split ones.
    fn loops(
        &mut self,
        module: &Module,
        factors: &Factors,
        results: &[(Leaf, DimensionFactors)],
        operands: &[(Leaf, DimensionFactors)],
        back: bool,
    ) -> bool {
        let all = results.iter().chain(operands);
        let all: Vec<(Leaf, &DimensionFactors)> = all.map(|(leaf, walk)| (*leaf, walk)).collect();
        let mut says: Vec<(Reverse<usize>, bool, usize, TileAssignment)> = Vec::new();
        for (leaf, walk) in &all {
            if let Some(tiling) = self.known.get(leaf) {
                let cut = factors.lift(walk, tiling);
                let bytes = module[leaf.0].shape.leaves().get(leaf.1).map_or(0, |s| s.byte_size());
                says.push((Reverse(bytes), !self.fixed.contains(leaf), cut.replicas(), cut));
            }
        }
        says.sort_by_key(|(bytes, free, replicas, _)| (*bytes, *free, *replicas));
        let mut says = says.into_iter().map(|(_, _, _, cut)| cut);
        let Some(first) = says.next() else { return false };
        let cut = says.fold(first, |cut, other| merged(&cut, &other));
        let mut changed = false;
        for (n, (leaf, walk)) in all.iter().enumerate() {
            if back || n < results.len() {
                changed |= self.add(*leaf, &cut.select(walk));
            }
        }
        changed
    }

    /// Splits a leaf more finely if this is allowed. Returns whether it changed.
    fn add(&mut self, leaf: Leaf, tiling: &TileAssignment) -> bool {
        if self.fixed.contains(&leaf) || tiling.device_count() != self.devices {
            return false;
        }
        let allowed = |d: usize| self.open.get(&leaf).is_none_or(|open| open.get(d) == Some(&true));
        let restricted = if self.open.contains_key(&leaf) {
            &tiling.select(&(0..tiling.rank()).map(|d| allowed(d).then_some(d)).collect::<Vec<_>>())
        } else {
            tiling
        };
        let new = match self.known.get(&leaf) {
            Some(known) if known.rank() == tiling.rank() => merged(known, restricted),
            Some(_) => return false,
            None if tiling.is_replicated() => return false,
            None => tiling.clone(),
        };
        let new = match self.ends.get(&leaf) {
            Some(dims) => without_uneven_splits(&new, dims),
            None => new,
        };
        let finer = match self.known.get(&leaf) {
            Some(known) => new.replicas() < known.replicas(),
            None => !new.is_replicated(),
        };
        if finer {
            self.known.insert(leaf, new);
        }
        finer
    }

    /// Writes the new shardings to the instructions. Returns whether any changed.
    pub(super) fn write(&self, module: &mut Module) -> bool {
        let mut changed = false;
        for c in reached(module) {
            for id in module[c].instructions().to_vec() {
                changed |= self.write_to(module, id);
            }
        }
        changed
    }

    fn write_to(&self, module: &mut Module, id: InstrId) -> bool {
        let leaves = module[id].shape.leaves();
        let (ranks, count): (Vec<usize>, usize) =
            (leaves.iter().map(|l| l.as_array().map_or(0, |a| a.rank())).collect(), leaves.len());
        let news = (0..count).any(|n| self.known.contains_key(&(id, n)) && !self.fixed.contains(&(id, n)));
        if !news {
            return false;
        }
        let said = module[id].sharding().cloned();
        let one = |n: usize| -> Arc<SingleSharding> {
            let own = said.as_ref().map(|s| s.leaves()).filter(|_| self.fixed.contains(&(id, n)));
            if let Some(own) = own.and_then(|own| if own.len() == 1 { own.first() } else { own.get(n) }) {
                return own.clone();
            }
            let whole = || TileAssignment::replicated(ranks.get(n).copied().unwrap_or(0), self.devices);
            let kind: ShardingKind = self.known.get(&(id, n)).cloned().unwrap_or_else(whole).to_kind();
            Arc::new(SingleSharding { kind, group: None, metadata: Vec::new() })
        };
        let is_tuple = module[id].shape.is_tuple();
        let sharding =
            if is_tuple { Sharding::Tuple((0..count).map(one).collect()) } else { Sharding::Single(one(0)) };
        let changed = said.as_ref() != Some(&sharding);
        if changed {
            module.common_mut(id).sharding = Some(sharding);
        }
        changed
    }
}

/// Removes the splits that produce tiles of unequal sizes.
fn without_uneven_splits(tiling: &TileAssignment, dims: &[i64]) -> TileAssignment {
    let is_even = |(d, (&tiles, &size)): (usize, (&i64, &i64))| (size % tiles.max(1) == 0).then_some(d);
    tiling.select(&tiling.tiles().iter().zip(dims).enumerate().map(is_even).collect::<Vec<_>>())
}

/// Returns for each dimension of a call that specifies a sharding whether the sharding of that dimension is
/// unspecified. XLA writes these dimensions into the configuration as `unspecified_dims=[0,1]`. Returns
/// `None` for other instructions.
fn open_dimensions(module: &Module, id: InstrId) -> Option<Vec<bool>> {
    let Op::CustomCall(_) = &module[id].op else { return None };
    if !forwards_device_array(module, id) {
        return None;
    }
    let config = module[id].common.as_ref()?.backend_config.as_str()?;
    let list = config.split_once("unspecified_dims=[")?.1.split_once(']')?.0;
    let mut open = vec![false; module[id].shape.as_array()?.rank()];
    for number in list.split(',') {
        *open.get_mut(number.trim().parse::<usize>().ok()?)? = true;
    }
    Some(open)
}

/// Returns the computations between which values flow: the entry, and the computations of loops, branches and
/// calls.
fn reached(module: &Module) -> Vec<ComputationId> {
    let mut found = vec![module.entry()];
    let mut seen: HashSet<ComputationId> = found.iter().copied().collect();
    let mut at = 0;
    while let Some(&c) = found.get(at) {
        at += 1;
        for &id in module[c].instructions() {
            let callees = match &module[id].op {
                Op::While(a) => vec![a.condition, a.body],
                Op::Conditional(a) => a.branches(),
                Op::Call(a) => vec![a.to_apply],
                _ => continue,
            };
            found.extend(callees.into_iter().filter(|c| seen.insert(*c)));
        }
    }
    found
}
