//! `despecializer`: removes what was added for a specific backend: the schedule, control dependencies and
//! fusions.
//!
//! ```text
//! f { p = f32[] parameter(0)                       ENTRY e { x = f32[] parameter(0)
//!     ROOT n = f32[] negate(p) }              →              ROOT n = f32[] negate(x) }
//! ENTRY e { x = f32[] parameter(0)
//!           ROOT r = f32[] fusion(x), …, calls=f }
//! ```
//!
//! It runs `hlo-descheduler`, `control-dep-remover` and `defuser`, in this order.

use super::control_dep_remover;
use crate::backend::hlo_descheduler;
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_passes::parts::defuse;
use hlo_passes::{PassInfo, Rewrites, Schedule};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "despecializer",
    summary: "remove what was added for one backend: schedule, control dependencies, fusions",
    schedule: Schedule::Own,
    example: "\
HloModule despecializer, is_scheduled=true

f {
  p = f32[] parameter(0)
  ROOT n = f32[] negate(p)
}

ENTRY e {
  x = f32[] parameter(0)
  a = f32[] abs(x)
  b = f32[] fusion(x), kind=kLoop, calls=f, control-predecessors={a}
  ROOT s = f32[] add(a, b)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = hlo_descheduler::deschedule(module);
    changed |= control_dep_remover::remove(module, rewrites);
    changed |= defuse(module, false, rewrites);
    Ok(changed)
}
