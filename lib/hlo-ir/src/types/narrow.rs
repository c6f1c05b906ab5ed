//! Rust types for element types that are neither in Rust nor in the crate `half`: floating-point numbers of
//! at most 8 bits, and integers of less than 8 bits.
//!
//! # Example
//! ```
//! use hlo_ir::Literal;
//! use hlo_ir::narrow::{F8E4M3Fn, S4};
//!
//! let weights = Literal::r1(&[1.0, 0.3, 1e9].map(F8E4M3Fn::from_f64));
//! assert_eq!(weights.shape().to_string(), "f8e4m3fn[3]");
//! assert_eq!(weights.get::<F8E4M3Fn>(&[1]).unwrap().to_f64(), 0.3125, "the nearest one");
//! assert!(weights.get::<F8E4M3Fn>(&[2]).unwrap().to_f64().is_nan(), "there is no infinity");
//!
//! let small = Literal::r1(&[S4::MIN, S4::new(3).unwrap()]);
//! assert_eq!(small.bytes(), [0xf8, 3], "a byte each, sign-extended");
//! assert_eq!(S4::new(8), None);
//! ```

use crate::{ElementType, FloatFormat, NativeType};
use bytemuck::{Pod, Zeroable};
use std::cmp::Ordering;
use std::fmt;

macro_rules! narrow_floats {
    ($($name:ident $text:literal $what:literal,)*) => {
        $(
            #[doc = concat!("A number of the element type `", $text, "`: ", $what, ".")]
            ///
            /// Comparisons compare numbers: a NaN equals nothing, and the zeros are equal.
            #[derive(Clone, Copy)]
            #[repr(transparent)]
            pub struct $name(u8);

            impl $name {
                const FORMAT: FloatFormat = match FloatFormat::of(ElementType::$name) {
                    Some(format) => format,
                    None => panic!("not a floating-point type"),
                };
                const MASK: u8 = u8::MAX >> (8 - ElementType::$name.bit_width());

                /// Rounds to the nearest number, ties to even, as the operation `convert` does.
                pub fn from_f64(value: f64) -> Self {
                    Self(Self::FORMAT.encode(value) as u8)
                }

                /// Returns the exact value.
                pub fn to_f64(self) -> f64 {
                    Self::FORMAT.decode(self.to_bits().into())
                }

                /// Creates the number with these bits. Bits above the type's width are ignored.
                pub const fn from_bits(bits: u8) -> Self {
                    Self(bits & Self::MASK)
                }

                /// Returns the number's bits.
                pub const fn to_bits(self) -> u8 {
                    self.0 & Self::MASK
                }
            }

            impl From<$name> for f64 {
                fn from(value: $name) -> f64 {
                    value.to_f64()
                }
            }

            impl PartialEq for $name {
                fn eq(&self, other: &Self) -> bool {
                    self.to_f64() == other.to_f64()
                }
            }

            impl PartialOrd for $name {
                fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                    self.to_f64().partial_cmp(&other.to_f64())
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Debug::fmt(&self.to_f64(), f)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Display::fmt(&self.to_f64(), f)
                }
            }
        )*
    };
}

narrow_floats! {
    F8E5M2 "f8e5m2" "5 bits of exponent, 2 of fraction, with infinities",
    F8E4M3 "f8e4m3" "4 bits of exponent, 3 of fraction, with infinities",
    F8E4M3Fn "f8e4m3fn" "4 bits of exponent, 3 of fraction, without infinities",
    F8E4M3B11Fnuz "f8e4m3b11fnuz" "4 bits of exponent, 3 of fraction, without infinities and negative zero, of bias 11",
    F8E3M4 "f8e3m4" "3 bits of exponent, 4 of fraction, with infinities",
    F8E5M2Fnuz "f8e5m2fnuz" "5 bits of exponent, 2 of fraction, without infinities and negative zero",
    F8E4M3Fnuz "f8e4m3fnuz" "4 bits of exponent, 3 of fraction, without infinities and negative zero",
    F8E8M0Fnu "f8e8m0fnu" "8 bits of exponent: a power of two, without zero",
    F4E2M1Fn "f4e2m1fn" "2 bits of exponent, 1 of fraction, without infinities and NaN",
    F6E3M2Fn "f6e3m2fn" "3 bits of exponent, 2 of fraction, without infinities and NaN",
    F6E2M3Fn "f6e2m3fn" "2 bits of exponent, 3 of fraction, without infinities and NaN",
}

