//! Tests of literals: which texts are accepted, how they print, and which are rejected. The tables agree with
//! XLA (jaxlib 0.10.2) unless a comment says otherwise.

use hlo_ir::print::print_literal;
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, Literal, Shape};
use hlo_parser::parse_literal;
use hlo_testing::Numbers;

fn parse(text: &str) -> Literal {
    match parse_literal(text) {
        Ok(l) => l,
        Err(diags) => panic!("{}: {}", text.get(..200).unwrap_or(text), diags[0].message),
    }
}

fn print(text: &str) -> String {
    print_literal(&parse(text), None)
}

fn error(text: &str) -> String {
    match parse_literal(text) {
        Ok(l) => panic!("{text} reads as {}", print_literal(&l, None)),
        Err(diags) => diags.into_iter().map(|d| d.message).collect::<Vec<_>>().join("; "),
    }
}

#[test]
fn print_as_they_are_written() {
    for text in [
        "f32[] 1.5",
        "f32[] -0",
        "f32[] 1e-05",
        "f32[] 3.40282347e+38",
        "f32[] 0.000122070312",
        "f32[] 1.17549435e-38",
        "f32[] nan",
        "f32[] -nan",
        "f32[] nan(0x7f)",
        "f32[] -nan(0xab)",
        "f32[] nan(0x7fffff)",
        "f32[2] {inf, -inf}",
        "f64[] 0.33333333333333331",
        "f64[] 1.7976931348623157e+308",
        "f64[] 4.94065645841247e-324",
        "f64[] nan(0x1)",
        "f16[3] {-0.17236, 65504, nan(0x3)}",
        "f16[3] {0.099976, 12344, 5.9605e-08}",
        "bf16[2] {-0.1689, 3.047}",
        "bf16[4] {0.1001, 9.184e-41, 1.234e+05, 9.999e+09}",
        "f8e5m2[4] {5.7e+04, 1.5e-05, inf, nan(0x1)}",
        "f8e4m3fn[4] {448, -448, nan, -nan}",
        "f8e4m3[2] {240, inf}",
        "f8e3m4[4] {15.5, -inf, 0.0156, 3.12}",
        "f8e4m3b11fnuz[2] {30, -nan}",
        "f8e5m2fnuz[2] {5.7e+04, -nan}",
        "f8e4m3fnuz[2] {240, -nan}",
        "f8e8m0fnu[3] {0.5, nan, 5.9e-39}",
        "f4e2m1fn[4] {6, -0.5, 0, -0}",
        "f6e3m2fn[2] {28, -0.25}",
        "f6e2m3fn[2] {7.5, -0.125}",
        "pred[] true",
        "pred[] false",
        "pred[2] {1, 0}",
        "pred[1,2,2] { { { 1, 0 }, { 0, 1 } } }",
        "s1[2] {-1, 0}",
        "s2[2] {-2, 1}",
        "s4[2] {-8, 7}",
        "u1[2] {0, 1}",
        "u2[2] {0, 3}",
        "u4[2] {0, 15}",
        "s8[2] {-128, 127}",
        "u8[] 255",
        "s16[2] {-32768, 32767}",
        "u16[] 65535",
        "s32[2] {-2147483648, 2147483647}",
        "u32[] 4294967295",
        "s64[2] {-9223372036854775808, 9223372036854775807}",
        "u64[] 18446744073709551615",
        "c64[2] {(1, -2.5), (nan, -inf)}",
        "c64[] (nan(0x1), -nan)",
        "c64[1,1] { {(1, 2)} }",
        "c128[] (0.1, 0)",
        "c128[] (1e+300, -0)",
        "(f32[], (s32[2], pred[])) ( 1, ( {2, 3}, true ) )",
        "(f32[0]) ( {} )",
        "() (  )",
        "(()) ( (  ) )",
    ] {
        assert_eq!(print(text), text);
    }
}

