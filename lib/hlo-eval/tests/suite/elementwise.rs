//! Tests of element-wise operations. The expected numbers are from the semantics, from jaxlib, or simple
//! cases such as powers of two.

use crate::common::{self, apply, assert_same};

#[test]
fn integer_division_by_zero_and_overflow_are_defined() {
    let a = "s32[6] {7, -7, 5, -2147483648, -7, 9}";
    let b = "s32[6] {2, 2, 0, -1, 0, -4}";
    assert_same(apply("s32[6] divide($0, $1)", &[a, b]), "s32[6] {3, -3, -1, -2147483648, -1, -2}");
    assert_same(apply("s32[6] remainder($0, $1)", &[a, b]), "s32[6] {1, -1, 5, 0, -7, 1}");
    let (a, b) = ("u8[3] {200, 7, 0}", "u8[3] {7, 0, 0}");
    assert_same(apply("u8[3] divide($0, $1)", &[a, b]), "u8[3] {28, 255, 255}");
    assert_same(apply("u8[3] remainder($0, $1)", &[a, b]), "u8[3] {4, 7, 0}");
}

#[test]
fn integer_arithmetic_wraps() {
    assert_same(apply("s8[2] add($0, $0)", &["s8[2] {127, -128}"]), "s8[2] {-2, 0}");
    assert_same(apply("s8[2] multiply($0, $0)", &["s8[2] {127, -128}"]), "s8[2] {1, 0}");
    assert_same(apply("s8[3] negate($0)", &["s8[3] {1, -128, 0}"]), "s8[3] {-1, -128, 0}");
    assert_same(apply("s8[2] abs($0)", &["s8[2] {-128, -5}"]), "s8[2] {-128, 5}");
    assert_same(apply("s4[3] add($0, $0)", &["s4[3] {7, -8, 3}"]), "s4[3] {-2, 0, 6}");
    assert_same(apply("u4[2] subtract($0, $1)", &["u4[2] {1, 9}", "u4[2] {2, 3}"]), "u4[2] {15, 6}");
}

#[test]
fn integer_power_wraps_and_truncates() {
    let (a, b) = ("s32[8] {2, 3, -1, -1, 1, 2, 0, 3}", "s32[8] {10, 21, -3, -4, -9, -1, 0, 0}");
    assert_same(apply("s32[8] power($0, $1)", &[a, b]), "s32[8] {1024, 1870418611, -1, 1, 1, 0, 1, 1}");
}

#[test]
fn shifts_by_the_width_or_more_empty_the_value() {
    let (a, b) = ("s32[5] {-8, -8, -8, 1, 1}", "s32[5] {1, 32, -1, 31, 32}");
    assert_same(apply("s32[5] shift-left($0, $1)", &[a, b]), "s32[5] {-16, 0, 0, -2147483648, 0}");
    assert_same(apply("s32[5] shift-right-arithmetic($0, $1)", &[a, b]), "s32[5] {-4, -1, -1, 0, 0}");
    assert_same(apply("s32[5] shift-right-logical($0, $1)", &[a, b]), "s32[5] {2147483644, 0, 0, 0, 0}");
    assert_same(
        apply("s4[2] shift-right-logical($0, $1)", &["s4[2] {-1, -1}", "s4[2] {1, 4}"]),
        "s4[2] {7, 0}",
    );
}

#[test]
fn bits_are_counted_in_the_type_s_width() {
    assert_same(apply("s8[3] popcnt($0)", &["s8[3] {-1, 0, 6}"]), "s8[3] {8, 0, 2}");
    assert_same(apply("s4[2] popcnt($0)", &["s4[2] {-1, 5}"]), "s4[2] {4, 2}");
    assert_same(apply("u16[3] count-leading-zeros($0)", &["u16[3] {0, 1, 65535}"]), "u16[3] {16, 15, 0}");
    assert_same(apply("u4[2] count-leading-zeros($0)", &["u4[2] {1, 0}"]), "u4[2] {3, 4}");
}

