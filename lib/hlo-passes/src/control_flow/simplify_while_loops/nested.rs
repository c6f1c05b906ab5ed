//! Splits the tuple elements of a loop's state into their leaves.

use super::Simplifier;
use crate::rewrites::Rewrites;
use crate::support::while_loop::{WhileLoop, add_element};
use hlo_ir::{InstrId, Module, Op, Shape};

/// Flattens a loop's state to its leaves, if some elements are tuples.
pub(super) fn flatten(
    cx: &mut Simplifier,
    module: &mut Module,
    id: InstrId,
    rewrites: &mut Rewrites,
) -> bool {
    let nested = |module: &Module| {
        let parts = module[id].shape.as_tuple().unwrap_or_default();
        parts.iter().any(Shape::is_tuple)
    };
    if !nested(module) || WhileLoop::of(module, id).is_none() || !rewrites.allowed() {
        return false;
    }
    let Some(own) = cx.unshare_computations(module, id) else { return true };
    let Some(&init) = module[id].operands.first() else { return true };
    rewrites.made("flatten-state", &module[id].name);
    let flat = |shape: &Shape| Shape::Tuple(shape.leaves().into_iter().cloned().collect());
    // Users of the nested state read from a nested tuple that is rebuilt from the leaves.
    for state in [own.condition_state, own.body_state, own.id] {
        let users = module.users(state).to_vec();
        let is_root = module.is_root(state);
        let shape = module[state].shape.clone();
        module.set_shape(state, flat(&shape));
        let mut next_leaf = 0;
        let whole = rebuild(module, state, &shape, &mut next_leaf);
        for user in users {
            module.replace_operands(user, state, whole);
        }
        if is_root {
            let parent = module[state].parent;
            module.set_root(parent, whole);
        }
    }
    for (value, is_init) in [(init, true), (own.next, false)] {
        let shape = module[value].shape.clone();
        let leaves = leaves_of(module, value, &shape);
        let parent = module[value].parent;
        let tuple = module.add_like_in(parent, value, flat(&shape), Op::Tuple, leaves);
        if is_init { module.set_operands(id, [tuple]) } else { module.set_root(own.body, tuple) }
    }
    if let Some(common) = module[id].common.as_deref()
        && (common.origin.is_some() || !common.backend_config.is_empty())
    {
        // Both attributes name elements by index.
        let common = module.common_mut(id);
        common.origin = None;
        common.backend_config = Default::default();
    }
    true
}

/// Rebuilds a value of the nested shape from the elements of `state`, starting at element `next`.
fn rebuild(module: &mut Module, state: InstrId, shape: &Shape, next: &mut usize) -> InstrId {
    match shape {
        Shape::Tuple(parts) => {
            let parts: Vec<InstrId> = parts.iter().map(|p| rebuild(module, state, p, next)).collect();
            let (parent, base) = (module[state].parent, module[state].name.clone());
            let name = module.unique_name(&base);
            module.add(parent, &name, shape.clone(), Op::Tuple, parts)
        }
        leaf => {
            *next += 1;
            add_element(module, state, *next - 1, leaf.clone())
        }
    }
}

/// Returns the leaves of a value.
fn leaves_of(module: &mut Module, value: InstrId, shape: &Shape) -> Vec<InstrId> {
    let value = element_of_tuple(module, value);
    let Shape::Tuple(parts) = shape else { return vec![value] };
    let mut out = Vec::new();
    for (n, part) in parts.iter().enumerate() {
        let element = match module[value].op {
            Op::Tuple => module[value].operands.get(n).copied(),
            _ => None,
        };
        let element = match element {
            Some(element) => element,
            None => add_element(module, value, n, part.clone()),
        };
        out.extend(leaves_of(module, element, part));
    }
    out
}

/// Returns the value, or the operand that it reads if it is an element of a `tuple` instruction.
fn element_of_tuple(module: &Module, value: InstrId) -> InstrId {
    let Op::GetTupleElement(a) = &module[value].op else { return value };
    let Some(&tuple) = module[value].operands.first() else { return value };
    // Look through nested `get-tuple-element` instructions level by level.
    let tuple = element_of_tuple(module, tuple);
    let element = usize::try_from(a.index).ok().and_then(|n| module[tuple].operands.get(n));
    match module[tuple].op {
        Op::Tuple => element.copied().unwrap_or(value),
        _ => value,
    }
}