/// Tests the blanks, and the numbers in comments.
#[test]
fn braces_of_every_rank() {
    for text in [
        "s32[1] {1}",
        "s32[1,1] { {1} }",
        "s32[2,1] { {1}, {2} }",
        "s32[1,2] { { 1, 2 } }",
        "s32[2,2] { { 1, 2 }, { 3, 4 } }",
        "s32[1,2,1] { { {1}, {2} } }",
        "s32[1,2,3] { { { 1, 2, 3 }, { 4, 5, 6 } } }",
        "s32[1,1,1,1] { { /*i0=0*/ { /*i1=0*/ {1} } } }",
        "s32[1,2,2,2] { { /*i0=0*/ { /*i1=0*/ { 1, 2 }, { 3, 4 } }, { /*i1=1*/ { 5, 6 }, { 7, 8 } } } }",
        "s32[1,1,2,1,1] { { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ {1} }, { /*i2=1*/ {2} } } } }",
        "f32[0] {}",
        "f32[2,0] { {}, {} }",
        "f32[0,3] {  }",
        "s32[0,0] {  }",
        "s32[3,0,2] { {  }, {  }, {  } }",
        "s32[2,2,0] { { {}, {} }, { {}, {} } }",
        "s32[0,1,1,1] {  }",
        "s32[1,0,1,1] { { /*i0=0*/ } }",
        "s32[2,0,0,1] { { /*i0=0*/ }, { /*i0=1*/ } }",
        "s32[1,1,0,1] { { /*i0=0*/ { /*i1=0*/ } } }",
        "s32[1,1,1,1,0] { { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ {} } } } }",
    ] {
        assert_eq!(print(text), text);
    }
}

