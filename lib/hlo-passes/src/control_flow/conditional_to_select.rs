//! `conditional-to-select`: replaces conditionals in computations applied to elements by selects between the
//! results of both branches.
//!
//! ```text
//! f { x = f32[] parameter(0)                      f { x = f32[] parameter(0)
//!     p = pred[] compare(x, zero), …                  p = pred[] compare(x, zero), …
//!     ROOT c = f32[] conditional(p, x, x), …  →       n = f32[] negate(x)
//!       true_computation=negative, … }                ROOT s = f32[] select(p, n, x) }
//! ROOT m = f32[8] map(y), to_apply=f              ROOT m = f32[8] map(y), to_apply=f
//! ```
//!
//! Such computations (of a `map`, `reduce`, `sort`, …) run for many elements at once, where branching is more
//! expensive than computing both branches. The pass keeps a conditional in these cases:
//! - it does not have exactly two branches;
//! - it has effects or control dependencies;
//! - a branch contains a custom call or a loop, which may not terminate in the branch that was not taken;
//! - a result is not a static array;
//! - the branches would make the module much larger.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::clone::inlined_size;
use crate::support::conditional::{branches, select_between};
use crate::support::effects::{Effects, control_dependent};
use crate::support::growth::Growth;
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "conditional-to-select",
    summary: "replace conditionals in computations applied to elements by selects",
    example: "\
HloModule conditional_to_select

negative {
  x = f32[] parameter(0)
  ROOT n = f32[] negate(x)
}

positive {
  ROOT x = f32[] parameter(0)
}

absolute {
  x = f32[] parameter(0)
  zero = f32[] constant(0)
  p = pred[] compare(x, zero), direction=LT
  ROOT c = f32[] conditional(p, x, x), true_computation=negative, false_computation=positive
}

ENTRY e {
  x = f32[8] parameter(0)
  ROOT m = f32[8] map(x), dimensions={0}, to_apply=absolute
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// The growth limit: factor of the module's size, and number of instructions that a module may always grow
/// to.
const GROWTH_LIMIT: (u64, u64) = (4, 20_000);

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut growth = Growth::new(module, GROWTH_LIMIT.0, GROWTH_LIMIT.1);
    let effects = Effects::of(module);
    let pinned = control_dependent(module);
    let mut namer = ComputationNamer::new(module);
    let embedded = embedded(module);
    let mut changed = false;
    for c in module.computations_post_order() {
        if !embedded.contains(&c) {
            continue;
        }
        let mut gone = Vec::new();
        for id in module.post_order(c) {
            let candidate = matches!(module[id].op, Op::Conditional(_)) && !pinned.contains(&id);
            if !candidate || !rewrites.allowed() || may_not_terminate(module, id) {
                continue;
            }
            let sides = branches(module, id).unwrap_or_default();
            let size = sides.into_iter().map(|side| inlined_size(module, side.0));
            if !growth.allows(size.fold(0, u64::saturating_add)) {
                continue;
            }
            let Some(value) = select_between(module, &mut namer, &effects, id) else { continue };
            rewrites.made("select", &module[id].name);
            module.replace_all_uses_with(id, value);
            module.set_operands(id, []);
            gone.push(id);
        }
        module.remove_all(&gone);
        changed |= !gone.is_empty();
    }
    Ok(changed)
}

/// Returns the computations that are applied to elements, and all computations that they call.
fn embedded(module: &Module) -> HashSet<ComputationId> {
    let mut out = HashSet::new();
    let mut work = Vec::new();
    for c in module.computations() {
        for &i in module[c].instructions() {
            let applied = !matches!(
                module[i].op,
                Op::Call(_)
                    | Op::While(_)
                    | Op::Conditional(_)
                    | Op::Fusion(_)
                    | Op::AsyncStart(_)
                    | Op::AsyncUpdate(_)
                    | Op::AsyncDone(_)
                    | Op::CustomCall(_)
                    | Op::Scan(_)
            );
            if applied {
                work.extend(module[i].op.called_computations());
            }
        }
    }
    while let Some(c) = work.pop() {
        if out.insert(c) {
            let callees = module[c].instructions().iter().flat_map(|&i| module[i].op.called_computations());
            work.extend(callees);
        }
    }
    out
}

/// Checks whether a branch contains a loop or a custom call.
fn may_not_terminate(module: &Module, id: InstrId) -> bool {
    let mut seen = HashSet::new();
    let mut work: Vec<ComputationId> =
        branches(module, id).unwrap_or_default().into_iter().map(|b| b.0).collect();
    while let Some(c) = work.pop() {
        if !seen.insert(c) {
            continue;
        }
        for &i in module[c].instructions() {
            if matches!(module[i].op, Op::While(_) | Op::CustomCall(_)) {
                return true;
            }
            work.extend(module[i].op.called_computations());
        }
    }
    false
}
