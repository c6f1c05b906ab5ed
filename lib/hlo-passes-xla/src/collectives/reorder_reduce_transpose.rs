//! `reorder-reduce-transpose`: transposes a value that a loop accumulates before its reduction between
//! devices.
//!
//! ```text
//! r = bf16[4,3] reduce-scatter(x), dimensions={0}, …        c = f32[8,3] convert(x)
//! c = f32[4,3] convert(r)                              →    t = f32[3,8] transpose(c), dimensions={1,0}
//! t = f32[3,4] transpose(c), dimensions={1,0}               r = f32[3,4] reduce-scatter(t), dimensions={1}, …
//! ROOT sum = f32[3,4] add(t, state)                         ROOT sum = f32[3,4] add(r, state)
//! ```
//!
//! The reduction is then next to the sum, where a pass can move it out of the loop. As in XLA, the loop body
//! must add the transposed value to an element of the state, or write it into an array by `reshape` and
//! `dynamic-update-slice`. A conversion moves too if values may be converted before they are combined:
//!
//! - floating-point numbers to wider types, where sums have fewer roundings;
//! - integers to narrower types for sums;
//! - integers to wider types for extrema.
//!
//! Instructions with control dependencies, a sharding, a `backend_config`, `constrain_layout`, a dynamic
//! size, or further users of the intermediate results stay unchanged.

use super::accumulation::{Reduced, Reorder, add_like, is_element_of_state, loop_bodies};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, Dims, InstrId, Module, Op};
use hlo_passes::{PassInfo, Preservation, Rewrites};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "reorder-reduce-transpose",
    summary: "in loops, move transposes from after a reduce-scatter to before it",
    // Sums are rounded in the type after the conversion.
    keeps: Preservation::Values,
    example: "\
HloModule reorder_reduce_transpose

add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

condition {
  s = (s32[], f32[3,4], f32[4,3]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(5)
  ROOT more = pred[] compare(n, limit), direction=LT
}

body {
  s = (s32[], f32[3,4], f32[4,3]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  state = f32[3,4] get-tuple-element(s), index=1
  x = f32[4,3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(n, one)
  r = f32[4,3] reduce-scatter(x), replica_groups={{0}}, dimensions={0}, to_apply=add
  t = f32[3,4] transpose(r), dimensions={1,0}
  sum = f32[3,4] add(t, state)
  ROOT u = (s32[], f32[3,4], f32[4,3]) tuple(next, sum, x)
}

ENTRY e {
  init = (s32[], f32[3,4], f32[4,3]) parameter(0)
  ROOT w = (s32[], f32[3,4], f32[4,3]) while(init), condition=condition, body=body
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut reorder = Reorder::new(module);
    for body in loop_bodies(module) {
        for id in module.post_order(body) {
            if !rewrites.allowed() {
                break;
            }
            let Some(reduced) = transposed(module, id, &reorder) else { continue };
            let Some(new) = transpose_first(module, id, reduced, &mut reorder) else { continue };
            rewrites.made("transpose-first", &module[id].name);
            reorder.replace(module, id, new, reduced);
        }
    }
    Ok(reorder.finish(module))
}

/// Returns the reduce-scatter that an instruction transposes, if the loop accumulates the result.
fn transposed(module: &Module, id: InstrId, reorder: &Reorder) -> Option<Reduced> {
    let Op::Transpose(_) = &module[id].op else { return None };
    let value = *module[id].operands.first()?;
    let free = |op: &Op| matches!(op, Op::ReduceScatter(a) if !a.constrain_layout);
    let accumulated = module.users(id).iter().any(|&user| is_accumulation(module, user));
    if !accumulated || !reorder.is_plain(module, id) {
        return None;
    }
    reorder.reduced(module, value, Some(id), free)
}

/// Returns whether the instruction is a sum with an element of the state, or a reshape that is written into
/// an array.
fn is_accumulation(module: &Module, id: InstrId) -> bool {
    match &module[id].op {
        Op::Add => module[id].operands.iter().any(|&o| is_element_of_state(module, o)),
        Op::Reshape(_) => {
            let written = |&user: &InstrId| {
                matches!(module[user].op, Op::DynamicUpdateSlice) && module[user].operands.get(1) == Some(&id)
            };
            module.users(id).iter().any(written)
        }
        _ => false,
    }
}

/// Adds the reduce-scatter of the converted and transposed operand.
fn transpose_first(module: &mut Module, id: InstrId, of: Reduced, reorder: &mut Reorder) -> Option<InstrId> {
    let Op::Transpose(permutation) = module[id].op.clone() else { return None };
    let Op::ReduceScatter(scatter) = &module[of.reduction].op else { return None };
    let &[from] = scatter.dimensions.as_slice() else { return None };
    let to = permutation.dimensions.iter().position(|&d| d == from)? as i64;
    let dims = |id: InstrId| module[id].shape.as_array().map(|a| a.dims.clone());
    let operand = dims(*module[of.reduction].operands.first()?)?;
    let size = |&d: &i64| operand.get(usize::try_from(d).ok()?).copied();
    let sizes: Dims = permutation.dimensions.iter().map(size).collect::<Option<_>>()?;
    let result = module[id].shape.clone();
    let shape = ArrayShape { dims: sizes, ..result.as_array()?.clone() };

    let operand = reorder.operand(module, of)?;
    let transpose = add_like(module, id, shape.into(), Op::Transpose(permutation), operand);
    let new = reorder.reduce(module, of, transpose, result);
    if let Op::ReduceScatter(a) = module.op_mut(new) {
        a.dimensions = [to].into_iter().collect();
    }
    Some(new)
}
