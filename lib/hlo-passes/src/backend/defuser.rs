//! `defuser`: puts the instructions of fusions back where the fusions are.
//!
//! ```text
//! f { p = f32[8] parameter(0)                      ENTRY e { x = f32[8] parameter(0)
//!     a = f32[8] abs(p)                                      a = f32[8] abs(x)
//!     ROOT n = f32[8] negate(a) }             →              ROOT n = f32[8] negate(a) }
//! ENTRY e { x = f32[8] parameter(0)
//!           ROOT r = f32[8] fusion(x), …, calls=f }
//! ```
//!
//! Custom fusions stay: what they do is not only what is in them. So do fusions with control dependencies, and those
//! whose instructions have some.

use crate::support::clone::inline_at;
use crate::support::effects::{control_dependent, has_control_dependencies};
use crate::support::places::Places;
use crate::{PassInfo, Rewrites};
use hlo_ir::attr::FusionKind;
use hlo_ir::build::ComputationNamer;
use hlo_ir::diag::Diag;
use hlo_ir::{Module, Op};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "defuser",
    summary: "put the instructions of fusions back in place of the fusions",
    example: "\
HloModule defuser

f {
  p = f32[8] parameter(0)
  a = f32[8] abs(p)
  ROOT n = f32[8] negate(a)
}

ENTRY e {
  x = f32[8] parameter(0)
  ROOT r = f32[8] fusion(x), kind=kLoop, calls=f
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    Ok(defuse(module, rewrites))
}

/// What the pass does, for other passes.
pub(crate) fn defuse(module: &mut Module, rewrites: &mut Rewrites) -> bool {
    let pinned = control_dependent(module);
    let mut namer = ComputationNamer::new(module);
    let mut changed = false;
    // Callees first: what is in a fusion has no fusions any more.
    for c in module.computations_post_order() {
        let (mut gone, mut bodies) = (Vec::new(), Vec::new());
        let mut places = Places::default();
        for id in module.post_order(c) {
            let Op::Fusion(a) = &module[id].op else { continue };
            let body = a.calls;
            let stays = a.kind == FusionKind::Custom
                || pinned.contains(&id)
                || has_control_dependencies(module, body)
                || !rewrites.allowed();
            let operands = module[id].operands.to_vec();
            if stays {
                continue;
            }
            let value = places.at(module, id, |module| inline_at(module, &mut namer, id, body, &operands));
            let Some(value) = value else { continue };
            rewrites.made("defuse", &module[id].name);
            module.replace_all_uses_with(id, value);
            module.set_operands(id, []);
            gone.push(id);
            bodies.push(body);
        }
        places.arrange(module, c);
        module.remove_all(&gone);
        for body in bodies {
            module.remove_computation(body);
        }
        changed |= !gone.is_empty();
    }
    changed
}
