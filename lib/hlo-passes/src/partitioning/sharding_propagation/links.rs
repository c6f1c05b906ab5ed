//! Finds the values that should be split alike, for each instruction.

use crate::partitioning::factors::{DimensionFactors, Factors};
use crate::partitioning::reaches::near_factors;
use crate::partitioning::sharding_rule;
use hlo_ir::attr::ShardGroup;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::BTreeMap;

/// A leaf of the result of an instruction.
pub(super) type Leaf = (InstrId, usize);

/// Values whose shardings follow from each other.
#[derive(Debug)]
pub(super) enum Link {
    /// Both are split in the same way.
    Same(Leaf, Leaf),
    /// The second is the reshaped first.
    Reshape(Leaf, Leaf),
    /// The dimensions of operands and results are indices of shared factors.
    Loops {
        factors: Factors,
        results: Vec<(Leaf, DimensionFactors)>,
        operands: Vec<(Leaf, DimensionFactors)>,
    },
}

/// When a link is applied. Data movement comes first, because shardings pass through it unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    Moves,
    Computes,
}

/// Returns the links of an instruction.
pub(super) fn links(module: &Module, id: InstrId) -> Vec<(Order, Link)> {
    let mut found = Vec::new();
    let operands = &module[id].operands;
    let root = |c: ComputationId| module[c].root();
    let parameter = |c: ComputationId, n: usize| module.parameters(c).get(n).copied();
    match &module[id].op {
        Op::Tuple => {
            let mut at = 0;
            for &o in operands {
                let count = leaf_count(&module[o].shape);
                found.extend((0..count).map(|n| Link::Same((id, at + n), (o, n))));
                at += count;
            }
        }
        Op::GetTupleElement(a) => {
            if let Some((&o, index)) = operands.first().zip(usize::try_from(a.index).ok()) {
                let before = module[o].shape.as_tuple().unwrap_or_default().iter().take(index);
                let start: usize = before.map(leaf_count).sum();
                let count = leaf_count(&module[id].shape);
                found.extend((0..count).map(|n| Link::Same((id, n), (o, start + n))));
            }
        }
        Op::While(a) => {
            let states = [parameter(a.body, 0), Some(root(a.body)), parameter(a.condition, 0)];
            let states = states.into_iter().flatten().chain(operands.first().copied());
            states.for_each(|other| same_leaves(module, id, other, &mut found));
        }
        Op::Conditional(a) => {
            for (n, &branch) in a.branches().iter().enumerate() {
                same_leaves(module, id, root(branch), &mut found);
                if let Some((p, &o)) = parameter(branch, 0).zip(operands.get(n + 1)) {
                    same_leaves(module, p, o, &mut found);
                }
            }
        }
        Op::Call(a) => {
            same_leaves(module, id, root(a.to_apply), &mut found);
            for (n, &o) in operands.iter().enumerate() {
                if let Some(p) = parameter(a.to_apply, n) {
                    same_leaves(module, p, o, &mut found);
                }
            }
        }
        Op::OptBarrier | Op::AddDependency | Op::Domain(_) => {
            operands.first().into_iter().for_each(|&o| same_leaves(module, id, o, &mut found));
        }
        // Calls that convert between arrays of the whole program and of a device are excluded, because the
        // sizes differ.
        Op::CustomCall(_) if forwards_device_array(module, id) => {
            operands.first().into_iter().for_each(|&o| same_leaves(module, id, o, &mut found));
        }
        Op::Reshape(_) => {
            operands.first().into_iter().for_each(|&o| found.push(Link::Reshape((o, 0), (id, 0))));
        }
        Op::CustomCall(_) => {
            let said = sharding_rule::factors(module, id);
            let link = said.map(|(factors, walks)| loops(module, id, factors, walks));
            return link.into_iter().map(|link| (Order::Computes, link)).collect();
        }
        _ => {
            let order = if only_moves(&module[id].op) { Order::Moves } else { Order::Computes };
            let Some(factors) = near_factors(module, id) else { return Vec::new() };
            let walks = vec![factors.result.clone(); leaf_count(&module[id].shape)];
            return vec![(order, loops(module, id, factors, walks))];
        }
    }
    found.into_iter().map(|link| (Order::Moves, link)).collect()
}

fn loops(module: &Module, id: InstrId, factors: Factors, walks: Vec<DimensionFactors>) -> Link {
    let results = walks.into_iter().enumerate().map(|(n, walk)| ((id, n), walk)).collect();
    let walks = module[id].operands.iter().zip(&factors.operands);
    let operands = walks.map(|(&o, walk)| ((o, 0), walk.clone())).collect();
    Link::Loops { factors, results, operands }
}

/// Returns whether each element of the result depends on one element per operand.
fn only_moves(op: &Op) -> bool {
    matches!(
        op,
        hlo_ir::elementwise_op!() | Op::Transpose(_) | Op::Copy | Op::Reverse(_) | Op::BitcastConvert
    )
}

/// Returns whether the call passes its operand on as the devices have it.
pub(in crate::partitioning) fn forwards_device_array(module: &Module, id: InstrId) -> bool {
    let Op::CustomCall(a) = &module[id].op else { return false };
    let target = a.custom_call_target.as_str().unwrap_or_default();
    let &[operand] = &module[id].operands[..] else { return false };
    let changes_sizes = target.starts_with("SPMD") || target.ends_with("Shape");
    a.forwards_operands() && !changes_sizes && module[operand].shape.compatible(&module[id].shape)
}

fn same_leaves(module: &Module, a: InstrId, b: InstrId, out: &mut Vec<Link>) {
    let count = leaf_count(&module[a].shape).min(leaf_count(&module[b].shape));
    out.extend((0..count).map(|n| Link::Same((a, n), (b, n))));
}

pub(super) fn leaf_count(shape: &Shape) -> usize {
    shape.leaves().len()
}

/// Returns the links between values that are annotated to be sharded together.
pub(super) fn shard_groups(module: &Module) -> Vec<(Order, Link)> {
    let mut first: BTreeMap<i64, Leaf> = BTreeMap::new();
    let mut found = Vec::new();
    for c in module.computations() {
        for &id in module[c].instructions() {
            let leaves = module[id].sharding().map_or(&[][..], |s| s.leaves());
            for (n, one) in leaves.iter().enumerate() {
                let Some(ShardGroup { id: number, .. }) = one.group else { continue };
                let rank = |(i, n): Leaf| module[i].shape.leaves().get(n)?.as_array().map(|a| a.rank());
                let known = *first.entry(number).or_insert((id, n));
                if known != (id, n) && rank(known) == rank((id, n)) {
                    found.push((Order::Moves, Link::Same(known, (id, n))));
                }
            }
        }
    }
    found
}
