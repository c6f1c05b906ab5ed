//! Between literals, whose elements lie row-major, and buffers of compiled code and custom calls, whose elements
//! lie as the shape's layout says.

use crate::{AlignedBytes, ArrayShape, Literal, Packing, Shape};

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
pub fn is_as_in_literals(shape: &ArrayShape) -> bool {
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
    fn there_and_back() {
        let shape = ArrayShape::new(ElementType::S16, [2, 3]).with_layout(Layout::new([0, 1]));
        let literal = Literal::from_elements(Shape::array(ElementType::S16, [2, 3]), &[1i16, 2, 3, 4, 5, 6]);
        let buffer = to_buffer(&literal, &Shape::Array(shape.clone())).unwrap();
        let elements: Vec<u8> = buffer.iter().copied().step_by(2).collect();
        assert_eq!(elements, [1, 4, 2, 5, 3, 6]);
        assert_eq!(from_buffer(AlignedBytes::from_slice(&buffer), &shape).bytes(), literal.bytes());
    }
}
