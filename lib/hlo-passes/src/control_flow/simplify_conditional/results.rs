//! Removes the elements of a conditional's result that are unused, and merges those that are equal in every
//! branch.

use super::{Simplifier, is_plain};
use crate::rewrites::Rewrites;
use crate::support::conditional::branches;
use crate::support::rewrite::same_layout;
use crate::support::while_loop::{add_element, element_of};
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::HashMap;

/// Keeps only the result elements that are used, and each value only once. Adds the instructions to remove
/// from the conditional's own computation to `gone`.
pub(super) fn simplify(
    cx: &mut Simplifier,
    module: &mut Module,
    id: InstrId,
    gone: &mut Vec<InstrId>,
    rewrites: &mut Rewrites,
) -> bool {
    let Some(used) = used_elements(cx, module, id).filter(|_| rewrites.allowed()) else { return false };
    let Some(all) = branches(module, id) else { return false };
    let plain = all.iter().all(|&(c, _)| module.has_root(c) && is_plain(module, module[c].root()));
    if !plain || !is_plain(module, id) {
        return false;
    }
    let same = first_equal(module, id, &all.iter().map(|&(c, _)| c).collect::<Vec<_>>());
    // An element is also used if one of its duplicates is used.
    let mut keep = vec![false; used.len()];
    for (element, &first) in same.iter().enumerate() {
        keep[first] |= used[element];
    }
    if !keep.contains(&false) {
        return false;
    }
    cx.unshare_computations(module, id);
    let name = if keep == used { "unused-results" } else { "equal-results" };
    rewrites.made(name, &module[id].name);
    let mut number = vec![0; keep.len()];
    let mut count = 0;
    for (place, &kept) in number.iter_mut().zip(&keep) {
        *place = count;
        count += usize::from(kept);
    }
    for taker in module.users(id).to_vec() {
        let Some(element) = element_of(module, taker, id) else { continue };
        if !used[element] {
            module.set_operands(taker, []);
            gone.push(taker);
        } else if let Op::GetTupleElement(a) = module.op_mut(taker) {
            a.index = number[same[element]] as i64;
        }
    }
    for (computation, _) in branches(module, id).unwrap_or_default() {
        keep_results(module, computation, &keep);
    }
    let shape = kept(&module[id].shape, &keep);
    module.set_shape(id, shape);
    true
}

/// Returns which elements of the result are used, or `None` if the result is not a tuple or is used as a
/// whole.
fn used_elements(cx: &Simplifier, module: &Module, id: InstrId) -> Option<Vec<bool>> {
    let mut used = vec![false; module[id].shape.as_tuple()?.len()];
    if module.is_root(id) {
        return None;
    }
    let root = module[module[id].parent].root();
    for &user in module.users(id) {
        let element = element_of(module, user, id)?;
        *used.get_mut(element)? |=
            !module.users(user).is_empty() || root == user || cx.pinned.contains(&user);
    }
    Some(used)
}

/// Returns, for each element of the result, the first element that has the same value in every branch.
fn first_equal(module: &Module, id: InstrId, computations: &[ComputationId]) -> Vec<usize> {
    let parts = module[id].shape.as_tuple().unwrap_or_default();
    let itself = (0..parts.len()).collect();
    let mut first: HashMap<Vec<InstrId>, usize> = HashMap::new();
    let mut out = Vec::with_capacity(parts.len());
    for (element, part) in parts.iter().enumerate() {
        let mut values = Vec::with_capacity(computations.len());
        for &c in computations {
            let root = module[c].root();
            match (&module[root].op, module[root].operands.get(element)) {
                (Op::Tuple, Some(&value)) => values.push(value),
                _ => return itself,
            }
        }
        let known = *first.entry(values).or_insert(element);
        let agree = parts[known].compatible(part) && same_layout(&parts[known], part);
        out.push(if agree && !matches!(part, Shape::Token) { known } else { element });
    }
    out
}

/// Returns the shape of the tuple of the kept elements.
fn kept(shape: &Shape, keep: &[bool]) -> Shape {
    let parts = shape.as_tuple().unwrap_or_default().iter().zip(keep);
    Shape::Tuple(parts.filter(|(_, keep)| **keep).map(|(part, _)| part.clone()).collect())
}

/// Reduces a computation's result to the kept elements.
fn keep_results(module: &mut Module, computation: ComputationId, keep: &[bool]) {
    let root = module[computation].root();
    let shape = module[root].shape.clone();
    let made = matches!(module[root].op, Op::Tuple);
    let mut values = Vec::new();
    for (n, part) in shape.as_tuple().unwrap_or_default().iter().enumerate() {
        if !keep.get(n).copied().unwrap_or(true) {
            continue;
        }
        let value = module[root].operands.get(n).copied().filter(|_| made);
        values.push(match value {
            Some(value) => value,
            None => add_element(module, root, n, part.clone()),
        });
    }
    if made && module.users(root).is_empty() {
        module.set_shape(root, kept(&shape, keep));
        module.set_operands(root, values);
        return;
    }
    let tuple = module.add_like_in(computation, root, kept(&shape, keep), Op::Tuple, values);
    module.set_root(computation, tuple);
}
