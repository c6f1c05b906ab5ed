//! Number types: their sizes, their VHLO codes, and the versions that introduced them.

use crate::dialect::Version;
use crate::tree::{FloatType, Signedness, Type, TypeKind};

const ALWAYS: Version = Version::MINIMUM;

const fn since(major: u32, minor: u32) -> Version {
    Version::new(major, minor, 0)
}

/// The floating-point types of VHLO: code, type, and version that introduced it.
pub(super) const VHLO_FLOATS: &[(u64, FloatType, Version)] = &[
    (2, FloatType::BF16, ALWAYS),
    (3, FloatType::F16, ALWAYS),
    (4, FloatType::F32, ALWAYS),
    (5, FloatType::F64, ALWAYS),
    (6, FloatType::F8E4M3FN, ALWAYS),
    (7, FloatType::F8E5M2, ALWAYS),
    (27, FloatType::F8E4M3FNUZ, since(0, 10)),
    (28, FloatType::F8E5M2FNUZ, since(0, 10)),
    (29, FloatType::F8E4M3B11FNUZ, since(0, 11)),
    (34, FloatType::TF32, since(1, 6)),
    (35, FloatType::F8E4M3, since(1, 7)),
    (36, FloatType::F8E3M4, since(1, 7)),
    (37, FloatType::F4E2M1FN, since(1, 8)),
    (38, FloatType::F6E2M3FN, since(1, 8)),
    (39, FloatType::F6E3M2FN, since(1, 8)),
    (40, FloatType::F8E8M0FNU, since(1, 8)),
];

/// The integer types of VHLO: code, number of bits, signedness, version. The one-bit type is VHLO's Boolean.
pub(super) const VHLO_INTEGERS: &[(u64, u32, Signedness, Version)] = &[
    (0, 1, Signedness::Signless, ALWAYS),
    (10, 4, Signedness::Signless, ALWAYS),
    (11, 8, Signedness::Signless, ALWAYS),
    (12, 16, Signedness::Signless, ALWAYS),
    (13, 32, Signedness::Signless, ALWAYS),
    (14, 64, Signedness::Signless, ALWAYS),
    (15, 4, Signedness::Unsigned, ALWAYS),
    (16, 8, Signedness::Unsigned, ALWAYS),
    (17, 16, Signedness::Unsigned, ALWAYS),
    (18, 32, Signedness::Unsigned, ALWAYS),
    (19, 64, Signedness::Unsigned, ALWAYS),
    (31, 2, Signedness::Signless, since(1, 2)),
    (32, 2, Signedness::Unsigned, since(1, 2)),
];

/// The versions that introduced other types.
pub(super) const FUTURE: Version = since(1, 15);
pub(super) const BUFFER: Version = since(1, 13);
pub(super) const NONE: Version = since(1, 6);
pub(super) const QUANTIZED_PER_AXIS: Version = since(0, 18);

/// Returns the version that introduced attributes of a kind.
pub(super) fn attribute_since(kind: &str) -> Version {
    match kind {
        "stablehlo.result_accuracy" | "stablehlo.result_accuracy_mode" => since(1, 9),
        "stablehlo.replica_group_mesh_axes"
        | "stablehlo.mesh"
        | "stablehlo.mesh_axis"
        | "stablehlo.axis_ref"
        | "stablehlo.sub_axis_info" => since(1, 16),
        _ => ALWAYS,
    }
}

/// Returns the number of bits of a number type, or `None` for other types.
fn bits(ty: &Type) -> Option<u32> {
    match &**ty {
        TypeKind::Integer(bits, _) => Some(*bits),
        TypeKind::Index => Some(64),
        TypeKind::Float(float) => Some(float.bits()),
        TypeKind::Quantized(quantization) => bits(&quantization.storage),
        _ => None,
    }
}

/// Returns the number of bytes that MLIR uses for an element of an array.
pub(super) fn element_bytes(ty: &Type) -> Option<usize> {
    match &**ty {
        TypeKind::Complex(part) => element_bytes(part)?.checked_mul(2),
        _ => Some(bits(ty)?.div_ceil(8) as usize),
    }
}

/// Checks whether the type is Boolean. Eight Booleans are packed into a byte.
pub(super) fn is_truth_value(ty: &Type) -> bool {
    bits(ty) == Some(1)
}
