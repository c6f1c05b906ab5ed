//! `cse_barrier_expander`: optimisation barriers go, once what they kept apart need not be.
//!
//! ```text
//! b = f32[4] opt-barrier(x)
//! ROOT r = f32[4] add(b, y)           →    ROOT r = f32[4] add(x, y)
//! ```
//!
//! A barrier that waits for others by control dependencies stays: its users wait for them too.

use crate::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use hlo_ir::{InstrId, Op};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "cse_barrier_expander",
    summary: "remove optimisation barriers",
    example: "\
HloModule cse_barrier_expander

ENTRY e {
  x = f32[4] parameter(0)
  b = f32[4] opt-barrier(x)
  ROOT r = f32[4] negate(b)
}
",
    build: |_, _| expansion_pass("expand-barrier", |op| matches!(op, Op::OptBarrier), expand),
    ..PassInfo::PLAIN
};

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let waits = !e.module[id].control_predecessors().is_empty();
    let x = e.operand(0)?;
    // A result's layout is part of the interface.
    let same = e.module[x].shape == e.module[id].shape;
    (same && !waits).then_some(x)
}
