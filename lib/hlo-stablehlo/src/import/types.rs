//! Conversion of types to shapes.

use crate::tree::{Attribute, DYNAMIC, Elements, Signedness, TensorType, Type, TypeKind};
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, Literal, Shape};
use std::sync::Arc;

/// The representation of quantized values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantized {
    /// The stored integers.
    Stored,
    /// The expressed numbers.
    Expressed,
}

/// Returns the shape for a type.
///
/// # Errors
/// A message if HLO lacks the type.
pub fn shape_of(ty: &Type, quantized: Quantized) -> Result<Shape, String> {
    Ok(match &**ty {
        TypeKind::Tensor(tensor) => Shape::Array(array_of(tensor, quantized)?),
        TypeKind::MemRef(tensor) => Shape::Buffer(Box::new(Shape::Array(array_of(tensor, quantized)?))),
        TypeKind::Tuple(elements) => Shape::tuple(shapes_of(elements, quantized)?),
        TypeKind::Token => Shape::Token,
        TypeKind::Future(results) => match &results[..] {
            [one] => shape_of(one, quantized)?,
            several => Shape::tuple(shapes_of(several, quantized)?),
        },
        TypeKind::UnrankedTensor(_) => return Err("an array of unknown rank has no shape in HLO".into()),
        TypeKind::None | TypeKind::Function { .. } | TypeKind::Index | TypeKind::Other(_) => {
            return Err("values of this type do not exist in HLO".into());
        }
        TypeKind::Integer(..) | TypeKind::Float(_) | TypeKind::Complex(_) | TypeKind::Quantized(_) => {
            Shape::scalar(element_of(ty, quantized)?)
        }
    })
}

fn shapes_of(types: &[Type], quantized: Quantized) -> Result<Vec<Shape>, String> {
    types.iter().map(|ty| shape_of(ty, quantized)).collect()
}

/// Returns the shape for an array type. A dimension without a size or a bound is [`ArrayShape::UNBOUNDED`].
///
/// # Errors
/// A message if HLO lacks the element type, or if the bounds do not match the dimensions.
pub fn array_of(tensor: &TensorType, quantized: Quantized) -> Result<ArrayShape, String> {
    let element = element_of(&tensor.element, quantized)?;
    if let Some(error) = ArrayShape::rank_error(tensor.dims.len()) {
        return Err(error);
    }
    let shape = ArrayShape::new(element, tensor.dims.iter().copied());
    let bounds = bounds_of(tensor)?;
    if !tensor.dims.contains(&DYNAMIC) {
        return Ok(shape);
    }
    let mut shape = shape.with_dynamic(tensor.dims.iter().map(|&d| d == DYNAMIC));
    for (d, size) in shape.dims.iter_mut().enumerate().filter(|(_, size)| **size == DYNAMIC) {
        *size = match bounds.get(d) {
            Some(&bound) if bound != DYNAMIC => bound,
            _ => ArrayShape::UNBOUNDED,
        };
    }
    Ok(shape)
}

fn bounds_of(tensor: &TensorType) -> Result<Vec<i64>, String> {
    let Some(encoding) = &tensor.encoding else { return Ok(Vec::new()) };
    let fields =
        encoding.fields("stablehlo.bounds").ok_or("the encoding of the array has no meaning in HLO")?;
    let bounds = fields.get("bounds").and_then(Attribute::ints).unwrap_or_default();
    if bounds.len() == tensor.dims.len() {
        Ok(bounds)
    } else {
        Err(format!("{} bounds are given for {} dimensions", bounds.len(), tensor.dims.len()))
    }
}

/// Returns the HLO type of elements.
///
/// # Errors
/// A message if HLO lacks the type.
pub fn element_of(ty: &Type, quantized: Quantized) -> Result<ElementType, String> {
    use ElementType as E;
    let known = match &**ty {
        TypeKind::Integer(1, Signedness::Signless) => Some(E::Pred),
        TypeKind::Integer(32, Signedness::Signless) => Some(E::S32),
        TypeKind::Quantized(q) if quantized == Quantized::Stored => q.storage.element_type(),
        TypeKind::Quantized(q) => q.expressed.element_type(),
        TypeKind::Index => Some(E::S64),
        _ => ty.element_type(),
    };
    known.ok_or_else(|| match &**ty {
        TypeKind::Integer(bits, _) => format!("HLO has no integers of {bits} bits"),
        TypeKind::Float(float) => format!("HLO has no type `{}`", float.name()),
        _ => "HLO has no such elements".into(),
    })
}

/// Returns the elements of an array as a literal that shares their memory if possible. For a splat, the
/// literal is a scalar with the repeated element.
///
/// # Errors
/// A message if HLO lacks the type, or if the number of elements does not match it.
pub fn literal_of(elements: &Elements) -> Result<Literal, String> {
    let tensor = elements.ty.as_tensor().ok_or("the value is no array of known rank")?;
    let shape = if elements.is_splat {
        ArrayShape::new(element_of(&tensor.element, Quantized::Stored)?, [])
    } else {
        array_of(tensor, Quantized::Stored)?
    };
    let ty = shape.element_type;
    let signed_part = ty.is_signed_integer() && ty.bit_width() < 8;
    let literal = if signed_part && ty.first_odd_byte(&elements.bytes).is_some() {
        Literal::try_from_bytes(shape.into(), sign_extended(ty, &elements.bytes))
    } else {
        Literal::try_from_shared(shape.into(), Arc::clone(&elements.bytes))
    };
    let literal =
        literal.ok_or_else(|| format!("{} bytes are no elements of the type", elements.bytes.len()))?;
    match literal.first_odd_element() {
        None => Ok(literal),
        Some((at, byte)) => Err(format!("element {at} is {byte:#x}, which is no {ty}")),
    }
}

/// Sign-extends numbers that are narrower than a byte.
fn sign_extended(ty: ElementType, bytes: &[u8]) -> AlignedBytes {
    let unused = 8 - ty.bit_width();
    let mut out = AlignedBytes::from_slice(bytes);
    for byte in out.iter_mut() {
        *byte = (((*byte << unused) as i8) >> unused) as u8;
    }
    out
}
