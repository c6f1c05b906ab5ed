//! Adding instructions: common functions of passes and builders.

mod namer;

use crate::{ArrayShape, ElementType, InstrId, Literal, Op, Shape};
pub use namer::ComputationNamer;

/// Adds instructions to a module. The implementation determines the position and the names of new
/// instructions, and the shapes of values.
pub trait Build {
    /// Adds an instruction.
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId;

    /// Returns the shape of a value that is used in new instructions.
    fn shape_of(&self, id: InstrId) -> Shape;

    /// Returns the shape of an array; `None` for other values, and for arrays that the implementation
    /// excludes.
    fn array_of(&self, id: InstrId) -> Option<ArrayShape> {
        match self.shape_of(id) {
            Shape::Array(a) => Some(a),
            _ => None,
        }
    }

    /// Adds a scalar constant with the given bytes. Returns `None` if the type has another size.
    fn scalar(&mut self, ty: ElementType, bytes: &[u8]) -> Option<InstrId> {
        let literal = Literal::scalar_from_bytes(ty, bytes)?;
        Some(self.add(Shape::scalar(ty), Op::constant(literal), &[]))
    }

    /// Adds a scalar constant whose bits are all zero, which is zero in every type.
    fn zero(&mut self, ty: ElementType) -> Option<InstrId> {
        let literal = Literal::try_zeros(&Shape::scalar(ty))?;
        Some(self.add(Shape::scalar(ty), Op::constant(literal), &[]))
    }

    /// Broadcasts `value` to an array of the given sizes, its dimensions along `dimensions`. Its dynamic
    /// dimensions stay dynamic.
    fn broadcast(&mut self, value: InstrId, shape: &ArrayShape, dimensions: &[i64]) -> InstrId {
        let dynamic = self.array_of(value).map_or(Vec::new(), |a| {
            let from = |d: usize| dimensions.iter().position(|&to| to == d as i64);
            (0..shape.rank()).map(|d| from(d).is_some_and(|k| a.is_dynamic_dim(k))).collect()
        });
        let shape = shape.clone().with_dynamic(dynamic);
        self.add(shape, Op::broadcast(dimensions.iter().copied()), &[value])
    }

    /// Adds an array that contains each element's index along a dimension.
    fn iota(&mut self, ty: ElementType, dims: &[i64], along: usize) -> InstrId {
        self.add(ArrayShape::new(ty, dims.iter().copied()), Op::iota(along as i64), &[])
    }

    /// Reshapes an array to other sizes. Returns the value itself if it has these sizes, and `None` if it is
    /// not an array.
    fn reshaped(&mut self, value: InstrId, dims: &[i64]) -> Option<InstrId> {
        let shape = self.array_of(value)?;
        if shape.dims.as_slice() == dims {
            return Some(value);
        }
        Some(self.add(ArrayShape::new(shape.element_type, dims.iter().copied()), Op::reshape(), &[value]))
    }

    /// Adds an element of a tuple. Returns `None` if there is no such element.
    fn element(&mut self, tuple: InstrId, index: usize) -> Option<InstrId> {
        let shape = self.shape_of(tuple).as_tuple()?.get(index)?.clone();
        Some(self.add(shape, Op::get_tuple_element(index as i64), &[tuple]))
    }

    /// Adds a tuple of values.
    fn tuple(&mut self, values: &[InstrId]) -> InstrId {
        let shape = Shape::Tuple(values.iter().map(|&v| self.shape_of(v)).collect());
        self.add(shape, Op::Tuple, values)
    }
}
