//! Keys: conversion of elements to unsigned numbers whose order is the order of the sort.

use hlo_runtime_core::{Error, KeyKind, SortKey};

/// A validated key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    kind: KeyKind,
    bits: u32,
    largest: u64,
    numbers: bool,
    descends: bool,
    /// Whether NaNs are outside the order.
    partial: bool,
}

impl Key {
    /// Checks and converts a key descriptor for elements of `bytes` bytes.
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
        let (numbers, descends, partial) = match key.order {
            0 => (false, false, false),
            1 => (false, true, false),
            2 => (true, false, false),
            3 => (true, true, false),
            4 => (true, false, true),
            5 => (true, true, true),
            other => return Err(Error(format!("unknown order {other}"))),
        };
        Ok(Key { kind, bits, largest: key.largest as u64, numbers, descends, partial })
    }

    /// Returns whether elements may be outside the order.
    pub(super) fn is_partial(&self) -> bool {
        self.partial
    }

    /// Returns whether keys fit 32 bits.
    pub(super) fn is_short(&self) -> bool {
        self.bits <= 32
    }

    /// Returns the bits of an element, without the unused high bits.
    ///
    /// # Safety
    /// The element must be readable.
    #[inline(always)]
    unsafe fn bits_of(&self, element: *const u8) -> u64 {
        // SAFETY: guaranteed by the caller.
        let raw = unsafe {
            match self.bits {
                0..=8 => u64::from(element.read()),
                9..=16 => u64::from(element.cast::<u16>().read_unaligned()),
                17..=32 => u64::from(element.cast::<u32>().read_unaligned()),
                _ => element.cast::<u64>().read_unaligned(),
            }
        };
        raw & (u64::MAX >> (64 - self.bits))
    }

    /// Returns whether an element of a float type is a NaN.
    ///
    /// # Safety
    /// The element must be readable.
    #[inline(always)]
    pub(super) unsafe fn is_nan(&self, element: *const u8) -> bool {
        // SAFETY: guaranteed by the caller.
        let value = unsafe { self.bits_of(element) };
        let sign = 1 << (self.bits - 1);
        match self.kind {
            KeyKind::Unsigned => value > self.largest,
            KeyKind::Signed => false,
            KeyKind::Float => value & !sign > self.largest,
            KeyKind::FloatWithoutNegativeZero => value == sign,
        }
    }

    /// Returns the key of an element: a number with as many bits as the element.
    ///
    /// # Safety
    /// The element must be readable.
    #[inline(always)]
    pub(super) unsafe fn of(&self, element: *const u8) -> u64 {
        // SAFETY: guaranteed by the caller.
        let value = unsafe { self.bits_of(element) };
        let mask = u64::MAX >> (64 - self.bits);
        let sign = 1 << (self.bits - 1);
        let ascending = match self.kind {
            KeyKind::Unsigned => value,
            KeyKind::Signed => value ^ sign,
            KeyKind::Float => self.float(value, mask, sign),
            // The NaN is last in the order of numbers, and first in the total order. No number has the bit
            // pattern of negative zero. The keys next to it move by one to close this gap and free an end for
            // the NaN.
            KeyKind::FloatWithoutNegativeZero => match (value == sign, self.numbers) {
                (true, true) => mask,
                (true, false) => 0,
                (false, true) => self.float(value, mask, sign) - u64::from(value < sign),
                (false, false) => self.float(value, mask, sign) + u64::from(value > sign),
            },
        };
        if self.descends { !ascending & mask } else { ascending }
    }

    /// Computes the keys of adjacent elements. `K` must be wide enough for the keys ([`Key::is_short`]).
    ///
    /// # Safety
    /// `keys.len()` elements from `first` on must be readable.
    pub(super) unsafe fn compute_keys<K: KeyWord>(&self, first: *const u8, keys: &mut [K]) {
        // SAFETY: guaranteed by the caller; the bit width selects the element type.
        unsafe {
            match (self.flips(), self.bits) {
                (Some(flips), 0..=8) => flips.all::<u8, K>(first, keys),
                (Some(flips), 9..=16) => flips.all::<u16, K>(first.cast(), keys),
                (Some(flips), 17..=32) => flips.all::<u32, K>(first.cast(), keys),
                (Some(flips), _) => flips.all::<u64, K>(first.cast(), keys),
                (None, _) => {
                    let bytes = self.bits.div_ceil(8) as usize;
                    for (i, key) in keys.iter_mut().enumerate() {
                        *key = K::from_bits(self.of(first.add(i * bytes)));
                    }
                }
            }
        }
    }

    /// Returns the bits to flip if the key depends only on the sign and the bits of an element. Returns
    /// `None` for orders that treat zeros and NaNs specially.
    fn flips(&self) -> Option<Flips> {
        let mask = u64::MAX >> (64 - self.bits);
        let sign = 1 << (self.bits - 1);
        let (always, if_negative) = match self.kind {
            KeyKind::Unsigned => (0, 0),
            KeyKind::Signed => (sign, 0),
            KeyKind::Float if !self.numbers => (sign, mask ^ sign),
            KeyKind::Float | KeyKind::FloatWithoutNegativeZero => return None,
        };
        let always = if self.descends { always ^ mask } else { always };
        Some(Flips { mask, sign, always, if_negative })
    }

    /// Returns the ascending key of a float.
    #[inline(always)]
    fn float(&self, value: u64, mask: u64, sign: u64) -> u64 {
        let magnitude = value & !sign;
        let value = if self.numbers && magnitude == 0 {
            0
        } else if self.numbers && magnitude > self.largest {
            mask & !sign
        } else {
            value
        };
        if value & sign != 0 { !value & mask } else { value | sign }
    }
}

/// The bits that are flipped to turn elements into keys.
#[derive(Clone, Copy)]
struct Flips {
    /// The mask of the bits of an element.
    mask: u64,
    sign: u64,
    always: u64,
    if_negative: u64,
}

impl Flips {
    /// Computes the keys of adjacent elements of type `T`.
    ///
    /// # Safety
    /// `keys.len()` elements must be readable.
    #[inline(always)]
    unsafe fn all<T: KeyWord, K: KeyWord>(self, first: *const T, keys: &mut [K]) {
        let Self { mask, sign, always, if_negative } = self;
        let [mask, sign, always, if_negative] = [mask, sign, always, if_negative].map(K::from_bits);
        for (i, key) in keys.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            let value = K::from_bits(unsafe { first.add(i).read_unaligned() }.bits()) & mask;
            let flipped = if value & sign == K::from_bits(0) { K::from_bits(0) } else { if_negative };
            *key = value ^ flipped ^ always;
        }
    }
}

/// An unsigned integer that stores an element or a key.
pub(super) trait KeyWord:
    Copy + Ord + std::ops::BitAnd<Output = Self> + std::ops::BitXor<Output = Self>
{
    /// Converts from bits; bits that do not fit are lost.
    fn from_bits(bits: u64) -> Self;
    /// Returns the bits.
    fn bits(self) -> u64;
}

macro_rules! key_words {
    ($($t:ty)*) => {$(
        impl KeyWord for $t {
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self.into()
            }
        }
    )*};
}

key_words!(u8 u16 u32 u64);
