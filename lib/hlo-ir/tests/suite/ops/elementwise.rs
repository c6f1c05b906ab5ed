//! Table tests of elementwise opcodes.

use super::{accepts, code, infers, refuses};

#[test]
fn unary() {
    infers(&[
        ("negate(f32[2,3])", "f32[2,3]"),
        ("negate(u8[])", "u8[]"),
        ("exponential(c64[2])", "c64[2]"),
        ("copy((f32[2], token[]))", "(f32[2], token[])"),
        ("copy(f32[2,3]{0,1})", "f32[2,3]{0,1}"),
        ("abs(c128[2])", "f64[2]"),
        ("abs(s32[2])", "s32[2]"),
        ("real(c64[2])", "f32[2]"),
        ("imag(f32[2])", "f32[2]"),
        ("is-finite(bf16[4])", "pred[4]"),
        ("not(pred[4])", "pred[4]"),
        ("popcnt(u16[4])", "u16[4]"),
        ("sign(s8[4])", "s8[4]"),
        ("reduce-precision(f32[4]), exponent_bits=5, mantissa_bits=10", "f32[4]"),
    ]);
    refuses(&[
        ("negate(pred[2])", code::ELEMENT_TYPE, "operand 0 is pred[2]"),
        ("negate((f32[2]))", code::OPERAND_KIND, "needs an array as operand 0, found (f32[2])"),
        ("negate(f32[2], f32[2])", code::ARITY, "takes 1 operand, found 2"),
        ("sine(s32[2])", code::ELEMENT_TYPE, "works on floating-point types, complex types"),
        ("floor(c64[2])", code::ELEMENT_TYPE, "works on floating-point types"),
        ("cbrt(c64[2])", code::ELEMENT_TYPE, "works on floating-point types"),
        ("not(f32[2])", code::ELEMENT_TYPE, "works on pred, signed integers, unsigned integers"),
        ("popcnt(pred[2])", code::ELEMENT_TYPE, "works on signed integers, unsigned integers"),
        ("is-finite(s32[2])", code::ELEMENT_TYPE, "works on floating-point types"),
        ("abs(u32[2])", code::ELEMENT_TYPE, "works on signed integers"),
        ("sign(u32[2])", code::ELEMENT_TYPE, "works on signed integers"),
        ("f32[3] negate(f32[2])", code::DECLARED_SHAPE, "gives f32[2], but its shape is written f32[3]"),
        ("c64[2] abs(c64[2])", code::DECLARED_SHAPE, "gives f32[2]"),
        (
            "reduce-precision(f32[2]), exponent_bits=0, mantissa_bits=3",
            code::EXPONENT_BITS,
            "`exponent_bits` of 1 or more",
        ),
        (
            "reduce-precision(f32[2]), exponent_bits=3, mantissa_bits=-1",
            code::MANTISSA_BITS,
            "`mantissa_bits` of 0 or more",
        ),
        ("reduce-precision(s32[2]), exponent_bits=3, mantissa_bits=1", code::ELEMENT_TYPE, "s32[2]"),
    ]);
}

#[test]
fn binary() {
    infers(&[
        ("add(f32[2], f32[2])", "f32[2]"),
        ("add(pred[2], pred[2])", "pred[2]"),
        ("add(f32[2,3]{0,1}, f32[2,3]{1,0})", "f32[2,3]{0,1}"),
        ("add(f32[<=4], f32[4])", "f32[<=4]"),
        ("add(f32[4], f32[<=4])", "f32[<=4]"),
        ("add(f32[?,2], f32[3,2])", "f32[3,2]"),
        ("subtract(c64[], c64[])", "c64[]"),
        ("and(pred[2], pred[2])", "pred[2]"),
        ("xor(u32[2], u32[2])", "u32[2]"),
        ("shift-left(s32[2], s32[2])", "s32[2]"),
        ("mulhi(u64[2], u64[2])", "u64[2]"),
        ("atan2(f32[2], f32[2])", "f32[2]"),
        ("complex(f32[2], f32[2])", "c64[2]"),
        ("complex(f64[], f64[])", "c128[]"),
    ]);
    refuses(&[
        (
            "add(f32[2], f32[3])",
            code::OPERAND_SHAPES,
            "operands 0 and 1 of the same sizes, found f32[2] and f32[3]",
        ),
        ("add(f32[2], f32[])", code::OPERAND_SHAPES, "found f32[2] and f32[]"),
        (
            "add(f32[2], s32[2])",
            code::MIXED_TYPES,
            "one element type for operands 0 and 1, found f32 and s32",
        ),
        ("add(f32[2])", code::ARITY, "takes 2 operands, found 1"),
        ("add(f32[2], token[])", code::OPERAND_KIND, "needs an array as operand 1, found token[]"),
        ("subtract(pred[2], pred[2])", code::ELEMENT_TYPE, "pred[2]"),
        ("divide(pred[2], pred[2])", code::ELEMENT_TYPE, "pred[2]"),
        ("and(f32[2], f32[2])", code::ELEMENT_TYPE, "f32[2]"),
        ("shift-left(f32[2], f32[2])", code::ELEMENT_TYPE, "f32[2]"),
        ("atan2(s32[2], s32[2])", code::ELEMENT_TYPE, "s32[2]"),
        ("complex(bf16[2], bf16[2])", code::COMPLEX_PARTS, "works on f32 and f64, found bf16"),
        ("f32[4] add(f32[<=4], f32[<=4])", code::DECLARED_SHAPE, "gives f32[<=4]"),
        ("s32[2] add(f32[2], f32[2])", code::DECLARED_SHAPE, "written s32[2]"),
    ]);
}

