//! The element types of arrays: XLA's primitive types without tuple, token, opaque and buffer.

use std::fmt;

macro_rules! element_types {
    ($($variant:ident $name:literal $bits:literal $kind:ident,)*) => {
        /// The type of an array's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "a variant's meaning is its text name")]
        pub enum ElementType { $($variant,)* }

        impl ElementType {
            /// Every element type, in the order of XLA's documentation.
            pub const ALL: &[ElementType] = &[$(ElementType::$variant,)*];

            /// Returns the name in HLO text, such as `f32`.
            pub fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }

            /// Returns the type with this name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(ElementType::$variant),)* _ => None }
            }

            /// Returns the number of bits of a value: 4 for `s4`, 1 for `pred`.
            #[inline]
            pub const fn bit_width(self) -> u32 {
                match self { $(ElementType::$variant => $bits,)* }
            }

            fn kind(self) -> Kind {
                match self { $(ElementType::$variant => Kind::$kind,)* }
            }
        }
    };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pred,
    Signed,
    Unsigned,
    Float,
    Complex,
}

element_types! {
    Pred "pred" 1 Pred,
    S1 "s1" 1 Signed,
    S2 "s2" 2 Signed,
    S4 "s4" 4 Signed,
    S8 "s8" 8 Signed,
    S16 "s16" 16 Signed,
    S32 "s32" 32 Signed,
    S64 "s64" 64 Signed,
    U1 "u1" 1 Unsigned,
    U2 "u2" 2 Unsigned,
    U4 "u4" 4 Unsigned,
    U8 "u8" 8 Unsigned,
    U16 "u16" 16 Unsigned,
    U32 "u32" 32 Unsigned,
    U64 "u64" 64 Unsigned,
    F16 "f16" 16 Float,
    Bf16 "bf16" 16 Float,
    F32 "f32" 32 Float,
    F64 "f64" 64 Float,
    F8E5M2 "f8e5m2" 8 Float,
    F8E4M3 "f8e4m3" 8 Float,
    F8E4M3Fn "f8e4m3fn" 8 Float,
    F8E4M3B11Fnuz "f8e4m3b11fnuz" 8 Float,
    F8E3M4 "f8e3m4" 8 Float,
    F8E5M2Fnuz "f8e5m2fnuz" 8 Float,
    F8E4M3Fnuz "f8e4m3fnuz" 8 Float,
    F8E8M0Fnu "f8e8m0fnu" 8 Float,
    F4E2M1Fn "f4e2m1fn" 4 Float,
    F6E3M2Fn "f6e3m2fn" 6 Float,
    F6E2M3Fn "f6e2m3fn" 6 Float,
    C64 "c64" 64 Complex,
    C128 "c128" 128 Complex,
}

impl ElementType {
    /// Returns the number of bytes of one element in memory. Sub-byte types and `pred` take a whole byte,
    /// with the value in the low bits (sign-extended for signed types).
    #[inline]
    pub fn byte_size(self) -> usize {
        (self.bit_width() as usize).div_ceil(8)
    }

    /// Returns the position of the first byte that is not a valid element of the type. In types of less than
    /// 8 bits, the remaining bits must be copies of the sign for signed types, and 0 for others.
    pub fn first_odd_byte(self, bytes: &[u8]) -> Option<usize> {
        let unused = 8u32.saturating_sub(self.bit_width());
        let is_odd = |&byte: &u8| {
            if self.is_signed_integer() {
                ((byte << unused) as i8) >> unused != byte as i8
            } else {
                u32::from(byte) >> (8 - unused) != 0
            }
        };
        if unused == 0 { None } else { bytes.iter().position(is_odd) }
    }

    /// Returns whether the type is `pred`.
    pub fn is_pred(self) -> bool {
        self.kind() == Kind::Pred
    }

    /// Returns whether the type is a signed or unsigned integer. False for `pred`.
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// Returns whether the type is a signed integer.
    pub fn is_signed_integer(self) -> bool {
        self.kind() == Kind::Signed
    }

    /// Returns whether the type is an unsigned integer.
    pub fn is_unsigned_integer(self) -> bool {
        self.kind() == Kind::Unsigned
    }

    /// Returns whether the type is a real floating-point type of any width.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Returns whether the type is `c64` or `c128`.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    /// Returns the type of the real and imaginary parts of a complex type, and any other type itself.
    pub fn real_type(self) -> ElementType {
        match self {
            ElementType::C64 => ElementType::F32,
            ElementType::C128 => ElementType::F64,
            other => other,
        }
    }

    /// Returns the complex type whose parts have this type, for `f32` and `f64`.
    pub fn complex_type(self) -> Option<ElementType> {
        match self {
            ElementType::F32 => Some(ElementType::C64),
            ElementType::F64 => Some(ElementType::C128),
            _ => None,
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
