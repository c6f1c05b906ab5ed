//! Types with and without their sizes.

use crate::text::type_text;
use crate::tree::{Attribute, DYNAMIC, TensorType, Type, TypeKind};
use hlo_ir::{ArrayShape, Shape};

/// Returns the bound of a dimension, or [`DYNAMIC`].
fn bound(tensor: &TensorType, dimension: usize) -> i64 {
    let bounds = tensor.encoding.as_ref().and_then(|e| e.fields("stablehlo.bounds")?.get("bounds")?.ints());
    bounds.and_then(|bounds| bounds.get(dimension).copied()).unwrap_or(DYNAMIC)
}

/// Checks whether a size in a type is neither known nor bounded.
pub(super) fn is_unknown(ty: &Type) -> bool {
    match &**ty {
        TypeKind::Tensor(tensor) | TypeKind::MemRef(tensor) => {
            tensor.dims.iter().enumerate().any(|(d, &size)| size == DYNAMIC && bound(tensor, d) == DYNAMIC)
        }
        TypeKind::UnrankedTensor(_) => true,
        TypeKind::Tuple(elements) | TypeKind::Future(elements) => elements.iter().any(is_unknown),
        _ => false,
    }
}

/// Returns a type with the unknown sizes replaced by those of a shape. The element types do not change.
///
/// # Errors
/// A message if a known size of the type differs from that of the shape.
pub(super) fn with_shape(ty: &Type, shape: &Shape) -> Result<Type, String> {
    let differs = || format!("the type {} does not fit the shape {shape}", type_text(ty));
    Ok(match (&**ty, shape) {
        (TypeKind::Tensor(tensor), Shape::Array(array)) => {
            if tensor.dims.len() != array.rank() {
                return Err(differs());
            }
            let sizes = array_sizes(array);
            let mut merged: Vec<(i64, i64)> = Vec::with_capacity(sizes.len());
            for (d, (&declared, (size, of_shape))) in tensor.dims.iter().zip(sizes).enumerate() {
                let of_type = bound(tensor, d);
                merged.push(match (declared, of_type) {
                    (DYNAMIC, DYNAMIC) => (size, of_shape),
                    (DYNAMIC, most) if size <= most => (DYNAMIC, most),
                    (declared, _) if size == declared || size == DYNAMIC => (declared, DYNAMIC),
                    _ => return Err(differs()),
                });
            }
            of_sizes(tensor, &merged)
        }
        (TypeKind::UnrankedTensor(element), Shape::Array(array)) => {
            let tensor = TensorType { dims: Vec::new(), element: element.clone(), encoding: None };
            of_sizes(&tensor, &array_sizes(array).collect::<Vec<_>>())
        }
        (TypeKind::Tuple(types), Shape::Tuple(shapes)) if types.len() == shapes.len() => {
            let elements = types.iter().zip(shapes.iter()).map(|(ty, shape)| with_shape(ty, shape));
            TypeKind::Tuple(elements.collect::<Result<_, _>>()?).into()
        }
        (TypeKind::Tensor(_) | TypeKind::UnrankedTensor(_) | TypeKind::Tuple(_), _) => return Err(differs()),
        _ => ty.clone(),
    })
}

/// Returns the size and the bound of each dimension. [`DYNAMIC`] stands for an unknown size or bound.
fn array_sizes(array: &ArrayShape) -> impl ExactSizeIterator<Item = (i64, i64)> {
    array.dims.iter().enumerate().map(|(d, &size)| match (array.is_dynamic_dim(d), size) {
        (_, ArrayShape::UNBOUNDED) => (DYNAMIC, DYNAMIC),
        (true, most) => (DYNAMIC, most),
        (false, size) => (size, DYNAMIC),
    })
}

/// Returns a type with the given sizes and bounds and the element type of `tensor`.
fn of_sizes(tensor: &TensorType, sizes: &[(i64, i64)]) -> Type {
    let dims = sizes.iter().map(|&(size, _)| size).collect();
    let bounds: Vec<i64> = sizes.iter().map(|&(_, most)| most).collect();
    let is_bounded = bounds.iter().any(|&most| most != DYNAMIC);
    let encoding = if is_bounded {
        Some(Attribute::of_fields("stablehlo.bounds", [("bounds", Attribute::i64s(bounds))]))
    } else {
        tensor.encoding.clone().filter(|e| e.fields("stablehlo.bounds").is_none())
    };
    TypeKind::Tensor(TensorType { dims, element: tensor.element.clone(), encoding }).into()
}

/// Returns the sizes of an array, or `None` if one is dynamic.
pub(super) fn static_dims(ty: &Type) -> Option<&[i64]> {
    let dims = &ty.as_tensor()?.dims;
    (!dims.contains(&DYNAMIC)).then_some(dims)
}
