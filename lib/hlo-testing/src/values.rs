//! Random inputs for modules.

use crate::Numbers;
use hlo_ir::{ElementType, FloatFormat, Literal, Shape};

/// The distribution of the numbers in an array.
#[derive(Clone, Copy)]
enum Kind {
    /// Small integers.
    Small,
    /// Numbers between -4 and 4.
    Ordinary,
    /// Any bits. Special values are more frequent.
    Any,
}

/// Returns random numbers for a shape, or `None` if it contains anything other than arrays. `special` allows
/// infinities, NaNs and extreme magnitudes.
pub fn random(shape: &Shape, numbers: &mut Numbers, special: bool) -> Option<Literal> {
    if let Some(elements) = shape.as_tuple() {
        let parts = elements.iter().map(|e| random(e, numbers, special)).collect::<Option<_>>()?;
        return Some(Literal::tuple(parts));
    }
    let ty = shape.as_array()?.element_type;
    let mut literal = Literal::try_zeros(shape)?;
    let kinds =
        if special { &[Kind::Small, Kind::Ordinary, Kind::Ordinary, Kind::Any][..] } else { &[Kind::Small] };
    let kind = numbers.pick(kinds);
    let part = ty.real_type();
    for element in literal.bytes_mut().chunks_exact_mut(part.byte_size()) {
        let bits = bits(part, kind, numbers);
        element.copy_from_slice(&bits.to_le_bytes()[..element.len()]);
    }
    Some(literal)
}

/// Returns the bits of a number as stored in literals. The type must not be complex.
fn bits(ty: ElementType, kind: Kind, numbers: &mut Numbers) -> u64 {
    let drawn = numbers.bits();
    let small = (drawn % 9) as i64 - 3;
    if let Some(format) = FloatFormat::of(ty) {
        let any = drawn & (u64::MAX >> (64 - ty.bit_width()));
        return match kind {
            Kind::Small => format.encode(small as f64 / 2.0),
            Kind::Ordinary => format.encode(drawn as f64 / 2f64.powi(61) - 4.0),
            Kind::Any if numbers.one_in(3) => {
                let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1e-40, 1.0, -1.0];
                format.encode(numbers.pick(&special))
            }
            Kind::Any => any,
        };
    }
    if ty.is_pred() {
        return drawn & 1;
    }
    let value = match kind {
        Kind::Small if ty.is_signed_integer() => small,
        Kind::Small => small.abs(),
        Kind::Ordinary | Kind::Any => drawn as i64,
    };
    // Signed sub-byte numbers are sign-extended to a byte.
    let unused = 64 - ty.bit_width();
    if ty.is_signed_integer() {
        (value << unused >> unused) as u64
    } else {
        value as u64 & (u64::MAX >> unused)
    }
}
