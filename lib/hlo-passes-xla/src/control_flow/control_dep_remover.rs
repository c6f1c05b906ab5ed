//! `control-dep-remover`: removes control dependencies.
//!
//! ```text
//! ROOT b = f32[] negate(x), control-predecessors={a}    →    ROOT b = f32[] negate(x)
//! ```
//!
//! A dependency stays if it orders effects. This is the case if the predecessor, or an instruction before it,
//! has an effect, and so does the successor or an instruction after it.

use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module};
use hlo_passes::support::effects::{Effects, is_impure};
use hlo_passes::{PassInfo, Rewrites};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "control-dep-remover",
    summary: "remove control dependencies that do not order effects",
    example: "\
HloModule control_dep_remover

ENTRY e {
  x = f32[] parameter(0)
  a = f32[] abs(x)
  b = f32[] negate(x), control-predecessors={a}
  ROOT s = f32[] add(a, b)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    Ok(remove(module, rewrites))
}

/// Removes control dependencies that do not order effects. Returns whether the module changed.
pub(crate) fn remove(module: &mut Module, rewrites: &mut Rewrites) -> bool {
    let effects = Effects::of(module);
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        let (after, before) = around_effects(module, &effects, c);
        for i in module[c].instructions().to_vec() {
            if module[i].control_predecessors().is_empty() {
                continue;
            }
            let mut list = std::mem::take(&mut module.common_mut(i).control_predecessors);
            list.retain(|p| {
                let stays = after.contains(p) && before.contains(&i) || !rewrites.allowed();
                if !stays {
                    rewrites.made("remove", &module[i].name);
                    changed = true;
                }
                stays
            });
            module.common_mut(i).control_predecessors = list;
        }
    }
    changed
}

/// Returns two sets: the effects with all instructions after them, and the effects with all instructions
/// before them.
fn around_effects(
    module: &Module,
    effects: &Effects,
    computation: ComputationId,
) -> (HashSet<InstrId>, HashSet<InstrId>) {
    let order = module.post_order(computation);
    let effect = |i: InstrId| is_impure(&module[i].op) || effects.has(module, i);
    let needs = |i: InstrId| module[i].operands.iter().chain(module[i].control_predecessors()).copied();
    let (mut after, mut before) = (HashSet::new(), HashSet::new());
    for &i in &order {
        if effect(i) || needs(i).any(|p| after.contains(&p)) {
            after.insert(i);
        }
    }
    for &i in order.iter().rev() {
        if effect(i) || before.contains(&i) {
            before.insert(i);
            before.extend(needs(i));
        }
    }
    (after, before)
}
