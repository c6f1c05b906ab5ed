//! The pretty forms of CHLO operations.

use super::Piece::{Operand, Operands, Optional, Text};
use super::{AttributeForm as A, Form, forms, int};

forms! {
    "chlo._asin_acos_kernel" | "chlo.acos" | "chlo.acosh" | "chlo.asin" | "chlo.asinh" | "chlo.atan" |
        "chlo.atanh" | "chlo.bessel_i1e" | "chlo.conj" | "chlo.cosh" | "chlo.digamma" | "chlo.erf" |
        "chlo.erf_inv" | "chlo.erfc" | "chlo.is_inf" | "chlo.is_neg_inf" | "chlo.is_pos_inf" |
        "chlo.lgamma" | "chlo.mulhi" | "chlo.next_after" | "chlo.polygamma" | "chlo.sinh" | "chlo.square" |
        "chlo.tan" | "chlo.zeta": [Operands] Arrow;
    "chlo.broadcast_add" | "chlo.broadcast_and" | "chlo.broadcast_atan2" | "chlo.broadcast_compare" |
        "chlo.broadcast_complex" | "chlo.broadcast_divide" | "chlo.broadcast_maximum" |
        "chlo.broadcast_minimum" | "chlo.broadcast_multiply" | "chlo.broadcast_next_after" |
        "chlo.broadcast_or" | "chlo.broadcast_polygamma" | "chlo.broadcast_power" |
        "chlo.broadcast_remainder" | "chlo.broadcast_select" | "chlo.broadcast_shift_left" |
        "chlo.broadcast_shift_right_arithmetic" | "chlo.broadcast_shift_right_logical" |
        "chlo.broadcast_subtract" | "chlo.broadcast_xor" | "chlo.broadcast_zeta": [Operands] Function;
    "chlo.top_k": [Text("("), Operand, Text(", k = "), int("k"),
        Optional("is_stable", ", is_stable = ", A::Bool), Text(")")] Arrow;
    "chlo.constant" = Form::Constant;
    "chlo.scan" = Form::Scan;
}
