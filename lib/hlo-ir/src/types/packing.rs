//! Packing of several elements into a byte, for arrays whose layout has `E(4)`, `E(2)` or `E(1)`.

use crate::ArrayShape;

/// The packing of an array's elements, in the order of the layout. The first one is in the lowest bits of a
/// byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    bits: u32,
    signed: bool,
}

impl Packing {
    /// Returns the packing that the layout of an array requires; `None` if its elements take whole bytes.
    pub fn of(array: &ArrayShape) -> Option<Self> {
        let bits = array.element_type.bit_width();
        let said = array.layout.as_ref()?.element_size_bits()?;
        let packs = said == i64::from(bits) && bits < 8 && 8 % bits == 0;
        packs.then(|| Self { bits, signed: array.element_type.is_signed_integer() })
    }

    fn per_byte(self) -> usize {
        (8 / self.bits) as usize
    }

    /// Returns the number of bytes of `count` elements.
    pub fn packed_size(self, count: usize) -> usize {
        count.div_ceil(self.per_byte())
    }

    /// Packs elements of one byte each. `out` must have [`Packing::packed_size`] bytes.
    pub fn pack(self, elements: &[u8], out: &mut [u8]) {
        let mask = (1u8 << self.bits) - 1;
        for (byte, elements) in out.iter_mut().zip(elements.chunks(self.per_byte())) {
            let shifted = elements.iter().zip((0..8).step_by(self.bits as usize));
            *byte = shifted.fold(0, |byte, (&element, shift)| byte | (element & mask) << shift);
        }
    }

    /// Unpacks elements to one byte each, sign-extended for signed types and zero-extended for others.
    pub fn unpack(self, packed: &[u8], out: &mut [u8]) {
        let unused = 8 - self.bits;
        for (elements, &byte) in out.chunks_mut(self.per_byte()).zip(packed) {
            for (element, shift) in elements.iter_mut().zip((0..8).step_by(self.bits as usize)) {
                let high = byte >> shift << unused;
                *element = if self.signed { (high as i8 >> unused) as u8 } else { high >> unused };
            }
        }
    }
}
