//! Replaces element types with common ones.

use super::{Reduction, at_sites};
use hlo_ir::{ArrayShape, ElementType, InstrId, Literal, Op, Shape};
use std::collections::BTreeSet;

/// Changes the type of every array of an element type.
pub const TYPES: Reduction = Reduction {
    name: "element types",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let mut present: BTreeSet<ElementType> = BTreeSet::new();
        for c in module.computations() {
            for &i in module[c].instructions() {
                let arrays = module[i].shape.leaves().into_iter().filter_map(Shape::as_array);
                present.extend(arrays.map(|a| a.element_type));
            }
        }
        let sites: Vec<(ElementType, ElementType)> =
            present.into_iter().filter_map(|from| Some((from, simpler(from)?))).collect();
        at_sites(module, range, sites, |module, chosen| {
            let all: Vec<InstrId> = module
                .computations()
                .collect::<Vec<_>>()
                .into_iter()
                .flat_map(|c| module[c].instructions().to_vec())
                .collect();
            for i in all {
                let shape = with_types(&module[i].shape, chosen);
                if let Op::Constant(a) = module.op_mut(i)
                    && let Some(literal) = converted(&a.literal, &shape)
                {
                    a.literal = literal;
                }
                module.set_shape(i, shape);
            }
        })
    },
};

/// Returns the type to try instead.
fn simpler(ty: ElementType) -> Option<ElementType> {
    use ElementType::{C64, C128, F32, S32, S64, U32, U64};
    match ty {
        F32 | S32 | ElementType::Pred => None,
        C64 => Some(F32),
        C128 => Some(C64),
        U64 => Some(U32),
        U32 | S64 => Some(S32),
        t if t.is_float() => Some(F32),
        t if t.is_integer() => Some(S32),
        _ => None,
    }
}

fn with_types(shape: &Shape, types: &[(ElementType, ElementType)]) -> Shape {
    match shape {
        Shape::Array(a) => {
            let new = types.iter().find(|(from, _)| *from == a.element_type);
            Shape::Array(new.map_or_else(|| a.clone(), |&(_, to)| in_type(a, to)))
        }
        Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|p| with_types(p, types)).collect()),
        Shape::Buffer(inner) => Shape::Buffer(Box::new(with_types(inner, types))),
        Shape::Token | Shape::Opaque => shape.clone(),
    }
}

/// Returns the array shape with another element type. Drops a layout that specifies the number of bits of an
/// element, because the number does not apply to the new type.
fn in_type(array: &ArrayShape, ty: ElementType) -> ArrayShape {
    let same_bits = array.layout.as_ref().is_none_or(|l| l.element_size_bits().is_none());
    let layout = array.layout.clone().filter(|_| same_bits);
    ArrayShape { layout, ..array.with_element_type(ty) }
}

/// Converts a value to the types of another shape, as `convert` does.
fn converted(literal: &Literal, shape: &Shape) -> Option<Literal> {
    if literal.shape() == shape {
        return None;
    }
    let (Shape::Array(from), Shape::Array(to)) = (literal.shape(), shape) else { return None };
    let value = hlo_eval::convert(literal, to.element_type).ok()?;
    (from.dims == to.dims).then(|| value.with_shape(shape.clone()))
}
