//! Finds the values that are equal on all partitions of a replica, in a program that all partitions run.

use hlo_ir::attr::{AllReduceAttrs, ReplicaGroups, ShardingKind};
use hlo_ir::{ComputationId, Family, InstrId, Module, Op, Shape};
use hlo_passes::support::effects::{Impure, is_impure};
use std::collections::{HashMap, HashSet};

use hlo_passes::support::device_groups::MAX_DEVICES;

/// The values that may differ between the partitions of a replica.
///
/// The analysis assumes that values are equal until it finds a reason why they differ. Differences originate
/// from the partition id, from parameters of the entry that are not marked as replicated, and from unknown
/// operations.
pub(super) struct Replication<'m> {
    module: &'m Module,
    callers: HashMap<ComputationId, Vec<InstrId>>,
    parameters: HashMap<ComputationId, Vec<InstrId>>,
    asks: Impure,
    /// Whether each array of an instruction's value differs, for instructions with at least one that does.
    differs: HashMap<InstrId, Vec<bool>>,
    /// The computations that only some partitions run, or that partitions run a different number of times.
    diverging: HashSet<ComputationId>,
}

impl<'m> Replication<'m> {
    /// Analyses a module.
    pub(super) fn of(module: &'m Module) -> Self {
        let callers = module.callers();
        let parameters = module.computations().map(|c| (c, module.parameters(c))).collect();
        let asks = Impure::of(module, |op| is_impure(op) || matches!(op, Op::PartitionId));
        let mut found =
            Self { module, callers, parameters, asks, differs: HashMap::new(), diverging: HashSet::new() };
        let mut work: Vec<InstrId> = module.computations().flat_map(|c| module.post_order(c)).collect();
        work.reverse();
        while let Some(id) = work.pop() {
            found.visit(id, &mut work);
        }
        found
    }

    /// Returns whether all partitions of a replica have the same value.
    pub(super) fn is_replicated(&self, id: InstrId) -> bool {
        self.differs.get(&id).is_none_or(|d| !d.contains(&true))
    }

    /// Updates an instruction, and adds the instructions that depend on a change to `work`.
    fn visit(&mut self, id: InstrId, work: &mut Vec<InstrId>) {
        let leaves = self.module[id].shape.leaf_count();
        let mut now = if self.diverging.contains(&self.module[id].parent) {
            vec![true; leaves]
        } else {
            self.transfer(id)
        };
        now.resize(leaves, false);
        let before = self.differs.get(&id);
        if !now.contains(&true) || before == Some(&now) {
            return;
        }
        self.differs.insert(id, now);
        for &user in self.module.users(id) {
            work.push(user);
            for callee in self.module[user].op.called_computations() {
                work.extend_from_slice(self.parameters.get(&callee).map_or(&[], Vec::as_slice));
            }
            let branches = matches!(self.module[user].op, Op::Conditional(_));
            if branches && self.module[user].operands.first() == Some(&id) {
                let all = self.module[user].op.called_computations();
                all.into_iter().for_each(|b| self.diverge(b, work));
            }
        }
        if !self.module.is_root(id) {
            return;
        }
        let c = self.module[id].parent;
        for caller in self.callers.get(&c).cloned().unwrap_or_default() {
            work.push(caller);
            let Op::While(a) = &self.module[caller].op else { continue };
            for callee in [a.body, a.condition] {
                work.extend_from_slice(self.parameters.get(&callee).map_or(&[], Vec::as_slice));
            }
            if a.condition == c {
                // Some partitions leave the loop earlier.
                self.diverge(a.body, work);
            }
        }
    }

    /// Records that partitions run a computation, and those that it calls, a different number of times.
    fn diverge(&mut self, computation: ComputationId, work: &mut Vec<InstrId>) {
        let mut pending = vec![computation];
        while let Some(c) = pending.pop() {
            if !self.diverging.insert(c) {
                continue;
            }
            for &i in self.module[c].instructions() {
                work.push(i);
                pending.extend(self.module[i].op.called_computations());
            }
        }
    }

    /// Returns whether each array of an instruction's value differs, given the current state of other
    /// instructions.
    fn transfer(&self, id: InstrId) -> Vec<bool> {
        let instr = &self.module[id];
        let leaves = instr.shape.leaf_count();
        let any = |operands: &[InstrId]| operands.iter().any(|&o| !self.is_replicated(o));
        match &instr.op {
            Op::Constant(_) | Op::Iota(_) | Op::ReplicaId => Vec::new(),
            Op::Parameter(p) => self.parameter(id, p.number),
            Op::Tuple => instr.operands.iter().flat_map(|&o| self.of_value(o)).collect(),
            Op::GetTupleElement(a) => self.element(id, a.index),
            Op::OptBarrier | Op::Copy | Op::Domain(_) | Op::AddDependency => {
                instr.operands.first().map_or(Vec::new(), |&o| self.of_value(o))
            }
            Op::AllReduce(a) => {
                if any(&instr.operands) && !self.joins_partitions(a) {
                    vec![true; leaves]
                } else {
                    vec![!self.is_uniform(&a.replica_groups, a.use_global_device_ids); leaves]
                }
            }
            Op::While(_) | Op::Call(_) | Op::Fusion(_) | Op::Conditional(_) => self.called(id),
            op => {
                let known = matches!(
                    instr.opcode().family(),
                    Family::Structural
                        | Family::Elementwise
                        | Family::DataMovement
                        | Family::Indexing
                        | Family::Reduction
                        | Family::LinearAlgebra
                        | Family::Normalization
                );
                vec![!known || self.asks.has(op) || any(&instr.operands); leaves]
            }
        }
    }

