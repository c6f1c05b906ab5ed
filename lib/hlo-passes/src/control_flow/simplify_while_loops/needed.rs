//! Finds which elements of a loop's state are used, and which the loop needs.

use super::Simplifier;
use crate::support::while_loop::{WhileLoop, element_of};
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::HashSet;

/// Returns, for each element, whether it is used after the loop, in the condition, or in the body other than
/// to pass it on unchanged.
pub(super) fn taken(module: &Module, found: &WhileLoop) -> Vec<bool> {
    let after = found.element_users(module, found.id).into_iter();
    let inside = found.reads(module).into_iter();
    inside.zip(after).map(|(reads, takers)| reads || takers.iter().any(|&t| module.is_used(t))).collect()
}

/// The elements and instructions that a loop needs.
pub(super) struct Needed {
    pub(super) elements: Vec<bool>,
    /// The needed instructions of the condition and the body.
    pub(super) instructions: HashSet<InstrId>,
}

impl Needed {
    /// Finds the needed elements and instructions backwards from the results and effects. Returns `None` if
    /// everything is needed.
    pub(super) fn of(cx: &Simplifier, module: &Module, found: &WhileLoop) -> Option<Self> {
        if module.is_root(found.id) {
            return None;
        }
        let mut needed = Needed { elements: vec![false; found.len], instructions: HashSet::new() };
        let mut open: Vec<usize> = Vec::new();
        for &user in module.users(found.id) {
            let element = element_of(module, user, found.id)?;
            if module.is_used(user) || cx.pinned.contains(&user) {
                open.push(element);
            }
        }
        let must = |c: ComputationId| {
            let all = module[c].instructions().iter().copied();
            all.filter(|&i| cx.pinned.contains(&i) || cx.effects.has(module, i)).collect::<Vec<_>>()
        };
        let mut condition = must(found.condition);
        condition.push(module[found.condition].root());
        needed.visit(module, condition, found, &mut open);
        needed.visit(module, must(found.body), found, &mut open);
        while let Some(element) = open.pop() {
            if !std::mem::replace(needed.elements.get_mut(element)?, true) {
                let next = found.next_value(module, element)?;
                needed.visit(module, vec![next], found, &mut open);
            }
        }
        Some(needed)
    }

    /// Marks instructions and everything they depend on as needed, and adds the state elements that they read
    /// to `open`.
    fn visit(&mut self, module: &Module, mut stack: Vec<InstrId>, found: &WhileLoop, open: &mut Vec<usize>) {
        while let Some(id) = stack.pop() {
            if !self.instructions.insert(id) {
                continue;
            }
            for state in [found.condition_state, found.body_state] {
                open.extend(element_of(module, id, state));
            }
            stack.extend(module[id].operands.iter().copied());
        }
    }
}
