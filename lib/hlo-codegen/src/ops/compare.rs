//! `compare`: IEEE 754 relations, two's complement, and the total order of floats.

use super::convert;
use crate::builder::{Builder, FloatPredicate, IntPredicate};
use crate::elem::Elem;
use crate::math::{F, I};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::{ElementType, FloatFormat, Special};

/// Emits the result of a comparison. Returns `None` if the type has no such order.
pub fn compare<'c>(
    b: &Builder<'c>,
    attrs: &CompareAttrs,
    ty: ElementType,
    x: Elem<'c>,
    y: Elem<'c>,
) -> Option<Elem<'c>> {
    let direction = attrs.direction;
    match (x, y) {
        (Elem::Complex(xr, xi), Elem::Complex(yr, yi)) => {
            let pair = |p| (F::new(b, xr).cmp(p, F::new(b, yr)), F::new(b, xi).cmp(p, F::new(b, yi)));
            match direction {
                ComparisonDirection::Eq => {
                    let (re, im) = pair(FloatPredicate::Oeq);
                    Some(convert::pred(re & im))
                }
                ComparisonDirection::Ne => {
                    let (re, im) = pair(FloatPredicate::Une);
                    Some(convert::pred(re | im))
                }
                ComparisonDirection::Ge
                | ComparisonDirection::Gt
                | ComparisonDirection::Le
                | ComparisonDirection::Lt => None,
            }
        }
        (Elem::One(x), Elem::One(y)) if ty.is_float() => {
            let (x, y) = (F::new(b, x), F::new(b, y));
            Some(convert::pred(if attrs.comparison_type == ComparisonType::TotalOrder {
                total_order(ty, x).cmp(int_predicate(direction, true), total_order(ty, y))
            } else {
                x.cmp(float_predicate(direction), y)
            }))
        }
        (Elem::One(x), Elem::One(y)) => {
            let signed = ty.is_signed_integer();
            Some(convert::pred(I::new(b, x).cmp(int_predicate(direction, signed), I::new(b, y))))
        }
        _ => None,
    }
}

/// Emits an integer that has the same order as floats in the total order: the bits, with those below the sign
/// flipped for negative numbers. The NaN of a type without a negative zero is below all numbers, although it
/// has no sign.
fn total_order<'a, 'c>(ty: ElementType, x: F<'a, 'c>) -> I<'a, 'c> {
    let bits = x.bits();
    let width = x.pick(32, 64);
    let order = bits ^ (bits.sar(width - 1) & (i64::MAX >> (64 - width)));
    match FloatFormat::of(ty).map(|format| format.special) {
        Some(Special::Fnuz) => x.is_nan().select_int(order.lit(i64::MIN >> (64 - width)), order),
        _ => order,
    }
}

fn int_predicate(direction: ComparisonDirection, signed: bool) -> IntPredicate {
    match (direction, signed) {
        (ComparisonDirection::Eq, _) => IntPredicate::Eq,
        (ComparisonDirection::Ne, _) => IntPredicate::Ne,
        (ComparisonDirection::Ge, true) => IntPredicate::Sge,
        (ComparisonDirection::Ge, false) => IntPredicate::Uge,
        (ComparisonDirection::Gt, true) => IntPredicate::Sgt,
        (ComparisonDirection::Gt, false) => IntPredicate::Ugt,
        (ComparisonDirection::Le, true) => IntPredicate::Sle,
        (ComparisonDirection::Le, false) => IntPredicate::Ule,
        (ComparisonDirection::Lt, true) => IntPredicate::Slt,
        (ComparisonDirection::Lt, false) => IntPredicate::Ult,
    }
}

fn float_predicate(direction: ComparisonDirection) -> FloatPredicate {
    match direction {
        ComparisonDirection::Eq => FloatPredicate::Oeq,
        ComparisonDirection::Ne => FloatPredicate::Une,
        ComparisonDirection::Ge => FloatPredicate::Oge,
        ComparisonDirection::Gt => FloatPredicate::Ogt,
        ComparisonDirection::Le => FloatPredicate::Ole,
        ComparisonDirection::Lt => FloatPredicate::Olt,
    }
}
