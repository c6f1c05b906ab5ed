//! Keys: from elements to unsigned numbers that order as the elements shall.

use crate::context::Error;

/// What the bits of a key's elements mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum KeyKind {
    /// An unsigned number: integers, truth values, floats without a sign.
    Unsigned = 0,
    /// A number in two's complement, extended by its sign to whole bytes.
    Signed = 1,
    /// A sign and a magnitude that orders as the numbers do: floats.
    Float = 2,
    /// The same where the pattern of the negative zero is the only NaN.
    FloatWithoutNegativeZero = 3,
}

/// The order of the numbers of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub enum KeyOrder {
    /// Ascending; floats in total order: −NaN, −∞, …, −0, +0, …, +∞, +NaN.
    Ascending = 0,
    /// The reverse of `Ascending`.
    Descending = 1,
    /// Ascending; zeros are equal, and NaNs are equal and last.
    AscendingNumbers = 2,
    /// The reverse of `AscendingNumbers`: NaNs come first.
    DescendingNumbers = 3,
}

/// An operand that elements are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct SortKey {
    /// The operand's position.
    pub operand: i64,
    /// What its bits mean: a [`KeyKind`].
    pub kind: i64,
    /// How many bits an element has, 1 to 64; the higher ones of its last byte say nothing.
    pub bits: i64,
    /// For floats the largest magnitude that is not a NaN, as bits.
    pub largest: i64,
    /// The order: a [`KeyOrder`].
    pub order: i64,
}

/// The bytes of a [`SortKey`] in a descriptor, in words.
pub const SORT_KEY_WORDS: usize = size_of::<SortKey>() / 8;

/// A validated key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    kind: KeyKind,
    bits: u32,
    largest: u64,
    numbers: bool,
    descends: bool,
}

impl Key {
    /// Checks a key of elements of `bytes` bytes.
    pub(super) fn new(key: &SortKey, bytes: usize) -> Result<Key, Error> {
        let kind = match key.kind {
            0 => KeyKind::Unsigned,
            1 => KeyKind::Signed,
            2 => KeyKind::Float,
            3 => KeyKind::FloatWithoutNegativeZero,
            other => return Err(Error(format!("unknown kind of key {other}"))),
        };
        let bits = u32::try_from(key.bits).ok().filter(|&b| b >= 1 && bytes == b.div_ceil(8) as usize);
        let Some(bits) = bits.filter(|_| matches!(bytes, 1 | 2 | 4 | 8)) else {
            return Err(Error(format!("a key of {} bits in {bytes} bytes", key.bits)));
        };
        if !(0..=3).contains(&key.order) {
            return Err(Error(format!("unknown order {}", key.order)));
        }
        let (numbers, descends) = (key.order >= 2, key.order % 2 == 1);
        Ok(Key { kind, bits, largest: key.largest as u64, numbers, descends })
    }

    /// True if keys fit 32 bits.
    pub(super) fn is_short(&self) -> bool {
        self.bits <= 32
    }

    /// The key of an element, a number of as many bits as the element has.
    ///
    /// # Safety
    /// The element must be readable.
    #[inline(always)]
    pub(super) unsafe fn of(&self, element: *const u8) -> u64 {
        // SAFETY: the caller's promise.
        let raw = unsafe {
            match self.bits {
                0..=8 => u64::from(element.read()),
                9..=16 => u64::from(element.cast::<u16>().read_unaligned()),
                17..=32 => u64::from(element.cast::<u32>().read_unaligned()),
                _ => element.cast::<u64>().read_unaligned(),
            }
        };
        let mask = u64::MAX >> (64 - self.bits);
        let sign = 1 << (self.bits - 1);
        let value = raw & mask;
        let ascending = match self.kind {
            KeyKind::Unsigned => value,
            KeyKind::Signed => value ^ sign,
            KeyKind::Float => self.float(value, mask, sign),
            KeyKind::FloatWithoutNegativeZero if value == sign => mask,
            // One below, where the negative zero would be: the last key is the NaN's.
            KeyKind::FloatWithoutNegativeZero if value < sign => self.float(value, mask, sign) - 1,
            KeyKind::FloatWithoutNegativeZero => self.float(value, mask, sign),
        };
        if self.descends { !ascending & mask } else { ascending }
    }

    /// The ascending key of a float.
    #[inline(always)]
    fn float(&self, value: u64, mask: u64, sign: u64) -> u64 {
        let magnitude = value & !sign;
        let value = match self.numbers {
            true if magnitude == 0 => 0,
            true if magnitude > self.largest => mask & !sign,
            _ => value,
        };
        if value & sign != 0 { !value & mask } else { value | sign }
    }
}
