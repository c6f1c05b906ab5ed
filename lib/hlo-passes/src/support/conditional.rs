//! Conditionals: inlines a branch, or replaces the conditional by a select between both branches.

use super::clone::inline_at;
use super::constants::{integer_bytes, scalar_integer};
use super::effects::{Effects, has_control_dependencies};
use super::rewrite::same_layout;
use super::while_loop::add_element;
use hlo_ir::attr::{CallAttrs, CompareAttrs, ComparisonDirection};
use hlo_ir::build::ComputationNamer;
use hlo_ir::{ComputationId, ElementType, InstrId, Literal, Module, Op, Shape};

/// Returns the branch computations of a conditional with their arguments, in order.
pub fn branches(module: &Module, id: InstrId) -> Option<Vec<(ComputationId, InstrId)>> {
    let Op::Conditional(a) = &module[id].op else { return None };
    let branches = a.branches();
    let arguments = module[id].operands.get(1..)?;
    (branches.len() == arguments.len() && !branches.is_empty())
        .then(|| branches.into_iter().zip(arguments.iter().copied()).collect())
}

/// Returns the number of the branch that always runs, if the index is a constant or there is only one branch.
pub fn known_branch(module: &Module, id: InstrId) -> Option<usize> {
    let count = branches(module, id)?.len();
    let index = *module[id].operands.first()?;
    if count == 1 && !is_predicate(module, index) {
        return Some(0);
    }
    let value = scalar_integer(module, index)?;
    Some(if is_predicate(module, index) {
        usize::from(value == 0)
    } else {
        usize::try_from(value).unwrap_or(usize::MAX).min(count - 1)
    })
}

fn is_predicate(module: &Module, id: InstrId) -> bool {
    module[id].shape.as_array().is_some_and(|a| a.element_type.is_pred())
}

/// Emits one branch in place of the conditional: its instructions, or a call if the branch has side effects
/// or control dependencies. Returns `None` if the shapes do not match.
pub fn take_branch(
    module: &mut Module,
    namer: &mut ComputationNamer,
    effects: &Effects,
    id: InstrId,
    branch: usize,
) -> Option<InstrId> {
    let &(computation, argument) = branches(module, id)?.get(branch)?;
    if !fits(module, id, computation, argument) {
        return None;
    }
    if effects.any(computation) || has_control_dependencies(module, computation) {
        let shape = module[id].shape.clone();
        let attrs = CallAttrs { to_apply: computation, ..CallAttrs::default() };
        return Some(module.add_like(id, shape, Op::Call(attrs), [argument]));
    }
    inline_at(module, namer, id, computation, &[argument])
}

/// Returns whether the argument matches the parameter, and the root matches the conditional, layouts
/// included.
fn fits(module: &Module, id: InstrId, computation: ComputationId, argument: InstrId) -> bool {
    let same = |a: InstrId, b: InstrId| {
        module[a].shape.compatible(&module[b].shape) && same_layout(&module[a].shape, &module[b].shape)
    };
    matches!(module.parameters(computation)[..], [one] if same(one, argument))
        && module.has_root(computation)
        && same(module[computation].root(), id)
}

/// Runs both branches of a conditional and selects between the results. Returns `None` unless there are
/// exactly two branches and every part of the result can be selected. The branches must have no side effects.
pub fn select_between(
    module: &mut Module,
    namer: &mut ComputationNamer,
    effects: &Effects,
    id: InstrId,
) -> Option<InstrId> {
    let [(first, x), (second, y)] = branches(module, id)?[..] else { return None };
    let selectable = |s: &&Shape| s.as_array().is_some_and(|a| a.is_static());
    let plain = [(first, x), (second, y)].into_iter().all(|(c, argument)| {
        !effects.any(c) && !has_control_dependencies(module, c) && fits(module, id, c, argument)
    });
    if !plain || !module[id].shape.leaves().iter().all(selectable) {
        return None;
    }
    let index = *module[id].operands.first()?;
    let predicate = if is_predicate(module, index) {
        index
    } else {
        // Index 0 selects the first branch, and any other index the second.
        let zero = Literal::scalar_from_bytes(ElementType::S32, &integer_bytes(ElementType::S32, 0)?)?;
        let zero = module.add_like(id, Shape::scalar(ElementType::S32), Op::constant(zero), []);
        let attrs = CompareAttrs { direction: ComparisonDirection::Eq, ..CompareAttrs::default() };
        module.add_like(id, Shape::scalar(ElementType::Pred), Op::Compare(attrs), [index, zero])
    };
    let a = inline_at(module, namer, id, first, &[x])?;
    let b = inline_at(module, namer, id, second, &[y])?;
    let shape = module[id].shape.clone();
    Some(select(module, id, predicate, a, b, &shape))
}

/// Selects between two values, leaf by leaf.
fn select(
    module: &mut Module,
    at: InstrId,
    predicate: InstrId,
    a: InstrId,
    b: InstrId,
    shape: &Shape,
) -> InstrId {
    if a == b {
        return a;
    }
    match shape {
        Shape::Tuple(parts) => {
            let parts: Vec<InstrId> = parts
                .iter()
                .enumerate()
                .map(|(n, part)| {
                    let (a, b) = (element(module, a, n, part), element(module, b, n, part));
                    select(module, at, predicate, a, b, part)
                })
                .collect();
            module.add_like(at, shape.clone(), Op::Tuple, parts)
        }
        leaf => {
            let scalar = leaf.is_scalar();
            let predicate = if scalar {
                predicate
            } else {
                let dims = leaf.as_array().map(|a| a.with_element_type(ElementType::Pred));
                let wide = dims.map_or(Shape::scalar(ElementType::Pred), Shape::Array);
                module.add_like(at, wide, Op::broadcast([]), [predicate])
            };
            module.add_like(at, leaf.clone(), Op::Select, [predicate, a, b])
        }
    }
}

/// Returns an element of a tuple. If a `tuple` instruction creates the tuple, returns its operand.
fn element(module: &mut Module, tuple: InstrId, n: usize, shape: &Shape) -> InstrId {
    let made = match module[tuple].op {
        Op::Tuple => module[tuple].operands.get(n).copied(),
        _ => None,
    };
    match made {
        Some(value) => value,
        None => add_element(module, tuple, n, shape.clone()),
    }
}
