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
