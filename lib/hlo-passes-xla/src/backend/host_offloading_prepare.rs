//! `host-offloading-prepare-elide-move-to-host`: removes moves to the host before computations on the host.
//!
//! ```text
//! h = custom-call(x), custom_call_target="MoveToHost"    →    s = … call-start(x), async_execution_thread="host", …
//! s = … call-start(h), async_execution_thread="host", …
//! ```
//!
//! If an operand of an asynchronous call on the thread `host` is a `MoveToHost`, all its users use the moved
//! value instead. Moves with control dependencies are kept.

use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::rewrite::same_layout;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::BTreeSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "host-offloading-prepare-elide-move-to-host",
    summary: "remove moves to the host from the operands of host computations",
    example: "\
HloModule host_offloading_prepare

f {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p)
}, execution_thread=\"host\"

ENTRY e {
  x = f32[4] parameter(0)
  h = f32[4] custom-call(x), custom_call_target=\"MoveToHost\"
  s = ((f32[4]), f32[4], u32[]) call-start(h), async_execution_thread=\"host\", to_apply=f
  ROOT d = f32[4] call-done(s)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let mut gone = BTreeSet::new();
    for c in module.computations().collect::<Vec<_>>() {
        for id in module[c].instructions().to_vec() {
            if !is_host_call(module, id) {
                continue;
            }
            for operand in module[id].operands.clone() {
                let Some(moved) = moved_to_host(module, operand) else { continue };
                if gone.contains(&operand) || pinned.contains(&operand) || !rewrites.allowed() {
                    continue;
                }
                rewrites.made("elide-move", &module[operand].name);
                module.replace_all_uses_with(operand, moved);
                gone.insert(operand);
            }
        }
    }
    let gone: Vec<InstrId> = gone.into_iter().collect();
    module.remove_all(&gone);
    Ok(!gone.is_empty())
}

/// Checks whether an instruction starts an asynchronous call on the host.
fn is_host_call(module: &Module, id: InstrId) -> bool {
    let Op::AsyncStart(a) = &module[id].op else { return false };
    let wrapped = a.calls.filter(|&c| module.has_root(c)).map(|c| &module[module[c].root()].op);
    a.async_execution_thread.as_ref().is_some_and(|t| *t == "host") && matches!(wrapped, Some(Op::Call(_)))
}

/// Returns the operand of a move to the host.
fn moved_to_host(module: &Module, id: InstrId) -> Option<InstrId> {
    let Op::CustomCall(a) = &module[id].op else { return None };
    let [moved] = module[id].operands[..] else { return None };
    (a.custom_call_target == "MoveToHost" && same_layout(&module[moved].shape, &module[id].shape))
        .then_some(moved)
}