#[test]
fn mulhi_is_the_high_half() {
    let (a, b) = ("s32[2] {2147483647, -2147483648}", "s32[2] {2147483647, -2147483648}");
    assert_same(apply("s32[2] mulhi($0, $1)", &[a, b]), "s32[2] {1073741823, 1073741824}");
    assert_same(apply("u8[1] mulhi($0, $0)", &["u8[1] {255}"]), "u8[1] {254}");
    let big = "u64[1] {18446744073709551615}";
    assert_same(apply("u64[1] mulhi($0, $0)", &[big]), "u64[1] {18446744073709551614}");
}

#[test]
fn predicates_add_as_or_and_multiply_as_and() {
    let (a, b) = ("pred[4] {0, 0, 1, 1}", "pred[4] {0, 1, 0, 1}");
    assert_same(apply("pred[4] add($0, $1)", &[a, b]), "pred[4] {0, 1, 1, 1}");
    assert_same(apply("pred[4] multiply($0, $1)", &[a, b]), "pred[4] {0, 0, 0, 1}");
    assert_same(apply("pred[4] xor($0, $1)", &[a, b]), "pred[4] {0, 1, 1, 0}");
    assert_same(apply("pred[4] not($0)", &[a]), "pred[4] {1, 1, 0, 0}");
    assert_same(apply("pred[4] compare($0, $1), direction=GT", &[a, b]), "pred[4] {0, 0, 1, 0}");
}

#[test]
fn maximum_and_minimum_propagate_nan_and_order_zeros() {
    let (a, b) = ("f32[4] {nan, 1, -0, 0}", "f32[4] {1, nan, 0, -0}");
    assert_same(apply("f32[4] maximum($0, $1)", &[a, b]), "f32[4] {nan, nan, 0, 0}");
    assert_same(apply("f32[4] minimum($0, $1)", &[a, b]), "f32[4] {nan, nan, -0, -0}");
    let clamp = "f32[4] clamp($0, $1, $2)";
    assert_same(
        apply(clamp, &["f32[] -1", "f32[4] {nan, -5, 0.5, inf}", "f32[] 1"]),
        "f32[4] {nan, -1, 0.5, 1}",
    );
}

/// Semantics, "Element-wise unary functions": the table of sgn.
#[test]
fn sign_keeps_zeros_and_nan() {
    assert_same(
        apply("f32[6] sign($0)", &["f32[6] {-3, -0, nan, 0, 2, -inf}"]),
        "f32[6] {-1, -0, nan, 0, 1, -1}",
    );
    assert_same(apply("s16[3] sign($0)", &["s16[3] {-3, 0, 7}"]), "s16[3] {-1, 0, 1}");
    assert_same(apply("c64[2] sign($0)", &["c64[2] {(3, 4), (0, 0)}"]), "c64[2] {(0.6, 0.8), (0, 0)}");
}

#[test]
fn rounding_to_integers() {
    let x = "f32[6] {0.5, 1.5, 2.5, -0.5, -2.5, 0.49999997}";
    assert_same(apply("f32[6] round-nearest-afz($0)", &[x]), "f32[6] {1, 2, 3, -1, -3, 0}");
    assert_same(apply("f32[6] round-nearest-even($0)", &[x]), "f32[6] {0, 2, 2, -0, -2, 0}");
    assert_same(apply("f32[6] floor($0)", &[x]), "f32[6] {0, 1, 2, -1, -3, 0}");
    assert_same(apply("f32[6] ceil($0)", &[x]), "f32[6] {1, 2, 3, -0, -2, 1}");
}

#[test]
fn subnormals_are_kept() {
    assert_same(
        apply("f32[2] add($0, $0)", &["f32[2] {1e-45, -5.877472e-39}"]),
        "f32[2] {2.8e-45, -1.1754944e-38}",
    );
    assert_same(apply("f32[1] multiply($0, $1)", &["f32[1] {1e-30}", "f32[1] {1e-15}"]), "f32[1] {1e-45}");
}

#[test]
fn remainder_has_the_dividend_s_sign() {
    let (a, b) = ("f32[5] {5.5, -5.5, 5.5, 1, inf}", "f32[5] {2, 2, -2, inf, 3}");
    assert_same(apply("f32[5] remainder($0, $1)", &[a, b]), "f32[5] {1.5, -1.5, 1.5, 1, nan}");
}

