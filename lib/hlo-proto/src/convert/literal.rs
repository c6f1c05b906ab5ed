//! Literals. A message contains the elements in the order of the shape's layout. Elements narrower than a
//! byte take one byte each.

use super::Result;
use super::shape::{read_shape, write_shape};
use crate::messages::LiteralProto;
use hlo_ir::laid_out::{from_buffer, to_buffer};
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, Layout, Literal, LiteralData, Shape};

/// Implements access to the fields that store elements as bytes.
macro_rules! byte_fields {
    ($($ty:ident = $field:ident,)*) => {
        /// Returns the bytes of the elements of a type, or `None` if the message stores them as numbers.
        fn bytes_of(proto: &LiteralProto, ty: ElementType) -> Option<&[u8]> {
            match ty { $(ElementType::$ty => Some(&proto.$field),)* _ => None }
        }

        /// Returns the bytes of [`bytes_of`] for writing.
        fn bytes_of_mut(proto: &mut LiteralProto, ty: ElementType) -> Option<&mut Vec<u8>> {
            match ty { $(ElementType::$ty => Some(&mut proto.$field),)* _ => None }
        }
    };
}

byte_fields! {
    S1 = s1s,
    S2 = s2s,
    S4 = s4s,
    S8 = s8s,
    S16 = s16s,
    U1 = u1s,
    U2 = u2s,
    U4 = u4s,
    U8 = u8s,
    U16 = u16s,
    F16 = f16s,
    Bf16 = bf16s,
    F8E5M2 = f8e5m2s,
    F8E4M3 = f8e4m3s,
    F8E4M3Fn = f8e4m3fns,
    F8E4M3B11Fnuz = f8e4m3b11fnuzs,
    F8E3M4 = f8e3m4s,
    F8E5M2Fnuz = f8e5m2fnuzs,
    F8E4M3Fnuz = f8e4m3fnuzs,
    F8E8M0Fnu = f8e8m0fnus,
    F4E2M1Fn = f4e2m1fns,
    F6E3M2Fn = f6e3m2fns,
    F6E2M3Fn = f6e2m3fns,
}

/// Returns the literal in a message. The function allocates memory only for the elements that the message
/// contains.
///
/// # Errors
/// A message if the shape is invalid, or if the number of elements does not match the shape.
pub fn read_literal(proto: &LiteralProto) -> Result<Literal> {
    let shape = match &proto.shape {
        Some(shape) => read_shape(shape)?,
        None => return Err("a literal has no shape".into()),
    };
    match shape {
        Shape::Array(array) => {
            let literal = read_array(proto, array)?;
            resized(literal, &proto.dynamic_sizes)
        }
        Shape::Tuple(shapes) => {
            let elements: Vec<Literal> =
                proto.tuple_literals.iter().map(read_literal).collect::<Result<_>>()?;
            let literal = Literal::tuple(elements);
            if !Shape::Tuple(shapes.clone()).accepts(literal.shape()) {
                let (shape, found) = (Shape::Tuple(shapes), literal.shape());
                return Err(format!("a literal of shape {shape} has elements of the shape {found}"));
            }
            Ok(literal)
        }
        Shape::Token => Ok(Literal::token()),
        other @ (Shape::Opaque | Shape::Buffer(_)) => Err(format!("there is no literal of shape {other}")),
    }
}

/// Resizes the array to the sizes of its dynamic dimensions.
fn resized(literal: Literal, sizes: &[i32]) -> Result<Literal> {
    let Some(array) = literal.shape().as_array().filter(|_| !sizes.is_empty()) else { return Ok(literal) };
    let sizes: Vec<i64> = sizes.iter().map(|&n| n.into()).collect();
    if !array.accepts_sizes(&sizes) {
        return Err(format!("a literal of shape {array} has the sizes {sizes:?}"));
    }
    literal.resized(&sizes).ok_or_else(|| "there is no memory for a literal".into())
}