    fn of_value(&self, id: InstrId) -> Vec<bool> {
        let same = || vec![false; self.module[id].shape.leaf_count()];
        self.differs.get(&id).cloned().unwrap_or_else(same)
    }

    /// Computes the state of a tuple element.
    fn element(&self, id: InstrId, index: i64) -> Vec<bool> {
        let Some(&tuple) = self.module[id].operands.first() else { return vec![true] };
        let Some(differs) = self.differs.get(&tuple) else { return Vec::new() };
        let before = self.module[tuple].shape.as_tuple().unwrap_or_default().iter();
        let start: usize = before.take(usize::try_from(index).unwrap_or(0)).map(Shape::leaf_count).sum();
        let end = start + self.module[id].shape.leaf_count();
        differs.get(start..end).map_or(vec![true], <[bool]>::to_vec)
    }

    /// Computes the state of a parameter. For the entry, it follows from shardings, and otherwise from the
    /// arguments of callers.
    fn parameter(&self, id: InstrId, number: i64) -> Vec<bool> {
        let instr = &self.module[id];
        let leaves = instr.shape.leaf_count();
        if instr.parent == self.module.entry() {
            let sharding = instr.common.as_deref().and_then(|c| c.sharding.as_ref());
            let Some(sharding) = sharding else { return vec![true; leaves] };
            let kinds = sharding.leaves().iter().map(|s| !matches!(s.kind, ShardingKind::Replicated));
            let mut out: Vec<bool> = kinds.collect();
            if out.len() != leaves {
                out = vec![out != [false]; leaves];
            }
            return out;
        }
        let mut out = vec![false; leaves];
        for &caller in self.callers.get(&instr.parent).into_iter().flatten() {
            let operands = &self.module[caller].operands;
            let given: Vec<InstrId> = match &self.module[caller].op {
                Op::While(a) => {
                    let root = self.module.has_root(a.body).then(|| self.module[a.body].root());
                    operands.iter().copied().chain(root).collect()
                }
                op @ Op::Conditional(_) => {
                    let branches = op.called_computations().into_iter().zip(operands.iter().skip(1));
                    branches.filter(|(b, _)| *b == instr.parent).map(|(_, &o)| o).collect()
                }
                Op::Call(_) | Op::Fusion(_) => {
                    usize::try_from(number).ok().and_then(|n| operands.get(n).copied()).into_iter().collect()
                }
                // The parameters are elements of arrays, which are not tracked.
                _ => return vec![true; leaves],
            };
            given.into_iter().for_each(|g| merge(&mut out, self.differs.get(&g)));
        }
        out
    }

    /// Computes the state of the result of called computations, from all values that the result may have.
    fn called(&self, id: InstrId) -> Vec<bool> {
        let instr = &self.module[id];
        let mut out = vec![false; instr.shape.leaf_count()];
        if let (Op::While(_), Some(init)) = (&instr.op, instr.operands.first()) {
            merge(&mut out, self.differs.get(init));
        }
        for callee in instr.op.called_computations() {
            let of_condition = matches!(&instr.op, Op::While(a) if a.condition == callee);
            if !of_condition && self.module.has_root(callee) {
                merge(&mut out, self.differs.get(&self.module[callee].root()));
            }
        }
        out
    }

    /// Returns whether an all-reduce produces the same result on all partitions of a replica.
    fn joins_partitions(&self, a: &AllReduceAttrs) -> bool {
        a.channel_id.is_some() && self.is_uniform(&a.replica_groups, a.use_global_device_ids)
    }

    /// Returns whether each group contains all partitions of a replica or none. Groups of replicas always do.
    fn is_uniform(&self, groups: &ReplicaGroups, global: bool) -> bool {
        let partitions = self.module.header.num_partitions.0;
        if !global || groups.is_empty() || partitions < 1 {
            return true;
        }
        let Ok(groups) = groups.expand(MAX_DEVICES) else { return false };
        groups.iter().all(|group| {
            let mut members: HashMap<i64, i64> = HashMap::new();
            group.iter().for_each(|device| *members.entry(device / partitions).or_default() += 1);
            members.values().all(|&n| n == partitions)
        })
    }
}

fn merge(into: &mut [bool], of: Option<&Vec<bool>>) {
    for (to, from) in into.iter_mut().zip(of.into_iter().flatten()) {
        *to |= from;
    }
}
