//! Recognition of comparators that order by the values of some operands, as frameworks write them. For these,
//! the runtime sorts by keys without calling a function.
//!
//! A comparator is converted to keys only if it returns the order of the keys for every pair of elements.
//! There is one exception: `<` and `>` on floats are no order if there are NaNs. Such keys are partial, and
//! the runtime calls the comparator where it finds a NaN.

use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::{ComputationId, ElementType, FloatFormat, InstrId, Module, Op, Special};
use hlo_runtime_core::{KeyKind, KeyOrder, SortKey};

/// Maximum number of keys. Comparators with more keys are called.
const MAX_KEYS: usize = 8;

/// Returns the keys that a comparator orders by, most significant first, or `None` if it is not of this kind.
pub fn keys(module: &Module, computation: ComputationId) -> Option<Vec<SortKey>> {
    let mut keys = Vec::new();
    let mut rest = module[computation].root();
    while keys.len() < MAX_KEYS {
        if let Op::Compare(_) = &module[rest].op {
            keys.push(before(module, rest)?.key()?);
            return Some(keys);
        }
        // Before by the first key, or equal in it and before by the other keys.
        let (first, others) = lexicographic(module, rest)?;
        keys.push(first.key()?);
        rest = others;
    }
    None
}

/// Returns the key of an operand with this element type, or `None` if the type has no order.
pub fn key(operand: i64, ty: ElementType, order: KeyOrder) -> Option<SortKey> {
    let bits = i64::from(ty.bit_width());
    let (kind, largest) = match FloatFormat::of(ty) {
        Some(format) => {
            let magnitude_bits = format.exponent_bits + format.mantissa_bits;
            let all = i64::MAX >> (63 - magnitude_bits);
            match format.special {
                Special::Ieee => (KeyKind::Float, all & !(i64::MAX >> (63 - format.mantissa_bits))),
                Special::NanOnly => (KeyKind::Float, all - 1),
                Special::Fnuz => (KeyKind::FloatWithoutNegativeZero, all),
                Special::FiniteOnly => (KeyKind::Float, all),
                // There is no sign, and NaN has the largest bit pattern.
                Special::PowerOfTwo => (KeyKind::Unsigned, all - 1),
            }
        }
        None if ty.is_complex() => return None,
        None if ty.is_signed_integer() => (KeyKind::Signed, 0),
        None => (KeyKind::Unsigned, 0),
    };
    Some(SortKey { operand, kind: kind as i64, bits, largest, order: order as i64 })
}

/// A value that depends on one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    parameter: i64,
    /// Whether all NaNs are replaced by one NaN, and both zeros by one zero.
    canonical: bool,
}

/// The relation `left < right` or `left > right` of the two elements of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Relation {
    operand: i64,
    ty: ElementType,
    canonical: bool,
    total: bool,
    descends: bool,
}

impl Relation {
    fn key(self) -> Option<SortKey> {
        // Types with one zero and one NaN have only canonical values.
        let canonical =
            self.canonical && FloatFormat::of(self.ty).is_some_and(|format| format.special != Special::Fnuz);
        let order = match (self.ty.is_float(), self.total, canonical) {
            (true, false, _) => [KeyOrder::Less, KeyOrder::Greater],
            (true, true, true) => [KeyOrder::AscendingNumbers, KeyOrder::DescendingNumbers],
            (true, true, false) | (false, _, _) => [KeyOrder::Ascending, KeyOrder::Descending],
        };
        let order = order[usize::from(self.descends)];
        key(self.operand, self.ty, order)
    }
}

/// Returns a comparison of the two elements of an operand, and its direction with the left element on the
/// left.
fn comparison(module: &Module, id: InstrId) -> Option<(Relation, ComparisonDirection)> {
    let Op::Compare(CompareAttrs { direction, comparison_type, .. }) = &module[id].op else { return None };
    let &[a, b] = &module[id].operands[..] else { return None };
    let (x, y) = (value(module, a)?, value(module, b)?);
    let ty = module[a].shape.as_array()?.element_type;
    let pair = (x.parameter.min(y.parameter), x.parameter.max(y.parameter));
    if x.canonical != y.canonical || pair.0 % 2 != 0 || pair.1 != pair.0 + 1 {
        return None;
    }
    let total = *comparison_type == ComparisonType::TotalOrder;
    if !total && !comparison_type.is_usual_for(ty) {
        return None;
    }
    let mirrored = match direction {
        ComparisonDirection::Lt => ComparisonDirection::Gt,
        ComparisonDirection::Gt => ComparisonDirection::Lt,
        ComparisonDirection::Le => ComparisonDirection::Ge,
        ComparisonDirection::Ge => ComparisonDirection::Le,
        ComparisonDirection::Eq => ComparisonDirection::Eq,
        ComparisonDirection::Ne => ComparisonDirection::Ne,
    };
    let direction = if x.parameter < y.parameter { *direction } else { mirrored };
    let operand = pair.0 / 2;
    Some((Relation { operand, ty, canonical: x.canonical, total, descends: false }, direction))
}

