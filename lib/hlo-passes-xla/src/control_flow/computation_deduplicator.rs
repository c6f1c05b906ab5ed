//! `computation-deduplicator`: redirects calls of computations with equal bodies to the first of them.
//!
//! ```text
//! a = call(x), to_apply=f               a = call(x), to_apply=f
//! b = call(x), to_apply=g          →    b = call(x), to_apply=f
//! ```
//!
//! The computations of fusions and asynchronous operations are not merged, because each must have exactly one
//! caller.

use hlo_ir::diag::Diag;
use hlo_ir::{Module, Op};
use hlo_passes::parts::equal_computations;
use hlo_passes::support::clone::set_callee;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "computation-deduplicator",
    summary: "redirect calls of computations with equal bodies to one of them",
    example: "\
HloModule computation_deduplicator

f {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

g {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY e {
  x = f32[4,8] parameter(0)
  zero = f32[] constant(0)
  rows = f32[4] reduce(x, zero), dimensions={1}, to_apply=f
  ROOT all = f32[] reduce(rows, zero), dimensions={0}, to_apply=g
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let same = equal_computations(module);
    let entry = module.entry();
    // The computation of a fusion or an asynchronous operation must not get a second caller or lose its only
    // one.
    let mut owned = HashSet::from([entry]);
    for c in module.computations() {
        for &i in module[c].instructions() {
            if matches!(
                module[i].op,
                Op::Fusion(_) | Op::AsyncStart(_) | Op::AsyncUpdate(_) | Op::AsyncDone(_)
            ) {
                owned.extend(module[i].op.called_computations());
            }
        }
    }
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        for i in module[c].instructions().to_vec() {
            for (n, callee) in module[i].op.called_computations().into_iter().enumerate() {
                let Some(&first) = same.get(&callee) else { continue };
                if owned.contains(&callee) || owned.contains(&first) || !rewrites.allowed() {
                    continue;
                }
                rewrites.made("call-the-first", &module[i].name);
                set_callee(module.op_mut(i), n, first);
                changed = true;
            }
        }
    }
    let called: HashSet<_> = module
        .computations()
        .flat_map(|c| module[c].instructions().iter().flat_map(|&i| module[i].op.called_computations()))
        .collect();
    for c in module.computations().collect::<Vec<_>>() {
        if changed && same.contains_key(&c) && !called.contains(&c) && !owned.contains(&c) {
            module.remove_computation(c);
        }
    }
    Ok(changed)
}
