//! `collectives-schedule-linearizer`: makes every device run the collectives of a computation in the same
//! order.
//!
//! ```text
//! a = f32[4] all-reduce(x), …         a = f32[4] all-reduce(x), …
//! b = f32[4] all-reduce(y), …    →    b = f32[4] all-reduce(y), …, control-predecessors={a}
//! ```
//!
//! Each collective gets the previous one, in post-order, as a control predecessor, unless it already depends
//! on it.

use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::{PassInfo, Rewrites};
use std::collections::HashSet;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "collectives-schedule-linearizer",
    summary: "order the collectives of a computation by control dependencies",
    example: "\
HloModule collectives_schedule_linearizer

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  a = f32[4] all-reduce(x), replica_groups={}, to_apply=add
  b = f32[4] all-reduce(x), replica_groups={}, to_apply=add
  ROOT t = f32[4] subtract(a, b)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        let mut before: Option<InstrId> = None;
        // The instructions that depend on the previous collective.
        let mut after: HashSet<InstrId> = HashSet::new();
        for id in module.post_order(c) {
            let control = module[id].control_predecessors();
            let needs = module[id].operands.iter().chain(control).any(|p| after.contains(p));
            if needs {
                after.insert(id);
            }
            if !is_collective(&module[id].op) {
                continue;
            }
            if let Some(before) = before.filter(|_| !needs && rewrites.allowed()) {
                rewrites.made("order", &module[id].name);
                module.common_mut(id).control_predecessors.push(before);
                changed = true;
            }
            before = Some(id);
            after = HashSet::from([id]);
        }
    }
    Ok(changed)
}

/// Returns whether the operation exchanges data between devices, or starts to.
fn is_collective(op: &Op) -> bool {
    matches!(
        op,
        Op::AllGather(_)
            | Op::AllGatherStart(_)
            | Op::AllReduce(_)
            | Op::AllReduceStart(_)
            | Op::AllToAll(_)
            | Op::CollectiveBroadcast(_)
            | Op::CollectivePermute(_)
            | Op::CollectivePermuteStart(_)
            | Op::RaggedAllToAll(_)
            | Op::ReduceScatter(_)
    )
}
