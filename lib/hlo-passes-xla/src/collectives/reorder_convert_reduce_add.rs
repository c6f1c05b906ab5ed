//! `reorder-convert-reduce-add`: converts a value that a loop accumulates before its reduction between
//! devices.
//!
//! ```text
//! r = bf16[8] all-reduce(x), to_apply=add_bf16         c = f32[8] convert(x)
//! c = f32[8] convert(r)                           →    r = f32[8] all-reduce(c), to_apply=add_f32
//! ROOT sum = f32[8] add(c, state)                      ROOT sum = f32[8] add(r, state)
//! ```
//!
//! The reduction is then next to the sum, where a pass can move it out of the loop. As in XLA, the value must
//! be added to an element of the state in a loop body, and reduce-scatters require an option. Values may be
//! converted before they are combined in these cases:
//!
//! - floating-point numbers to wider types, where sums have fewer roundings;
//! - integers to narrower types for sums;
//! - integers to wider types for extrema.
//!
//! (XLA does it for all types, and leaves the computation that combines two scalars in the old type.)
//!
//! Instructions with control dependencies, a sharding, a `backend_config`, `constrain_layout`, a dynamic
//! size, or further users of the intermediate results stay unchanged.

use super::accumulation::{Reduced, Reorder, is_element_of_state, loop_bodies};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Preservation, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reorder-convert-reduce-add",
    summary: "in loops, move conversions from after an all-reduce to before it",
    options: &[OptionInfo {
        name: "reduce-scatter",
        summary: "whether to convert before reduce-scatters too",
        default: OptionValue::Switch(false),
    }],
    // Sums are rounded in the type after the conversion.
    keeps: Preservation::Values,
    example: "\
HloModule reorder_convert_reduce_add

add {
  p = bf16[] parameter(0)
  q = bf16[] parameter(1)
  ROOT s = bf16[] add(p, q)
}

condition {
  s = (s32[], f32[8], bf16[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(5)
  ROOT more = pred[] compare(n, limit), direction=LT
}

body {
  s = (s32[], f32[8], bf16[8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  state = f32[8] get-tuple-element(s), index=1
  x = bf16[8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(n, one)
  r = bf16[8] all-reduce(x), replica_groups={}, to_apply=add
  c = f32[8] convert(r)
  sum = f32[8] add(c, state)
  ROOT t = (s32[], f32[8], bf16[8]) tuple(next, sum, x)
}

ENTRY e {
  init = (s32[], f32[8], bf16[8]) parameter(0)
  ROOT w = (s32[], f32[8], bf16[8]) while(init), condition=condition, body=body
}
",
    build: |_, options| {
        let scatter = options.switch("reduce-scatter");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| run(module, scatter, rewrites))
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, scatter: bool, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let wanted: fn(&Op) -> bool = if scatter {
        |op| is_all_reduce(op) || matches!(op, Op::ReduceScatter(a) if !a.constrain_layout)
    } else {
        is_all_reduce
    };
    let mut reorder = Reorder::new(module);
    for body in loop_bodies(module) {
        for id in module.post_order(body) {
            if !rewrites.allowed() {
                break;
            }
            let Some((convert, reduced)) = accumulated(module, id, &reorder, wanted) else { continue };
            let Some(operand) = reorder.operand(module, reduced) else { continue };
            let shape = module[convert].shape.clone();
            let new = reorder.reduce(module, reduced, operand, shape);
            rewrites.made("convert-first", &module[convert].name);
            reorder.replace(module, convert, new, reduced);
        }
    }
    Ok(reorder.finish(module))
}

fn is_all_reduce(op: &Op) -> bool {
    matches!(op, Op::AllReduce(a) if !a.constrain_layout)
}

/// Returns the converted reduction that an instruction adds to an element of the state.
fn accumulated(
    module: &Module,
    id: InstrId,
    reorder: &Reorder,
    wanted: fn(&Op) -> bool,
) -> Option<(InstrId, Reduced)> {
    let &[a, b] = module[id].operands.as_slice() else { return None };
    let convert = match (&module[id].op, is_element_of_state(module, a), is_element_of_state(module, b)) {
        (Op::Add, _, true) => a,
        (Op::Add, true, _) => b,
        _ => return None,
    };
    let Op::Convert = module[convert].op else { return None };
    Some((convert, reorder.reduced(module, convert, None, wanted)?))
}
