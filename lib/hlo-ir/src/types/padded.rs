//! The layout of an array in a program's own memory: any order of dimensions, with padding (XLA preview,
//! "Layout").

use crate::laid_out::for_each_element_at;
use crate::{AlignedBytes, ArrayShape, ElementType, FloatFormat, Literal, Shape, Special};

/// The `Layout` of the XLA preview: the order of an array's dimensions in memory, and the sizes to which they
/// are padded. Use it for transfers between a program's arrays and literals. HLO text has no padding.
///
/// # Example
/// The example of the preview: a 2x3 array, column-major, padded to 3x5.
///
/// ```
/// use hlo_ir::{HostLayout, Literal, PaddingValue};
///
/// let array = Literal::r2(&[*b"abc", *b"def"]);
/// let layout = HostLayout::new([0, 1]).padded([3, 5], PaddingValue::Zero);
/// let memory = layout.write(&array)?;
/// assert_eq!(&*memory, b"ad\0be\0cf\0\0\0\0\0\0\0");
/// assert_eq!(layout.read(&memory, array.shape())?, array);
/// # Ok::<(), hlo_ir::HostLayoutError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HostLayout {
    /// The dimensions from the fastest to the slowest varying: a permutation of all dimensions.
    pub minor_to_major: Vec<usize>,
    /// The size of each dimension in memory, at least that of the array. Empty if there is no padding.
    pub padded_dimensions: Vec<i64>,
    /// The contents of the padding.
    pub padding_value: PaddingValue,
}

/// The contents of the padding of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PaddingValue {
    /// Zeros.
    #[default]
    Zero,
    /// Ones.
    One,
    /// The smallest value of the element type: minus infinity if the type has it.
    Lowest,
    /// The largest value of the element type: infinity if the type has it.
    Highest,
}

/// The reason why an array cannot have a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLayoutError(String);

impl std::fmt::Display for HostLayoutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HostLayoutError {}

impl HostLayout {
    /// Creates a layout of this order without padding, the fastest dimension first.
    pub fn new(minor_to_major: impl IntoIterator<Item = usize>) -> Self {
        Self { minor_to_major: minor_to_major.into_iter().collect(), ..Self::default() }
    }

    /// Returns the layout with padding to these sizes.
    pub fn padded(self, dimensions: impl IntoIterator<Item = i64>, value: PaddingValue) -> Self {
        Self { padded_dimensions: dimensions.into_iter().collect(), padding_value: value, ..self }
    }

    /// Converts an array to bytes in this layout.
    ///
    /// # Errors
    /// The layout is for another rank or smaller sizes, the element type has no such padding value, the value
    /// is not an array, or memory cannot be allocated.
    pub fn write(&self, array: &Literal) -> Result<AlignedBytes, HostLayoutError> {
        let place = Place::new(self, array.shape())?;
        let mut out = AlignedBytes::try_zeroed(place.bytes)
            .ok_or_else(|| HostLayoutError(format!("there is no memory for {} bytes", place.bytes)))?;
        let is_padded = place.bytes > array.bytes().len();
        if is_padded && self.padding_value != PaddingValue::Zero {
            let value = self.padding_value.of(place.array.element_type)?;
            out.chunks_exact_mut(value.len()).for_each(|element| element.copy_from_slice(&value));
        }
        let from = array.bytes();
        place.for_each(|row_major, at, size| {
            out[at..at + size].copy_from_slice(&from[row_major..row_major + size]);
        });
        Ok(out)
    }

    /// Reads an array of a shape from memory in this layout. The contents of the padding are ignored.
    ///
    /// # Errors
    /// As for [`HostLayout::write`]. Also if the number of bytes is wrong, or if an element is not a valid
    /// value of its type, such as a 2 for `pred`.
    pub fn read(&self, memory: &[u8], shape: &Shape) -> Result<Literal, HostLayoutError> {
        let place = Place::new(self, shape)?;
        if memory.len() != place.bytes {
            return Err(HostLayoutError(format!(
                "{shape} takes {} bytes in this layout, found {}",
                place.bytes,
                memory.len()
            )));
        }
        let mut array = Literal::try_zeros(shape)
            .ok_or_else(|| HostLayoutError(format!("there is no memory for an array of shape {shape}")))?;
        let to = array.bytes_mut();
        place.for_each(|row_major, at, size| {
            to[row_major..row_major + size].copy_from_slice(&memory[at..at + size]);
        });
        match array.first_odd_element() {
            None => Ok(array),
            Some((at, byte)) => Err(HostLayoutError(format!(
                "element {at} of {shape}: the byte {byte:#04x} is no value of its type"
            ))),
        }
    }
}

