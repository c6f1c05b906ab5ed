//! `conditional-canonicalizer`: makes the result of every conditional a tuple.
//!
//! ```text
//! ROOT c = f32[] conditional(p, x, y), …    →    c = (f32[]) conditional(p, x, y), …
//!                                                ROOT r = f32[] get-tuple-element(c), index=0
//! ```
//!
//! Conditionals with a sharding or an origin are not changed.

use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Shape};
use hlo_passes::support::while_loop::{CallCounts, add_element};
use hlo_passes::{PassInfo, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "conditional-canonicalizer",
    summary: "make the result of every conditional a tuple",
    example: "\
HloModule conditional_canonicalizer

negative {
  x = f32[] parameter(0)
  ROOT n = f32[] negate(x)
}

positive {
  ROOT x = f32[] parameter(0)
}

ENTRY e {
  p = pred[] parameter(0)
  x = f32[] parameter(1)
  ROOT c = f32[] conditional(p, x, x), true_computation=negative, false_computation=positive
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut namer = ComputationNamer::new(module);
    let mut counts = CallCounts::of(module);
    let mut changed = false;
    for c in module.computations_post_order() {
        for id in module.post_order(c) {
            let sharded =
                module[id].common.as_deref().is_some_and(|c| c.sharding.is_some() || c.origin.is_some());
            let plain =
                matches!(module[id].op, Op::Conditional(_)) && !module[id].shape.is_tuple() && !sharded;
            if plain && rewrites.allowed() {
                counts.make_own(module, &mut namer, id);
                rewrites.made("give-a-tuple", &module[id].name);
                wrap_result_in_tuple(module, id);
                changed = true;
            }
        }
    }
    Ok(changed)
}

fn wrap_result_in_tuple(module: &mut Module, id: InstrId) {
    for c in module[id].op.called_computations() {
        let root = module[c].root();
        let shape = Shape::tuple(vec![module[root].shape.clone()]);
        let tuple = module.add_like_in(c, root, shape, Op::Tuple, [root]);
        module.set_root(c, tuple);
    }
    let shape = module[id].shape.clone();
    module.set_shape(id, Shape::tuple(vec![shape.clone()]));
    let element = add_element(module, id, 0, shape);
    module.copy_provenance(id, element);
    module.replace_all_uses_with(id, element);
}