/// Correctly rounded values (from 60-digit arithmetic).
#[test]
fn transcendental_functions_of_f32_are_rounded_once() {
    for (op, x, want) in [
        ("exponential", "1", "2.7182817"),
        ("exponential", "-10", "4.539993e-05"),
        ("exponential-minus-one", "1e-10", "1e-10"),
        ("log", "2", "0.6931472"),
        ("log-plus-one", "1e-10", "1e-10"),
        ("tanh", "0.5", "0.46211717"),
        ("logistic", "0", "0.5"),
        ("erf", "0.5", "0.5204999"),
        ("cbrt", "-27", "-3"),
        ("rsqrt", "4", "0.5"),
        ("sine", "1", "0.84147096"),
        ("cosine", "1", "0.5403023"),
        ("tan", "1", "1.5574077"),
        ("acos", "-1", "3.1415927"),
        ("asin", "1", "1.5707964"),
        ("acosh", "1", "0"),
        ("asinh", "1", "0.8813736"),
        ("atanh", "0.5", "0.54930615"),
        ("sinh", "1", "1.1752012"),
        ("cosh", "1", "1.5430807"),
    ] {
        assert_same(apply(&format!("f32[] {op}($0)"), &[&format!("f32[] {x}")]), &format!("f32[] {want}"));
    }
    assert_same(apply("f32[] power($0, $1)", &["f32[] 2", "f32[] 0.5"]), "f32[] 1.4142135");
    assert_same(apply("f32[] atan2($0, $1)", &["f32[] -1", "f32[] -1"]), "f32[] -2.3561945");
}

/// In bf16, 1 + 2⁻⁸ is a tie that rounds to even. A sum of three such numbers is rounded at each addition.
#[test]
fn narrow_floats_round_once_an_instruction() {
    assert_same(
        apply("bf16[2] add($0, $1)", &["bf16[2] {1, 256}", "bf16[2] {0.00390625, 1}"]),
        "bf16[2] {1, 256}",
    );
    assert_same(apply("f16[2] multiply($0, $0)", &["f16[2] {300, 0.001}"]), "f16[2] {inf, 1.013e-06}");
    assert_same(apply("f8e4m3fn[2] add($0, $0)", &["f8e4m3fn[2] {1.125, 240}"]), "f8e4m3fn[2] {2.25, nan}");
}

#[test]
fn comparisons_are_ieee_or_total() {
    let (a, b) = ("f32[5] {nan, -0, 1, -nan, -inf}", "f32[5] {nan, 0, nan, -inf, inf}");
    assert_same(apply("pred[5] compare($0, $1), direction=EQ", &[a, b]), "pred[5] {0, 1, 0, 0, 0}");
    assert_same(apply("pred[5] compare($0, $1), direction=NE", &[a, b]), "pred[5] {1, 0, 1, 1, 1}");
    assert_same(
        apply("pred[5] compare($0, $1), direction=LT, type=TOTALORDER", &[a, b]),
        "pred[5] {0, 1, 1, 1, 1}",
    );
    let unsigned = "pred[1] compare($0, $1), direction=GT, type=UNSIGNED";
    assert_same(apply(unsigned, &["u32[1] {4294967295}", "u32[1] {1}"]), "pred[1] {1}");
}

#[test]
fn select_takes_a_scalar_predicate() {
    let (a, b) = ("s32[4] {1, 2, 3, 4}", "s32[4] {100, 200, 300, 400}");
    assert_same(
        apply("s32[4] select($0, $1, $2)", &["pred[4] {1, 0, 0, 1}", a, b]),
        "s32[4] {1, 200, 300, 4}",
    );
    assert_same(apply("s32[4] select($0, $1, $2)", &["pred[] true", a, b]), a);
}

