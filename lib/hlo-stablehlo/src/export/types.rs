//! Conversion of shapes to types.

use crate::tree::{Attribute, DYNAMIC, TensorType, Type, TypeKind};
use hlo_ir::{ArrayShape, ElementType, Shape};

/// Returns the type of an array. Dynamic dimensions are `?`; an encoding contains their bounds.
///
/// # Errors
/// A message if StableHLO lacks the element type.
pub(super) fn array_type(array: &ArrayShape) -> Result<Type, String> {
    Ok(TypeKind::Tensor(tensor_type(array)?).into())
}

fn tensor_type(array: &ArrayShape) -> Result<TensorType, String> {
    let element = element_type(array.element_type)?;
    let dynamic = |d: usize| array.is_dynamic_dim(d);
    let sizes = || array.dims.iter().enumerate();
    let dims = sizes().map(|(d, &size)| if dynamic(d) { DYNAMIC } else { size }).collect();
    let bound = |(d, &size): (usize, &i64)| {
        if dynamic(d) && size != ArrayShape::UNBOUNDED { size } else { DYNAMIC }
    };
    let bounds: Vec<i64> = sizes().map(bound).collect();
    let is_bounded = bounds.iter().any(|&b| b != DYNAMIC);
    let encoding =
        is_bounded.then(|| Attribute::of_fields("stablehlo.bounds", [("bounds", Attribute::i64s(bounds))]));
    Ok(TensorType { dims, element, encoding })
}

/// Returns the StableHLO type of an element type.
///
/// # Errors
/// A message if StableHLO lacks the type.
pub(super) fn element_type(ty: ElementType) -> Result<Type, String> {
    let has_form = !matches!(ty, ElementType::S1 | ElementType::U1);
    let found = Type::of_element(ty).filter(|_| has_form);
    found.ok_or_else(|| format!("has elements of type {ty}, which StableHLO lacks"))
}

/// Returns the type of any shape. Tuples stay tuples.
///
/// # Errors
/// A message if StableHLO lacks a type for a part of the shape.
pub(super) fn type_of(shape: &Shape) -> Result<Type, String> {
    match shape {
        Shape::Array(array) => array_type(array),
        Shape::Tuple(elements) => {
            let elements = elements.iter().map(type_of).collect::<Result<_, _>>()?;
            Ok(TypeKind::Tuple(elements).into())
        }
        Shape::Token => Ok(TypeKind::Token.into()),
        Shape::Buffer(inner) => match &**inner {
            Shape::Array(array) => Ok(TypeKind::MemRef(tensor_type(array)?).into()),
            _ => Err(format!("has a part of shape {shape}, which StableHLO lacks")),
        },
        Shape::Opaque => Err(format!("has a part of shape {shape:?}, which StableHLO lacks")),
    }
}
