//! `async-collective-creator`: splits a collective into a start and a done, between which other work can run.
//!
//! ```text
//! r = f32[4] all-reduce(x), …    →    s = f32[4] all-reduce-start(x), …
//!                                     r = f32[4] all-reduce-done(s)
//! ```
//!
//! All-reduces, all-gathers and permutes have start opcodes of their own. Other collectives are wrapped in an
//! `async-start`. Instructions that wait for the collective wait for the done, and the start waits for the
//! collective's predecessors. In-place permutes, and collectives in computations that are started or fused,
//! stay unchanged. `convert-async-collectives-to-sync` reverts the split where a schedule has nothing to run
//! in between.

use hlo_ir::attr::{AsyncDoneAttrs, AsyncStartAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use hlo_passes::support::expander::{Emitter, expand_all};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites};
use std::collections::HashSet;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "async-collective-creator",
    summary: "split collectives into a start and a done instruction, so that other work can run between",
    options: &[
        OptionInfo {
            name: "min-bytes",
            summary: "minimum result bytes of the all-reduces, all-gathers and reduce-scatters to split",
            default: OptionValue::Count(0),
        },
        OptionInfo {
            name: "generic",
            summary: "whether to use `async-start` for all collectives",
            default: OptionValue::Switch(false),
        },
    ],
    example: "\
HloModule async_collective_creator, replica_count=2

ENTRY e {
  x = f32[4] parameter(0)
  g = f32[8] all-gather(x), replica_groups={}, dimensions={0}
  ROOT r = f32[8] all-to-all(g), replica_groups={}, dimensions={0}
}
",
    build: |_, options| {
        let (least, generic) = (options.count("min-bytes"), options.switch("generic"));
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| run(module, least, generic, rewrites))
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, least: u64, generic: bool, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut inner: HashSet<ComputationId> = HashSet::new();
    for c in module.computations() {
        for &id in module[c].instructions() {
            let op = &module[id].op;
            if matches!(op, Op::AsyncStart(_) | Op::AsyncUpdate(_) | Op::AsyncDone(_) | Op::Fusion(_)) {
                inner.extend(op.called_computations());
            }
        }
    }
    let expand = |e: &mut Emitter<'_>, id: InstrId| {
        let stays = inner.contains(&e.module[id].parent) || is_small(e.module, id, least);
        (!stays).then(|| split(e, id, generic))?
    };
    Ok(expand_all(module, "split", is_collective, expand, rewrites))
}

fn is_collective(op: &Op) -> bool {
    match op {
        Op::CollectivePermute(a) => a.slice_sizes.0.is_empty(),
        Op::AllGather(_)
        | Op::AllReduce(_)
        | Op::AllToAll(_)
        | Op::CollectiveBroadcast(_)
        | Op::RaggedAllToAll(_)
        | Op::ReduceScatter(_) => true,
        _ => false,
    }
}

/// Returns whether the instruction is a reduction or an all-gather with results of fewer than `least` bytes.
fn is_small(module: &Module, id: InstrId, least: u64) -> bool {
    let counts = matches!(module[id].op, Op::AllGather(_) | Op::AllReduce(_) | Op::ReduceScatter(_));
    let leaves = module[id].shape.leaves();
    let bytes = leaves.into_iter().filter_map(|s| s.as_array()).map(|a| a.byte_size() as u64);
    counts && bytes.fold(0, u64::saturating_add) < least
}

fn split(e: &mut Emitter<'_>, id: InstrId, generic: bool) -> Option<InstrId> {
    let (operands, result, op) = (e.module[id].operands.to_vec(), e.shape(), e.module[id].op.clone());
    let shapes: Vec<Shape> = operands.iter().map(|&o| e.module[o].shape.clone()).collect();
    let given = || match &shapes[..] {
        [one] => one.clone(),
        _ => Shape::tuple(shapes.clone()),
    };
    let (shape, start, done) = match op {
        Op::AllReduce(a) if !generic => (result.clone(), Op::AllReduceStart(a), Op::AllReduceDone),
        Op::AllGather(a) if !generic => {
            (Shape::tuple(vec![given(), result.clone()]), Op::AllGatherStart(a), Op::AllGatherDone)
        }
        Op::CollectivePermute(a) if !generic => {
            let shape = Shape::tuple(vec![given(), result.clone()]);
            (shape, Op::CollectivePermuteStart(a), Op::CollectivePermuteDone)
        }
        op => {
            let calls = e.computation("async_computation", |e| {
                let parameters: Vec<InstrId> =
                    shapes.iter().enumerate().map(|(n, s)| e.parameter(n, s.clone())).collect();
                Some(e.add(result.clone(), op, &parameters))
            })?;
            let attrs = AsyncStartAttrs { calls: Some(calls), ..AsyncStartAttrs::default() };
            let shape = Shape::tuple(vec![Shape::tuple(shapes.clone()), result.clone()]);
            (shape, Op::AsyncStart(attrs), Op::AsyncDone(AsyncDoneAttrs::default()))
        }
    };
    let start = e.add(shape, start, &operands);
    let done = e.add(result, done, &[start]);
    let Some(common) = e.module[id].common.as_deref().cloned() else { return Some(done) };
    for half in [start, done] {
        let new = e.module.common_mut(half);
        new.backend_config = common.backend_config.clone();
        new.frontend_attributes = common.frontend_attributes.clone();
    }
    Some(done)
}
