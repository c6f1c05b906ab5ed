//! `convert-memory-placement-to-internal-annotations`: converts placement annotations of values to custom
//! calls that name a move.
//!
//! ```text
//! h = custom-call(x), custom_call_target="annotate_device_placement",      →    h = custom-call(x), custom_call_target="MoveToHost"
//!       frontend_attributes={_xla_buffer_placement="pinned_host"}
//! ```
//!
//! `pinned_host` and `unpinned_host` become `MoveToHost`, `device` becomes `MoveToDevice`, `pinned_device`
//! becomes `PinToDevice`, and `vmem` becomes `PinToDeviceSram`. Calls with another placement or with several
//! operands are not changed. All these calls return their operand.

use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::{PassInfo, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "convert-memory-placement-to-internal-annotations",
    summary: "convert placement annotations of values to custom calls that move them",
    example: "\
HloModule convert_memory_placement

ENTRY e {
  x = f32[4] parameter(0)
  h = f32[4] custom-call(x), custom_call_target=\"annotate_device_placement\", frontend_attributes={_xla_buffer_placement=\"pinned_host\"}
  ROOT d = f32[4] custom-call(h), custom_call_target=\"annotate_device_placement\", frontend_attributes={_xla_buffer_placement=\"device\"}
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

/// The attribute that contains the placement.
const PLACEMENT: &str = "_xla_buffer_placement";

/// The values of the attribute, each with the corresponding call target.
const TARGETS: [(&str, &str); 5] = [
    ("device", "MoveToDevice"),
    ("pinned_device", "PinToDevice"),
    ("pinned_host", "MoveToHost"),
    ("unpinned_host", "MoveToHost"),
    ("vmem", "PinToDeviceSram"),
];

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        for id in module[c].instructions().to_vec() {
            let Some(target) = target(module, id).filter(|_| rewrites.allowed()) else { continue };
            if let Op::CustomCall(a) = module.op_mut(id) {
                a.custom_call_target = target.into();
            }
            module.common_mut(id).frontend_attributes.remove(PLACEMENT);
            rewrites.made("convert-placement", &module[id].name);
            changed = true;
        }
    }
    Ok(changed)
}

/// Returns the new call target of an annotation.
fn target(module: &Module, id: InstrId) -> Option<&'static str> {
    let annotates = match &module[id].op {
        Op::CustomCall(a) => a.custom_call_target == "annotate_device_placement",
        _ => false,
    };
    if !annotates || module[id].operands.len() != 1 {
        return None;
    }
    let placement = module[id].common.as_deref()?.frontend_attributes.get(PLACEMENT)?;
    TARGETS.iter().find(|(name, _)| placement == name).map(|&(_, target)| target)
}
