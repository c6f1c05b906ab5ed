//! `fusion`: combines instructions that can share one loop into fusions, each of which becomes one kernel.
//!
//! ```text
//! a = f32[8] add(x, y)                 fused_computation { p0 = f32[8] parameter(0)  p1 = f32[8] parameter(1)
//! ROOT n = f32[8] negate(a)       →      a = f32[8] add(p0, p1)
//!                                        ROOT n = f32[8] negate(a) }
//!                                      ROOT f = f32[8] fusion(x, y), kind=kLoop, calls=fused_computation
//! ```
//!
//! The pass fuses elementwise operations, broadcasts, reshapes, transposes, slices, pads, concatenations,
//! iotas, reverses, dynamic slices, gathers and scalar constants. It fuses them into each other, into
//! reductions (`kind=kInput`) and into in-place updates. A loop may have several results of the same sizes.
//! Reductions of rows are fused with the elementwise work around them. Each fusion that needs a cheap value
//! recomputes it. Expensive values are never recomputed.

mod cluster;
mod clusters;
mod cost;
mod emit;
mod order;
mod plan;
mod rows;

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::effects::{Effects, control_dependent, remove_taken, take_unused};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, Module, Op};
use std::collections::{BTreeSet, HashSet};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "fusion",
    summary: "combine instructions that can share a loop into fusions",
    options: &[OptionInfo {
        name: "multi-output",
        summary: "whether a fusion may have several results",
        default: OptionValue::Switch(true),
    }],
    example: "\
HloModule fusion

ENTRY e {
  x = f32[4,8] parameter(0)
  y = f32[8] parameter(1)
  rows = f32[4,8] broadcast(y), dimensions={1}
  sum = f32[4,8] add(x, rows)
  ROOT r = f32[4,8] tanh(sum)
}
",
    build: |_, options| {
        let multi_output = options.switch("multi-output");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, multi_output, rewrites)))
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, multi_output: bool, rewrites: &mut Rewrites) -> bool {
    let mut namer = ComputationNamer::new(module);
    let (effects, pinned) = (Effects::of(module), control_dependent(module));
    let mut changed = false;
    let mut gone = BTreeSet::new();
    for c in control_computations(module) {
        let clusters = plan::plan(module, c, &pinned, multi_output);
        let mut replaced = Vec::new();
        for cluster in &clusters {
            if !rewrites.allowed() {
                break;
            }
            let first = cluster.members.first().map_or(String::new(), |&i| module[i].name.to_string());
            if emit::emit(module, &mut namer, cluster) {
                rewrites.made("fuse", &first);
                replaced.extend(cluster.members.iter().copied());
            }
        }
        changed |= !replaced.is_empty();
        // Every fusion contains its own scalar constants.
        let constants =
            module[c].instructions().iter().copied().filter(|&i| cost::is_scalar_constant(module, i));
        replaced.extend(constants.collect::<Vec<_>>());
        for id in replaced {
            take_unused(module, &effects, &pinned, id, &mut gone);
        }
    }
    remove_taken(module, gone) || changed
}

/// Returns the entry and the computations that control flow runs from it: loop bodies and conditions,
/// branches and calls. Fusions and functions applied to elements are not included.
fn control_computations(module: &Module) -> Vec<ComputationId> {
    let mut seen = HashSet::from([module.entry()]);
    let mut out = vec![module.entry()];
    let mut next = 0;
    while let Some(&c) = out.get(next) {
        next += 1;
        for &i in module[c].instructions() {
            if matches!(module[i].op, Op::Call(_) | Op::While(_) | Op::Conditional(_)) {
                out.extend(module[i].op.called_computations().into_iter().filter(|&c| seen.insert(c)));
            }
        }
    }
    out
}