#[test]
fn other_spellings() {
    for (text, printed) in [
        ("f32[4] {1,2,3,4}", "f32[4] {1, 2, 3, 4}"),
        ("f32[4]{0} {1,2,3,4}", "f32[4] {1, 2, 3, 4}"),
        ("f32[4]{1,2,3,4}", "f32[4] {1, 2, 3, 4}"),
        ("s32[2] {1,0}", "s32[2] {1, 0}"),
        ("s32[1] {0}", "s32[1] {0}"),
        ("f32[2] { /* first */ 1 // second\n , 2 }", "f32[2] {1, 2}"),
        ("f32[2,2]{0,1} {{1,2},{3,4}}", "f32[2,2] { { 1, 2 }, { 3, 4 } }"),
        // Commas are ignored.
        ("s32[3] {1 2 3}", "s32[3] {1, 2, 3}"),
        ("s32[3] {,1,,2 3,}", "s32[3] {1, 2, 3}"),
        ("s32[2,2] {{1,2}{3,4}}", "s32[2,2] { { 1, 2 }, { 3, 4 } }"),
        ("c64[2] {(1,2) (3,4)}", "c64[2] {(1, 2), (3, 4)}"),
        ("(s32[], f32[2]) (1 {2 3})", "(s32[], f32[2]) ( 1, {2, 3} )"),
        // Rows of dimensions without entries.
        ("s32[2,0,3] {{},{}}", "s32[2,0,3] { {  }, {  } }"),
        // `pred` accepts any integer.
        ("pred[3] {true, false, 1}", "pred[3] {1, 0, 1}"),
        ("pred[3] {2, -1, 0}", "pred[3] {1, 1, 0}"),
        // An integer has 64 bits, signed or not.
        ("u64[2] {-1, -9223372036854775808}", "u64[2] {18446744073709551615, 9223372036854775808}"),
        ("s64[2] {18446744073709551615, 9223372036854775808}", "s64[2] {-1, -9223372036854775808}"),
        ("s8[] 18446744073709551615", "s8[] -1"),
        ("f32[] 18446744073709551615", "f32[] -1"),
        ("f64[] 9223372036854775809", "f64[] -9.2233720368547758e+18"),
        ("s32[2] {010, -0}", "s32[2] {10, 0}"),
        // Floats.
        ("f32[5] {1.0, 5., -.5, 1E2, 1e+05}", "f32[5] {1, 5, -0.5, 100, 100000}"),
        ("f32[] 0.1000000001", "f32[] 0.1"),
        ("f32[] 16777217", "f32[] 16777216"),
        ("f32[] 3.40282356e38", "f32[] 3.40282347e+38"),
        ("f32[2] {1e-50, -1e-400}", "f32[2] {0, -0}"),
        ("f64[] 1.7976931348623158e308", "f64[] 1.7976931348623157e+308"),
        ("f64[2] {2e-324, 4.9e-324}", "f64[2] {0, 4.94065645841247e-324}"),
        ("f64[] 123456789012345678", "f64[] 1.2345678901234568e+17"),
        ("f64[] 9007199254740993", "f64[] 9007199254740992"),
        ("f64[] 0.1234567890123456789", "f64[] 0.12345678901234568"),
        ("f16[3] {65519, 65519.99, 1e-30}", "f16[3] {65504, 65504, 0}"),
        // `f16` and `bf16` are rounded from `f32`: first to a tie, then to even.
        ("f16[] 1.0004882812500002", "f16[] 1"),
        ("bf16[] 1.0039062501", "bf16[] 1"),
        ("bf16[] 3.395e38", "bf16[] 3.39e+38"),
        ("f8e4m3fn[] 1.0625000000000002", "f8e4m3fn[] 1.12"),
        ("f8e4m3fn[2] {463, 464}", "f8e4m3fn[2] {448, 448}"),
        ("f8e5m2[] 61439", "f8e5m2[] 5.7e+04"),
        ("f8e3m4[] 15.7", "f8e3m4[] 15.5"),
        ("f8e8m0fnu[4] {3, 1e-39, 1e-50, 2.5e38}", "f8e8m0fnu[4] {4, 5.9e-39, 5.9e-39, 1.7e+38}"),
        ("f8e8m0fnu[2] {1.5, 1.4999999999999998}", "f8e8m0fnu[2] {2, 1}"),
        // A type without infinity reads it as NaN, or as the largest value if it has no NaN either.
        ("f8e4m3fn[2] {inf, -inf}", "f8e4m3fn[2] {nan, -nan}"),
        ("f8e5m2fnuz[2] {inf, nan}", "f8e5m2fnuz[2] {-nan, -nan}"),
        ("f8e8m0fnu[2] {-inf, -nan}", "f8e8m0fnu[2] {nan, nan}"),
        ("f4e2m1fn[4] {7, 8, -1e100, inf}", "f4e2m1fn[4] {6, 6, -6, 6}"),
        ("f4e2m1fn[2] {nan, -nan}", "f4e2m1fn[2] {-0, 0}"),
        ("f6e3m2fn[2] {30, 1e100}", "f6e3m2fn[2] {28, 28}"),
        ("f6e2m3fn[2] {7.75, -inf}", "f6e2m3fn[2] {7.5, -7.5}"),
        ("f8e4m3fnuz[] -0", "f8e4m3fnuz[] 0"),
        ("f16[2] {nan, nan(0x200)}", "f16[2] {nan, nan}"),
        // A bound is the size of the value.
        ("f32[<=2] {1,2}", "f32[2] {1, 2}"),
        ("f32[0] {...}", "f32[0] {}"),
        // XLA accepts none of these.
        ("f32[] .5", "f32[] 0.5"),
        ("c64[] 2", "c64[] (2, 0)"),
        // XLA reads `-0` as the integer 0, although it prints negative zeros that way.
        ("f32[2] {-0, -0.0}", "f32[2] {-0, -0}"),
        // XLA reads NaN for both parts if the real part is NaN.
        ("c64[] (nan, 1)", "c64[] (nan, 1)"),
        // XLA reads the smallest value, which it prints as 5.9e-39, as twice that value.
        ("f8e8m0fnu[] 6e-39", "f8e8m0fnu[] 5.9e-39"),
    ] {
        assert_eq!(print(text), printed, "{text}");
    }
}

