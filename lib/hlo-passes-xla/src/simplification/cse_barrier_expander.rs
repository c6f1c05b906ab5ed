//! `cse_barrier_expander`: removes optimization barriers, once the passes that they protect against have run.
//!
//! ```text
//! b = f32[4] opt-barrier(x)
//! ROOT r = f32[4] add(b, y)           →    ROOT r = f32[4] add(x, y)
//! ```
//!
//! A barrier with control predecessors stays, because its users wait for these too.

use hlo_ir::{InstrId, Op};
use hlo_passes::PassInfo;
use hlo_passes::support::expander::{Emitter, expansion_pass};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "cse_barrier_expander",
    summary: "remove optimization barriers",
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
    // The layout of the result must not change, because it may be part of the interface.
    let same = e.module[x].shape == e.module[id].shape;
    (same && !waits).then_some(x)
}
