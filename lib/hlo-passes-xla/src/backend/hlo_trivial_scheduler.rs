//! `hlo-trivial-scheduler`: makes the post-order of each computation its schedule.
//!
//! ```text
//! HloModule m    →    HloModule m, is_scheduled=true
//! ```
//!
//! The pass keeps an existing schedule.

use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::effects::Effects;
use hlo_passes::{PassInfo, Rewrites, Schedule};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "hlo-trivial-scheduler",
    summary: "use the post-order of each computation as its schedule",
    schedule: Schedule::Own,
    example: "\
HloModule hlo_trivial_scheduler

ENTRY e {
  x = f32[] parameter(0)
  ROOT n = f32[] negate(x)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    if module.header.is_scheduled {
        return Ok(false);
    }
    let effects = Effects::of(module);
    for c in module.computations().collect::<Vec<_>>() {
        let order = effects.order(module, c);
        module.set_order(c, order);
    }
    module.header.is_scheduled = true;
    Ok(true)
}
