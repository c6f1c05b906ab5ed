//! Patterns on nested selections, and on selections that are equivalent to another operation.

use crate::support::constants::is_splat_integer;
use crate::support::rewrite::{Cx, Pattern};
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::{InstrId, Op, Opcode};

const SELECT: &[Opcode] = &[Opcode::Select];

pub(super) static PATTERNS: &[Pattern] = &[
    Pattern::new(
        "select-select",
        "select(p, select(p, a, b), c) → select(p, a, c); select(p, a, select(p, b, c)) → select(p, a, c)",
        SELECT,
        select_select,
    ),
    Pattern::new("select-or", "select(p, a, select(q, a, b)) → select(or(p, q), a, b)", SELECT, select_or),
    Pattern::new("select-and", "select(p, select(q, a, b), b) → select(and(p, q), a, b)", SELECT, select_and),
    Pattern::new(
        "select-logic",
        "select(p, true, x) → or(p, x); select(p, x, false) → and(p, x)",
        SELECT,
        select_logic,
    ),
    Pattern::new(
        "select-equality",
        "select(x = y, x, y) → y; select(x != y, x, y) → x (integers)",
        SELECT,
        select_equality,
    ),
    Pattern::new(
        "select-extremum",
        "select(x < y, x, y) → minimum(x, y); also every other order (integers)",
        SELECT,
        select_extremum,
    ),
];

/// Returns the predicate, and the values for true and for false.
fn parts(cx: &Cx<'_>, id: InstrId) -> Option<[InstrId; 3]> {
    match cx.module[id].operands.as_slice() {
        &[p, a, b] if cx.opcode(id) == Opcode::Select => Some([p, a, b]),
        _ => None,
    }
}

/// Rewrites a selection between values that the same predicate selects.
fn select_select(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let [p, a, b] = parts(cx, id)?;
    let chosen = |inner: InstrId, n: usize| parts(cx, inner).filter(|i| i[0] == p).map(|i| i[n]);
    let (on_true, on_false) = (chosen(a, 1), chosen(b, 2));
    if on_true.is_none() && on_false.is_none() {
        return None;
    }
    Some(cx.add_same_shape(Op::Select, &[p, on_true.unwrap_or(a), on_false.unwrap_or(b)]))
}

/// Returns the parts of the inner selection of `id`, if it has no other users and both predicates have the
/// same sizes.
fn nested(cx: &Cx<'_>, id: InstrId, p: InstrId, inner: InstrId) -> Option<[InstrId; 3]> {
    let parts = parts(cx, inner).filter(|_| cx.used_only_by(inner, id))?;
    (cx.array(p)?.dims == cx.array(parts[0])?.dims).then_some(parts)
}

/// Combines the predicates of two nested selections that both select `a` if true.
fn select_or(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let [p, a, inner] = parts(cx, id)?;
    let [q, also, b] = nested(cx, id, p, inner)?;
    let shape = cx.module[p].shape.clone();
    (also == a).then(|| {
        let either = cx.add(shape, Op::Or, &[p, q]);
        cx.add_same_shape(Op::Select, &[either, a, b])
    })
}

/// Combines the predicates of two nested selections that both must be true to select `a`.
fn select_and(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let [p, inner, b] = parts(cx, id)?;
    let [q, a, also] = nested(cx, id, p, inner)?;
    let shape = cx.module[p].shape.clone();
    (also == b).then(|| {
        let both = cx.add(shape, Op::And, &[p, q]);
        cx.add_same_shape(Op::Select, &[both, a, b])
    })
}

/// Rewrites a selection between predicates of which one is constant.
fn select_logic(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let [p, a, b] = parts(cx, id)?;
    if !cx.element_type(id)?.is_pred() || cx.array(p)?.dims != cx.array(id)?.dims {
        return None;
    }
    let is = |x, value| is_splat_integer(cx.module, x, value);
    if is(a, 1) {
        Some(cx.add_same_shape(Op::Or, &[p, b]))
    } else if is(b, 0) {
        Some(cx.add_same_shape(Op::And, &[p, a]))
    } else {
        None
    }
}

/// Returns the direction of the comparison that is the predicate, if it compares the selected values. The
/// boolean is whether it does so in the same order.
fn compared(cx: &Cx<'_>, id: InstrId) -> Option<(ComparisonDirection, bool)> {
    let [p, a, b] = parts(cx, id)?;
    let Op::Compare(attrs) = &cx.module[p].op else { return None };
    // Floating-point numbers have two zeros and NaN.
    if !super::ranges::compares_values(cx.element_type(a)?, attrs) {
        return None;
    }
    let (x, y) = (cx.operand(p, 0)?, cx.operand(p, 1)?);
    if (x, y) == (a, b) {
        Some((attrs.direction, true))
    } else {
        ((x, y) == (b, a)).then_some((attrs.direction, false))
    }
}

/// Rewrites a selection by equality of the two values.
fn select_equality(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let [_, a, b] = parts(cx, id)?;
    match compared(cx, id)?.0 {
        ComparisonDirection::Eq => Some(b),
        ComparisonDirection::Ne => Some(a),
        _ => None,
    }
}

/// Rewrites a selection of the smaller or larger of two values.
fn select_extremum(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let [_, a, b] = parts(cx, id)?;
    use ComparisonDirection::*;
    let op = match compared(cx, id)? {
        (Lt | Le, true) | (Gt | Ge, false) => Op::Minimum,
        (Gt | Ge, true) | (Lt | Le, false) => Op::Maximum,
        (Eq | Ne, _) => return None,
    };
    Some(cx.add_same_shape(op, &[a, b]))
}
