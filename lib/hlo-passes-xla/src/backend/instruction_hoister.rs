//! `instruction-hoister`: moves constants and parameters to the beginning of the schedule.
//!
//! ```text
//! a = f32[8] abs(x)                 two = f32[8] constant({…})
//! y = f32[8] parameter(1)           x = f32[8] parameter(0)
//! two = f32[8] constant({…})   →    y = f32[8] parameter(1)
//! …                                 a = f32[8] abs(x)
//! ```
//!
//! This gives prefetching the most time. Parameters are not moved if the last one is preceded only by
//! instructions without code: constants, tuples, their elements and bitcasts. Modules without a schedule and
//! computations of fusions are not changed. If a constant has control dependencies, no constant of its
//! computation is moved. If a parameter has control predecessors, no parameter of its computation is moved.
//! XLA drops these dependencies instead.

use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::fusions::fused_computations;
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites, Schedule};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "instruction-hoister",
    summary: "move constants and parameters to the front of the schedule",
    options: &[
        OptionInfo {
            name: "parameters",
            summary: "whether to move parameters",
            default: OptionValue::Switch(true),
        },
        OptionInfo {
            name: "constants",
            summary: "whether to move constants",
            default: OptionValue::Switch(true),
        },
    ],
    schedule: Schedule::Needed,
    example: "\
HloModule instruction_hoister, is_scheduled=true

ENTRY e {
  x = f32[] parameter(0)
  a = f32[] abs(x)
  y = f32[] parameter(1)
  s = f32[] add(a, y)
  two = f32[] constant(2)
  ROOT m = f32[] multiply(s, two)
}
",
    build: |_, options| {
        let (parameters, constants) = (options.switch("parameters"), options.switch("constants"));
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| -> Result<bool, Diag> {
            Ok(run(module, parameters, constants, rewrites))
        })
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, parameters: bool, constants: bool, rewrites: &mut Rewrites) -> bool {
    let pinned = control_dependent(module);
    let mut changed = false;
    for c in scheduled_computations(module) {
        if parameters && rewrites.allowed() && hoist_parameters(module, c) {
            rewrites.made("hoist-parameters", &module[c].name.clone());
            changed = true;
        }
        if constants && rewrites.allowed() && hoist_constants(module, c, &pinned) {
            rewrites.made("hoist-constants", &module[c].name.clone());
            changed = true;
        }
    }
    changed
}

/// Returns the computations whose instructions have an execution order: all except those of fusions.
pub(super) fn scheduled_computations(module: &Module) -> Vec<ComputationId> {
    let fused = fused_computations(module);
    module.computations().filter(|c| !fused.contains(c)).collect()
}

/// Moves the parameters, sorted by number, before all other instructions.
fn hoist_parameters(module: &mut Module, c: ComputationId) -> bool {
    let parameters = module.parameters(c);
    let is_parameter = |i: InstrId| matches!(module[i].op, Op::Parameter(_));
    let order = module[c].instructions();
    let last = order.iter().rposition(|&i| is_parameter(i)).unwrap_or(0);
    let no_code = |i: InstrId| {
        let op = &module[i].op;
        matches!(op, Op::GetTupleElement(_) | Op::Tuple | Op::Constant(_) | Op::Bitcast) || is_parameter(i)
    };
    let waits = |i: InstrId| !module[i].control_predecessors().is_empty();
    if order.iter().take(last).all(|&i| no_code(i)) || parameters.iter().any(|&p| waits(p)) {
        return false;
    }
    let others = order.iter().copied().filter(|&i| !is_parameter(i));
    let order = parameters.iter().copied().chain(others).collect();
    module.set_order(c, order);
    true
}

/// Moves the constants before all other instructions.
fn hoist_constants(module: &mut Module, c: ComputationId, pinned: &HashSet<InstrId>) -> bool {
    let order = module[c].instructions();
    let is_constant = |i: &InstrId| matches!(module[*i].op, Op::Constant(_));
    let (constants, others): (Vec<InstrId>, Vec<InstrId>) = order.iter().partition(|i| is_constant(i));
    if constants.iter().any(|i| pinned.contains(i)) || order.starts_with(&constants) {
        return false;
    }
    module.set_order(c, constants.into_iter().chain(others).collect());
    true
}
