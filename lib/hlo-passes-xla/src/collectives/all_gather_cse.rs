//! `all-gather-cse`: merges all-gathers of the same value.
//!
//! ```text
//! a = f32[8] all-gather(x), …               a = f32[8] all-gather(x), …
//! b = f32[8] all-gather(x), …          →    ROOT s = f32[8] add(a, a)
//! ROOT s = f32[8] add(a, b)
//! ```
//!
//! The pass looks through tuple elements and optimization barriers. The all-gathers must have the same
//! devices and dimension, but may have different channel ids. All-gathers with control dependencies,
//! shardings or a `backend_config` stay unchanged.

use hlo_ir::attr::AllGatherAttrs;
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::support::device_groups::is_marked;
use hlo_passes::support::effects::control_dependent;
use hlo_passes::support::rewrite::same_layout;
use hlo_passes::{PassInfo, Rewrites};
use std::collections::HashMap;

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "all-gather-cse",
    summary: "merge all-gathers of the same value",
    example: "\
HloModule all_gather_cse, replica_count=2

ENTRY e {
  x = f32[4] parameter(0)
  a = f32[8] all-gather(x), replica_groups={}, dimensions={0}
  b = f32[8] all-gather(x), replica_groups={}, dimensions={0}
  ROOT s = f32[8] add(a, b)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let pinned = control_dependent(module);
    let mut gone = Vec::new();
    for c in module.computations().collect::<Vec<_>>() {
        let mut known: HashMap<(InstrId, Option<i64>), Vec<InstrId>> = HashMap::new();
        for id in module.post_order(c) {
            let Op::AllGather(attrs) = &module[id].op else { continue };
            let &[operand] = &module[id].operands[..] else { continue };
            if pinned.contains(&id) || is_marked(module, id) || !rewrites.allowed() {
                continue;
            }
            let list = known.entry(source(module, operand)).or_default();
            let same = list.iter().copied().find(|&other| {
                let shapes = (&module[other].shape, &module[id].shape);
                let alike = shapes.0.compatible(shapes.1) && same_layout(shapes.0, shapes.1);
                alike && matches!(&module[other].op, Op::AllGather(o) if agree(o, attrs))
            });
            match same {
                Some(first) => {
                    rewrites.made("merge", &module[id].name);
                    module.replace_all_uses_with(id, first);
                    gone.push(id);
                }
                None => list.push(id),
            }
        }
    }
    module.remove_all(&gone);
    Ok(!gone.is_empty())
}

fn agree(a: &AllGatherAttrs, b: &AllGatherAttrs) -> bool {
    let without_number =
        |x: &AllGatherAttrs| AllGatherAttrs { channel_id: x.channel_id.map(|_| 0), ..x.clone() };
    without_number(a) == without_number(b)
}

/// Maximum number of tuples and barriers to look through.
const MAX_STEPS: usize = 64;

/// Looks through tuples and barriers: returns the instruction that defines a value, and the index if the
/// value is an element of its result.
fn source(module: &Module, id: InstrId) -> (InstrId, Option<i64>) {
    let (mut at, mut element) = (id, None);
    for _ in 0..MAX_STEPS {
        let operand = module[at].operands.first().copied();
        match (&module[at].op, element, operand) {
            (Op::GetTupleElement(a), None, Some(tuple)) => {
                (at, element) = (tuple, Some(a.index));
            }
            (Op::Tuple, Some(n), _) => {
                let inner = usize::try_from(n).ok().and_then(|n| module[at].operands.get(n));
                let Some(&inner) = inner else { return (at, element) };
                (at, element) = (inner, None);
            }
            (Op::OptBarrier, _, Some(inner)) => at = inner,
            _ => break,
        }
    }
    (at, element)
}