/// Floats that use the whole byte, which is their form in literals.
macro_rules! whole_bytes {
    ($($name:ident)*) => {
        $(
            // SAFETY: a transparent wrapper of a byte; every bit pattern is valid.
            unsafe impl Zeroable for $name {}
            // SAFETY: as above.
            unsafe impl Pod for $name {}

            impl NativeType for $name {
                const ELEMENT_TYPE: ElementType = ElementType::$name;
                type Stored = Self;

                fn stored(self) -> Self {
                    self
                }

                fn from_stored(stored: Self) -> Self {
                    stored
                }
            }
        )*
    };
}

whole_bytes!(F8E5M2 F8E4M3 F8E4M3Fn F8E4M3B11Fnuz F8E3M4 F8E5M2Fnuz F8E4M3Fnuz F8E8M0Fnu);

/// Floats that use the low bits of a byte.
macro_rules! low_bits {
    ($($name:ident)*) => {
        $(
            impl NativeType for $name {
                const ELEMENT_TYPE: ElementType = ElementType::$name;
                type Stored = u8;

                fn stored(self) -> u8 {
                    self.to_bits()
                }

                fn from_stored(stored: u8) -> Self {
                    Self::from_bits(stored)
                }
            }
        )*
    };
}

low_bits!(F4E2M1Fn F6E3M2Fn F6E2M3Fn);

macro_rules! narrow_integers {
    ($($name:ident $stored:ident $text:literal $range:literal,)*) => {
        $(
            #[doc = concat!("An integer of the element type `", $text, "`: ", $range, ".")]
            #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[repr(transparent)]
            pub struct $name($stored);

            impl $name {
                const UNUSED: u32 = 8 - ElementType::$name.bit_width();

                /// The smallest value.
                pub const MIN: Self = Self($stored::MIN >> Self::UNUSED);

                /// The largest value.
                pub const MAX: Self = Self($stored::MAX >> Self::UNUSED);

                /// Creates an integer; `None` if the value is out of range.
                pub const fn new(value: $stored) -> Option<Self> {
                    let wrapped = Self::wrapping(value);
                    if wrapped.0 == value { Some(wrapped) } else { None }
                }

                /// Creates an integer from the low bits of a value.
                pub const fn wrapping(value: $stored) -> Self {
                    Self(value << Self::UNUSED >> Self::UNUSED)
                }

                /// Returns the value.
                pub const fn get(self) -> $stored {
                    self.0
                }
            }

            impl From<$name> for $stored {
                fn from(value: $name) -> $stored {
                    value.0
                }
            }

            impl NativeType for $name {
                const ELEMENT_TYPE: ElementType = ElementType::$name;
                type Stored = $stored;

                fn stored(self) -> $stored {
                    self.0
                }

                fn from_stored(stored: $stored) -> Self {
                    Self::wrapping(stored)
                }
            }

            impl fmt::Debug for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Debug::fmt(&self.0, f)
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    fmt::Display::fmt(&self.0, f)
                }
            }
        )*
    };
}

narrow_integers! {
    S1 i8 "s1" "-1 and 0",
    S2 i8 "s2" "from -2 to 1",
    S4 i8 "s4" "from -8 to 7",
    U1 u8 "u1" "0 and 1",
    U2 u8 "u2" "from 0 to 3",
    U4 u8 "u4" "from 0 to 15",
}
