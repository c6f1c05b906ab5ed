//! `sharding-propagation`: gives values the shardings that follow from those that are written.
//!
//! ```text
//! x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}         x = …, sharding={devices=[2,1]<=[2]}
//! n = f32[8,4] negate(x)                                      →    n = f32[8,4] negate(x), sharding={devices=[2,1]<=[2]}
//! ```
//!
//! The operands and the result of an operation that walk a loop together are cut along it alike: a cut goes from each to
//! the others, and what several are cut along adds up as far as the devices allow. A cut that is written stays what it is.
//! Loops, branches and calls hand on what their computations have, each of which must be called from one place: those that
//! several call are copied.
//!
//! Parameters and the result of the program get a sharding where `allow_spmd_sharding_propagation_to_parameters` and
//! `…_to_output` say so, along dimensions that it cuts evenly; else they are whole on each device.

mod links;
mod state;

use super::tilings::tilings;
use crate::control_flow::flatten_call_graph::flatten_control_flow;
use crate::{PassInfo, Rewrites};
use hlo_ir::Module;
use hlo_ir::diag::Diag;
pub(in crate::partitioning) use links::hands_on_as_is;
use state::State;

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "sharding-propagation",
    summary: "give values the shardings that follow from those that are written",
    example: "\
HloModule sharding_propagation, num_partitions=2

ENTRY e {
  x = f32[4,6] parameter(0), sharding={devices=[2,1]<=[2]}
  w = f32[6,8] parameter(1), sharding={replicated}
  d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[8,4] transpose(d), dimensions={1,0}, sharding={devices=[1,2]<=[2]}
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    let Some(devices) = usize::try_from(module.header.num_partitions.0).ok().filter(|&n| n > 1) else {
        return Ok(false);
    };
    for c in module.computations() {
        for &id in module[c].instructions() {
            tilings(module, id, devices)?;
        }
    }
    let annotated = |&id: &hlo_ir::InstrId| module[id].sharding().is_some();
    if !module.computations().any(|c| module[c].instructions().iter().any(annotated)) {
        return Ok(false);
    }
    let flattened = flatten_control_flow(module)?;
    let mut state = State::new(module, devices)?;
    state.settle(module);
    Ok(state.write(module) || flattened)
}