impl PaddingValue {
    /// Returns the bytes of an element with this value.
    fn of(self, ty: ElementType) -> Result<Vec<u8>, HostLayoutError> {
        let size = ty.byte_size();
        let bits: u128 = match (self, FloatFormat::of(ty)) {
            (Self::Zero, _) => 0,
            (Self::One, _) if ty.is_complex() => {
                FloatFormat::of(ty.real_type()).map_or(1, |format| format.encode(1.0).into())
            }
            (Self::One, None) if ty.is_signed_integer() && ty.bit_width() == 1 => {
                return Err(HostLayoutError(format!("{ty} has no 1 to pad with")));
            }
            (Self::One, None) => 1,
            (Self::One, Some(format)) => format.encode(1.0).into(),
            (Self::Lowest | Self::Highest, _) if ty.is_complex() => {
                return Err(HostLayoutError(format!("{ty} has no order, and so no such value to pad with")));
            }
            (Self::Lowest, Some(format)) => match format.special {
                Special::Ieee => format.encode(f64::NEG_INFINITY).into(),
                _ => format.min_bits().into(),
            },
            (Self::Highest, Some(format)) => match format.special {
                Special::Ieee => format.encode(f64::INFINITY).into(),
                _ => format.max_bits().into(),
            },
            // Sign-extended to the byte of an element.
            (Self::Lowest, None) if ty.is_signed_integer() => u128::MAX << (ty.bit_width() - 1),
            (Self::Lowest, None) => 0,
            (Self::Highest, None) if ty.is_signed_integer() => (1 << (ty.bit_width() - 1)) - 1,
            (Self::Highest, None) => (1 << ty.bit_width()) - 1,
        };
        Ok(bits.to_le_bytes()[..size].to_vec())
    }
}

/// The positions of the elements of an array.
struct Place<'s> {
    array: &'s ArrayShape,
    strides: Vec<usize>,
    bytes: usize,
}

