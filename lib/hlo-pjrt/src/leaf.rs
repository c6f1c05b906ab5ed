//! The parameters and results of programs.

use crate::buffer::relaid;
use crate::element;
use crate::fault::{Fault, Result};
use crate::order::Order;
use hlo_client::Buffer as Array;
use hlo_ir::{Dims, ElementType, Shape};

/// A parameter or result: an array or a token. The caller sees a token as an array without elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The shape in the program.
    pub shape: Shape,
    /// The element type that the caller sees.
    pub element_type: ElementType,
    /// The sizes that the caller sees.
    pub dims: Dims,
    /// The order of the dimensions in memory.
    pub order: Order,
    /// The number of the memory kind in [`crate::device::MEMORY_KINDS`].
    pub memory_kind: usize,
    /// The shape of the array that the caller sees. Each element takes at least one byte.
    plain: Shape,
}

impl Leaf {
    /// Returns the leaf of a shape, in the memory of a kind.
    ///
    /// # Errors
    /// The shape is neither that of an array nor that of a token.
    pub(crate) fn new((shape, memory_kind): (&Shape, usize)) -> Result<Self> {
        let (element_type, dims, order) = match shape {
            Shape::Array(array) => {
                let order: Dims = array.minor_to_major().iter().map(|&d| d as i64).collect();
                (array.element_type, array.dims.clone(), Order::new(&order))
            }
            Shape::Token => (ElementType::Pred, Dims::from_slice(&[0]), Order::ROW_MAJOR),
            other => {
                return Err(Fault::unimplemented(format!(
                    "the program takes or gives a value of shape {other}"
                )));
            }
        };
        let plain = order.shape(element_type, &dims);
        Ok(Self { shape: shape.clone(), element_type, dims, order, memory_kind, plain })
    }

    /// Converts an array to the form that the caller sees, with its run-time sizes.
    ///
    /// # Errors
    /// There is no memory for the converted array.
    pub fn placed(&self, array: Array) -> Result<Array> {
        let dims = array.shape().as_array().map(|a| &a.dims);
        if *array.shape() == self.plain {
            return Ok(array);
        }
        let plain = match dims {
            Some(dims) if *dims != self.dims => self.order.shape(self.element_type, dims),
            _ => self.plain.clone(),
        };
        relaid(array, &plain)
    }

    /// Returns whether the leaf is a token.
    pub fn is_token(&self) -> bool {
        matches!(self.shape, Shape::Token)
    }

    /// Returns the array that the caller sees in place of a token.
    ///
    /// # Errors
    /// There is no memory for the array.
    pub fn token(&self) -> Result<Array> {
        Ok(Array::zeros(&Shape::array(self.element_type, self.dims.iter().copied()))?)
    }

    /// Returns the number of the element type that the caller sees.
    pub fn type_number(&self) -> i32 {
        element::number(self.element_type)
    }
}
