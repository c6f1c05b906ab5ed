//! Converts clusters to fusion instructions and fused computations.

use super::cluster::{Cluster, Kind};
use super::cost::is_scalar_constant;
use crate::support::clone::clone_instruction;
use hlo_ir::attr::{FusionAttrs, FusionKind};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;

/// Replaces a cluster of at least two instructions by a fusion. Returns whether it did.
pub(super) fn emit(module: &mut Module, namer: &mut ComputationNamer, cluster: &Cluster) -> bool {
    let &[first, ..] = cluster.roots.as_slice() else { return false };
    if cluster.members.len() < 2 {
        return false;
    }
    let kind = match cluster.kind {
        Kind::Reduce | Kind::Rows(_) => FusionKind::Input,
        Kind::Loop | Kind::Update => FusionKind::Loop,
    };
    let parent = module[first].parent;
    let name = namer.fresh("fused_computation");
    let computation = module.add_computation(&name);
    let number = name.rsplit_once('.').map_or(0, |(_, n)| n.parse().unwrap_or(0u64));
    let arguments = fill(module, computation, cluster, number);
    let shape = match cluster.roots.as_slice() {
        [one] => module[*one].shape.clone(),
        several => Shape::Tuple(several.iter().map(|&r| module[r].shape.clone()).collect()),
    };
    let fusion_name = module.unique_name("fusion");
    let attrs = FusionAttrs { kind, calls: computation, ..FusionAttrs::default() };
    let fusion = module.add(parent, &fusion_name, shape, Op::Fusion(attrs), arguments);
    module.copy_provenance(first, fusion);
    if let [one] = cluster.roots.as_slice() {
        module.replace_all_uses_with(*one, fusion);
        return true;
    }
    for (n, &root) in cluster.roots.iter().enumerate() {
        let name = module.unique_name("get-tuple-element");
        let op = Op::get_tuple_element(n as i64);
        let element = module.add(parent, &name, module[root].shape.clone(), op, [fusion]);
        module.copy_provenance(root, element);
        module.replace_all_uses_with(root, element);
    }
    true
}

/// Fills the fused computation and returns the operands of the fusion.
fn fill(module: &mut Module, computation: ComputationId, cluster: &Cluster, number: u64) -> Vec<InstrId> {
    let mut copies: HashMap<InstrId, InstrId> = HashMap::with_capacity(cluster.members.len());
    let mut arguments: Vec<InstrId> = Vec::new();
    // Parameters come first, in the order in which the members use them.
    let members: std::collections::HashSet<InstrId> = cluster.members.iter().copied().collect();
    for &m in &cluster.members {
        for o in module[m].operands.clone() {
            if members.contains(&o) || copies.contains_key(&o) || is_scalar_constant(module, o) {
                continue;
            }
            let name = format!("param_{}.{number}", arguments.len());
            let op = Op::parameter(arguments.len() as i64);
            let parameter = module.add(computation, &name, module[o].shape.clone(), op, []);
            copies.insert(o, parameter);
            arguments.push(o);
        }
    }
    for &m in &cluster.members {
        let mut operands = Vec::with_capacity(module[m].operands.len());
        for o in module[m].operands.clone() {
            let copy = match copies.get(&o) {
                Some(&copy) => copy,
                None => {
                    let copy = copy_of(module, o, computation, Vec::new());
                    copies.insert(o, copy);
                    copy
                }
            };
            operands.push(copy);
        }
        let copy = copy_of(module, m, computation, operands);
        copies.insert(m, copy);
    }
    let results: Vec<InstrId> = cluster.roots.iter().filter_map(|r| copies.get(r)).copied().collect();
    let root = match results.as_slice() {
        [one] => *one,
        several => {
            let shape = Shape::Tuple(several.iter().map(|&r| module[r].shape.clone()).collect());
            let name = module.unique_name("tuple");
            module.add(computation, &name, shape, Op::Tuple, several.iter().copied())
        }
    };
    module.set_root(computation, root);
    arguments
}

fn copy_of(module: &mut Module, id: InstrId, to: ComputationId, operands: Vec<InstrId>) -> InstrId {
    let base = module[id].name.clone();
    let name = module.unique_name(&base);
    clone_instruction(module, id, to, &name, operands)
}
