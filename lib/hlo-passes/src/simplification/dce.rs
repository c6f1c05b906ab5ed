//! `dce`: removes unused instructions and computations.
//!
//! ```text
//! ENTRY e { p = f32[] parameter(0)          ENTRY e { p = f32[] parameter(0)
//!           a = f32[] add(p, p)        →              ROOT r = f32[] negate(p) }
//!           ROOT r = f32[] negate(p) }
//! ```
//!
//! Parameters, and instructions with side effects or control dependencies, stay.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::effects::{Effects, control_dependent};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "dce",
    summary: "remove unused instructions without side effects, and computations that are not called",
    example: "\
HloModule dce

ENTRY e {
  p = f32[] parameter(0)
  unused = f32[] add(p, p)
  ROOT r = f32[] negate(p)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    Ok(remove_unneeded(module))
}

/// Runs the pass, for other passes. Returns whether it removed anything.
pub(crate) fn remove_unneeded(module: &mut Module) -> bool {
    remove_unneeded_and(module, |_| false)
}

/// Also removes unused instructions for which `plain` is true, although their operations may have side
/// effects.
pub(crate) fn remove_unneeded_and(module: &mut Module, plain: impl Fn(InstrId) -> bool) -> bool {
    let mut changed = remove_instructions(module, plain);
    // A removed instruction may have been the only caller of a computation.
    changed |= remove_computations(module);
    changed
}

fn remove_instructions(module: &mut Module, plain: impl Fn(InstrId) -> bool) -> bool {
    let effects = Effects::of(module);
    let pinned = control_dependent(module);
    let mut needed = vec![false; module.instruction_capacity()];
    let mut stack: Vec<InstrId> = Vec::new();
    let mut dead: Vec<InstrId> = Vec::new();
    for c in module.computations().collect::<Vec<_>>() {
        let root = module[c].root();
        stack.extend(module[c].instructions().iter().copied().filter(|&i| {
            i == root
                || matches!(module[i].op, Op::Parameter(_))
                || pinned.contains(&i)
                || (effects.has(module, i) && !plain(i))
        }));
        while let Some(i) = stack.pop() {
            if !std::mem::replace(&mut needed[i.index()], true) {
                stack.extend(module[i].operands.iter().copied());
            }
        }
        dead.extend(module[c].instructions().iter().copied().filter(|i| !needed[i.index()]));
    }
    module.remove_all(&dead);
    !dead.is_empty()
}

fn remove_computations(module: &mut Module) -> bool {
    let mut reached = std::collections::HashSet::from([module.entry()]);
    let mut stack = vec![module.entry()];
    while let Some(c) = stack.pop() {
        for callee in module[c].instructions().iter().flat_map(|&i| module[i].op.called_computations()) {
            if reached.insert(callee) {
                stack.push(callee);
            }
        }
    }
    let dead: Vec<_> = module.computations().filter(|c| !reached.contains(c)).collect();
    for &c in &dead {
        module.remove_computation(c);
    }
    !dead.is_empty()
}
