//! Estimates of the time to interpret a program once and to compile it. They depend only on the program, so
//! they are the same each time.

use hlo_analysis::cost_model::UNKNOWN_TRIP_COUNT;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use hlo_passes::analysis::ModuleCost;
use std::collections::HashMap;
use std::time::Duration;

/// Compile time of LLVM that does not depend on the program.
const COMPILE_BASE_TIME: Duration = Duration::from_millis(50);
/// Compile time of LLVM for each instruction.
const COMPILE_TIME_PER_INSTRUCTION: Duration = Duration::from_micros(500);

/// Time of an interpreted run that does not depend on the program, in seconds.
const RUN_BASE_SECONDS: f64 = 1.5e-5;
/// Time of an interpreted instruction, in seconds.
const SECONDS_PER_INSTRUCTION: f64 = 5e-7;
/// Time of an element operation, in seconds.
const SECONDS_PER_ELEMENT: f64 = 2e-9;
/// Time of a transcendental function, in seconds.
const SECONDS_PER_TRANSCENDENTAL: f64 = 2e-8;
/// Time of reading or writing a byte, in seconds.
const SECONDS_PER_BYTE: f64 = 1e-9;
/// Time of applying a computation to elements, in seconds.
const SECONDS_PER_APPLICATION: f64 = 5e-8;
/// Time of each instruction of an applied computation, for each application, in seconds.
const SECONDS_PER_APPLIED_INSTRUCTION: f64 = 5e-8;

/// Estimates the compile time of a program by LLVM.
pub fn compilation(module: &Module) -> Duration {
    COMPILE_BASE_TIME + COMPILE_TIME_PER_INSTRUCTION * u32::try_from(instructions(module)).unwrap_or(u32::MAX)
}

/// Estimates the time of one interpreted run. Loops with unknown trip counts are assumed to be long. The time
/// of custom calls is not included, because no engine makes them faster.
pub fn interpreted_run(module: &Module) -> Duration {
    let cost = ModuleCost::of(module);
    let total = cost.total(module);
    let elements = total.flops as f64 * SECONDS_PER_ELEMENT
        + total.transcendentals as f64 * SECONDS_PER_TRANSCENDENTAL
        + total.bytes as f64 * SECONDS_PER_BYTE;
    let runs = cost.runs.iter().map(|&(c, n)| n.saturating_mul(module[c].instructions().len() as u64));
    let instructions = runs.fold(instructions(module) as u64, u64::max) as f64 * SECONDS_PER_INSTRUCTION;
    let loops = if cost.unknown_loops.is_empty() { 1.0 } else { UNKNOWN_TRIP_COUNT as f64 };
    let seconds = RUN_BASE_SECONDS + (elements + instructions + beyond_cost(module, &cost)) * loops;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// Returns the time, in seconds, of work that the cost of a program does not cover. The interpreter applies
/// the computations of sorts, scatters and windows to a few elements at a time, and copies arrays that
/// updates and scatters change in part.
fn beyond_cost(module: &Module, cost: &ModuleCost) -> f64 {
    let sizes = sizes(module);
    let seconds = |i: InstrId| {
        let op = &module[i].op;
        let size: f64 = op.called_computations().into_iter().filter_map(|c| sizes.get(&c)).sum();
        let applications = cost.instruction(i).flops as f64
            * (SECONDS_PER_APPLICATION + SECONDS_PER_APPLIED_INSTRUCTION * size);
        let copy = module[i].shape.byte_size() as f64 * SECONDS_PER_BYTE;
        match op {
            Op::Sort(_) | Op::ReduceWindow(_) | Op::SelectAndScatter(_) => applications,
            Op::Scatter(_) => applications + copy,
            Op::DynamicUpdateSlice => copy,
            _ => 0.0,
        }
    };
    let each = |&(c, times): &(ComputationId, u64)| {
        times as f64 * module[c].instructions().iter().map(|&i| seconds(i)).sum::<f64>()
    };
    cost.runs.iter().map(each).sum()
}

/// Returns the number of instructions of each computation, including the computations that it calls.
fn sizes(module: &Module) -> HashMap<ComputationId, f64> {
    let mut sizes = HashMap::new();
    // In post-order, called computations come before their callers.
    for computation in module.computations_post_order() {
        let instructions = module[computation].instructions();
        let called = instructions.iter().flat_map(|&i| module[i].op.called_computations());
        let called: f64 = called.filter_map(|c| sizes.get(&c)).sum();
        sizes.insert(computation, called + instructions.len() as f64);
    }
    sizes
}

/// Returns the number of instructions of a program.
pub fn instructions(module: &Module) -> usize {
    module.computations().map(|c| module[c].instructions().len()).sum()
}
