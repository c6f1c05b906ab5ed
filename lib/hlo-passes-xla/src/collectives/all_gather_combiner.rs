//! `all-gather-combiner`: combines several all-gathers into one with several operands.
//!
//! ```text
//! a = f32[8] all-gather(x), …               both = (f32[8], f32[16]) all-gather(x, y), …
//! b = f32[16] all-gather(y), …         →    a = f32[8] get-tuple-element(both), index=0
//!                                           b = f32[16] get-tuple-element(both), index=1
//! ```
//!
//! The all-gathers must have the same devices and dimension, and must not depend on each other. All-gathers
//! with control dependencies, shardings or a `backend_config` stay unchanged.

use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::combine_collectives::{Thresholds, combine};
use hlo_passes::support::device_groups::is_marked;
use hlo_passes::{PassInfo, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all-gather-combiner",
    summary: "combine all-gathers that do not depend on each other",
    options: hlo_passes::support::combine_collectives::THRESHOLDS,
    example: "\
HloModule all_gather_combiner, replica_count=2

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[8] parameter(1)
  a = f32[8] all-gather(x), replica_groups={}, dimensions={0}
  b = f32[16] all-gather(y), replica_groups={}, dimensions={0}
  ROOT t = (f32[8], f32[16]) tuple(a, b)
}
",
    build: |_, options| {
        let thresholds = Thresholds { bytes: options.count("bytes"), count: options.count("count") };
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            Ok(combine(module, thresholds, is_all_gather, agree, rewrites))
        })
    },
    ..PassInfo::PLAIN
};

fn is_all_gather(module: &Module, id: InstrId) -> bool {
    matches!(module[id].op, Op::AllGather(_))
        && module[id].shape.as_array().is_some()
        && !is_marked(module, id)
}

fn agree(module: &Module, a: InstrId, b: InstrId) -> bool {
    let (Op::AllGather(x), Op::AllGather(y)) = (&module[a].op, &module[b].op) else { return false };
    let ty = |i: InstrId| module[i].shape.as_array().map(|s| s.element_type);
    ty(a) == ty(b)
        && x.replica_groups == y.replica_groups
        && x.channel_id.is_some() == y.channel_id.is_some()
        && x.constrain_layout == y.constrain_layout
        && x.use_global_device_ids == y.use_global_device_ids
        && x.dimensions == y.dimensions
}