/// Returns the relation if the comparison decides which of two elements comes first.
fn before(module: &Module, id: InstrId) -> Option<Relation> {
    let (relation, direction) = comparison(module, id)?;
    match direction {
        ComparisonDirection::Lt => Some(relation),
        ComparisonDirection::Gt => Some(Relation { descends: true, ..relation }),
        ComparisonDirection::Eq
        | ComparisonDirection::Ne
        | ComparisonDirection::Le
        | ComparisonDirection::Ge => None,
    }
}

/// Matches `or(before, and(equal, others))`, with the operands in any order. Returns the first relation and
/// the root of the others.
fn lexicographic(module: &Module, id: InstrId) -> Option<(Relation, InstrId)> {
    let pairs = |id: InstrId| match &module[id].operands[..] {
        &[a, b] => [(a, b), (b, a)],
        _ => [(id, id); 2],
    };
    if !matches!(module[id].op, Op::Or) {
        return None;
    }
    for (first, both) in pairs(id) {
        let (Some(relation), Op::And) = (before(module, first), &module[both].op) else { continue };
        for (equal, others) in pairs(both) {
            let same = comparison(module, equal).is_some_and(|(r, d)| {
                d == ComparisonDirection::Eq && r == Relation { descends: false, ..relation }
            });
            if same {
                return Some((relation, others));
            }
        }
    }
    None
}

/// Matches a parameter, or a parameter with canonical NaNs and zeros:
/// `select(p != p, nan, select(p == 0, 0, p))`, or the selects in the other order.
fn value(module: &Module, id: InstrId) -> Option<Value> {
    if let Op::Parameter(p) = &module[id].op {
        return Some(Value { parameter: p.number, canonical: false });
    }
    let (outer, inner, rest) = nested_selects(module, id)?;
    let Op::Parameter(p) = &module[rest].op else { return None };
    let is = |select: InstrId, test: fn(&Module, InstrId, InstrId) -> bool| test(module, select, rest);
    let canonical =
        (is(outer, makes_nan) && is(inner, makes_zero)) || (is(outer, makes_zero) && is(inner, makes_nan));
    canonical.then_some(Value { parameter: p.number, canonical: true })
}

/// Matches `select(_, _, select(_, _, rest))`.
fn nested_selects(module: &Module, outer: InstrId) -> Option<(InstrId, InstrId, InstrId)> {
    let inner = *module[outer].operands.get(2)?;
    let rest = *module[inner].operands.get(2)?;
    let selects = matches!((&module[outer].op, &module[inner].op), (Op::Select, Op::Select));
    selects.then_some((outer, inner, rest))
}

/// Checks whether a select returns a positive NaN where `x` is a NaN.
fn makes_nan(module: &Module, select: InstrId, x: InstrId) -> bool {
    let &[test, value, _] = &module[select].operands[..] else { return false };
    let Op::Compare(c) = &module[test].op else { return false };
    let ne = c.direction == ComparisonDirection::Ne && c.comparison_type != ComparisonType::TotalOrder;
    ne && module[test].operands[..] == [x, x]
        && constant(module, value).is_some_and(|v| v.is_nan() && v.is_sign_positive())
}

/// Checks whether a select returns zero where `x` is zero.
fn makes_zero(module: &Module, select: InstrId, x: InstrId) -> bool {
    let &[test, value, _] = &module[select].operands[..] else { return false };
    let Op::Compare(c) = &module[test].op else { return false };
    let &[left, right] = &module[test].operands[..] else { return false };
    let eq = c.direction == ComparisonDirection::Eq && c.comparison_type != ComparisonType::TotalOrder;
    let zero = |id: InstrId| constant(module, id) == Some(0.0);
    eq && zero(value) && ((left == x && zero(right)) || (right == x && zero(left)))
}

/// Returns the value of a scalar float constant.
fn constant(module: &Module, id: InstrId) -> Option<f64> {
    let Op::Constant(c) = &module[id].op else { return None };
    let ty = module[id].shape.as_array().filter(|a| a.rank() == 0)?.element_type;
    let mut word = [0u8; 8];
    let bytes = c.literal.bytes();
    word.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(FloatFormat::of(ty)?.decode(u64::from_le_bytes(word)))
}
