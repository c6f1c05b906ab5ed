//! Element-wise functions of integers and predicates.
//!
//! Arithmetic wraps (two's complement). Cases that the semantics leave unspecified follow XLA's CPU backend:
//! x / 0 is all ones, x % 0 is x, MIN / -1 is MIN, and MIN % -1 is 0. A shift by the width or more returns 0,
//! or the sign for an arithmetic shift. Predicates add as `or` and multiply as `and`.

use crate::kernel::{Kernel, binary, in_lanes, ternary, unary, with_integer};
use hlo_ir::ElementType;
use hlo_ir::attr::ComparisonDirection::{self, Eq, Ge, Gt, Le, Lt, Ne};
use hlo_ir::attr::ComparisonType;

/// Returns the binary kernel of `$body` over the integer type's lanes, wrapped to its width.
macro_rules! arithmetic {
    ($t:expr, |$a:ident, $b:ident, $T:ident| $body:expr) => {
        with_integer!($t, $T => in_lanes(&[$t, $t], $t, binary(move |$a: $T, $b: $T| -> $T { $body })))
    };
}

/// Returns the binary kernel of `$body` where the sign does not matter: all integers are unsigned.
macro_rules! modular {
    ($t:expr, |$a:ident, $b:ident| $body:expr) => {
        if !$t.is_integer() {
            None
        } else if $t.bit_width() == 64 {
            Some(binary(move |$a: u64, $b: u64| -> u64 { $body }))
        } else {
            Some(in_lanes(&[$t, $t], $t, binary(move |$a: u32, $b: u32| -> u32 { $body })))
        }
    };
}

/// Returns the unary kernel of `$body`.
macro_rules! of_one {
    ($t:expr, |$a:ident, $T:ident| $body:expr) => {
        with_integer!($t, $T => in_lanes(&[$t], $t, unary(move |$a: $T| -> $T { $body })))
    };
}

fn pred(t: ElementType, f: fn(u8, u8) -> u8) -> Option<Kernel> {
    t.is_pred().then(|| binary(move |a: u8, b: u8| f(a, b)))
}

pub(super) fn add(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a | b).or_else(|| modular!(t, |a, b| a.wrapping_add(b)))
}

pub(super) fn subtract(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a ^ b).or_else(|| modular!(t, |a, b| a.wrapping_sub(b)))
}

pub(super) fn multiply(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a & b).or_else(|| modular!(t, |a, b| a.wrapping_mul(b)))
}

pub(super) fn divide(t: ElementType) -> Option<Kernel> {
    arithmetic!(t, |a, b, T| if b == 0 { !0 } else { a.wrapping_div(b) })
}

/// The result has the sign of the dividend.
pub(super) fn remainder(t: ElementType) -> Option<Kernel> {
    arithmetic!(t, |a, b, T| if b == 0 { a } else { a.wrapping_rem(b) })
}

pub(super) fn maximum(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a | b).or_else(|| arithmetic!(t, |a, b, T| a.max(b)))
}

pub(super) fn minimum(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a & b).or_else(|| arithmetic!(t, |a, b, T| a.min(b)))
}

/// Power by squaring, wrapping. A negative exponent returns the integer part of the power: 0 unless the base
/// is 1 or -1.
#[allow(unused_comparisons, clippy::absurd_extreme_comparisons, reason = "one body for signed and unsigned")]
pub(super) fn power(t: ElementType) -> Option<Kernel> {
    arithmetic!(t, |a, b, T| {
        if b < 0 {
            match a {
                1 => 1,
                _ if a == !0 => {
                    if b & 1 == 0 {
                        1
                    } else {
                        a
                    }
                }
                _ => 0,
            }
        } else {
            let (mut base, mut exponent, mut result): (T, T, T) = (a, b, 1);
            while exponent != 0 {
                if exponent & 1 == 1 {
                    result = result.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                exponent >>= 1;
            }
            result
        }
    })
}

/// `mulhi`: the high half of the full product.
pub(super) fn multiply_high(t: ElementType) -> Option<Kernel> {
    let bits = t.bit_width();
    arithmetic!(t, |a, b, T| ((i128::from(a).wrapping_mul(i128::from(b))) >> bits) as T)
}

pub(super) fn and(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a & b).or_else(|| modular!(t, |a, b| a & b))
}

pub(super) fn or(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a | b).or_else(|| modular!(t, |a, b| a | b))
}

pub(super) fn xor(t: ElementType) -> Option<Kernel> {
    pred(t, |a, b| a ^ b).or_else(|| modular!(t, |a, b| a ^ b))
}

pub(super) fn not(t: ElementType) -> Option<Kernel> {
    if t.is_pred() {
        return Some(unary(|a: u8| u8::from(a == 0)));
    }
    of_one!(t, |a, T| !a)
}

