//! Literals: what reads, how it prints, and what is refused.

use hlo_ir::print::print_literal;
use hlo_parser::parse_literal;

fn print(text: &str) -> String {
    match parse_literal(text) {
        Ok(l) => print_literal(&l, None),
        Err(diags) => panic!("{text}: {diags:?}"),
    }
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
        "f32[] nan",
        "f32[] -nan",
        "f32[] nan(0x7f)",
        "f32[2] {inf, -inf}",
        "f64[] 0.33333333333333331",
        "f64[] nan(0x1)",
        "f16[3] {-0.17236, 65504, nan(0x3)}",
        "bf16[2] {-0.1689, 3.047}",
        "f8e5m2[4] {5.7e+04, 1.5e-05, inf, nan(0x1)}",
        "f8e4m3fn[4] {448, -448, nan, -nan}",
        "f8e4m3[2] {240, inf}",
        "f8e3m4[2] {15.5, -inf}",
        "f8e4m3b11fnuz[2] {30, -nan}",
        "f8e5m2fnuz[2] {5.7e+04, -nan}",
        "f8e4m3fnuz[2] {240, -nan}",
        "f8e8m0fnu[2] {0.5, nan}",
        "f4e2m1fn[3] {6, -0.5, 0}",
        "f6e3m2fn[2] {28, -0.25}",
        "f6e2m3fn[2] {7.5, -0.125}",
        "pred[] true",
        "pred[2] {1, 0}",
        "s1[2] {-1, 0}",
        "s4[2] {-8, 7}",
        "u4[2] {0, 15}",
        "s64[2] {-9223372036854775808, 9223372036854775807}",
        "u64[] 18446744073709551615",
        "c64[2] {(1, -2.5), (nan, -inf)}",
        "c128[] (0.1, 0)",
        "s32[2,2] { { 1, 2 }, { 3, 4 } }",
        "s32[1,2,1] { { { 1 }, { 2 } } }",
        "f32[0] {}",
        "f32[2,0] { {}, {} }",
        "f32[0,3] {  }",
        "s32[3,0,2] { {  }, {  }, {  } }",
        "(f32[], (s32[2], pred[])) ( 1, ( {2, 3}, true ) )",
        "() (  )",
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
        ("pred[3] {true, false, 1}", "pred[3] {1, 0, 1}"),
        ("f32[] .5", "f32[] 0.5"),
        ("f32[] 1E2", "f32[] 100"),
        ("f32[] 0.1000000001", "f32[] 0.1"),
        ("f16[] 65519", "f16[] 65504"),
        ("c64[] 2", "c64[] (2, 0)"),
        ("u64[] -1", "u64[] 18446744073709551615"),
        ("f32[2] { /* first */ 1 // second\n , 2 }", "f32[2] {1, 2}"),
        ("f32[2,2]{0,1} {{1,2},{3,4}}", "f32[2,2] { { 1, 2 }, { 3, 4 } }"),
    ] {
        assert_eq!(print(text), printed);
    }
}

#[test]
fn refused() {
    for (text, message) in [
        ("s8[] 128", "128 is out of range for s8"),
        ("u8[] -1", "-1 is out of range for u8"),
        ("s4[] 8", "8 is out of range for s4"),
        ("pred[] 2", "2 is out of range for pred"),
        ("s32[] 1.5", "expected an element of type s32, found `1.5`"),
        ("s32[] true", "expected an element of type s32, found `true`"),
        ("f32[] 1e39", "1e39 is out of range for f32"),
        ("f64[] 1.8e308", "1.8e308 is out of range for f64"),
        ("f16[] -65520", "-65520 is out of range for f16"),
        ("bf16[] 1e100", "1e100 is out of range for bf16"),
        ("f8e4m3fn[] inf", "inf is out of range for f8e4m3fn"),
        ("f8e4m3fn[] 465", "465 is out of range for f8e4m3fn"),
        ("f4e2m1fn[] 7", "7 is out of range for f4e2m1fn"),
        ("f4e2m1fn[] nan", "f4e2m1fn has no NaN"),
        ("f8e8m0fnu[] -1", "-1 is out of range for f8e8m0fnu"),
        ("f32[] nan(0x0)", "the NaN's payload is out of range for f32"),
        ("f32[] nan(0x800000)", "the NaN's payload is out of range for f32"),
        ("f32[] nan(7)", "a NaN's payload is a hexadecimal number such as `nan(0x7f)`"),
        ("f8e4m3fn[] nan(0x1)", "a NaN of type f8e4m3fn has no payload"),
        ("f32[2] {1}", "dimension 0 of `f32[2]` has size 2, but the text has 1"),
        ("f32[2] {1,2,3}", "dimension 0 of `f32[2]` has size 2, but the text has more than that"),
        ("f32[2] 1", "expected `{`, as `f32[2]` has rank 1, found `1`"),
        ("f32[2] {1 2}", "expected `,` or `}`, found `2`"),
        ("f32[2] {1,2} 3", "expected nothing more, found `3`"),
        ("f32[<=2] {1,2}", "expected no literal: the sizes of `f32[<=2]` are not known, found `{`"),
        ("f32[2] {...}", "`{...}` stands for a value that is not written"),
        (
            "f32[9999999999,9999999999] {1}",
            "expected `{`, as `f32[9999999999,9999999999]` has rank 2, found `1`",
        ),
        ("f32[2", "the text ends before this `[` is closed"),
        ("f32", "expected `[`, found the end"),
        ("", "expected a shape such as `f32[2,3]`, found the end"),
        ("token[] 1", "expected no value: `token[]` has none that can be written, found `1`"),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn long_ones_are_elided() {
    let elided = |text: &str, max| match parse_literal(text) {
        Ok(l) => print_literal(&l, Some(max)),
        Err(e) => panic!("{e:?}"),
    };
    assert_eq!(elided("s32[6] {1,2,3,4,5,6}", 6), "s32[6] {1, 2, 3, 4, 5, 6}");
    assert_eq!(elided("s32[6] {1,2,3,4,5,6}", 3), "s32[6] {1, 2, 3, ...}");
    assert_eq!(
        elided("s32[3,3] {{1,2,3},{4,5,6},{7,8,9}}", 4),
        "s32[3,3] { { 1, 2, ... }, { 4, 5, ... }, ... }"
    );
}
