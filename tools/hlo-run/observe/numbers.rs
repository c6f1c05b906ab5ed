//! Classifies elements of arrays as finite, infinite or NaN.

use hlo_ir::print::write_value;
use hlo_ir::{AlignedBytes, ElementType, Literal, Shape, unravel};
use hlo_tools_common::compare::value;

/// The class of an element, in increasing order of badness. A complex number has the class of its worse part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A finite number.
    Finite,
    /// An infinity.
    Infinite,
    /// Not a number.
    Nan,
}

impl Class {
    fn of((re, im): (f64, f64)) -> Self {
        match (re.is_nan() || im.is_nan(), re.is_finite() && im.is_finite()) {
            (true, _) => Class::Nan,
            (false, true) => Class::Finite,
            (false, false) => Class::Infinite,
        }
    }
}

/// Whether the type has infinities or NaN.
pub fn has_specials(ty: ElementType) -> bool {
    ty.is_float() || ty.is_complex()
}

/// Returns the elements that are not finite, with their row-major positions.
pub fn specials(array: &Literal) -> impl Iterator<Item = (usize, Class)> + '_ {
    let ty = array.shape().as_array().map(|a| a.element_type).filter(|&ty| has_specials(ty));
    let chunks = ty.map(|ty| array.bytes().chunks_exact(ty.byte_size()).map(move |bytes| (ty, bytes)));
    let suspects =
        chunks.into_iter().flatten().enumerate().filter(|(_, (ty, bytes))| may_be_special(*ty, bytes));
    suspects.map(|(at, (ty, bytes))| (at, Class::of(value(ty, bytes)))).filter(|&(_, c)| c != Class::Finite)
}

/// Returns false for most finite numbers, based on their exponents. Only the remaining elements are decoded.
fn may_be_special(ty: ElementType, bytes: &[u8]) -> bool {
    let top = |b: &[u8], mask: u8, next: u8| matches!(b, [.., low, high] if high & 0x7f == mask && low & next == next);
    match ty {
        ElementType::F32 | ElementType::Bf16 => top(bytes, 0x7f, 0x80),
        ElementType::F64 => top(bytes, 0x7f, 0xf0),
        _ => true,
    }
}

/// Returns the class of one element.
pub fn class_at(array: &Literal, position: usize) -> Class {
    element(array, position).map_or(Class::Finite, |(ty, bytes)| {
        if has_specials(ty) { Class::of(value(ty, bytes)) } else { Class::Finite }
    })
}

/// Returns an element as HLO text.
pub fn text_at(array: &Literal, position: usize) -> String {
    let mut text = String::new();
    let scalar = element(array, position)
        .and_then(|(ty, bytes)| Literal::try_from_bytes(Shape::scalar(ty), AlignedBytes::from_slice(bytes)));
    if let Some(scalar) = scalar {
        // Writing to a string does not fail.
        let _ = write_value(&mut text, &scalar, None);
    }
    // The sign of a NaN has no meaning.
    text.replace("-nan", "nan")
}

fn element(array: &Literal, position: usize) -> Option<(ElementType, &[u8])> {
    let ty = array.shape().as_array()?.element_type;
    let start = position.checked_mul(ty.byte_size())?;
    Some((ty, array.bytes().get(start..start + ty.byte_size())?))
}

/// Returns the elements as doubles. Complex numbers are converted to magnitudes, `pred` to 0 and 1.
pub fn numbers(array: &Literal) -> Box<dyn Iterator<Item = f64> + '_> {
    match array.shape().as_array().map(|a| a.element_type) {
        Some(ty) if ty.is_complex() => {
            Box::new(array.bytes().chunks_exact(ty.byte_size()).map(move |bytes| {
                let (re, im) = value(ty, bytes);
                re.hypot(im)
            }))
        }
        _ => Box::new(hlo_tools_common::compare::elements(array)),
    }
}

/// Returns the index of a row-major position: `[1,2]`.
pub fn index(dims: &[i64], position: usize) -> String {
    let numbers: Vec<String> = unravel(position, dims).iter().map(i64::to_string).collect();
    format!("[{}]", numbers.join(","))
}
