//! `hlo-memory-scheduler`: schedules each computation to minimize its peak memory.
//!
//! ```text
//! HloModule m    →    HloModule m, is_scheduled=true
//! ```
//!
//! Code generation uses the same order for a module without a schedule (`hlo_analysis::schedule`). The pass
//! keeps an existing schedule.

use hlo_analysis::Roles;
use hlo_analysis::schedule::schedule;
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::effects::Effects;
use hlo_passes::{PassInfo, Rewrites, Schedule};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "hlo-memory-scheduler",
    summary: "schedule each computation to reduce its peak memory",
    schedule: Schedule::Own,
    example: "\
HloModule hlo_memory_scheduler

ENTRY e {
  x = f32[] parameter(0)
  a = f32[1000] broadcast(x), dimensions={}
  b = f32[1000] negate(a)
  first = f32[1] slice(b), slice={[0:1]}
  c = f32[1000] broadcast(x), dimensions={}
  d = f32[1000] exponential(c)
  second = f32[1] slice(d), slice={[0:1]}
  ROOT r = f32[1] add(first, second)
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
    let mut orders = schedule(module, &effects, &Roles::of(module));
    for c in module.computations().collect::<Vec<_>>() {
        // Fusions and computations applied to elements have no memory to schedule.
        let order = orders.remove(&c).unwrap_or_else(|| effects.order(module, c));
        module.set_order(c, order);
    }
    module.header.is_scheduled = true;
    Ok(true)
}
