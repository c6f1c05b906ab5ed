//! Recognizes integer arrays whose elements form an arithmetic progression.

use crate::support::constants::{literal, splat_value};
use crate::support::integer_range::type_range;
use crate::support::rewrite::{Cx, index};
use hlo_ir::{InstrId, Op};

/// An arithmetic progression.
pub(super) struct Progression {
    pub(super) start: i128,
    pub(super) step: i128,
    pub(super) count: i128,
}

/// Returns the elements of an index array in row-major order, if they form an arithmetic progression.
pub(super) fn progression(cx: &Cx<'_>, id: InstrId, depth: usize) -> Option<Progression> {
    let depth = depth.checked_sub(1)?;
    let shape = cx.array(id)?;
    let count = i128::from(shape.checked_element_count()?);
    let whole = type_range(shape.element_type)?;
    let found = match &cx.module[id].op {
        Op::Iota(a) => {
            let size = *shape.dims.get(index(a.iota_dimension)?)?;
            (i128::from(size) == count).then_some(Progression { start: 0, step: 1, count })?
        }
        // These operations keep the order of the elements.
        Op::Reshape(_) | Op::Copy | Op::Convert => {
            let x = cx.operand(id, 0)?;
            type_range(cx.element_type(x)?)?;
            progression(cx, x, depth)?
        }
        Op::Add => {
            let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
            let (x, by) = match (splat_value(cx.module, a), splat_value(cx.module, b)) {
                (None, Some(by)) => (a, by),
                (Some(by), None) => (b, by),
                _ => return None,
            };
            let x = progression(cx, x, depth)?;
            Progression { start: x.start.checked_add(by)?, ..x }
        }
        Op::Multiply => {
            let (a, b) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
            let (x, by) = match (splat_value(cx.module, a), splat_value(cx.module, b)) {
                (None, Some(by)) => (a, by),
                (Some(by), None) => (b, by),
                _ => return None,
            };
            let x = progression(cx, x, depth)?;
            Progression { start: x.start.checked_mul(by)?, step: x.step.checked_mul(by)?, ..x }
        }
        Op::Constant(_) => constant_progression(cx, id, count)?,
        _ => return None,
    };
    // Reject progressions that wrap around.
    let last = found.start.checked_add(found.step.checked_mul(count.max(1) - 1)?)?;
    let inside = |v: i128| (whole.low..=whole.high).contains(&v);
    (found.count == count && inside(found.start) && inside(last)).then_some(found)
}

/// Maximum number of elements of a constant that is examined.
const MAX_ELEMENTS: i128 = 4096;

fn constant_progression(cx: &Cx<'_>, id: InstrId, count: i128) -> Option<Progression> {
    let value = literal(cx.module, id).filter(|_| (1..=MAX_ELEMENTS).contains(&count))?;
    let at = |i: i128| value.integer_at(usize::try_from(i).ok()?);
    let start = at(0)?;
    let step = if count > 1 { at(1)?.checked_sub(start)? } else { 1 };
    let equal = (1..count).all(|i| at(i).zip(at(i - 1)).is_some_and(|(b, a)| b.checked_sub(a) == Some(step)));
    equal.then_some(Progression { start, step, count })
}
