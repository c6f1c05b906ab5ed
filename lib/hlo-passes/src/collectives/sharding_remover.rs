//! `sharding-remover`: removes custom calls that only specify a sharding.
//!
//! ```text
//! s = f32[4] custom-call(x), custom_call_target="Sharding", …    →    x
//! ```
//!
//! These are `Sharding`, `SPMDFullToShardShape`, `SPMDShardToFullShape`, `ShardBarrierFrom` and
//! `ShardBarrierTo`. They do nothing if the program is not partitioned. The operand gets the sharding of the
//! call unless it has one. Calls that change the shape or the layout, and those with control dependencies,
//! stay unchanged.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::effects::control_dependent;
use crate::support::rewrite::same_layout;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "sharding-remover",
    summary: "remove custom calls that only specify a sharding",
    example: "\
HloModule sharding_remover

ENTRY e {
  x = f32[4] parameter(0)
  s = f32[4] custom-call(x), custom_call_target=\"Sharding\", sharding={replicated}
  ROOT n = f32[4] negate(s)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// The targets of these calls.
const TARGETS: [&str; 5] =
    ["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "ShardBarrierFrom", "ShardBarrierTo"];

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let mut gone = Vec::new();
    for c in module.computations().collect::<Vec<_>>() {
        for id in module.post_order(c) {
            let Some(operand) = marked(module, id).filter(|_| !pinned.contains(&id) && rewrites.allowed())
            else {
                continue;
            };
            rewrites.made("remove", &module[id].name);
            let sharding = module[id].sharding().cloned();
            let own = module[operand].sharding().is_some();
            if let Some(sharding) = sharding.filter(|_| !own) {
                module.common_mut(operand).sharding = Some(sharding);
            }
            module.replace_all_uses_with(id, operand);
            gone.push(id);
        }
    }
    module.remove_all(&gone);
    Ok(!gone.is_empty())
}

/// Returns the operand of such a call.
fn marked(module: &Module, id: InstrId) -> Option<InstrId> {
    let Op::CustomCall(a) = &module[id].op else { return None };
    let &[operand] = &module[id].operands[..] else { return None };
    let (from, to) = (&module[operand].shape, &module[id].shape);
    let same = from.compatible(to) && same_layout(from, to);
    (same && TARGETS.iter().any(|t| a.custom_call_target == **t)).then_some(operand)
}
