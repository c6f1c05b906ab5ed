//! `convert-async-collectives-to-sync`: replaces asynchronous collectives by synchronous ones if no other
//! work runs in the meantime.
//!
//! ```text
//! s = f32[4] all-reduce-start(x), …    →    s = f32[4] all-reduce(x), …
//! d = f32[4] all-reduce-done(s)
//! ```
//!
//! The module must be scheduled. Between the start and the done, there may only be starts and dones of other
//! collectives, and instructions that take no time. These are parameters, constants, tuples, tuple elements
//! and bitcasts.

use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use hlo_passes::support::expander::rename_control_predecessors;
use hlo_passes::{PassInfo, Rewrites, Schedule};
use std::collections::{HashMap, HashSet};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "convert-async-collectives-to-sync",
    summary: "make asynchronous collectives synchronous if nothing else runs during them",
    schedule: Schedule::Needed,
    example: "\
HloModule convert_async_collectives_to_sync, is_scheduled=true

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  start = f32[4] all-reduce-start(x), replica_groups={}, to_apply=add
  ROOT done = f32[4] all-reduce-done(start)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut gone = Vec::new();
    let mut starts = HashMap::new();
    for c in module.computations().collect::<Vec<_>>() {
        for (start, done) in pairs(module, c) {
            if rewrites.allowed() && synchronous(module, start).is_some() {
                rewrites.made("wait", &module[start].name);
                wait(module, start, done);
                starts.insert(done, start);
                gone.push(done);
            }
        }
    }
    if !gone.is_empty() {
        // The start is now the whole operation, so instructions that waited for the done wait for the start.
        rename_control_predecessors(module, &starts);
        module.remove_all(&gone);
    }
    Ok(!gone.is_empty())
}

/// Returns the starts and dones of collectives between which no other work runs.
fn pairs(module: &Module, computation: ComputationId) -> Vec<(InstrId, InstrId)> {
    let mut under_way: HashSet<InstrId> = HashSet::new();
    let mut out = Vec::new();
    for &id in module[computation].instructions() {
        match module[id].op {
            Op::AllGatherStart(_) | Op::AllReduceStart(_) | Op::CollectivePermuteStart(_) => {
                under_way.insert(id);
            }
            Op::AllGatherDone | Op::AllReduceDone | Op::CollectivePermuteDone => {
                let start = module[id].operands.first().copied();
                out.extend(start.filter(|s| under_way.remove(s)).map(|start| (start, id)));
            }
            Op::Parameter(_) | Op::Constant(_) | Op::Tuple | Op::GetTupleElement(_) | Op::Bitcast => {}
            _ => under_way.clear(),
        }
    }
    out
}

/// Returns the synchronous operation for a start.
fn synchronous(module: &Module, start: InstrId) -> Option<Op> {
    // The result of the start changes, so only the done may use it.
    let alone = module.users(start).len() == 1 && !module.is_root(start);
    match &module[start].op {
        _ if !alone => None,
        Op::AllGatherStart(a) => Some(Op::AllGather(a.clone())),
        Op::AllReduceStart(a) => Some(Op::AllReduce(a.clone())),
        Op::CollectivePermuteStart(a) => Some(Op::CollectivePermute(a.clone())),
        _ => None,
    }
}

/// Replaces the start by the synchronous operation.
fn wait(module: &mut Module, start: InstrId, done: InstrId) {
    let Some(op) = synchronous(module, start) else { return };
    let shape = module[done].shape.clone();
    module.set_operands(done, []);
    module.set_op(start, op);
    module.set_shape(start, shape);
    module.replace_all_uses_with(done, start);
}
