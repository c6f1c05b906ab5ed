//! `fusion_constant_sinking`: moves scalar constants from the operands of a fusion into its body.
//!
//! ```text
//! two = f32[] constant(2)                            f { p = f32[8] parameter(0)
//! ROOT r = f32[8] fusion(x, two), …, calls=f    →        two = f32[] constant(2)
//!                                                        … }
//!                                                    ROOT r = f32[8] fusion(x), …, calls=f
//! ```
//!
//! Arrays of one element count as scalars. The pass does not change custom fusions, whose operands are fixed
//! by their backend, or operands that share memory with a result.

use hlo_ir::attr::FusionKind;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::clone::clone_instruction;
use hlo_passes::support::constants::literal;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "fusion_constant_sinking",
    summary: "move scalar constants from the operands of fusions into their bodies",
    example: "\
HloModule fusion_constant_sinking

f {
  p = f32[8] parameter(0)
  k = f32[] parameter(1)
  wide = f32[8] broadcast(k), dimensions={}
  ROOT m = f32[8] multiply(p, wide)
}

ENTRY e {
  x = f32[8] parameter(0)
  two = f32[] constant(2)
  ROOT r = f32[8] fusion(x, two), kind=kLoop, calls=f
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    // Callers come first, because a constant sunk into a fusion can be sunk further into a nested one.
    for c in module.computations_post_order().into_iter().rev() {
        for id in module.post_order(c) {
            let constants: Vec<usize> = sinkable(module, id)
                .into_iter()
                .filter(|&n| {
                    let allowed = rewrites.allowed();
                    if allowed {
                        rewrites.made("sink", &module[module[id].operands[n]].name);
                    }
                    allowed
                })
                .collect();
            if !constants.is_empty() {
                sink(module, id, &constants);
                changed = true;
            }
        }
    }
    Ok(changed)
}

/// Returns the indices of a fusion's operands that are scalar constants to sink.
fn sinkable(module: &Module, id: InstrId) -> Vec<usize> {
    let Op::Fusion(a) = &module[id].op else { return Vec::new() };
    if a.kind == FusionKind::Custom {
        return Vec::new();
    }
    let one = |o: InstrId| {
        let single = module[o].shape.as_array().is_some_and(|s| s.is_static() && s.element_count() == 1);
        single && literal(module, o).is_some()
    };
    let shared: HashSet<i64> = a.output_to_operand_aliasing.iter().map(|alias| alias.operand).collect();
    let operands = module[id].operands.iter().enumerate();
    let found = operands.filter(|(n, o)| one(**o) && !shared.contains(&(*n as i64)));
    found.map(|(n, _)| n).collect()
}

/// Moves the given operands into the fusion.
fn sink(module: &mut Module, id: InstrId, constants: &[usize]) {
    let Op::Fusion(a) = &module[id].op else { return };
    let body = a.calls;
    let sunk: HashSet<usize> = constants.iter().copied().collect();
    let operands = module[id].operands.to_vec();
    // The new index of each remaining operand.
    let mut number = vec![0i64; operands.len()];
    let mut count = 0;
    for (n, place) in number.iter_mut().enumerate() {
        *place = count;
        count += i64::from(!sunk.contains(&n));
    }
    let mut gone = Vec::new();
    for (n, parameter) in module.parameters(body).into_iter().enumerate() {
        if sunk.contains(&n) {
            let base = module[operands[n]].name.clone();
            let name = module.unique_name(&base);
            let constant = clone_instruction(module, operands[n], body, &name, []);
            module.replace_all_uses_with(parameter, constant);
            gone.push(parameter);
        } else if let (Op::Parameter(p), Some(&to)) = (module.op_mut(parameter), number.get(n)) {
            p.number = to;
        }
    }
    module.remove_all(&gone);
    if let Op::Fusion(a) = module.op_mut(id) {
        for alias in &mut a.output_to_operand_aliasing {
            let to = usize::try_from(alias.operand).ok().and_then(|n| number.get(n));
            alias.operand = to.copied().unwrap_or(alias.operand);
        }
    }
    let kept = operands.into_iter().enumerate().filter(|(n, _)| !sunk.contains(n)).map(|(_, o)| o);
    let kept: Vec<InstrId> = kept.collect();
    module.set_operands(id, kept);
}
