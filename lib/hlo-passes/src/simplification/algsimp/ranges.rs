//! Patterns on integers whose range determines the result.

use crate::rewriting::is_by_integer;
use crate::support::constants::splat_value;
use crate::support::integer_range::{Range, type_range};
use crate::support::range::range_of;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::{InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "compare-range",
        "compare(x, y) → true or false, if the ranges of the integers decide it: iota() < 0 → false",
        &[Opcode::Compare],
        compare_range,
    ),
    Pattern::new(
        "divide-range",
        "divide(x, y) → 0, if always 0 <= x < y (integers)",
        &[Opcode::Divide],
        divide_range,
    ),
    Pattern::new(
        "remainder-range",
        "remainder(x, y) → x, if always 0 <= x < y (integers)",
        &[Opcode::Remainder],
        remainder_range,
    ),
    Pattern::new(
        "remainder-add",
        "remainder(add(x, k * c), c) → remainder(x, c), if always x >= 0 and the addition never wraps (integers)",
        &[Opcode::Remainder],
        remainder_add,
    ),
    Pattern::new(
        "extremum-range",
        "maximum(x, y) → x, if always x >= y; y, if always y >= x (integers); also minimum",
        &[Opcode::Maximum, Opcode::Minimum],
        extremum_range,
    ),
    Pattern::new(
        "clamp-range",
        "clamp(low, x, high) → x, if always low <= x <= high (integers)",
        &[Opcode::Clamp],
        clamp_range,
    ),
    Pattern::new("abs-range", "abs(x) → x, if always x >= 0 (integers)", &[Opcode::Abs], abs_range),
    Pattern::new(
        "and-range",
        "and(x, 2^k - 1) → x, if always 0 <= x < 2^k (integers)",
        &[Opcode::And],
        and_range,
    ),
];

/// Returns the range of an operand.
fn operand_range(cx: &Cx<'_>, id: InstrId, n: usize) -> Option<Range> {
    range_of(cx.module, cx.operand(id, n)?)
}

/// Rewrites a comparison with the same result for all values in the ranges of its operands.
fn compare_range(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let Op::Compare(attrs) = cx.module[id].op.clone() else { return None };
    if !is_by_integer(cx.element_type(cx.operand(id, 0)?)?, attrs.comparison_type) {
        return None;
    }
    let (x, y) = (operand_range(cx, id, 0)?, operand_range(cx, id, 1)?);
    let (below, above) = (x.high < y.low, x.low > y.high);
    let (not_above, not_below) = (x.high <= y.low, x.low >= y.high);
    let equal = x.low == y.high && x.high == y.low;
    use ComparisonDirection::*;
    let (always, never) = match attrs.direction {
        Lt => (below, not_below),
        Le => (not_above, above),
        Gt => (above, not_above),
        Ge => (not_below, below),
        Eq => (equal, below || above),
        Ne => (below || above, equal),
    };
    let a = cx.array(id)?;
    (always || never).then(|| cx.splat_integer(&a, i64::from(always))).flatten()
}

/// Returns whether `0 <= x < y`.
fn is_remainder(cx: &Cx<'_>, id: InstrId) -> Option<bool> {
    let (x, y) = (operand_range(cx, id, 0)?, operand_range(cx, id, 1)?);
    Some(x.low >= 0 && x.high < y.low)
}

/// Rewrites the quotient of a number and a larger one.
fn divide_range(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let a = cx.array(id)?;
    is_remainder(cx, id)?.then(|| cx.splat_integer(&a, 0)).flatten()
}

/// Rewrites the remainder of a number that is already below the divisor.
fn remainder_range(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    is_remainder(cx, id)?.then(|| cx.operand(id, 0)).flatten()
}

/// Removes a multiple of the divisor that is added before a remainder.
fn remainder_add(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (sum, divisor) = (cx.operand(id, 0)?, cx.operand(id, 1)?);
    let by = splat_value(cx.module, divisor).filter(|&v| v > 0)?;
    let all = type_range(cx.element_type(id)?)?;
    if cx.opcode(sum) != Opcode::Add {
        return None;
    }
    for (x, c) in [(0, 1), (1, 0)] {
        let (x, c) = (cx.operand(sum, x)?, cx.operand(sum, c)?);
        let Some(added) = splat_value(cx.module, c).filter(|&v| v >= 0 && v % by == 0) else { continue };
        let range = range_of(cx.module, x)?;
        if range.low >= 0 && range.high <= all.high - added {
            return Some(cx.add_same_shape(Op::Remainder, &[x, divisor]));
        }
    }
    None
}

/// Rewrites an extremum whose ranges determine which operand it is.
fn extremum_range(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (x, y) = (operand_range(cx, id, 0)?, operand_range(cx, id, 1)?);
    let minimum = usize::from(cx.opcode(id) == Opcode::Minimum);
    if x.low >= y.high {
        cx.operand(id, minimum)
    } else if y.low >= x.high {
        cx.operand(id, 1 - minimum)
    } else {
        None
    }
}

/// Rewrites a clamp to bounds that the value never exceeds.
fn clamp_range(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let (low, x, high) = (operand_range(cx, id, 0)?, operand_range(cx, id, 1)?, operand_range(cx, id, 2)?);
    (low.high <= x.low && x.high <= high.low).then(|| cx.operand(id, 1)).flatten()
}

/// Rewrites the magnitude of a nonnegative number.
fn abs_range(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    (operand_range(cx, id, 0)?.low >= 0).then(|| cx.operand(id, 0)).flatten()
}

/// Rewrites a bitwise and with a mask that contains all bits of the value.
fn and_range(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let all = type_range(cx.element_type(id)?)?;
    for (x, mask) in [(0, 1), (1, 0)] {
        let (x, mask) = (cx.operand(id, x)?, cx.operand(id, mask)?);
        let Some(value) = splat_value(cx.module, mask).filter(|&v| v >= 0 && v < all.high) else { continue };
        let range = range_of(cx.module, x)?;
        if value & (value + 1) == 0 && range.low >= 0 && range.high <= value {
            return Some(x);
        }
    }
    None
}
