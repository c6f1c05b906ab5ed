//! Sets of element types that opcodes support.

use crate::ElementType;

/// A set of kinds of element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u8);

impl Types {
    /// `pred`.
    pub const PRED: Types = Types(1);
    /// `s1` … `s64`.
    pub const SIGNED: Types = Types(2);
    /// `u1` … `u64`.
    pub const UNSIGNED: Types = Types(4);
    /// Real floating-point types.
    pub const FLOAT: Types = Types(8);
    /// `c64`, `c128`.
    pub const COMPLEX: Types = Types(16);
    /// Integers.
    pub const INTEGER: Types = Types(2 | 4);
    /// The types of bitwise operations.
    pub const BITS: Types = Types(1 | 2 | 4);
    /// The types of unsigned comparisons.
    pub const UNSIGNED_OR_PRED: Types = Types(1 | 4);
    /// Integers and floating-point types.
    pub const REAL: Types = Types(2 | 4 | 8);
    /// Floating-point and complex types.
    pub const INEXACT: Types = Types(8 | 16);
    /// All types except `pred`.
    pub const NUMERIC: Types = Types(2 | 4 | 8 | 16);
    /// All types except `pred` and unsigned integers.
    pub const SIGNED_NUMERIC: Types = Types(2 | 8 | 16);
    /// All types except complex ones.
    pub const ORDERED: Types = Types(1 | 2 | 4 | 8);
    /// All types.
    pub const ANY: Types = Types(31);

    const NAMES: [(Types, &'static str); 5] = [
        (Types::PRED, "pred"),
        (Types::SIGNED, "signed integers"),
        (Types::UNSIGNED, "unsigned integers"),
        (Types::FLOAT, "floating-point types"),
        (Types::COMPLEX, "complex types"),
    ];

    /// Returns whether the set contains the kind of `t`.
    pub fn contains(self, t: ElementType) -> bool {
        let kind = if t.is_pred() {
            Types::PRED
        } else if t.is_signed_integer() {
            Types::SIGNED
        } else if t.is_unsigned_integer() {
            Types::UNSIGNED
        } else if t.is_float() {
            Types::FLOAT
        } else {
            Types::COMPLEX
        };
        self.0 & kind.0 != 0
    }
}

impl std::fmt::Display for Types {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> =
            Self::NAMES.iter().filter(|(t, _)| self.0 & t.0 != 0).map(|&(_, name)| name).collect();
        f.write_str(&names.join(", "))
    }
}
