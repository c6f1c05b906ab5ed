//! `hlo-descheduler`: removes the schedule, so that the order of instructions has no meaning.
//!
//! ```text
//! HloModule m, is_scheduled=true    →    HloModule m
//! ```

use hlo_ir::Module;
use hlo_ir::diag::Diag;
use hlo_passes::{PassInfo, Rewrites, Schedule};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "hlo-descheduler",
    summary: "remove the schedule",
    schedule: Schedule::Own,
    example: "\
HloModule hlo_descheduler, is_scheduled=true

ENTRY e {
  x = f32[] parameter(0)
  ROOT n = f32[] negate(x)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    Ok(deschedule(module))
}

/// Removes the schedule. Returns whether there was one.
pub(crate) fn deschedule(module: &mut Module) -> bool {
    std::mem::take(&mut module.header.is_scheduled)
}
