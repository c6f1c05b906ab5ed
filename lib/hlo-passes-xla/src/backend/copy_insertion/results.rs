//! Makes the results of computations values of their own, in memory that is free when they are written.

use super::values::Values;
use super::with_copies;
use hlo_analysis::Roles;
use hlo_analysis::in_place::may_replace;
use hlo_ir::attr::FusionKind;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use hlo_passes::Rewrites;
use std::collections::HashMap;

/// Copies results that do not belong to the computation, and those that would overwrite a value that is still
/// to be read.
pub(super) fn separate(
    module: &mut Module,
    computation: ComputationId,
    roles: &Roles,
    rewrites: &mut Rewrites,
) -> bool {
    if !module.has_root(computation) || !rewrites.allowed() {
        return false;
    }
    let is_body = roles.bodies.contains(&computation);
    if roles.conditions.contains(&computation) && !is_body {
        return false;
    }
    let values = Values::of(module, computation, roles.owns_parameters(computation));
    let root = module[computation].root();
    let destinations = values.destinations(module, computation, is_body);
    let results =
        Results::new(values.leaves(root).to_vec(), destinations, !roles.called.contains(&computation));
    let arrays: Vec<bool> =
        module[root].shape.leaves().iter().map(|s| matches!(s, Shape::Array(_))).collect();
    let flags: Vec<bool> = (0..results.leaves.len())
        .map(|n| arrays.get(n) == Some(&true) && !results.may_stay(module, &values, n))
        .collect();
    if !flags.contains(&true) {
        return false;
    }
    rewrites.made("result", &module[root].name);
    // Values that exchange places are copied twice, so that all of them are read before the first is written.
    let first: Vec<bool> = (0..flags.len()).map(|n| flags[n] && results.in_cycle[n]).collect();
    let between = with_copies(module, root, &first);
    let copy = with_copies(module, between, &flags);
    module.set_root(computation, copy);
    order_copies(module, computation, &results, &flags);
    true
}

/// The leaves of a result, and the memory that each is written to.
struct Results {
    leaves: Vec<usize>,
    /// For each leaf, the value whose memory it is written to, if any.
    destinations: Vec<Option<usize>>,
    /// Whether a leaf is part of a cycle: its value is stored in the destination of another leaf, whose value
    /// is stored in the destination of a third, and so on back to the first.
    in_cycle: Vec<bool>,
    /// Number of leaves that contain each value.
    count: HashMap<usize, usize>,
    /// Whether a value that is already in its destination may stay there.
    keeps_destinations: bool,
}

impl Results {
    fn new(leaves: Vec<usize>, destinations: Vec<Option<usize>>, keeps_destinations: bool) -> Self {
        let place_of: HashMap<usize, usize> = destinations
            .iter()
            .enumerate()
            .filter_map(|(n, destination)| destination.map(|h| (h, n)))
            .collect();
        let next: Vec<Option<usize>> = leaves.iter().map(|value| place_of.get(value).copied()).collect();
        let mut count = HashMap::new();
        for &value in &leaves {
            *count.entry(value).or_insert(0) += 1;
        }
        Self { leaves, destinations, in_cycle: cycles(&next), count, keeps_destinations }
    }

    /// Checks whether a leaf needs no copy.
    fn may_stay(&self, module: &Module, values: &Values, n: usize) -> bool {
        let value = self.leaves[n];
        let own = self.count.get(&value) == Some(&1) && values.is_defined_here(value);
        let Some(destination) = self.destinations[n] else { return own };
        if value == destination {
            return self.keeps_destinations;
        }
        if !own || values.in_result(destination) {
            return false;
        }
        let maker = values.defining_instruction(value);
        let before = values.before(module, maker, values.readers(destination));
        values.readers(destination).iter().all(|&r| {
            if r == maker {
                may_write_in_place(module, value, destination, values)
            } else {
                before.contains(&r)
            }
        })
    }
}

/// Checks whether the instruction that makes `result` may write it to the memory of `value`, which it reads.
fn may_write_in_place(module: &Module, result: usize, value: usize, values: &Values) -> bool {
    let (maker, leaf) = (values.defining_instruction(result), values.leaf(result));
    if let Op::While(_) = module[maker].op {
        let initial = module[maker].operands.first().map_or(&[][..], |&init| values.leaves(init));
        return initial.get(leaf) == Some(&value);
    }
    // The order of reads and writes in other kinds of fusions is unspecified.
    if matches!(&module[maker].op, Op::Fusion(a) if a.kind != FusionKind::Loop) {
        return false;
    }
    let operands = module[maker].operands.iter().enumerate();
    let readers: Vec<usize> =
        operands.filter(|(_, o)| values.leaves(**o).contains(&value)).map(|(n, _)| n).collect();
    may_replace(module, maker, &readers, leaf)
}

/// Returns, for each element, whether following `next` leads back to it.
fn cycles(next: &[Option<usize>]) -> Vec<bool> {
    let mut walk = vec![None; next.len()];
    let mut out = vec![false; next.len()];
    for start in 0..next.len() {
        let mut at = Some(start);
        while let Some(n) = at.filter(|&n| walk[n].is_none()) {
            walk[n] = Some(start);
            at = next[n];
        }
        // If the walk reaches an element that it has visited itself, it has found a cycle.
        let mut round = at.filter(|&n| walk[n] == Some(start));
        while let Some(n) = round.filter(|&n| !out[n]) {
            out[n] = true;
            round = next[n];
        }
    }
    out
}

/// Adds control dependencies so that each copy of a result waits for all readers of the value that it
/// overwrites.
fn order_copies(module: &mut Module, computation: ComputationId, results: &Results, flags: &[bool]) {
    let root = module[computation].root();
    let values = Values::of(module, computation, true);
    // The copy for each leaf of the result.
    let copies: HashMap<usize, InstrId> = (0..flags.len())
        .filter(|&n| flags[n])
        .map(|n| (n, values.defining_instruction(values.leaves(root)[n])))
        .collect();
    let parameters: Vec<(usize, usize)> = results
        .destinations
        .iter()
        .enumerate()
        .filter_map(|(n, destination)| destination.map(|h| (n, h)))
        .collect();
    for (n, destination) in parameters {
        let Some(&copy) = copies.get(&n) else { continue };
        if results.leaves[n] == destination {
            continue;
        }
        let before = values.before(module, copy, values.readers(destination));
        let waits: Vec<InstrId> = values
            .readers(destination)
            .iter()
            .copied()
            .filter(|r| *r != copy && !before.contains(r))
            .collect();
        if !waits.is_empty() {
            module.common_mut(copy).control_predecessors.extend(waits);
        }
    }
}
