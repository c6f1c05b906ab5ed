//! `defuser`: replaces fusions by their instructions.
//!
//! ```text
//! f { p = f32[8] parameter(0)                      ENTRY e { x = f32[8] parameter(0)
//!     a = f32[8] abs(p)                                      a = f32[8] abs(x)
//!     ROOT n = f32[8] negate(a) }             →              ROOT n = f32[8] negate(a) }
//! ENTRY e { x = f32[8] parameter(0)
//!           ROOT r = f32[8] fusion(x), …, calls=f }
//! ```
//!
//! The pass keeps custom fusions unless `custom` is set, because a backend may have its own code for them. It
//! also keeps fusions that an asynchronous operation wraps. The instructions wait for the fusion's
//! `control-predecessors`. The fusion's control successors wait for its value and for effects among the
//! instructions. The value inherits the fusion's metadata and origin if it has none.

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::clone::inline_at;
use crate::support::control::{carry_control, control_successors};
use crate::support::effects::Effects;
use crate::support::expander::added_since;
use crate::support::fusions::started_computations;
use crate::support::growth::Growth;
use crate::support::places::Places;
use hlo_ir::attr::FusionKind;
use hlo_ir::build::ComputationNamer;
use hlo_ir::{InstrId, Module, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "defuser",
    summary: "replace fusions by their instructions",
    options: &[OptionInfo {
        name: "custom",
        summary: "whether to replace custom fusions too",
        default: OptionValue::Switch(false),
    }],
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
    build: |_, options| {
        let custom = options.switch("custom");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(defuse(module, custom, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// The growth limit for control dependencies: factor of the module's size, and size that a module may always
/// grow to.
const MAX_GROWTH: (u64, u64) = (8, 20_000);

/// Runs the pass on behalf of another pass. Returns whether the module changed.
pub fn defuse(module: &mut Module, custom: bool, rewrites: &mut Rewrites) -> bool {
    let started = started_computations(module);
    let effects = Effects::of(module);
    let mut growth = Growth::new(module, MAX_GROWTH.0, MAX_GROWTH.1);
    let mut namer = ComputationNamer::new(module);
    let mut changed = false;
    // Callees come first, so that the body of a fusion contains no fusions.
    for c in module.computations_post_order() {
        if started.contains(&c) {
            continue;
        }
        let (mut gone, mut bodies) = (Vec::new(), Vec::new());
        let mut places = Places::default();
        let mut waiting = control_successors(module, c);
        for id in module.post_order(c) {
            let Op::Fusion(a) = &module[id].op else { continue };
            let body = a.calls;
            // Each instruction gets all control predecessors of the fusion.
            let waits = module[id].control_predecessors().len() * module[body].instructions().len();
            let stays = a.kind == FusionKind::Custom && !custom;
            if stays || !rewrites.allowed() || !growth.allows(waits as u64) {
                continue;
            }
            let operands = module[id].operands.to_vec();
            let first = module.instruction_capacity();
            let value = places.at(module, id, |module| inline_at(module, &mut namer, id, body, &operands));
            let Some(value) = value else { continue };
            let copies = added_since(module, c, first);
            let successors = waiting.remove(&id).unwrap_or_default();
            carry_control(module, id, value, &copies, effects.any(body), successors);
            if copies.contains(&value) {
                describe(module, id, value);
            }
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

/// Copies the fusion's metadata and origin to its value if the value has none.
fn describe(module: &mut Module, fusion: InstrId, value: InstrId) {
    let common = |id: InstrId| module[id].common.as_deref();
    if common(value).is_none_or(|c| c.metadata.is_empty()) {
        module.copy_provenance(fusion, value);
    }
    let origin = module[fusion].common.as_deref().and_then(|c| c.origin.clone());
    if origin.is_some() {
        let own = &mut module.common_mut(value).origin;
        *own = own.take().or(origin);
    }
}
