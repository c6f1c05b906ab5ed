//! Loop unrolling: replaces a loop by copies of its body, or its body by several copies.

use super::{Simplifier, same_kind};
use crate::rewrites::Rewrites;
use crate::support::clone::{inline_computation, inlined_size, set_callee};
use crate::support::effects::has_control_dependencies;
use crate::support::trip_count::trip_count;
use hlo_ir::{ComputationId, InstrId, Module, Op};

/// Maximum number of instructions that the module may grow to.
const MAX_SIZE: u64 = 1_000_000;

/// The frontend attribute that records the number of copies in an unrolled body.
const UNROLL_FACTOR_ATTRIBUTE: &str = "unrolled_by";

/// Adds `count` copies of a loop's body in sequence to the computation that contains the loop. Returns the
/// final state.
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

/// Checks whether copies of the body may run in sequence anywhere. The body must have no effects or control
/// dependencies, whose order would be lost, and the state must have the same shape throughout.
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

/// Replaces the body of a loop by `factor` copies of itself, if the trip count is known and larger than
/// `factor`.
pub(super) fn unroll(
    cx: &mut Simplifier,
    module: &mut Module,
    id: InstrId,
    factor: u64,
    rewrites: &mut Rewrites,
) -> bool {
    let Op::While(a) = &module[id].op else { return false };
    let (condition, body) = (a.condition, a.body);
    let done = module[id]
        .common
        .as_deref()
        .is_some_and(|c| c.frontend_attributes.get(UNROLL_FACTOR_ATTRIBUTE).is_some());
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
    common.frontend_attributes.set(UNROLL_FACTOR_ATTRIBUTE, factor.to_string().as_str().into());
    // The configuration may contain the old trip count.
    common.backend_config = Default::default();
    true
}