#[test]
fn conversions_saturate_truncate_and_wrap() {
    let x = "f32[7] {3.7, -3.7, nan, inf, -inf, 300, -1}";
    assert_same(apply("s8[7] convert($0)", &[x]), "s8[7] {3, -3, 0, 127, -128, 127, -1}");
    assert_same(apply("u8[7] convert($0)", &[x]), "u8[7] {3, 0, 0, 255, 0, 255, 0}");
    assert_same(apply("s4[7] convert($0)", &[x]), "s4[7] {3, -3, 0, 7, -8, 7, -1}");
    assert_same(apply("pred[3] convert($0)", &["f32[3] {0.5, 0, nan}"]), "pred[3] {1, 0, 1}");
    assert_same(apply("s8[3] convert($0)", &["s32[3] {300, -129, 5}"]), "s8[3] {44, 127, 5}");
    assert_same(apply("f32[2] convert($0)", &["s32[2] {16777217, 16777219}"]), "f32[2] {16777216, 16777220}");
    assert_same(apply("f32[2] real($0)", &["c64[2] {(1, 2), (-3, 4)}"]), "f32[2] {1, -3}");
    assert_same(apply("c128[1] convert($0)", &["f16[1] {1.5}"]), "c128[1] {(1.5, 0)}");
    // The value is rounded once. By way of f32 it would be 464.
    assert_same(apply("bf16[1] convert($0)", &["f64[1] {465.0000000465}"]), "bf16[1] {466}");
}

#[test]
fn bitcast_convert_changes_the_width() {
    assert_same(apply("u16[2,2] bitcast-convert($0)", &["u32[2] {65538, 4}"]), "u16[2,2] {{2, 1}, {4, 0}}");
    assert_same(apply("u32[2] bitcast-convert($0)", &["u16[2,2] {{2, 1}, {4, 0}}"]), "u32[2] {65538, 4}");
    assert_same(apply("s32[1] bitcast-convert($0)", &["f32[1] {-0}"]), "s32[1] {-2147483648}");
    assert_same(apply("s4[1,2] bitcast-convert($0)", &["s8[1] {-14}"]), "s4[1,2] {{2, -1}}");
    assert_same(apply("s8[1] bitcast-convert($0)", &["s4[1,2] {{2, -1}}"]), "s8[1] {-14}");
}

/// Semantics, "ReducePrecision"; values from jaxlib.
#[test]
fn reduce_precision_rounds_and_clamps() {
    let x = "f32[6] {1.0009766, 65519, 65520, 1e-08, 6.1035156e-05, nan}";
    let r = apply("f32[6] reduce-precision($0), exponent_bits=5, mantissa_bits=10", &[x]);
    assert_same(r, "f32[6] {1.0009766, 65504, inf, 0, 6.1035156e-05, nan}");
}

#[test]
fn stochastic_convert_rounds_by_the_random_bits() {
    let (x, r) = ("f32[5] {1.25, 1.25, -1.25, 2, nan}", "u32[5] {1073741823, 1073741824, 0, 0, 0}");
    assert_same(apply("s32[5] stochastic-convert($0, $1)", &[x, r]), "s32[5] {2, 1, -2, 2, 0}");
}

#[test]
fn complex_functions_do_not_cancel_or_overflow() {
    assert_same(apply("c64[1] multiply($0, $0)", &["c64[1] {(1, 2)}"]), "c64[1] {(-3, 4)}");
    assert_same(
        apply("c64[1] divide($0, $1)", &["c64[1] {(1, 2)}", "c64[1] {(3, -4)}"]),
        "c64[1] {(-0.2, 0.4)}",
    );
    assert_same(apply("f32[1] abs($0)", &["c64[1] {(3e+38, 4e+37)}"]), "f32[1] {3.0265492e+38}");
    assert_same(apply("c64[1] sqrt($0)", &["c64[1] {(-4, 0)}"]), "c64[1] {(0, 2)}");
    // ln |z| for |z|² = 1 + 2.5e-13 is 1.25e-13, which an addition to 1.0 would lose.
    assert_same(apply("f64[1] real($0)", &["c128[1] {(1, 0)}"]), "f64[1] {1}");
    assert_same(
        apply("c128[1] log($0)", &["c128[1] {(1, 5e-07)}"]),
        "c128[1] {(1.2499999999998437e-13, 4.999999999999583e-07)}",
    );
    assert_same(apply("c64[1] tanh($0)", &["c64[1] {(100, 1)}"]), "c64[1] {(1, 0)}");
    assert_same(apply("c64[1] exponential($0)", &["c64[1] {(-inf, nan)}"]), "c64[1] {(0, 0)}");
    assert_same(
        apply("c64[2] power($0, $1)", &["c64[2] {(0, 0), (0, 0)}", "c64[2] {(0, 0), (2, 1)}"]),
        "c64[2] {(1, 0), (nan, nan)}",
    );
    assert_same(apply("f32[1] imag($0)", &["c64[1] {(3, 4)}"]), "f32[1] {4}");
    assert_same(apply("c64[1] complex($0, $0)", &["f32[1] {3}"]), "c64[1] {(3, 3)}");
    assert_same(apply("pred[1] compare($0, $0), direction=NE", &["c64[1] {(nan, 0)}"]), "pred[1] {1}");
}