fn read_array(proto: &LiteralProto, array: ArrayShape) -> Result<Literal> {
    let wrong = |found: usize, unit: &str| format!("a literal of shape {array} has {found} {unit}");
    let count = array.checked_element_count().and_then(|n| usize::try_from(n).ok());
    let Some(count) = count else { return Err(wrong(0, "elements")) };
    // This check runs before anything of that size is allocated.
    let check = |found: usize, parts: usize| {
        if count.checked_mul(parts) == Some(found) { Ok(()) } else { Err(wrong(found / parts, "elements")) }
    };
    /// Reads elements that are stored as `$parts` numbers each.
    macro_rules! numbers {
        ($field:ident, $parts:literal) => {{
            check(proto.$field.len(), $parts)?;
            Literal::from_elements(stored_shape(&array), &proto.$field)
        }};
    }
    let stored = match array.element_type {
        ElementType::Pred => {
            check(proto.preds.len(), 1)?;
            let bytes: Vec<u8> = proto.preds.iter().map(|&b| b.into()).collect();
            Literal::from_elements(stored_shape(&array), &bytes)
        }
        ElementType::S32 => numbers!(s32s, 1),
        ElementType::S64 => numbers!(s64s, 1),
        ElementType::U32 => numbers!(u32s, 1),
        ElementType::U64 => numbers!(u64s, 1),
        ElementType::F32 => numbers!(f32s, 1),
        ElementType::F64 => numbers!(f64s, 1),
        ElementType::C64 => numbers!(c64s, 2),
        ElementType::C128 => numbers!(c128s, 2),
        ty => {
            let bytes = bytes_of(proto, ty).unwrap_or_default();
            if count.checked_mul(ty.byte_size()) != Some(bytes.len()) {
                return Err(wrong(bytes.len(), "bytes"));
            }
            Literal::from_elements(stored_shape(&array), &extended(bytes, ty))
        }
    };
    if array.is_dense_row_major() {
        return Ok(stored.with_shape(array.into()));
    }
    let in_order = from_buffer(AlignedBytes::from_slice(stored.bytes()), &unpacked(&array));
    Ok(in_order.with_shape(array.into()))
}

/// Returns the row-major shape with the same dimensions, for elements that are stored in another order.
fn stored_shape(array: &ArrayShape) -> Shape {
    Shape::Array(ArrayShape { layout: None, ..array.clone() })
}

/// Returns the shape with only the dimension order of its layout. In messages each element takes at least a
/// byte.
fn unpacked(array: &ArrayShape) -> ArrayShape {
    let order = |layout: &Layout| Layout::new(layout.minor_to_major.iter().copied());
    ArrayShape { layout: array.layout.as_ref().map(order), ..array.clone() }
}

/// Converts elements narrower than a byte to the form in literals: signed ones are sign-extended, others have
/// zeros in the unused bits.
fn extended(bytes: &[u8], ty: ElementType) -> std::borrow::Cow<'_, [u8]> {
    let unused = 8u32.saturating_sub(ty.bit_width());
    if unused == 0 {
        return bytes.into();
    }
    let extend = |&byte: &u8| {
        if ty.is_signed_integer() {
            ((byte << unused) as i8 >> unused) as u8
        } else {
            byte << unused >> unused
        }
    };
    bytes.iter().map(extend).collect::<Vec<u8>>().into()
}

/// Returns the message of a literal.
pub fn write_literal(literal: &Literal) -> LiteralProto {
    let mut proto =
        LiteralProto { shape: Some(Box::new(write_shape(literal.shape()))), ..LiteralProto::default() };
    match (literal.shape(), literal.data()) {
        (Shape::Array(array), LiteralData::Array(_)) => write_array(literal, array, &mut proto),
        (_, LiteralData::Tuple(elements)) => {
            proto.tuple_literals = elements.iter().map(write_literal).collect();
        }
        _ => {}
    }
    proto
}

fn write_array(literal: &Literal, array: &ArrayShape, proto: &mut LiteralProto) {
    let reordered = to_buffer(literal, &Shape::Array(unpacked(array)));
    let stored = match reordered {
        Some(bytes) => &Literal::from_bytes(stored_shape(array), bytes),
        None => literal,
    };
    match array.element_type {
        ElementType::Pred => proto.preds = stored.bytes().iter().map(|&b| b != 0).collect(),
        ElementType::S32 => proto.s32s = stored.elements().to_vec(),
        ElementType::S64 => proto.s64s = stored.elements().to_vec(),
        ElementType::U32 => proto.u32s = stored.elements().to_vec(),
        ElementType::U64 => proto.u64s = stored.elements().to_vec(),
        ElementType::F32 => proto.f32s = stored.elements().to_vec(),
        ElementType::F64 => proto.f64s = stored.elements().to_vec(),
        ElementType::C64 => proto.c64s = stored.elements().to_vec(),
        ElementType::C128 => proto.c128s = stored.elements().to_vec(),
        ty => {
            if let Some(bytes) = bytes_of_mut(proto, ty) {
                bytes.extend_from_slice(stored.bytes());
                let unused = 8u32.saturating_sub(ty.bit_width());
                bytes.iter_mut().for_each(|b| *b = *b << unused >> unused);
            }
        }
    }
}
