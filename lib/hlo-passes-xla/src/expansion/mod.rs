//! Passes that replace operations, types and forms that code generation does not support by those that it
//! does.

pub(crate) mod associative_scan_rewriter;
pub(crate) mod bfloat16_fold;
pub(crate) mod bfloat16_propagation;
pub(crate) mod change_op_data_type;
pub(crate) mod element_type_converter;
pub(crate) mod float_normalization;

use hlo_passes::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &associative_scan_rewriter::INFO,
    &bfloat16_fold::INFO,
    &bfloat16_propagation::INFO,
    &change_op_data_type::INFO,
    &element_type_converter::INFO,
    &float_normalization::BF16,
    &float_normalization::F16,
    &float_normalization::F4E2M1FN,
    &float_normalization::F6E2M3FN,
    &float_normalization::F6E3M2FN,
    &float_normalization::F8E3M4,
    &float_normalization::F8E4M3,
    &float_normalization::F8E4M3B11FNUZ,
    &float_normalization::F8E4M3FN,
    &float_normalization::F8E4M3FNUZ,
    &float_normalization::F8E5M2,
    &float_normalization::F8E5M2FNUZ,
    &float_normalization::F8E8M0FNU,
    &float_normalization::S2,
    &float_normalization::S4,
    &float_normalization::U2,
    &float_normalization::U4,
];