#[test]
fn an_operation_that_a_type_lacks_is_an_error() {
    let e = apply("c64[1] floor($0)", &["c64[1] {(3, 4)}"]).unwrap_err();
    assert_eq!(e.message, "`floor` works on floating-point types; operand 0 is c64[1]");
}

/// All pairs of a byte: narrow integers are computed in wider types, which must not change the result.
#[test]
fn byte_arithmetic_is_that_of_bytes() {
    let pairs: Vec<(i8, i8)> =
        (i8::MIN..=i8::MAX).flat_map(|a| (i8::MIN..=i8::MAX).map(move |b| (a, b))).collect();
    let check = |ty: &str, op: &str, want: &dyn Fn(i8, i8) -> i8| {
        let result = if op.starts_with("compare") { "pred" } else { ty };
        let (name, attributes) =
            op.split_once(',').map_or((op, String::new()), |(n, a)| (n, format!(",{a}")));
        let text = format!(
            "HloModule m\nENTRY e {{\n a = {ty}[65536] parameter(0)\n b = {ty}[65536] parameter(1)\n ROOT r = {result}[65536] {name}(a, b){attributes}\n}}\n"
        );
        let shape = common::literal(&format!("{ty}[] 0")).shape().as_array().map(|a| a.element_type);
        let shape = hlo_ir::ArrayShape::new(shape.unwrap_or(hlo_ir::ElementType::S8), [65536]);
        let input = |values: Vec<u8>| {
            hlo_ir::Literal::from_bytes(
                hlo_ir::Shape::Array(shape.clone()),
                hlo_ir::AlignedBytes::from_slice(&values),
            )
        };
        let a = input(pairs.iter().map(|p| p.0 as u8).collect());
        let b = input(pairs.iter().map(|p| p.1 as u8).collect());
        let got = hlo_eval::evaluate(&common::module(&text), &[a, b], &hlo_eval::Options::default());
        let got = got.unwrap_or_else(|e| panic!("{}", e.message));
        for (&g, &(a, b)) in got.bytes().iter().zip(&pairs) {
            assert_eq!(g, want(a, b) as u8, "{op} of {ty} {a} and {b}");
        }
    };
    let unsigned = |f: fn(u8, u8) -> u8| move |a: i8, b: i8| f(a as u8, b as u8) as i8;
    check("s8", "multiply", &|a, b| a.wrapping_mul(b));
    check("u8", "subtract", &unsigned(|a, b| a.wrapping_sub(b)));
    check("s8", "divide", &|a, b| if b == 0 { -1 } else { a.wrapping_div(b) });
    check("u8", "divide", &unsigned(|a, b| a.checked_div(b).unwrap_or(255)));
    check("s8", "remainder", &|a, b| if b == 0 { a } else { a.wrapping_rem(b) });
    check("s8", "maximum", &|a, b| a.max(b));
    check("u8", "minimum", &unsigned(|a, b| a.min(b)));
    check("u8", "power", &unsigned(|a, b| a.wrapping_pow(b.into())));
    check("s8", "shift-left", &|a, b| if (0..8).contains(&b) { a << b } else { 0 });
    check("s8", "shift-right-arithmetic", &|a, b| a >> if (0..8).contains(&b) { b } else { 7 });
    check("s8", "shift-right-logical", &|a, b| if (0..8).contains(&b) { (a as u8 >> b) as i8 } else { 0 });
    check("u8", "shift-right-arithmetic", &unsigned(|a, b| (a as i8 >> b.min(7)) as u8));
    check("s8", "compare, direction=LT", &|a, b| (a < b) as i8);
    check("u8", "compare, direction=GT", &unsigned(|a, b| (a > b) as u8));
}
