//! Merges counters: calculates a loop counter from another one whose step divides its own.

use super::Simplifier;
use super::needed::{Needed, taken};
use crate::rewrites::Rewrites;
use crate::support::constants::wide_integer_bytes;
use crate::support::range::wrapped;
use crate::support::trip_count;
use crate::support::while_loop::{WhileLoop, add_element};
use hlo_ir::{ElementType, InstrId, Literal, Module, Op};

/// Calculates counters from others. A counter that starts at `b` with step `m·s` equals `m·c + (b - m·a)`,
/// where `c` is a counter that starts at `a` with step `s`. The equality is exact, because integers wrap
/// around. Counters that the condition reads stay, so that the trip count stays known. The derived elements
/// are then unused.
pub(super) fn merge(
    cx: &mut Simplifier,
    module: &mut Module,
    found: WhileLoop,
    rewrites: &mut Rewrites,
) -> bool {
    let all = derived(cx, module, &found);
    if all.is_empty() || !rewrites.allowed() {
        return false;
    }
    let Some(own) = cx.unshare_computations(module, found.id) else { return true };
    own.take_apart_result(module);
    let places = [own.id, own.body_state].map(|tuple| (tuple, own.element_users(module, tuple)));
    for counter in all {
        if !rewrites.allowed() {
            break;
        }
        for (tuple, takers) in &places {
            let mut value = None;
            for &taker in takers.get(counter.element).map_or(&[][..], Vec::as_slice) {
                if module.is_used(taker) {
                    let base = takers.get(counter.base).and_then(|t| t.first().copied());
                    let value = *value.get_or_insert_with(|| counter.calculate(module, taker, *tuple, base));
                    module.replace_all_uses_with(taker, value);
                }
            }
        }
        rewrites.made("merge-counters", &module[own.id].name);
    }
    true
}

/// Maximum number of base counters that are tried for one counter.
const MAX_BASES: usize = 64;

/// A loop-carried integer that grows by a constant step.
struct Counter {
    element: usize,
    ty: ElementType,
    first: i128,
    step: i128,
    /// Whether the condition reads the counter.
    decides: bool,
}

/// A counter that equals `factor · base + offset`.
struct Derived {
    element: usize,
    base: usize,
    factor: i128,
    factor_value: Literal,
    offset: i128,
    offset_value: Literal,
}

/// Returns the counters that can be calculated from base counters. A base counter is never derived itself.
fn derived(cx: &Simplifier, module: &Module, found: &WhileLoop) -> Vec<Derived> {
    let mut counters = counters(cx, module, found);
    // A counter with a smaller step can be the base of more counters.
    counters.sort_by_key(|c| (!c.decides, c.step.abs(), c.element));
    let part = |tuple: InstrId, element: usize| module[tuple].shape.as_tuple()?.get(element);
    let alike = |a: usize, b: usize| {
        [found.id, found.body_state].into_iter().all(|tuple| part(tuple, a) == part(tuple, b))
    };
    let takers = [found.id, found.body_state].map(|tuple| found.element_users(module, tuple));
    let movable = |element: usize| {
        takers.iter().filter_map(|t| t.get(element)).flatten().all(|t| !cx.pinned.contains(t))
    };
    let mut kept: Vec<&Counter> = Vec::new();
    let mut out = Vec::new();
    for c in &counters {
        let of =
            |base: &&&Counter| c.ty == base.ty && c.step % base.step == 0 && alike(c.element, base.element);
        let base = kept.iter().take(MAX_BASES).find(of).filter(|_| !c.decides && movable(c.element));
        match base.and_then(|base| Derived::new(c, base)) {
            Some(found) => out.push(found),
            None => kept.push(c),
        }
    }
    out
}

/// Returns the counters of a loop that are needed.
fn counters(cx: &Simplifier, module: &Module, found: &WhileLoop) -> Vec<Counter> {
    let needed = Needed::of(cx, module, found).map(|n| n.elements);
    let (taken, whole) = (taken(module, found), found.is_used_whole(module));
    let decides = found.element_users(module, found.condition_state);
    let Some(course) = trip_count::recurrences(module, found.id) else { return Vec::new() };
    let counter = |element: usize| {
        let used = needed.as_ref().is_none_or(|n| n.get(element) == Some(&true));
        if !used || !(whole || taken.get(element) == Some(&true)) {
            return None;
        }
        let shape = module[found.id].shape.as_tuple()?.get(element)?;
        let ty = shape.as_array().filter(|a| a.rank() == 0 && a.layout_items().is_none())?.element_type;
        let (first, step) = course(element, ty)?;
        let decides = decides.get(element)?.iter().any(|&t| module.is_used(t));
        (step != 0 && ty.bit_width() >= 8).then_some(Counter { element, ty, first, step, decides })
    };
    (0..found.len).filter_map(counter).collect()
}

impl Derived {
    /// Expresses `counter` in terms of `base`, whose step divides the step of `counter`.
    fn new(counter: &Counter, base: &Counter) -> Option<Self> {
        let ty = counter.ty;
        let literal = |value: i128| Literal::scalar_from_bytes(ty, &wide_integer_bytes(ty, value)?);
        let factor = counter.step.checked_div(base.step)?;
        let offset = wrapped(ty, counter.first.checked_sub(factor.checked_mul(base.first)?)?)?;
        Some(Self {
            element: counter.element,
            base: base.element,
            factor,
            factor_value: literal(wrapped(ty, factor)?)?,
            offset,
            offset_value: literal(offset)?,
        })
    }

    /// Calculates the counter's value to replace `taker`, which reads it from `tuple`. `base` is the
    /// instruction that reads the base counter from `tuple`, if there is one.
    fn calculate(
        &self,
        module: &mut Module,
        taker: InstrId,
        tuple: InstrId,
        base: Option<InstrId>,
    ) -> InstrId {
        let shape = module[taker].shape.clone();
        let base = base.unwrap_or_else(|| add_element(module, tuple, self.base, shape.clone()));
        let constant = |module: &mut Module, value: &Literal| {
            module.add_like(taker, shape.clone(), Op::constant(value.clone()), [])
        };
        if self.factor == -1 {
            let offset = constant(module, &self.offset_value);
            return module.add_like(taker, shape.clone(), Op::Subtract, [offset, base]);
        }
        let product = match self.factor {
            1 => base,
            _ => {
                let factor = constant(module, &self.factor_value);
                module.add_like(taker, shape.clone(), Op::Multiply, [base, factor])
            }
        };
        if self.offset == 0 {
            return product;
        }
        let offset = constant(module, &self.offset_value);
        module.add_like(taker, shape.clone(), Op::Add, [product, offset])
    }
}