#[test]
fn compare() {
    infers(&[
        ("compare(f32[2], f32[2]), direction=LT", "pred[2]"),
        ("compare(f32[2], f32[2]), direction=GE, type=TOTALORDER", "pred[2]"),
        ("compare(s32[], s32[]), direction=GT, type=SIGNED", "pred[]"),
        ("compare(pred[], pred[]), direction=GT, type=UNSIGNED", "pred[]"),
        ("compare(c64[3], c64[3]), direction=NE", "pred[3]"),
    ]);
    refuses(&[
        ("compare(f32[2], s32[2]), direction=LT", code::MIXED_TYPES, "found f32 and s32"),
        (
            "compare(c64[2], c64[2]), direction=LT",
            code::COMPARE_DIRECTION,
            "complex numbers has direction EQ or NE",
        ),
        ("compare(s32[2], s32[2]), direction=LT, type=FLOAT", code::COMPARE_TYPE, "type=FLOAT"),
        ("compare(f32[2], f32[2]), direction=LT, type=SIGNED", code::COMPARE_TYPE, "type=SIGNED"),
        ("compare(s32[2], s32[2]), direction=LT, type=UNSIGNED", code::COMPARE_TYPE, "type=UNSIGNED"),
        ("compare(s32[2], s32[2]), direction=LT, type=TOTALORDER", code::COMPARE_TYPE, "type=TOTALORDER"),
        ("f32[2] compare(f32[2], f32[2]), direction=LT", code::DECLARED_SHAPE, "gives pred[2]"),
    ]);
}

#[test]
fn ternary() {
    infers(&[
        ("select(pred[2], f32[2], f32[2])", "f32[2]"),
        ("select(pred[], f32[2], f32[2])", "f32[2]"),
        ("clamp(f32[], f32[2], f32[])", "f32[2]"),
        ("clamp(c64[], c64[2], c64[])", "c64[2]"),
        ("clamp(f32[2], f32[2], f32[])", "f32[2]"),
        ("clamp(s32[2], s32[2], s32[2])", "s32[2]"),
    ]);
    refuses(&[
        ("select(s32[2], f32[2], f32[2])", code::ELEMENT_TYPE, "works on pred"),
        ("select(pred[3], f32[2], f32[2])", code::SELECT_PREDICATE, "found pred[3]"),
        ("select(pred[2], f32[2], f32[])", code::OPERAND_SHAPES, "operands 1 and 2"),
        ("select(pred[2], f32[2], s32[2])", code::MIXED_TYPES, "found f32 and s32"),
        ("select(pred[], (f32[]), (f32[]))", code::OPERAND_KIND, "needs an array"),
        ("clamp(f32[3], f32[2], f32[])", code::CLAMP_BOUNDS, "sizes of f32[2], found f32[3]"),
        ("clamp(s32[], f32[2], f32[])", code::MIXED_TYPES, "found f32 and s32"),
    ]);
}

#[test]
fn conversions() {
    accepts(&[
        "s32[2] convert(f32[2])",
        "c64[2] convert(f32[2])",
        "bf16[2]{0} convert(pred[2])",
        "f16[10,2] bitcast-convert(f32[10])",
        "f32[10] bitcast-convert(f16[10,2])",
        "u32[3] bitcast-convert(f32[3])",
        "u8[4] bitcast-convert(f32[])",
        "c64[] bitcast-convert(c64[])",
        "s8[2] stochastic-convert(f16[2], u16[2])",
    ]);
    refuses(&[
        ("s32[3] convert(f32[2])", code::CONVERT_SIZES, "keeps the sizes of its operand, f32[2]"),
        ("f32[2] convert(c64[2])", code::CONVERT_COMPLEX, "does not turn c64 into f32: use `real`"),
        ("(f32[2]) convert(f32[2])", code::DECLARED_SHAPE, "gives an array"),
        ("f32[2] convert(token[])", code::OPERAND_KIND, "needs an array"),
        ("f16[10] bitcast-convert(f32[10])", code::BITCAST_CONVERT_SIZES, "types of 32 and 16 bits"),
        ("f16[10,3] bitcast-convert(f32[10])", code::BITCAST_CONVERT_SIZES, "last dimension"),
        ("f32[2] bitcast-convert(u32[3])", code::BITCAST_CONVERT_SIZES, "keeps the sizes"),
        ("f64[2] bitcast-convert(c64[2])", code::BITCAST_CONVERT_COMPLEX, "complex and real"),
        ("s8[2] stochastic-convert(f32[2], u16[2])", code::RANDOM_WIDTH, "random numbers of 32 bits"),
        ("pred[2] stochastic-convert(f32[2], u32[2])", code::STOCHASTIC_RESULT, "written pred[2]"),
    ]);
}
