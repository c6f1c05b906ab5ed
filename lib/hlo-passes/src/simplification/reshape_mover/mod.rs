//! `reshape-mover`: moves reshapes and transposes below elementwise operations, where they can cancel with
//! others.
//!
//! ```text
//! r = f32[6] reshape(x)                    a = f32[2,3] add(x, y)
//! s = f32[6] reshape(y)               →    ROOT r = f32[6] reshape(a)
//! ROOT a = f32[6] add(r, s)
//! ```
//!
//! The pass moves them past a region of elementwise operations. All operands of the region must come from
//! arrays of the same sizes by the same reshape or transpose. Operands that can be recomputed in these sizes
//! at no cost are also allowed: constants, iotas, scalars, broadcasts whose repeated dimensions stay whole
//! and in order, and values computed from these. A reshape with several users moves too, if all of its users
//! are in the region. `regions` finds the regions, and `free` finds the free operands.
//!
//! Instructions with control dependencies do not move. A value with a sharding keeps its sizes, so a region
//! ends there.
//!
//! Below the region, there are never more reshapes than there were above it, nor transposes of more bits. A
//! reshape or transpose whose user has the same opcode does not count. A reshape or transpose of another one
//! only moves if their number decreases; otherwise they would accumulate below every operation.
//!
//! Widening conversions can be part of a region, but never alone. The data would be moved in the wider type,
//! and `convert-mover` would move the conversion back.

mod free;
mod mover;
mod regions;

use self::free::Free;
use self::regions::{Region, regions};
use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::effects::{Effects, control_dependent, remove_taken, take_unused};
use crate::support::expander::added_since;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reshape-mover",
    summary: "move reshapes and transposes below elementwise operations",
    example: "\
HloModule reshape_mover

ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  r = f32[6] reshape(x)
  s = f32[6] reshape(y)
  ROOT a = f32[6] add(r, s)
}
",
    build: |_, _options| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let (effects, mut gone) = (Effects::of(module), BTreeSet::new());
    for c in module.computations().collect::<Vec<_>>() {
        // First move values with several users together with all of these users, then only values with one
        // user.
        for shared in [true, false] {
            let order = module.dependency_order(c);
            for region in regions(module, &pinned, &order, shared) {
                if !rewrites.allowed() {
                    break;
                }
                let first_new = module.instruction_capacity();
                if sink(module, &pinned, &region).is_none() {
                    module.remove_all(&added_since(module, c, first_new));
                    continue;
                }
                rewrites.made("sink", &module[region.exits[0]].name);
                for exit in region.exits {
                    // Disconnect the exit at once, so that the user lists of its operands stay accurate.
                    take_unused(module, &effects, &pinned, exit, &mut gone);
                }
            }
        }
    }
    Ok(remove_taken(module, gone))
}

/// Computes a region in the sizes before the move, and moves its results.
fn sink(module: &mut Module, pinned: &HashSet<InstrId>, region: &Region) -> Option<()> {
    let mut inner: HashMap<InstrId, InstrId> = HashMap::new();
    for &entry in &region.entries {
        inner.insert(entry, *module[entry].operands.first()?);
    }
    for &member in &region.members {
        let mut operands = Vec::new();
        for o in module[member].operands.clone() {
            let operand = match inner.get(&o) {
                Some(&known) => known,
                None => {
                    let free = Free::of(module, pinned, o, member, &region.mover)?;
                    free.make(module, o, &region.mover, &mut inner)?
                }
            };
            operands.push(operand);
        }
        inner.insert(member, region.mover.add_before_move(module, member, &operands)?);
    }
    let exits: Vec<InstrId> = region.exits.iter().map(|e| inner.get(e).copied()).collect::<Option<_>>()?;
    for (&exit, value) in region.exits.iter().zip(exits) {
        let moved = module.add_like(exit, module[exit].shape.clone(), region.mover.op.clone(), [value]);
        module.copy_annotations(exit, moved);
        module.replace_all_uses_with(exit, moved);
    }
    Some(())
}
