//! Finds the computations that implement a single instruction: fusion bodies and wrapped asynchronous
//! operations.

use hlo_ir::{ComputationId, Module, Op};
use std::collections::HashSet;

/// Returns the computations that are bodies of fusions.
pub fn fused_computations(module: &Module) -> HashSet<ComputationId> {
    let fused = |i: &hlo_ir::InstrId| match &module[*i].op {
        Op::Fusion(a) => Some(a.calls),
        _ => None,
    };
    module.computations().flat_map(|c| module[c].instructions().iter().filter_map(fused)).collect()
}

/// Returns the computations that asynchronous operations wrap.
pub fn started_computations(module: &Module) -> HashSet<ComputationId> {
    let started = |i: &hlo_ir::InstrId| match &module[*i].op {
        Op::AsyncStart(a) => a.calls,
        Op::AsyncUpdate(a) => a.calls,
        Op::AsyncDone(a) => a.calls,
        _ => None,
    };
    module.computations().flat_map(|c| module[c].instructions().iter().filter_map(started)).collect()
}
