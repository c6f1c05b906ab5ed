//! Removes elements of a loop's state that the loop does not need to carry.

use super::needed::{Needed, taken};
use super::{Simplifier, counters, same_kind};
use crate::rewrites::Rewrites;
use crate::support::constants::literal;
use crate::support::rewrite::same_layout;
use crate::support::while_loop::{WhileLoop, add_element};
use hlo_ir::{InstrId, Module, Op, Shape};
use std::collections::HashMap;

/// Removes elements of a loop's state that the loop does not need to carry. Adds the instructions to remove
/// from the loop's own computation to `gone`.
pub(super) fn simplify(
    cx: &mut Simplifier,
    module: &mut Module,
    id: InstrId,
    gone: &mut Vec<InstrId>,
    rewrites: &mut Rewrites,
) -> bool {
    let Some(found) = WhileLoop::of(module, id) else { return false };
    let mut changed = take_apart(module, found, rewrites);
    changed |= forward_invariants(module, found, rewrites);
    changed |= sink_constants(cx, module, found, rewrites);
    if let Some(found) = WhileLoop::of(module, id) {
        changed |= merge_equal(cx, module, found, rewrites);
    }
    if let Some(found) = WhileLoop::of(module, id) {
        changed |= counters::merge(cx, module, found, rewrites);
    }
    if let Some(found) = WhileLoop::of(module, id) {
        changed |= drop_unneeded(cx, module, found, gone, rewrites);
    }
    changed
}

/// Replaces a result that is used as a whole by a tuple of its elements, if some of these can then be
/// removed.
fn take_apart(module: &mut Module, found: WhileLoop, rewrites: &mut Rewrites) -> bool {
    if !found.is_used_whole(module) || !rewrites.allowed() {
        return false;
    }
    let part = |element: usize| module[found.id].shape.as_tuple()?.get(element);
    let passed_on = |(element, reads): (usize, bool)| {
        let initial =
            found.initial(module, element).filter(|_| !reads && found.is_invariant(module, element));
        match (initial.map(|i| &module[i].shape), part(element)) {
            (Some(initial), Some(part)) => {
                part.as_array().is_some() && initial.compatible(part) && same_layout(initial, part)
            }
            _ => false,
        }
    };
    let mut goes: Vec<bool> = found.reads(module).into_iter().enumerate().map(passed_on).collect();
    for (_, element) in equal_elements(module, &found) {
        if let Some(goes) = goes.get_mut(element) {
            *goes = true;
        }
    }
    if !goes.contains(&true) || !goes.contains(&false) {
        return false;
    }
    rewrites.made("take-apart", &module[found.id].name);
    found.take_apart_result(module);
    true
}

/// Replaces uses of invariant elements after the loop by their initial values. Tokens are not replaced,
/// because they order instructions after the loop.
fn forward_invariants(module: &mut Module, found: WhileLoop, rewrites: &mut Rewrites) -> bool {
    let mut changed = false;
    for (element, takers) in found.element_users(module, found.id).into_iter().enumerate() {
        let Some(initial) = found.initial(module, element).filter(|_| found.is_invariant(module, element))
        else {
            continue;
        };
        for taker in takers {
            let fits = module[taker].shape.as_array().is_some() && same_kind(module, initial, taker);
            if fits && module.is_used(taker) && rewrites.allowed() {
                rewrites.made("forward-invariant", &module[taker].name);
                module.replace_all_uses_with(taker, initial);
                changed = true;
            }
        }
    }
    changed
}

/// Replaces invariant elements that start as constants by these constants inside the loop.
fn sink_constants(
    cx: &mut Simplifier,
    module: &mut Module,
    found: WhileLoop,
    rewrites: &mut Rewrites,
) -> bool {
    let constant = |module: &Module, element: usize| {
        let initial = found.initial(module, element)?;
        (found.is_invariant(module, element) && literal(module, initial).is_some()).then_some(initial)
    };
    let reads = found.reads(module);
    let wanted: Vec<usize> = (0..found.len).filter(|&e| constant(module, e).is_some() && reads[e]).collect();
    if wanted.is_empty() || !rewrites.allowed() {
        return false;
    }
    let Some(own) = cx.unshare_computations(module, found.id) else { return true };
    own.sink_constants(module, &wanted, "sink-constant", rewrites)
}

