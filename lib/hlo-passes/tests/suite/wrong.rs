//! A pass with a bug, for tests of tools that find bugs: it moves constants to the right of commutative
//! operations, and treats `subtract` as one. `hlo-run` contains it if built with the feature `wrong-rewrite`.

use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Opcode};
use hlo_passes::{PassInfo, Rewrites};

/// The description of the pass.
pub static INFO: PassInfo =
    PassInfo::own("wrong-rewrite", "constants to the right, of subtract too", |_, _| Box::new(run));

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        for i in module.post_order(c) {
            let name = match module[i].opcode() {
                Opcode::Add => "add-constant",
                Opcode::Multiply => "multiply-constant",
                Opcode::Subtract => "subtract-constant",
                _ => continue,
            };
            let &[a, b] = module[i].operands.as_slice() else { continue };
            if is_constant(module, a) && !is_constant(module, b) && rewrites.allowed() {
                module.set_operands(i, [b, a]);
                rewrites.made(name, &module[i].name);
                changed = true;
            }
        }
    }
    Ok(changed)
}

fn is_constant(module: &Module, id: InstrId) -> bool {
    let of = |i: InstrId| matches!(module[i].op, Op::Constant(_));
    of(id) || matches!(module[id].op, Op::Broadcast(_)) && module[id].operands.iter().all(|&o| of(o))
}
