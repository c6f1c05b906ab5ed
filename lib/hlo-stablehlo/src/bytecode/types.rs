//! The numbers of VHLO's types of numbers.

use crate::tree::{FloatType, Signedness};

/// Floating-point types.
pub(super) const VHLO_FLOATS: &[(u64, FloatType)] = &[
    (2, FloatType::BF16),
    (3, FloatType::F16),
    (4, FloatType::F32),
    (5, FloatType::F64),
    (6, FloatType::F8E4M3FN),
    (7, FloatType::F8E5M2),
    (27, FloatType::F8E4M3FNUZ),
    (28, FloatType::F8E5M2FNUZ),
    (29, FloatType::F8E4M3B11FNUZ),
    (34, FloatType::TF32),
    (35, FloatType::F8E4M3),
    (36, FloatType::F8E3M4),
    (37, FloatType::F4E2M1FN),
    (38, FloatType::F6E2M3FN),
    (39, FloatType::F6E3M2FN),
    (40, FloatType::F8E8M0FNU),
];

/// Integers: how many bits they have, and whether they have a sign. That of one bit is VHLO's truth value.
pub(super) const VHLO_INTEGERS: &[(u64, u32, Signedness)] = &[
    (0, 1, Signedness::Signless),
    (10, 4, Signedness::Signless),
    (11, 8, Signedness::Signless),
    (12, 16, Signedness::Signless),
    (13, 32, Signedness::Signless),
    (14, 64, Signedness::Signless),
    (15, 4, Signedness::Unsigned),
    (16, 8, Signedness::Unsigned),
    (17, 16, Signedness::Unsigned),
    (18, 32, Signedness::Unsigned),
    (19, 64, Signedness::Unsigned),
    (31, 2, Signedness::Signless),
    (32, 2, Signedness::Unsigned),
];