/// The initial value and the next value of an element. Elements with equal pairs are equal. The next value is
/// `None` if the body does not change the element.
type Recurrence = (InstrId, Option<InstrId>);

/// Returns the elements that always equal an earlier one: they start with the same value and get the same
/// next value. Each pair is (earlier element, element).
fn equal_elements(module: &Module, found: &WhileLoop) -> Vec<(usize, usize)> {
    let mut first: HashMap<Recurrence, usize> = HashMap::new();
    let mut pairs = Vec::new();
    for element in 0..found.len {
        let (Some(initial), Some(next)) = (found.initial(module, element), found.next_value(module, element))
        else {
            return Vec::new();
        };
        let next = (!found.is_invariant(module, element)).then_some(next);
        match first.get(&(initial, next)) {
            Some(&same) => pairs.push((same, element)),
            None => {
                first.insert((initial, next), element);
            }
        }
    }
    let part = |tuple: InstrId, e: usize| module[tuple].shape.as_tuple()?.get(e);
    let agree = |a: usize, b: usize| {
        [found.id, found.condition_state, found.body_state].into_iter().all(|tuple| {
            match (part(tuple, a), part(tuple, b)) {
                (Some(a), Some(b)) => !matches!(a, Shape::Token) && a.compatible(b) && same_layout(a, b),
                _ => false,
            }
        })
    };
    pairs.retain(|&(a, b)| agree(a, b));
    pairs
}

/// Replaces each element by the first element that is always equal to it.
fn merge_equal(cx: &mut Simplifier, module: &mut Module, found: WhileLoop, rewrites: &mut Rewrites) -> bool {
    let mut pairs = equal_elements(module, &found);
    let taken = taken(module, &found);
    pairs.retain(|&(_, element)| taken[element]);
    if pairs.is_empty() || !rewrites.allowed() {
        return false;
    }
    let Some(own) = cx.unshare_computations(module, found.id) else { return true };
    let tuples = [own.id, own.condition_state, own.body_state];
    let takers = tuples.map(|tuple| own.element_users(module, tuple));
    for (same, element) in pairs {
        if !rewrites.allowed() {
            break;
        }
        for (tuple, takers) in tuples.into_iter().zip(&takers) {
            let mut other = takers[same].first().copied();
            for &taker in &takers[element] {
                if module.is_used(taker) {
                    let shape = module[taker].shape.clone();
                    let other = *other.get_or_insert_with(|| add_element(module, tuple, same, shape));
                    module.replace_all_uses_with(taker, other);
                }
            }
        }
        rewrites.made("merge-equal", &module[own.id].name);
    }
    true
}

/// Removes elements that are not needed after the loop, by the condition, by an effect or by another needed
/// element.
fn drop_unneeded(
    cx: &mut Simplifier,
    module: &mut Module,
    found: WhileLoop,
    gone: &mut Vec<InstrId>,
    rewrites: &mut Rewrites,
) -> bool {
    if !rewrites.allowed() {
        return false;
    }
    match Needed::of(cx, module, &found) {
        Some(needed) if needed.elements.contains(&false) && needed.elements.contains(&true) => {}
        _ => return false,
    }
    let Some(mut own) = cx.unshare_computations(module, found.id) else { return true };
    let Some(needed) = Needed::of(cx, module, &own) else { return true };
    rewrites.made("drop-unneeded", &module[own.id].name);
    for computation in [own.condition, own.body] {
        let unneeded: Vec<InstrId> = module[computation]
            .instructions()
            .iter()
            .copied()
            .filter(|i| {
                !needed.instructions.contains(i)
                    && !matches!(module[*i].op, Op::Parameter(_))
                    && *i != own.next
            })
            .collect();
        // The next state still uses the values of removed elements. Replace these operands by placeholders.
        if computation == own.body {
            let kept = module[own.next].operands.clone();
            let state = own.body_state;
            let placeholders: Vec<InstrId> =
                kept.iter().enumerate().map(|(n, &o)| if needed.elements[n] { o } else { state }).collect();
            module.set_operands(own.next, placeholders);
        }
        module.remove_all(&unneeded);
    }
    for (element, takers) in own.element_users(module, own.id).into_iter().enumerate() {
        if !needed.elements[element] {
            for taker in takers {
                module.set_operands(taker, []);
                gone.push(taker);
            }
        }
    }
    own.keep_elements(module, &needed.elements);
    true
}
