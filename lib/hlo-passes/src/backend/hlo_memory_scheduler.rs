//! `hlo-memory-scheduler`: gives each computation the order that needs the least memory at its peak.
//!
//! ```text
//! HloModule m    →    HloModule m, is_scheduled=true
//! ```
//!
//! Three orders are tried: the post-order, depth first along what needs most, and a list schedule that always runs
//! next what frees most. The one with the lowest peak wins, the first of these where several have it. Effects and
//! control dependencies keep their order. A schedule that is there stays.

mod graph;

use crate::analysis::ModuleLiveness;
use crate::support::roles::Roles;
use crate::{PassInfo, Rewrites, Schedule};
use graph::Graph;
use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_ir::effects::Effects;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "hlo-memory-scheduler",
    summary: "schedule each computation such that it needs little memory at its peak",
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
    let roles = Roles::of(module);
    let liveness = ModuleLiveness::of_orders(module, |module, c, called| {
        Graph::new(module, c, effects.order(module, c), &effects, &roles, called).best()
    });
    for c in module.computations().collect::<Vec<_>>() {
        if let Some(found) = liveness.get(c) {
            module.set_order(c, found.order.clone());
        }
    }
    module.header.is_scheduled = true;
    Ok(true)
}
