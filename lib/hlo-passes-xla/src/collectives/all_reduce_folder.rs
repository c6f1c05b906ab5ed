//! `all-reduce-folder`: replaces an all-reduce of an all-reduce by a single one over the devices of both.
//!
//! ```text
//! a = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, …
//! b = f32[4] all-reduce(a), replica_groups={{0,2},{1,3}}, …    →    b = f32[4] all-reduce(x), replica_groups={{0,1,2,3}}, …
//! ```
//!
//! Both must combine replicas by the same operation. Each replica must receive each value exactly once, and
//! the first all-reduce must have no other users. All-reduces with control dependencies, shardings or a
//! `backend_config` stay unchanged.

use hlo_ir::attr::{AllReduceAttrs, ReplicaGroups};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::device_groups::{MAX_DEVICES, is_marked, rewrite_each, same_all_reduce};
use hlo_passes::{PassInfo, Preservation, Rewrites};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all-reduce-folder",
    summary: "merge an all-reduce of an all-reduce into one",
    // The same values are added in another order.
    keeps: Preservation::Values,
    example: "\
HloModule all_reduce_folder, replica_count=4

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add
  ROOT b = f32[4] all-reduce(a), replica_groups={{0,2},{1,3}}, to_apply=add
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    // Inner all-reduces come first, so a folded one can be folded again into its user.
    Ok(rewrite_each(module, rewrites, |module, id, pinned, rewrites| {
        let Some((inner, groups)) = foldable(module, id, pinned) else { return Vec::new() };
        rewrites.made("fold", &module[id].name);
        let operands = module[inner].operands.to_vec();
        module.set_operands(id, operands);
        if let Op::AllReduce(a) = module.op_mut(id) {
            a.replica_groups = ReplicaGroups::Lists(groups);
        }
        vec![inner]
    }))
}

/// Returns the inner all-reduce and the combined groups, if they can be folded.
fn foldable(module: &Module, id: InstrId, pinned: &HashSet<InstrId>) -> Option<(InstrId, Vec<Vec<i64>>)> {
    let plain =
        |i: InstrId| !pinned.contains(&i) && !is_marked(module, i) && module[i].shape.as_array().is_some();
    let Op::AllReduce(outer) = &module[id].op else { return None };
    let &[inner] = &module[id].operands[..] else { return None };
    let Op::AllReduce(first) = &module[inner].op else { return None };
    let of_replicas =
        |a: &AllReduceAttrs| a.channel_id.is_none() && !a.use_global_device_ids && !a.constrain_layout;
    let single = module[inner].operands.len() == 1 && module.users(inner) == [id] && !module.is_root(inner);
    let with_groups_of = AllReduceAttrs { replica_groups: outer.replica_groups.clone(), ..(**first).clone() };
    let agree = of_replicas(outer) && of_replicas(first) && same_all_reduce(module, outer, &with_groups_of);
    if !(agree && single && plain(id) && plain(inner)) {
        return None;
    }
    let groups = |a: &AllReduceAttrs| {
        if a.replica_groups.is_empty() { None } else { a.replica_groups.expand(MAX_DEVICES).ok() }
    };
    Some((inner, folded(&groups(first)?, &groups(outer)?)?))
}

/// Returns the combined groups of replicas, if each replica receives each value exactly once.
pub fn folded(first: &[Vec<i64>], second: &[Vec<i64>]) -> Option<Vec<Vec<i64>>> {
    let mut of: HashMap<i64, usize> = HashMap::new();
    for (number, group) in first.iter().enumerate() {
        for &r in group {
            if of.insert(r, number).is_some() {
                return None;
            }
        }
    }
    // The groups of `first` whose values are combined by a group of `second`.
    let mut met: BTreeSet<Vec<usize>> = BTreeSet::new();
    let mut covered: HashSet<i64> = HashSet::new();
    for group in second {
        let mut numbers = group.iter().map(|r| of.get(r).copied()).collect::<Option<Vec<_>>>()?;
        numbers.sort_unstable();
        // A group that appears twice would count its values twice.
        if numbers.is_empty() || numbers.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        met.insert(numbers);
        covered.extend(group);
    }
    // All participants must receive the same result, and each replica that contributes a value must receive
    // it.
    let mut seen = HashSet::new();
    if !met.iter().flatten().all(|number| seen.insert(*number)) {
        return None;
    }
    let members = |numbers: &Vec<usize>| {
        let mut all: Vec<i64> = numbers.iter().flat_map(|&n| first[n].iter().copied()).collect();
        all.sort_unstable();
        all
    };
    let mut groups: Vec<Vec<i64>> = met.iter().map(members).collect();
    groups.sort_unstable();
    groups.iter().flatten().all(|r| covered.contains(r)).then_some(groups)
}
