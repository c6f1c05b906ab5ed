//! `sharding-propagation`: derives shardings for values from those that the text contains.
//!
//! ```text
//! x = f32[8,4] parameter(0), sharding={devices=[2,1]<=[2]}         x = …, sharding={devices=[2,1]<=[2]}
//! n = f32[8,4] negate(x)                                      →    n = f32[8,4] negate(x), sharding={devices=[2,1]<=[2]}
//! ```
//!
//! If dimensions of operands and of the result of an operation belong to the same factor, they are split
//! alike. The pass propagates a split from each value to the others, and combines the splits of several
//! values as far as the devices allow. It does not change shardings that the text contains. Shardings also
//! propagate into and out of loops, branches and calls. Their computations need a single caller, so the pass
//! copies shared ones.
//!
//! Parameters and the result of the program get a sharding if `allow_spmd_sharding_propagation_to_parameters`
//! and `…_to_output` allow it, along dimensions that it splits evenly. Otherwise they are replicated.

mod links;
mod state;

use super::tilings::tilings;
use crate::control_flow::flatten_call_graph::flatten_control_flow;
use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use hlo_ir::Module;
use hlo_ir::diag::Diag;
pub(in crate::partitioning) use links::forwards_device_array;
use state::State;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "sharding-propagation",
    summary: "derive the shardings of values from those that the module specifies",
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
    state.propagate(module);
    Ok(state.write(module) || flattened)
}
