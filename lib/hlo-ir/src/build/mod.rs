//! Adding instructions: what passes and builders have in common.

mod namer;

use crate::{ArrayShape, ElementType, InstrId, Literal, Op, Shape};
pub use namer::ComputationNamer;

/// What adds instructions to a module. Where they stand and what they are named after is the implementer's; so is what
/// is known of the shape of a value.
pub trait Build {
    /// Adds an instruction.
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId;

    /// The shape of a value that instructions are added for.
    fn shape_of(&self, id: InstrId) -> Shape;

    /// The shape of an array; `None` for other values, and for arrays that are none of the implementer's business.
    fn array_of(&self, id: InstrId) -> Option<ArrayShape> {
        match self.shape_of(id) {
            Shape::Array(a) => Some(a),
            _ => None,
        }
    }

    /// A scalar constant of the given bytes; `None` if the type has another number of them.
    fn scalar(&mut self, ty: ElementType, bytes: &[u8]) -> Option<InstrId> {
        let literal = Literal::scalar_from_bytes(ty, bytes)?;
        Some(self.add(Shape::scalar(ty), Op::constant(literal), &[]))
    }

    /// A scalar constant of all zero bits: zero in every type.
    fn zero(&mut self, ty: ElementType) -> Option<InstrId> {
        let literal = Literal::try_zeros(&Shape::scalar(ty))?;
        Some(self.add(Shape::scalar(ty), Op::constant(literal), &[]))
    }

    /// `value` in an array of the given sizes, its dimensions along `dimensions`; dynamic where it is.
    fn broadcast(&mut self, value: InstrId, shape: &ArrayShape, dimensions: &[i64]) -> InstrId {
        let dynamic = self.array_of(value).map_or(Vec::new(), |a| {
            let from = |d: usize| dimensions.iter().position(|&to| to == d as i64);
            (0..shape.rank()).map(|d| from(d).is_some_and(|k| a.is_dynamic_dim(k))).collect()
        });
        let shape = shape.clone().with_dynamic(dynamic);
        self.add(shape, Op::broadcast(dimensions.iter().copied()), &[value])
    }

    /// Each element's index along a dimension.
    fn iota(&mut self, ty: ElementType, dims: &[i64], along: usize) -> InstrId {
        self.add(ArrayShape::new(ty, dims.iter().copied()), Op::iota(along as i64), &[])
    }

    /// The elements in row-major order in other sizes; the value itself if it has them. `None` if it is no array.
    fn reshaped(&mut self, value: InstrId, dims: &[i64]) -> Option<InstrId> {
        let shape = self.array_of(value)?;
        if shape.dims.as_slice() == dims {
            return Some(value);
        }
        Some(self.add(ArrayShape::new(shape.element_type, dims.iter().copied()), Op::reshape(), &[value]))
    }

    /// An element of a tuple; `None` if it has none of that index.
    fn element(&mut self, tuple: InstrId, index: usize) -> Option<InstrId> {
        let shape = self.shape_of(tuple).as_tuple()?.get(index)?.clone();
        Some(self.add(shape, Op::get_tuple_element(index as i64), &[tuple]))
    }

    /// The tuple of some values.
    fn tuple(&mut self, values: &[InstrId]) -> InstrId {
        let shape = Shape::Tuple(values.iter().map(|&v| self.shape_of(v)).collect());
        self.add(shape, Op::Tuple, values)
    }
}
