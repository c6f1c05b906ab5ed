//! Removes the elements of a branch's argument that the branch does not use.

use super::{Simplifier, is_plain};
use crate::rewrites::Rewrites;
use crate::support::conditional::branches;
use crate::support::while_loop::{add_element, element_of};
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};

/// Reduces the argument of each branch to the elements that it uses.
pub(super) fn simplify(
    cx: &mut Simplifier,
    module: &mut Module,
    id: InstrId,
    rewrites: &mut Rewrites,
) -> bool {
    let count = branches(module, id).map_or(0, |b| b.len());
    let mut changed = false;
    for n in 0..count {
        let computation = |module: &Module| branches(module, id).and_then(|b| b.get(n).map(|&(c, _)| c));
        let Some(c) = computation(module) else { continue };
        if !rewrites.allowed() || unused(cx, module, c).is_none() {
            continue;
        }
        cx.unshare_computations(module, id);
        changed = true;
        let Some(c) = computation(module) else { continue };
        if let Some(keep) = unused(cx, module, c) {
            rewrites.made("unused-argument", &module[id].name);
            narrow(module, id, n, c, keep);
        }
    }
    changed
}

/// The part of an argument that a branch uses.
enum UsedPart {
    /// The tuple elements that are marked `true`.
    Elements(Vec<bool>),
    /// No part of an argument that is not a tuple.
    Nothing,
}

/// Returns which elements of its argument a computation uses, or `None` if it uses all of them.
fn unused(cx: &Simplifier, module: &Module, computation: ComputationId) -> Option<UsedPart> {
    let parameter = match module.parameters(computation)[..] {
        [one] if module.has_root(computation) && module[computation].root() != one => one,
        _ => return None,
    };
    if !is_plain(module, parameter) || cx.pinned.contains(&parameter) {
        return None;
    }
    let Some(parts) = module[parameter].shape.as_tuple() else {
        return module.users(parameter).is_empty().then_some(UsedPart::Nothing);
    };
    let mut keep = vec![false; parts.len()];
    for &user in module.users(parameter) {
        let element = element_of(module, user, parameter)?;
        *keep.get_mut(element)? |=
            !module.users(user).is_empty() || module[computation].root() == user || cx.pinned.contains(&user);
    }
    keep.contains(&false).then_some(UsedPart::Elements(keep))
}

/// Reduces the argument of branch `n` to the elements in `keep`.
fn narrow(module: &mut Module, id: InstrId, n: usize, computation: ComputationId, keep: UsedPart) {
    let &[parameter] = &module.parameters(computation)[..] else { return };
    let Some(&argument) = module[id].operands.get(n + 1) else { return };
    let keep = match keep {
        UsedPart::Elements(keep) => keep,
        UsedPart::Nothing => Vec::new(),
    };
    let mut number = vec![0; keep.len()];
    let mut values = Vec::new();
    let mut shapes = Vec::new();
    let (own, given) = (module[parameter].shape.clone(), module[argument].shape.clone());
    for (element, &kept) in keep.iter().enumerate() {
        number[element] = values.len();
        let part = |shape: &Shape| shape.as_tuple().and_then(|t| t.get(element)).cloned();
        let (Some(own), Some(given)) = (part(&own), part(&given)) else { return };
        if !kept {
            continue;
        }
        shapes.push(own);
        let made = match module[argument].op {
            Op::Tuple => module[argument].operands.get(element).copied(),
            _ => None,
        };
        values.push(match made {
            Some(value) => value,
            None => add_element(module, argument, element, given),
        });
    }
    let mut gone = Vec::new();
    for taker in module.users(parameter).to_vec() {
        let Some(element) = element_of(module, taker, parameter) else { continue };
        if !keep[element] {
            gone.push(taker);
        } else if let Op::GetTupleElement(a) = module.op_mut(taker) {
            a.index = number[element] as i64;
        }
    }
    module.remove_all(&gone);
    module.set_shape(parameter, Shape::tuple(shapes));
    let shape = Shape::Tuple(values.iter().map(|&v| module[v].shape.clone()).collect());
    let tuple = module.add_like_in(module[id].parent, argument, shape, Op::Tuple, values);
    module.replace_operand(id, n + 1, tuple);
}