/// Returns the shift amount, or `None` if it is at least the width. A negative amount counts as too large.
fn amount(by: i128, bits: u32) -> Option<u32> {
    u32::try_from(by).ok().filter(|&by| by < bits)
}

pub(super) fn shift_left(t: ElementType) -> Option<Kernel> {
    let bits = t.bit_width();
    arithmetic!(t, |a, b, T| amount(b.into(), bits).map_or(0, |by| a << by))
}

pub(super) fn shift_right_arithmetic(t: ElementType) -> Option<Kernel> {
    let bits = t.bit_width();
    // The sign is the top bit, even if the type is unsigned.
    let unused = 128 - bits;
    arithmetic!(t, |a, b, T| {
        let extended = (i128::from(a) << unused) >> unused;
        (extended >> amount(b.into(), bits).unwrap_or(bits - 1)) as T
    })
}

pub(super) fn shift_right_logical(t: ElementType) -> Option<Kernel> {
    let bits = t.bit_width();
    let mask = u128::MAX >> (128 - bits);
    arithmetic!(t, |a, b, T| amount(b.into(), bits)
        .map_or(0, |by| ((i128::from(a) as u128 & mask) >> by) as T))
}

/// The absolute value; MIN stays MIN.
#[allow(unused_comparisons, clippy::absurd_extreme_comparisons, reason = "one body for signed and unsigned")]
pub(super) fn abs(t: ElementType) -> Option<Kernel> {
    of_one!(t, |a, T| if a < 0 { (0 as T).wrapping_sub(a) } else { a })
}

pub(super) fn negate(t: ElementType) -> Option<Kernel> {
    of_one!(t, |a, T| (0 as T).wrapping_sub(a))
}

#[allow(unused_comparisons, clippy::absurd_extreme_comparisons, reason = "one body for signed and unsigned")]
pub(super) fn sign(t: ElementType) -> Option<Kernel> {
    of_one!(t, |a, T| if a < 0 { !0 } else { T::from(a > 0) })
}

pub(super) fn count_leading_zeros(t: ElementType) -> Option<Kernel> {
    let bits = t.bit_width();
    let mask = u128::MAX >> (128 - bits);
    of_one!(t, |a, T| ((i128::from(a) as u128 & mask).leading_zeros() - (128 - bits)) as T)
}

pub(super) fn population_count(t: ElementType) -> Option<Kernel> {
    let mask = u128::MAX >> (128 - t.bit_width());
    of_one!(t, |a, T| (i128::from(a) as u128 & mask).count_ones() as T)
}

/// `min(max(x, low), high)`; the operands are low, x, high.
pub(super) fn clamp(t: ElementType) -> Option<Kernel> {
    if t.is_pred() {
        return Some(ternary(|low: u8, x: u8, high: u8| x.max(low).min(high)));
    }
    with_integer!(t, T => in_lanes(&[t; 3], t, ternary(|low: T, x: T, high: T| x.max(low).min(high))))
}

/// Returns the kernel of a comparison of integers or predicates: in the order of the element type, unless the
/// comparison specifies the signedness.
pub(super) fn compare(
    t: ElementType,
    direction: ComparisonDirection,
    order: ComparisonType,
) -> Option<Kernel> {
    if t.is_pred() {
        return Some(ordered::<u8>(direction));
    }
    let pair = [t, t];
    if order == ComparisonType::Unsigned && t.is_signed_integer() {
        // Sign extension keeps the order of the bits as unsigned numbers.
        return Some(match t.bit_width() {
            64 => ordered::<u64>(direction),
            _ => in_lanes(&pair, ElementType::Pred, ordered::<u32>(direction)),
        });
    }
    with_integer!(t, T => in_lanes(&pair, ElementType::Pred, ordered::<T>(direction)))
}

/// Returns a function that checks whether a relation is true for an ordering of its operands.
pub(super) fn comparison_function(direction: ComparisonDirection) -> fn(std::cmp::Ordering) -> bool {
    match direction {
        Eq => |o| o.is_eq(),
        Ne => |o| o.is_ne(),
        Ge => |o| o.is_ge(),
        Gt => |o| o.is_gt(),
        Le => |o| o.is_le(),
        Lt => |o| o.is_lt(),
    }
}

/// Returns the kernel of a relation in Rust's order of the type. For floats this is IEEE 754's order: with a
/// NaN only `!=` is true.
pub(super) fn ordered<T: bytemuck::Pod + PartialOrd>(direction: ComparisonDirection) -> Kernel {
    let less = matches!(direction, Lt | Le | Ne);
    let equal = matches!(direction, Le | Ge | Eq);
    let greater = matches!(direction, Gt | Ge | Ne);
    let unordered = direction == Ne;
    binary(move |a: T, b: T| {
        let (below, above) = (a < b, a > b);
        let same = a == b;
        let neither = !(below | above | same);
        u8::from(below & less | above & greater | same & equal | neither & unordered)
    })
}