impl<'s> Place<'s> {
    fn new(layout: &HostLayout, shape: &'s Shape) -> Result<Self, HostLayoutError> {
        let error = |what: String| Err(HostLayoutError(what));
        let Some(array) = shape.as_array().filter(|a| a.is_static()) else {
            return error(format!("expected an array of sizes that are known, found {shape}"));
        };
        let (order, rank) = (&layout.minor_to_major, array.rank());
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..rank) {
            return error(format!("{order:?} is no order of the {rank} dimensions of {shape}"));
        }
        let sizes: &[i64] = match &layout.padded_dimensions[..] {
            [] => &array.dims,
            padded => padded,
        };
        if sizes.len() != rank {
            return error(format!("expected {rank} padded dimensions for {shape}, found {sizes:?}"));
        }
        if let Some(d) = (0..rank).find(|&d| sizes[d] < array.dims[d]) {
            return error(format!(
                "dimension {d} of {shape} has size {}, which is more than the {} that it is padded to",
                array.dims[d], sizes[d]
            ));
        }
        let mut strides = vec![0; rank];
        let mut next = Some(1usize);
        for &d in order {
            strides[d] = next.unwrap_or(0);
            next = next.and_then(|n| n.checked_mul(usize::try_from(sizes[d]).ok()?));
        }
        match next.and_then(|n| n.checked_mul(array.element_type.byte_size())) {
            Some(bytes) if isize::try_from(bytes).is_ok() => Ok(Self { array, strides, bytes }),
            _ => error(format!("{shape} padded to {sizes:?} is larger than memory can be")),
        }
    }

    fn for_each(&self, f: impl FnMut(usize, usize, usize)) {
        for_each_element_at(self.array, &self.strides, f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn padding(value: PaddingValue, ty: ElementType) -> Result<Vec<u8>, String> {
        let array = Literal::try_zeros(&Shape::array(ty, [1])).expect("memory");
        let memory = HostLayout::new([0]).padded([2], value).write(&array).map_err(|e| e.0)?;
        Ok(memory[ty.byte_size()..].to_vec())
    }

    /// The example in "Minor-to-major dimension ordering" of the preview.
    #[test]
    fn the_order_of_dimensions_is_the_one_that_is_named() {
        let array = Literal::r2(&[*b"abc", *b"def"]);
        assert_eq!(&*HostLayout::new([0, 1]).write(&array).unwrap(), b"adbecf");
        assert_eq!(&*HostLayout::new([1, 0]).write(&array).unwrap(), b"abcdef");
    }

    /// The example in "Padding" of the preview: the padded array determines the order of the elements.
    #[test]
    fn a_padded_array_lies_as_the_larger_array_with_padding_in_it() {
        let array = Literal::r2(&[*b"abc", *b"def"]);
        let padded = HostLayout::new([0, 1]).padded([3, 5], PaddingValue::Zero).write(&array).unwrap();
        let larger = Literal::r2(&[*b"abc\0\0", *b"def\0\0", *b"\0\0\0\0\0"]);
        assert_eq!(padded, HostLayout::new([0, 1]).write(&larger).unwrap());
        let rows = HostLayout::new([1, 0]).padded([3, 5], PaddingValue::One).write(&array).unwrap();
        assert_eq!(&*rows, b"abc\x01\x01def\x01\x01\x01\x01\x01\x01\x01");
    }

    #[test]
    fn paddings_are_values_of_the_element_type() {
        use ElementType::{Bf16, C64, F8E4M3Fn, F8E4M3Fnuz, F8E8M0Fnu, F32, Pred, S4, S8, S16, U2, U16};
        use PaddingValue::{Highest, Lowest, One, Zero};
        let all = [
            (Zero, F32, 0f32.to_le_bytes().to_vec()),
            (One, F32, 1f32.to_le_bytes().to_vec()),
            (Lowest, F32, f32::NEG_INFINITY.to_le_bytes().to_vec()),
            (Highest, Bf16, half::bf16::INFINITY.to_le_bytes().to_vec()),
            // 448, -240 and 2^-127: types without infinity.
            (Highest, F8E4M3Fn, vec![0x7e]),
            (Lowest, F8E4M3Fnuz, vec![0xff]),
            (Lowest, F8E8M0Fnu, vec![0]),
            (Lowest, S8, vec![0x80]),
            (Highest, S8, vec![0x7f]),
            (Lowest, S4, vec![0xf8]),
            (Highest, S4, vec![7]),
            (Highest, U2, vec![3]),
            (Lowest, U16, vec![0, 0]),
            (Highest, S16, vec![0xff, 0x7f]),
            (Highest, Pred, vec![1]),
            (One, C64, [1f32.to_le_bytes(), 0f32.to_le_bytes()].concat()),
        ];
        for (value, ty, expected) in all {
            assert_eq!(padding(value, ty), Ok(expected), "{value:?} {ty}");
        }
        assert!(padding(Lowest, C64).is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let array = Literal::r2(&[[1i32, 2, 3], [4, 5, 6]]);
        let refused = |layout: HostLayout| layout.write(&array).map(drop).map_err(|e| e.0);
        let order = |order: &str| Err(format!("{order} is no order of the 2 dimensions of s32[2,3]"));
        assert_eq!(refused(HostLayout::new([0])), order("[0]"));
        assert_eq!(refused(HostLayout::new([0, 0])), order("[0, 0]"));
        assert_eq!(refused(HostLayout::new([0, 2])), order("[0, 2]"));
        let pad = |sizes: &[i64]| {
            refused(HostLayout::new([0, 1]).padded(sizes.iter().copied(), PaddingValue::Zero))
        };
        assert!(pad(&[2]).unwrap_err().contains("expected 2 padded dimensions"));
        assert!(pad(&[2, 2]).unwrap_err().contains("more than the 2 that it is padded to"));
        assert!(pad(&[i64::MAX, i64::MAX]).unwrap_err().contains("larger than memory can be"));
        assert!(pad(&[2, 1 << 58]).is_err());
        assert!(HostLayout::new([]).write(&Literal::token()).is_err());
        assert!(HostLayout::new([0, 1]).read(&[0; 20], array.shape()).is_err());
        let read = HostLayout::new([0]).read(&[1, 2], &Shape::array(ElementType::Pred, [2]));
        assert_eq!(read.unwrap_err().0, "element 1 of pred[2]: the byte 0x02 is no value of its type");
    }

    #[test]
    fn arrays_of_any_rank_go_there_and_back() {
        let scalar = Literal::r0(7i64);
        let layout = HostLayout::new([]);
        assert_eq!(layout.read(&layout.write(&scalar).unwrap(), scalar.shape()).unwrap(), scalar);
        let empty = Literal::r2::<f32, 0>(&[[], []]);
        let layout = HostLayout::new([1, 0]).padded([2, 4], PaddingValue::Highest);
        let memory = layout.write(&empty).unwrap();
        assert_eq!(memory.len(), 32);
        assert_eq!(layout.read(&memory, empty.shape()).unwrap(), empty);
        let numbers: Vec<i16> = (0..24).collect();
        let cube = Literal::from_values(&[2, 3, 4], &numbers).unwrap();
        let layout = HostLayout::new([1, 2, 0]).padded([2, 5, 4], PaddingValue::Lowest);
        assert_eq!(layout.read(&layout.write(&cube).unwrap(), cube.shape()).unwrap(), cube);
    }
}
