//! Between literals, whose elements lie row-major, and buffers of compiled code and custom calls, whose elements
//! lie as the shape's layout says.

use crate::diag::Diag;
use crate::{AlignedBytes, ArrayShape, Literal, LiteralData, Packing, Shape};
use std::sync::Arc;

/// A value as it lies in a buffer of `shape`, an array or a token: with the sizes of the value, where the shape has bounds. An
/// array that lies as in literals shares the value's memory; a token has none.
///
/// # Errors
/// The value is of another type, of other sizes, or a tuple: of that, each leaf has a buffer.
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

/// The value of a buffer of a shape, an array of known sizes or a token, whose memory it shares if it lies as in literals. `None`
/// if the memory is not as large as the shape.
pub fn of_buffer(shape: Shape, bytes: Arc<AlignedBytes>) -> Option<Literal> {
    match shape.as_array() {
        Some(array) if bytes.len() != array.stored_size() => None,
        Some(array) if !is_as_in_literals(array) => Some(from_buffer(Arc::unwrap_or_clone(bytes), array)),
        Some(_) => Literal::try_from_shared(shape, bytes),
        None => Some(Literal::token()),
    }
}

/// The first of the bytes of a buffer's elements, from any one on, that no value of their type has: where an element takes a
/// byte, that has room for more than the values of types of fewer bits. Engines count on there being none.
pub fn first_odd_byte(shape: &ArrayShape, bytes: &[u8]) -> Option<usize> {
    // Packed elements are values of their types, whatever the bits are.
    match Packing::of(shape) {
        Some(_) => None,
        None => shape.element_type.first_odd_byte(bytes),
    }
}

/// A literal's elements in the order of `shape`'s layout, packed if it says so; `None` if that is how they lie.
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

/// The literal of a buffer whose elements lie in the order of `shape`'s layout, packed if it says so.
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

/// True if an array of the shape lies as literals do: row-major, and not packed.
fn is_as_in_literals(shape: &ArrayShape) -> bool {
    is_row_major(shape) && Packing::of(shape).is_none()
}

fn is_row_major(shape: &ArrayShape) -> bool {
    // Dimensions of size 1 and arrays without elements lie the same in any order.
    let (strides, row_major) = (shape.strides(), shape.row_major_strides());
    shape.element_count() == 0 || (0..shape.rank()).all(|d| shape.dims[d] == 1 || strides[d] == row_major[d])
}

/// Calls `f` with each element's byte offset row-major, its byte offset by the layout, and its size.
pub fn for_each_element(shape: &ArrayShape, f: impl FnMut(usize, usize, usize)) {
    let strides: Vec<usize> = shape.strides().iter().map(|&s| s as usize).collect();
    for_each_element_at(shape, &strides, f);
}

/// As [`for_each_element`], of an array whose dimensions have these strides, counted in elements.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ElementType, Layout, LayoutItems};

    #[test]
    fn packed_there_and_back() {
        let items = LayoutItems { element_size_bits: 4, ..LayoutItems::default() };
        let layout = Layout::new([0, 1]).with_items(items);
        let shape = ArrayShape::new(ElementType::S4, [2, 2]).with_layout(layout);
        let literal = Literal::from_elements(Shape::array(ElementType::S4, [2, 2]), &[1i8, 2, -3, 4]);
        let buffer = to_buffer(&literal, &Shape::Array(shape.clone())).unwrap();
        assert_eq!(&buffer[..], [0xd1, 0x42]);
        assert_eq!(from_buffer(buffer, &shape).bytes(), literal.bytes());
    }

    #[test]
    fn bytes_that_no_type_has_are_found() {
        let odd = |ty, bytes: &[u8]| first_odd_byte(&ArrayShape::new(ty, [4]), bytes);
        assert_eq!(odd(ElementType::Pred, &[0, 1, 1, 0]), None);
        assert_eq!(odd(ElementType::Pred, &[0, 1, 2]), Some(2));
        assert_eq!(odd(ElementType::S4, &[7, 0xf8]), None);
        assert_eq!(odd(ElementType::S4, &[8]), Some(0));
        assert_eq!(odd(ElementType::U2, &[3, 4]), Some(1));
        assert_eq!(odd(ElementType::U8, &[255]), None);
        assert_eq!(odd(ElementType::F32, &[255; 4]), None);
        let items = LayoutItems { element_size_bits: 4, ..LayoutItems::default() };
        let packed = ArrayShape::new(ElementType::S4, [1]).with_layout(Layout::new([0]).with_items(items));
        assert_eq!(first_odd_byte(&packed, &[0x1f]), None);
    }

    #[test]
    fn memory_of_another_size_is_no_value() {
        let shape = Shape::array(ElementType::F32, [2]);
        assert!(of_buffer(shape.clone(), Arc::new(AlignedBytes::zeroed(4))).is_none());
        assert!(of_buffer(shape, Arc::new(AlignedBytes::zeroed(8))).is_some());
        let tuple = Literal::tuple(vec![Literal::r0(1i32)]);
        assert!(in_buffer(&tuple, tuple.shape()).is_err());
    }

    #[test]
    fn there_and_back() {
        let shape = ArrayShape::new(ElementType::S16, [2, 3]).with_layout(Layout::new([0, 1]));
        let literal = Literal::from_elements(Shape::array(ElementType::S16, [2, 3]), &[1i16, 2, 3, 4, 5, 6]);
        let buffer = to_buffer(&literal, &Shape::Array(shape.clone())).unwrap();
        let elements: Vec<u8> = buffer.iter().copied().step_by(2).collect();
        assert_eq!(elements, [1, 4, 2, 5, 3, 6]);
        assert_eq!(from_buffer(AlignedBytes::from_slice(&buffer), &shape).bytes(), literal.bytes());
    }
}
