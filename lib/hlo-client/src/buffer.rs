//! Arrays on a device.

use crate::Error;
use hlo_ir::laid_out::{from_buffer, is_as_in_literals, to_buffer};
use hlo_ir::{AlignedBytes, Literal, LiteralData, Shape};
use std::sync::Arc;

/// An array on a device, whose elements lie as its shape's layout says, packed if that says so; or a token. Cloning is cheap:
/// both are the same array.
#[derive(Clone, Debug)]
pub struct Buffer {
    shape: Shape,
    bytes: Arc<AlignedBytes>,
}

impl Buffer {
    /// A value in the layout of `shape`, an array or a token; it has the sizes of the value, where `shape` has bounds. An
    /// array that lies row-major shares the value's memory.
    ///
    /// # Errors
    /// The value is of another type, or of other sizes.
    pub fn from_literal(literal: &Literal, shape: &Shape) -> Result<Self, Error> {
        if !shape.accepts(literal.shape()) {
            let found = literal.shape();
            return Err(Error::new(format!("expected a value of shape {shape}, found one of {found}")));
        }
        let (Some(sizes), Some(array)) = (literal.shape().as_array(), shape.as_array()) else {
            return Ok(Self { shape: shape.clone(), bytes: Arc::default() });
        };
        let shape = Shape::Array(array.with_sizes(&sizes.dims));
        let bytes = match (to_buffer(literal, &shape), literal.data()) {
            (Some(laid_out), _) => Arc::new(laid_out),
            (None, LiteralData::Array(bytes)) => bytes.clone(),
            (None, _) => Arc::default(),
        };
        Ok(Self { shape, bytes })
    }

    /// An array of zeros; a token for another shape.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn zeros(shape: &Shape) -> Result<Self, Error> {
        let bytes = AlignedBytes::try_zeroed(shape.stored_size());
        let bytes =
            bytes.ok_or_else(|| Error::new(format!("there is no memory for an array of shape {shape}")))?;
        Ok(Self { shape: shape.clone(), bytes: Arc::new(bytes) })
    }

    /// The shape, without bounds: each dimension has its size.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The elements, in the order of the shape's layout.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements for writing; `None` if another buffer or value has the same memory.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        Arc::get_mut(&mut self.bytes).map(|bytes| &mut **bytes)
    }

    /// The value. An array that lies row-major shares its memory.
    pub fn into_literal(self) -> Literal {
        match self.shape.as_array() {
            Some(array) if !is_as_in_literals(array) => from_buffer(Arc::unwrap_or_clone(self.bytes), array),
            Some(_) => Literal::try_from_shared(self.shape, self.bytes).unwrap_or_else(Literal::token),
            None => Literal::token(),
        }
    }
}
