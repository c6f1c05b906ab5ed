//! Conversion between literals, which are row-major, and buffers of compiled code and custom calls, which
//! have the layout of their shape.

use crate::diag::Diag;
use crate::{AlignedBytes, ArrayShape, Literal, LiteralData, Packing, Shape};
use std::sync::Arc;

/// Converts a value to a buffer of `shape`, which is an array or a token. Returns the buffer and its shape,
/// which has the sizes of the value where `shape` has bounds. An array with the layout of literals shares the
/// value's memory. A token has an empty buffer.
///
/// # Errors
/// The value has another type or other sizes, or is a tuple. Each leaf of a tuple has its own buffer.
///
/// # Example
/// ```
/// use hlo_ir::laid_out::{of_buffer, in_buffer};
/// use hlo_ir::{ElementType, Layout, Literal, Shape};
///
/// let rows = Literal::r2(&[[1i16, 2, 3], [4, 5, 6]]);
/// let shape = rows.shape().as_array().expect("an array").clone().with_layout(Layout::new([0, 1]));
/// let (shape, columns) = in_buffer(&rows, &shape.into())?;
/// assert_eq!(columns.iter().step_by(2).copied().collect::<Vec<u8>>(), [1, 4, 2, 5, 3, 6]);
/// assert_eq!(of_buffer(shape, columns).expect("a value").elements::<i16>(), [1, 2, 3, 4, 5, 6]);
/// assert!(in_buffer(&rows, &Shape::array(ElementType::S16, [3, 2])).is_err());
/// # Ok::<(), hlo_ir::diag::Diag>(())
/// ```
pub fn in_buffer(literal: &Literal, shape: &Shape) -> Result<(Shape, Arc<AlignedBytes>), Diag> {
    if matches!(shape, Shape::Tuple(_)) || !shape.accepts(literal.shape()) {
        let found = literal.shape();
        return Err(Diag::error(format!("expected a value of shape {shape}, found one of {found}")));
    }
    let (Some(sizes), Some(array)) = (literal.shape().as_array(), shape.as_array()) else {
        return Ok((shape.clone(), Arc::default()));
    };
    let shape = Shape::Array(array.with_sizes(&sizes.dims));
    let bytes = match (to_buffer(literal, &shape), literal.data()) {
        (Some(laid_out), _) => Arc::new(laid_out),
        (None, LiteralData::Array(bytes)) => bytes.clone(),
        (None, _) => Arc::default(),
    };
    Ok((shape, bytes))
}

/// Converts a buffer to a value. The shape is an array of known sizes or a token. An array with the layout of
/// literals shares the buffer's memory. Returns `None` if the size of the buffer is not that of the shape.
pub fn of_buffer(shape: Shape, bytes: Arc<AlignedBytes>) -> Option<Literal> {
    match shape.as_array() {
        Some(array) if bytes.len() != array.stored_size() => None,
        Some(array) if !is_as_in_literals(array) => Some(from_buffer(Arc::unwrap_or_clone(bytes), array)),
        Some(_) => Literal::try_from_shared(shape, bytes),
        None => Some(Literal::token()),
    }
}

/// Returns the position of the first byte in a part of a buffer that is not a valid element. An element of a
/// type of less than 8 bits takes a byte, which has more values than the type. Engines require that all
/// elements are valid.
pub fn first_odd_byte(shape: &ArrayShape, bytes: &[u8]) -> Option<usize> {
    // Packed elements are valid for all bit patterns.
    match Packing::of(shape) {
        Some(_) => None,
        None => shape.element_type.first_odd_byte(bytes),
    }
}

/// Returns a literal's elements in the order of `shape`'s layout, packed if the layout requires it. Returns
/// `None` if the literal's bytes already have this form.
pub fn to_buffer(literal: &Literal, shape: &Shape) -> Option<AlignedBytes> {
    let array = shape.as_array()?;
    let packing = Packing::of(array);
    if is_as_in_literals(array) {
        return None;
    }
    let mut out = AlignedBytes::zeroed(literal.bytes().len());
    for_each_element(array, |row_major, at, size| {
        out[at..at + size].copy_from_slice(&literal.bytes()[row_major..row_major + size]);
    });
    Some(match packing {
        Some(packing) => {
            let mut packed = AlignedBytes::zeroed(array.stored_size());
            packing.pack(&out, &mut packed);
            packed
        }
        None => out,
    })
}

/// Returns the literal of a buffer whose elements are in the order of `shape`'s layout, packed if the layout
/// requires it.
pub fn from_buffer(bytes: AlignedBytes, shape: &ArrayShape) -> Literal {
    let bytes = match Packing::of(shape) {
        Some(packing) => {
            let mut elements = AlignedBytes::zeroed(shape.byte_size());
            packing.unpack(&bytes, &mut elements);
            elements
        }
        None => bytes,
    };
    if is_row_major(shape) {
        return Literal::from_bytes(Shape::Array(shape.clone()), bytes);
    }
    let mut out = AlignedBytes::zeroed(bytes.len());
    for_each_element(shape, |row_major, at, size| {
        out[row_major..row_major + size].copy_from_slice(&bytes[at..at + size]);
    });
    Literal::from_bytes(Shape::Array(shape.clone()), out)
}

/// Returns whether a buffer of the shape has the form of a literal: row-major, and not packed.
fn is_as_in_literals(shape: &ArrayShape) -> bool {
    is_row_major(shape) && Packing::of(shape).is_none()
}

fn is_row_major(shape: &ArrayShape) -> bool {
    // The order does not matter for dimensions of size 1 and arrays without elements.
    let (strides, row_major) = (shape.strides(), shape.row_major_strides());
    shape.element_count() == 0 || (0..shape.rank()).all(|d| shape.dims[d] == 1 || strides[d] == row_major[d])
}

/// Calls `f` with each element's row-major byte offset, its byte offset in the layout, and its size.
pub fn for_each_element(shape: &ArrayShape, f: impl FnMut(usize, usize, usize)) {
    let strides: Vec<usize> = shape.strides().iter().map(|&s| s as usize).collect();
    for_each_element_at(shape, &strides, f);
}

/// As [`for_each_element`], for an array whose dimensions have these strides, in elements.
pub(crate) fn for_each_element_at(
    shape: &ArrayShape,
    strides: &[usize],
    mut f: impl FnMut(usize, usize, usize),
) {
    let size = shape.element_type.byte_size();
    let dims: Vec<usize> = shape.dims.iter().map(|&d| d as usize).collect();
    let mut index = vec![0; dims.len()];
    let mut position = 0;
    for row_major in 0..shape.element_count() {
        f(row_major * size, position * size, size);
        for d in (0..dims.len()).rev() {
            index[d] += 1;
            position += strides[d];
            if index[d] < dims[d] {
                break;
            }
            position -= strides[d] * dims[d];
            index[d] = 0;
        }
    }
}
