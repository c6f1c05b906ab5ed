//! Copies of a loop's body in place of the loop, or of the body.

use super::{Simplifier, same_kind};
use crate::Rewrites;
use crate::support::clone::{inline_computation, inlined_size, set_callee};
use crate::support::effects::has_control_dependencies;
use crate::support::trip_count::trip_count;
use hlo_ir::{ComputationId, InstrId, Module, Op};

/// The largest number of instructions that the module may grow to.
const MAX_SIZE: u64 = 1_000_000;

/// The frontend attribute that says how many copies a body consists of.
const UNROLLED: &str = "unrolled_by";

/// Adds so many copies of a loop's body, one after the other, beside the loop. Returns the last state.
pub(super) fn copies(
    cx: &mut Simplifier,
    module: &mut Module,
    id: InstrId,
    body: ComputationId,
    init: InstrId,
    count: u64,
) -> Option<InstrId> {
    let size = inlined_size(module, body).saturating_mul(count);
    let fits = cx.size.saturating_add(size) <= MAX_SIZE;
    if !fits || !is_copied(cx, module, id, body) || !same_kind(module, init, id) {
        return None;
    }
    cx.size += size;
    let mut state = init;
    let parent = module[id].parent;
    for _ in 0..count {
        state = inline_computation(module, &mut cx.namer, body, parent, &[state])?;
    }
    Some(state)
}

/// True if copies of the body may follow each other anywhere: no effects, whose order they would lose, and a state of
/// one shape.
fn is_copied(cx: &Simplifier, module: &Module, id: InstrId, body: ComputationId) -> bool {
    let parameter = match module.parameters(body)[..] {
        [one] => one,
        _ => return false,
    };
    !cx.effects.any(body)
        && !has_control_dependencies(module, body)
        && same_kind(module, parameter, id)
        && same_kind(module, module[body].root(), id)
}

/// Makes the body of a loop `factor` copies of itself, if it is known how often the loop runs and that is more often.
pub(super) fn unroll(
    cx: &mut Simplifier,
    module: &mut Module,
    id: InstrId,
    factor: u64,
    rewrites: &mut Rewrites,
) -> bool {
    let Op::While(a) = &module[id].op else { return false };
    let (condition, body) = (a.condition, a.body);
    let done = module[id].common.as_deref().is_some_and(|c| c.frontend_attributes.get(UNROLLED).is_some());
    if factor < 2 || done || cx.effects.any(condition) || !rewrites.allowed() {
        return false;
    }
    let Some(trips) = trip_count(module, id).map(|t| t.trips).filter(|&t| t > factor) else { return false };
    let Some(&init) = module[id].operands.first() else { return false };
    let rest = trips % factor;
    let size = inlined_size(module, body).saturating_mul(factor);
    if cx.size.saturating_add(size) > MAX_SIZE || !is_copied(cx, module, id, body) {
        return false;
    }
    if rest > 0 && cx.pinned.contains(&id) {
        return false;
    }
    let Some(first) = copies(cx, module, id, body, init, rest) else { return false };
    let name = cx.namer.fresh(&format!("{}.unrolled", module[body].name));
    let unrolled = module.add_computation(&name);
    module[unrolled].execution_thread = module[body].execution_thread.clone();
    let name = module.unique_name("state");
    let shape = module[id].shape.clone();
    let mut state = module.add(unrolled, &name, shape, Op::parameter(0), []);
    for _ in 0..factor {
        match inline_computation(module, &mut cx.namer, body, unrolled, &[state]) {
            Some(next) => state = next,
            None => {
                module.set_root(unrolled, state);
                return false;
            }
        }
    }
    module.set_root(unrolled, state);
    cx.size += size;
    cx.counts.note(module, unrolled);
    cx.effects.reach(module, unrolled);
    rewrites.made("unroll", &module[id].name);
    module.set_operands(id, [first]);
    set_callee(module.op_mut(id), 1, unrolled);
    let common = module.common_mut(id);
    common.frontend_attributes.set(UNROLLED, factor.to_string().as_str().into());
    // It says how often the loop runs.
    common.backend_config = Default::default();
    true
}
