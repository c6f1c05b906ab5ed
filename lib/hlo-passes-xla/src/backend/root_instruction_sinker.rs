//! `root-instruction-sinker`: makes the root the last instruction of the schedule.
//!
//! ```text
//! ROOT t = (f32[8], f32[8]) tuple(a, b)        t = (f32[8], f32[8]) tuple(a, b)
//! o = token[] outfeed(a, …)               →    o = token[] outfeed(a, …)
//!                                              a.1 = f32[8] get-tuple-element(t), index=0
//!                                              b.1 = f32[8] get-tuple-element(t), index=1
//!                                              ROOT t.1 = (f32[8], f32[8]) tuple(a.1, b.1)
//! ```
//!
//! The original root stays in place, and the pass adds an equal value at the end: a tuple is rebuilt from its
//! elements, and an array gets a bitcast to its own shape. Tokens and dynamic arrays, which have no such
//! bitcast, are not changed. Neither are modules without a schedule or computations of fusions, which have
//! none.

use super::instruction_hoister::scheduled_computations;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use hlo_passes::support::while_loop::add_element;
use hlo_passes::{PassInfo, Rewrites, Schedule};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "root-instruction-sinker",
    summary: "make the root the last instruction of the schedule",
    schedule: Schedule::Needed,
    example: "\
HloModule root_instruction_sinker, is_scheduled=true

ENTRY e {
  x = f32[4] parameter(0)
  ROOT a = f32[4] abs(x)
  t = token[] after-all()
  o = token[] outfeed(a, t), outfeed_shape=f32[4]
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for c in scheduled_computations(module) {
        let root = module[c].root();
        if module[c].instructions().last() == Some(&root) || !rewrites.allowed() {
            continue;
        }
        if let Some(new) = sink(module, c, root) {
            rewrites.made("sink-root", &module[root].name.clone());
            module.set_root(c, new);
            changed = true;
        }
    }
    Ok(changed)
}

/// Adds an instruction with the root's value at the end of the computation.
fn sink(module: &mut Module, c: ComputationId, root: InstrId) -> Option<InstrId> {
    let shape = module[root].shape.clone();
    let (op, operands) = match &shape {
        Shape::Array(a) if a.is_static() => (Op::Bitcast, vec![root]),
        Shape::Tuple(elements) => {
            let elements = elements.iter().enumerate();
            (Op::Tuple, elements.map(|(n, element)| add_element(module, root, n, element.clone())).collect())
        }
        _ => return None,
    };
    Some(module.add_like_in(c, root, shape, op, operands))
}
