//! The element types of safetensors files.

use hlo_ir::ElementType;
use std::fmt;

/// An element type of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtype {
    /// The name in the format, such as `F32`.
    pub name: &'static str,
    /// The HLO type.
    pub element_type: ElementType,
}

/// The types of the reference implementation, version 0.8.
const DTYPES: &[(&str, ElementType)] = &[
    ("BOOL", ElementType::Pred),
    ("U8", ElementType::U8),
    ("U16", ElementType::U16),
    ("U32", ElementType::U32),
    ("U64", ElementType::U64),
    ("I8", ElementType::S8),
    ("I16", ElementType::S16),
    ("I32", ElementType::S32),
    ("I64", ElementType::S64),
    ("F16", ElementType::F16),
    ("BF16", ElementType::Bf16),
    ("F32", ElementType::F32),
    ("F64", ElementType::F64),
    ("C64", ElementType::C64),
    // PyTorch's float8_e4m3fn.
    ("F8_E4M3", ElementType::F8E4M3Fn),
    ("F8_E5M2", ElementType::F8E5M2),
    ("F8_E8M0", ElementType::F8E8M0Fnu),
    ("F8_E4M3FNUZ", ElementType::F8E4M3Fnuz),
    ("F8_E5M2FNUZ", ElementType::F8E5M2Fnuz),
    ("F6_E2M3", ElementType::F6E2M3Fn),
    ("F6_E3M2", ElementType::F6E3M2Fn),
    ("F4", ElementType::F4E2M1Fn),
];

impl Dtype {
    /// Returns the type with the given name in the format.
    pub fn from_name(name: &str) -> Option<Self> {
        let (name, element_type) = DTYPES.iter().find(|(own, _)| *own == name)?;
        Some(Self { name, element_type: *element_type })
    }

    /// Returns the type that stores elements of an HLO type: the same type, or raw bits. Returns `None` for
    /// `c128`, which the format does not support.
    pub fn of(ty: ElementType) -> Option<Self> {
        let is_raw = is_raw(ty);
        let (name, element_type) =
            DTYPES.iter().find(|(_, own)| *own == if is_raw { ElementType::U8 } else { ty })?;
        Some(Self { name, element_type: *element_type })
    }

    /// Returns the number of bits of an element in a file.
    pub fn bits(self) -> u64 {
        match self.element_type {
            ElementType::Pred => 8,
            ty => ty.bit_width().into(),
        }
    }

    /// Whether a tensor of this type can store elements of the HLO type.
    pub fn can_store(self, ty: ElementType) -> bool {
        self.element_type == ty || is_raw(ty) && self.element_type == ElementType::U8
    }

    /// Returns the names of all types.
    pub fn names() -> Vec<&'static str> {
        DTYPES.iter().map(|(name, _)| *name).collect()
    }
}

/// Whether elements are stored as bytes with their raw bits. This applies to types that the format does not
/// have, or for which it packs several elements into a byte.
pub fn is_raw(ty: ElementType) -> bool {
    let is_known = DTYPES.iter().any(|(_, own)| *own == ty);
    ty.byte_size() == 1 && !ty.is_pred() && (!is_known || ty.bit_width() < 8)
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
