//! `all-reduce-combiner`: combines several all-reduces into one with several operands.
//!
//! ```text
//! a = f32[4] all-reduce(x), …               both = (f32[4], f32[8]) all-reduce(x, y), …
//! b = f32[8] all-reduce(y), …          →    a = f32[4] get-tuple-element(both), index=0
//!                                           b = f32[8] get-tuple-element(both), index=1
//! ```
//!
//! The all-reduces must have the same devices and operation, and must not depend on each other. All-reduces
//! with control dependencies, shardings or a `backend_config` stay unchanged.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::combine_collectives::{Thresholds, combine};
use crate::support::device_groups::{is_marked, same_all_reduce};
use hlo_ir::{InstrId, Module, Op};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all-reduce-combiner",
    summary: "combine all-reduces that do not depend on each other",
    options: crate::support::combine_collectives::THRESHOLDS,
    example: "\
HloModule all_reduce_combiner

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  y = f32[8] parameter(1)
  a = f32[4] all-reduce(x), replica_groups={}, to_apply=add
  b = f32[8] all-reduce(y), replica_groups={}, to_apply=add
  ROOT t = (f32[4], f32[8]) tuple(a, b)
}
",
    build: |_, options| {
        let thresholds = Thresholds { bytes: options.count("bytes"), count: options.count("count") };
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            Ok(combine(module, thresholds, is_all_reduce, agree, rewrites))
        })
    },
    ..PassInfo::PLAIN
};

fn is_all_reduce(module: &Module, id: InstrId) -> bool {
    matches!(module[id].op, Op::AllReduce(_))
        && module[id].shape.as_array().is_some()
        && !is_marked(module, id)
}

fn agree(module: &Module, a: InstrId, b: InstrId) -> bool {
    match (&module[a].op, &module[b].op) {
        (Op::AllReduce(x), Op::AllReduce(y)) => {
            let ty = |i: InstrId| module[i].shape.as_array().map(|s| s.element_type);
            ty(a) == ty(b) && same_all_reduce(module, x, y)
        }
        _ => false,
    }
}