#[test]
fn numbers_that_are_refused() {
    for (text, message) in [
        ("s8[] 128", "128 is out of range for s8"),
        ("s8[] -129", "-129 is out of range for s8"),
        ("u8[] 256", "256 is out of range for u8"),
        ("u8[] -1", "-1 is out of range for u8"),
        ("u32[] 18446744073709551615", "18446744073709551615 is out of range for u32"),
        ("s1[] 1", "1 is out of range for s1"),
        ("u1[] 2", "2 is out of range for u1"),
        ("s2[] 2", "2 is out of range for s2"),
        ("u2[] 4", "4 is out of range for u2"),
        ("s4[] 8", "8 is out of range for s4"),
        ("u4[] 16", "16 is out of range for u4"),
        ("u64[] 18446744073709551616", "18446744073709551616 does not fit 64 bits"),
        ("s64[] -9223372036854775809", "-9223372036854775809 does not fit 64 bits"),
        ("f32[] 99999999999999999999", "99999999999999999999 does not fit 64 bits"),
        ("s32[] 1.5", "expected an element of type s32, found `1.5`"),
        ("s32[] 1e3", "expected an element of type s32, found `1e3`"),
        ("s32[] 0x10", "expected an element of type s32, found `0x10`"),
        ("s32[] nan", "expected an element of type s32, found `nan`"),
        ("pred[] 1.0", "expected an element of type pred, found `1.0`"),
        ("s32[] true", "`true` is a value of pred, not of s32"),
        ("f32[2] {1, false}", "`false` is a value of pred, not of f32"),
        ("f32[] +1", "expected an element of type f32, found `+`"),
        ("f32[] infinity", "expected an element of type f32, found `infinity`"),
        ("f32[] NaN", "expected an element of type f32, found `NaN`"),
        ("f32[] 0x1p3", "expected an element of type f32, found `0x1p3`"),
        ("f32[] 1_0", "expected an element of type f32, found `1_0`"),
        ("f32[] 2x3", "expected an element of type f32, found `2x3`"),
        ("f32[] 1.5.2", "expected an element of type f32, found `1.5.2`"),
        ("f32[] 1e", "expected an element of type f32, found `1e`"),
        ("f32[] - 1", "expected an element of type f32, found `-`"),
        ("f32[2] {\"a\", 1}", "expected an element of type f32, found `\"`"),
        ("f32[] 1e39", "1e39 is out of range for f32"),
        ("f32[] 3.40282357e38", "3.40282357e38 is out of range for f32"),
        ("f32[] 1e400", "1e400 is out of range for f32"),
        ("f64[] 1.8e308", "1.8e308 is out of range for f64"),
        ("f64[] 1.7976931348623159e308", "1.7976931348623159e308 is out of range for f64"),
        ("f16[] 65520", "65520 is out of range for f16"),
        ("f16[] -65520", "-65520 is out of range for f16"),
        ("bf16[] 1e100", "1e100 is out of range for bf16"),
        ("bf16[] 3.3961775292304597e38", "3.3961775292304597e38 is out of range for bf16"),
        ("f8e4m3fn[] 465", "465 is out of range for f8e4m3fn"),
        ("f8e5m2[] 61440", "61440 is out of range for f8e5m2"),
        ("f8e4m3[] 248", "248 is out of range for f8e4m3"),
        ("f8e3m4[] 15.75", "15.75 is out of range for f8e3m4"),
        ("f8e4m3b11fnuz[] 31", "31 is out of range for f8e4m3b11fnuz"),
        ("f8e5m2fnuz[] 61440", "61440 is out of range for f8e5m2fnuz"),
        ("f8e4m3fnuz[] 248", "248 is out of range for f8e4m3fnuz"),
        ("f8e8m0fnu[] -1", "-1 is out of range for f8e8m0fnu"),
        ("f8e8m0fnu[] 0", "0 is out of range for f8e8m0fnu"),
        ("f8e8m0fnu[] 2.6e38", "2.6e38 is out of range for f8e8m0fnu"),
        ("c64[] (1, 1e39)", "1e39 is out of range for f32"),
        ("f32[] nan(0x0)", "the NaN's payload is out of range for f32"),
        ("f32[] nan(0x800000)", "the NaN's payload is out of range for f32"),
        ("f32[] nan(0xfffffffffffffffff)", "the NaN's payload is out of range for f32"),
        ("f16[] nan(0x400)", "the NaN's payload is out of range for f16"),
        ("f8e5m2[] nan(0x4)", "the NaN's payload is out of range for f8e5m2"),
        ("f32[] nan(7)", "a NaN's payload is a hexadecimal number such as `nan(0x7f)`"),
        ("f32[] nan(0X1)", "a NaN's payload is a hexadecimal number such as `nan(0x7f)`"),
        ("f32[] nan(0x)", "a NaN's payload is a hexadecimal number such as `nan(0x7f)`"),
        ("f32[] nan (0x1)", "expected nothing more, found `(`"),
        ("f8e4m3fn[] nan(0x1)", "a NaN of type f8e4m3fn has no payload"),
        ("f4e2m1fn[] nan(0x1)", "a NaN of type f4e2m1fn has no payload"),
        ("c64[] (1)", "expected `,`, as in the complex number `(1, -2.5)`, found `)`"),
        ("c64[] (1 2)", "expected `,`, as in the complex number `(1, -2.5)`, found `2`"),
        ("c64[] (1,)", "expected an element of type c64, found `)`"),
        ("c64[] (1, 2, 3)", "expected `)`, as in the complex number `(1, -2.5)`, found `,`"),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn structure_that_is_refused() {
    for (text, message) in [
        ("f32[2] {1}", "dimension 0 of `f32[2]` has size 2, but the text has 1"),
        ("f32[2] {}", "dimension 0 of `f32[2]` has size 2, but the text has 0"),
        ("f32[2] {1,2,3}", "dimension 0 of `f32[2]` has size 2, but the text has more"),
        ("s32[0] {1}", "dimension 0 of `s32[0]` has size 0, but the text has more"),
        ("s32[2,2] {{1,2}}", "dimension 0 of `s32[2,2]` has size 2, but the text has 1"),
        ("s32[2,2] {{1,2},{3}}", "dimension 1 of `s32[2,2]` has size 2, but the text has 1 at [1]"),
        ("s32[2,2] {{1,2,3},{4,5}}", "dimension 1 of `s32[2,2]` has size 2, but the text has more at [0]"),
        ("s32[2,2] {{1,2},{3,4},{5}}", "dimension 0 of `s32[2,2]` has size 2, but the text has more"),
        ("s32[1,2,2] {{{1,2},{3}}}", "dimension 2 of `s32[1,2,2]` has size 2, but the text has 1 at [0,1]"),
        ("s32[2,0] {}", "dimension 0 of `s32[2,0]` has size 2, but the text has 0"),
        ("s32[0,2] {{}}", "dimension 0 of `s32[0,2]` has size 0, but the text has more"),
        ("f32[2] 1", "expected `{`, as `f32[2]` has rank 1, found `1`"),
        ("s32[2,2] {1,2,3,4}", "expected `{`, as `s32[2,2]` has rank 2, found `1`"),
        ("s32[2] {{1,2}}", "expected an element inside 1 brace, as `s32[2]` has rank 1, found `{`"),
        (
            "s32[2,2] {{{1,2},{3,4}}}",
            "expected an element inside 2 braces, as `s32[2,2]` has rank 2, found `{`",
        ),
        ("f32[] {1}", "expected an element without braces, as `f32[]` is a scalar, found `{`"),
        ("f32[] (1)", "expected an element of type f32, found `(`"),
        // A value follows the first braces, so they are a layout.
        (
            "f32[2] {1,2} 3",
            "the layout names dimension 1, which `f32[2]` does not have: its only dimension is 0",
        ),
        ("s32[] 1,", "expected nothing more, found `,`"),
        ("s32[]", "expected an element of type s32, found the end"),
        ("f32[?] {1,2}", "expected no literal: the sizes of `f32[?]` are not known, found `{`"),
        ("f32[2] {...}", "`{...}` stands for a value that is not written; one is expected here"),
        ("f32[2] {1, ...}", "`{...}` stands for a value that is not written; one is expected here"),
        ("f32[2] {..., 1}", "nothing follows `...`, which stands for the whole value"),
        ("f32[1,2] {{...}}", "`...` stands for the elements of a whole array: `{...}`"),
        ("f32[] ...", "`...` stands for the elements of a whole array: `{...}`"),
        (
            "f32[9999999999,9999999999] {1}",
            "expected `{`, as `f32[9999999999,9999999999]` has rank 2, found `1`",
        ),
        ("(s32[], f32[2]) (1)", "`(s32[], f32[2])` has 2 elements, but the text has 1"),
        ("(s32[]) (1, 2)", "expected `)` after the last element of `(s32[])`, found `,`"),
        ("(s32[]) 1", "expected `(`, as `(s32[])` is a tuple, found `1`"),
        ("(s32[], s32[]) (1,, 2)", "expected an element of type s32, found `,`"),
        ("f32[2", "the text ends before this `[` is closed"),
        ("f32", "expected `[`, as in `f32[2,3]` or, of a scalar, `f32[]`, found the end"),
        ("", "expected a shape such as `f32[2,3]`, found the end"),
        ("token[] 1", "expected no value: `token[]` has none that can be written, found `1`"),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

/// As in XLA, a constant has the shape of its value: a bound becomes the size.
#[test]
fn constants_are_static() {
    let module =
        hlo_parser::parse_module("HloModule m ENTRY e { ROOT c = f32[<=2,1]{0,1} constant({{1},{2}}) }");
    let module = module.unwrap_or_else(|d| panic!("{}", d[0].message));
    let root = module[module.entry()].root();
    assert_eq!(format!("{:#}", module[root].shape), "f32[2,1]{0,1}");
}

#[test]
fn long_ones_are_elided() {
    let elided = |text: &str, max| print_literal(&parse(text), Some(max));
    assert_eq!(elided("s32[6] {1,2,3,4,5,6}", 6), "s32[6] {1, 2, 3, 4, 5, 6}");
    assert_eq!(elided("s32[6] {1,2,3,4,5,6}", 3), "s32[6] {1, 2, 3, ...}");
    assert_eq!(
        elided("s32[3,3] {{1,2,3},{4,5,6},{7,8,9}}", 4),
        "s32[3,3] { { 1, 2, ... }, { 4, 5, ... }, ... }"
    );
}

/// Prints the elements, reads them back, and compares the bits.
fn survives(ty: ElementType, bytes: &[u8]) {
    let shape = ArrayShape::new(ty, [(bytes.len() / ty.byte_size()) as i64]);
    let literal = Literal::from_bytes(Shape::Array(shape), AlignedBytes::from_slice(bytes));
    let text = print_literal(&literal, None);
    let back = parse(&text);
    for (i, (a, b)) in bytes.chunks(ty.byte_size()).zip(back.bytes().chunks(ty.byte_size())).enumerate() {
        assert_eq!(a, b, "element {i} of {ty}");
    }
    assert_eq!(print_literal(&back, None), text);
}

/// Every value of every type of at most 16 bits reads back with the same bits.
#[test]
fn every_small_value_survives() {
    for &ty in ElementType::ALL.iter().filter(|t| t.bit_width() <= 16) {
        let bits = ty.bit_width();
        let mut bytes = Vec::new();
        for value in 0..1u32 << bits {
            // Signed types narrower than a byte are stored with sign extension.
            let value = if ty.is_signed_integer() {
                ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
            } else {
                value
            };
            bytes.extend_from_slice(&value.to_le_bytes()[..ty.byte_size()]);
        }
        survives(ty, &bytes);
    }
}

/// Tests values of the wider types, of every magnitude.
#[test]
fn random_large_values_survive() {
    let mut numbers = Numbers::new(1);
    let mut random = move || numbers.bits();
    for &ty in ElementType::ALL.iter().filter(|t| t.bit_width() > 16) {
        let mut bytes: Vec<u8> = (0..40_000).flat_map(|_| random().to_le_bytes()).collect();
        if ty.real_type() == ElementType::F32 {
            bytes
                .extend((0..20_000).flat_map(|_| ((random() % 20_000) as f32 / 1000.0 - 10.0).to_le_bytes()));
        }
        if ty.real_type() == ElementType::F64 {
            bytes
                .extend((0..20_000).flat_map(|_| ((random() % 20_000) as f64 / 1000.0 - 10.0).to_le_bytes()));
        }
        survives(ty, &bytes);
    }
}
