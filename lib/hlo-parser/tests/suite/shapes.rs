//! Tests of shapes: which texts are accepted, how they print, and which are rejected. The tables agree with
//! XLA (jaxlib 0.10.2) unless a comment says otherwise.

use hlo_ir::{ElementType, LayoutItems, Shape, TileSize};
use hlo_parser::parse_shape;

fn parse(text: &str) -> Shape {
    match parse_shape(text) {
        Ok(s) => s,
        Err(diags) => panic!("{text}: {}", diags[0].message),
    }
}

fn error(text: &str) -> String {
    match parse_shape(text) {
        Ok(s) => panic!("{text} reads as {s:#}"),
        Err(diags) => diags.into_iter().map(|d| d.message).collect::<Vec<_>>().join("; "),
    }
}

#[test]
fn print_with_layouts_as_they_are_written() {
    for text in [
        "f32[]",
        "f32[2,3]{1,0}",
        "f32[2,3]{0,1}",
        "f32[0]{0}",
        "f32[<=5]{0}",
        "f32[<=0]{0}",
        "f32[?,<=4,3]{2,1,0}",
        "f32[9223372036854775807,9223372036854775807]{1,0}",
        "f32[2,3]{1,0:T(8,128)}",
        "f32[2,3]{1,0:T(8,128)(2,1)}",
        "f32[2,3]{1,0:T(*,128)}",
        "f32[2,3]{1,0:T(8,*)(0)()}",
        "f32[2,3]{1,0:L(2)}",
        "f32[2,3]{1,0:#(u32)*(s64)}",
        "f32[2,3]{1,0:E(32)}",
        "s4[2,3]{1,0:E(4)}",
        "s4[]{:E(4)}",
        "pred[2]{0:E(1)}",
        "f32[2,3]{1,0:S(5)}",
        "f32[2,3]{1,0:S(-1)}",
        "f32[]{:S(1)}",
        "f32[2,3]{1,0:SC(1:1,2)(0:1)}",
        "f32[2,3]{1,0:SC(1:)}",
        "f32[<=2,3]{1,0:M(8)}",
        "f32[2,3]{0,1:T(8,128)L(2)#(u32)*(u32)E(4)S(1)SC(1:1)M(3)}",
        "token[]",
        "opaque[]",
        "b(f32[2]{0})",
        "b(f32[2]{0:S(1)})",
        "()",
        "(f32[2]{0})",
        "((f32[2]{0}, token[]), (), opaque[])",
        "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])",
        // XLA reads these levels, but discards them.
        "f32[2,3]{1,0:D(D,C+)T(8)}",
        "f32[2,3]{1,0:D(S~,H+~)}",
    ] {
        let shape = parse(text);
        assert_eq!(shape.with_layouts().to_string(), text);
        assert_eq!(parse(&format!("{shape:#}")), shape);
    }
    for ty in ElementType::ALL {
        let text = format!("{ty}[1,2]{{1,0}}");
        assert_eq!(parse(&text).with_layouts().to_string(), text);
        assert_eq!(ElementType::from_name(ty.name()), Some(*ty));
    }
    assert_eq!(ElementType::ALL.len(), 32);
}

#[test]
fn other_spellings() {
    for (text, printed) in [
        ("f32 [ 2,\n 3 ] { 0 , 1 }", "f32[2,3]{0,1}"),
        ("f32[ <= 5, 3]", "f32[<=5,3]"),
        ("f32[2, /*rows*/ 3] // comment", "f32[2,3]"),
        ("f32[2,3]{1,0}", "f32[2,3]"),
        ("f32[2,3]{1,0:}", "f32[2,3]"),
        ("f32[2,3]{1,0: T ( 8 , 128 ) ( 2 ) S(1)}", "f32[2,3]{1,0:T(8,128)(2)S(1)}"),
        ("f32[2,3]{1,0:T}", "f32[2,3]{1,0:T()}"),
        // Items with their default values.
        ("f32[2,3]{1,0:L(1)}", "f32[2,3]"),
        ("f32[2,3]{1,0:E(0)}", "f32[2,3]"),
        ("f32[2,3]{0,1:S(0)}", "f32[2,3]{0,1}"),
        ("f32[2,3]{1,0:M(0)}", "f32[2,3]"),
        ("b ( f32[2]{0:S(1)} )", "b(f32[2]{0:S(1)})"),
        ("( )", "()"),
        ("(f32[], /*index=1*/f32[])", "(f32[], f32[])"),
        // XLA rejects empty braces.
        ("f32[]{}", "f32[]"),
    ] {
        assert_eq!(format!("{:#}", parse(text)), printed, "{text}");
    }
}

/// A shape with an explicit default layout equals one without a layout.
#[test]
fn the_default_layout_is_none() {
    assert_eq!(parse("f32[2,3]{1,0}"), parse("f32[2,3]"));
    assert_eq!(parse("(f32[2,3]{1,0:S(0)}, s32[4]{0})"), parse("(f32[2,3], s32[4])"));
    assert_ne!(parse("f32[2,3]{0,1}"), parse("f32[2,3]"));
    assert_ne!(parse("f32[]{:S(1)}"), parse("f32[]"));
}

#[test]
fn items_are_values() {
    let shape = parse("s4[16,256]{0,1:T(8,128)(*,1)E(4)S(5)}");
    let array = shape.as_array().unwrap();
    let layout = array.layout.as_ref().unwrap();
    assert_eq!((array.element_size_bits(), array.memory_space()), (4, 5));
    assert_eq!(layout.tiles().len(), 2);
    assert_eq!(layout.tiles()[1].0.as_slice(), [TileSize::Combine, TileSize::Elements(1)]);
    let LayoutItems { tail_padding, index_type, .. } = layout.items().unwrap();
    assert_eq!((*tail_padding, *index_type), (None, None));
    let plain = parse("s4[16]");
    assert_eq!(plain.as_array().unwrap().element_size_bits(), 8);
}

#[test]
fn refused() {
    for (text, message) in [
        ("f32[-1]", "the size of dimension 0 is negative: -1"),
        ("f32[2,<=-1]", "the size of dimension 1 is negative: -1"),
        ("f32[9223372036854775808]", "the size of dimension 0 does not fit 63 bits"),
        ("f32[1,99999999999999999999]", "the size of dimension 1 does not fit 63 bits"),
        ("f32[2,3,]", "expected a dimension size, such as `4`, `<=4` or `?`, found `]`"),
        ("f32[,2]", "expected a dimension size, such as `4`, `<=4` or `?`, found `,`"),
        ("f32[2 3]", "expected `,` or `]`, found `3`"),
        ("f32[2x3]", "expected a dimension size, such as `4`, `<=4` or `?`, found `2x3`"),
        ("f32[2.0]", "expected a dimension size, such as `4`, `<=4` or `?`, found `2.0`"),
        ("f32[< =5]", "expected `=` and a bound, as in `<=4`, found `=`"),
        ("f32[<=?]", "expected a dimension size, such as `4`, `<=4` or `?`, found `?`"),
        ("f32[2,3]{0 1}", "expected `,`, `:` or `}`, found `1`"),
        ("f32[2,3]{0,1,}", "expected a dimension number, found `}`"),
        ("f32[2,3]{}", "the layout of `f32[2,3]` does not name its dimension 0"),
        ("f32[2]{:S(1)}", "the layout of `f32[2]` does not name its dimension 0"),
        ("f32[2,3]{1}", "the layout of `f32[2,3]` does not name its dimension 0"),
        (
            "f32[2,3]{1,0,2}",
            "the layout names dimension 2, which `f32[2,3]` does not have: its dimensions are 0 to 1",
        ),
        (
            "f32[]{0}",
            "the layout names dimension 0, which `f32[]` does not have: it is a scalar, without any",
        ),
        ("f32[2,3]{1,0:S(1)T(8)}", "the layout item `T` must stand before `S`"),
        ("f32[2,3]{1,0:S(1)S(2)}", "the layout item `S` stands twice"),
        ("f32[2,3]{1,0:X(1)}", "expected a layout item such as `T(8,128)`, `E(4)` or `S(1)`, found `X`"),
        ("f32[2,3]{1,0:D(X,D)}", "expected how a dimension is stored: `D`, `C`, `S` or `H`, found `X`"),
        ("f32[2,3]{1,0:T(8 128)}", "expected `,` or `)`, found `128`"),
        ("f32[2,3]{1,0:SC(1)}", "expected `:` and the indices to split at, as in `(0:10,20)`, found `)`"),
        (
            "f32[2,3]{1,0:P(f32[2,3])}",
            "a layout with a physical shape is for sparse arrays, which HLO no longer has",
        ),
        ("token", "expected `[`, found the end"),
        ("opaque[]{}", "expected nothing more, found `{`"),
        ("(f32[],)", "expected a shape such as `f32[2,3]`, found `)`"),
        ("(f32[] f32[])", "expected `,` or `)`, found `f32`"),
        ("b(b(f32[2]))", "a buffer holds an array, as in `b(f32[4])`"),
        ("b((f32[2]))", "a buffer holds an array, as in `b(f32[4])`"),
        ("b(token[])", "a buffer holds an array, as in `b(f32[4])`"),
        ("tuple[]", "unknown element type `tuple`"),
        // XLA aborts on these.
        ("token[2]", "expected `]`, as in `token[]`, found `2`"),
        ("f32[2,3]{1,0:T(-1)}", "a tile size is not negative, found -1"),
        ("f32[2,3]{1,0:L(0)}", "0 is out of range for the layout item `L`"),
        // XLA accepts these, but misreads them or accepts invalid layouts.
        ("f32[2,3]{1,1}", "the layout names dimension 1 of `f32[2,3]` twice"),
        (
            "f32[2,3]{2,0}",
            "the layout names dimension 2, which `f32[2,3]` does not have: its dimensions are 0 to 1",
        ),
        (
            "f32[2,3]{-1,0}",
            "the layout names dimension -1, which `f32[2,3]` does not have: its dimensions are 0 to 1",
        ),
        ("f32[2,3]{1,0:SC(5:1)}", "the layout splits dimension 5 of `f32[2,3]`"),
        ("f32[2,3]{1,0:#(f32)}", "expected an integer type such as `u32`, found `f32`"),
        ("f32[2,3]{1,0:E(-1)}", "-1 is out of range for the layout item `E`"),
        ("f32[2,3]{1,0:S(99999999999)}", "99999999999 is out of range for the layout item `S`"),
    ] {
        assert_eq!(error(text), message, "{text}");
    }
}

#[test]
fn types_of_other_languages_are_understood() {
    for (name, meant) in [
        ("F32", "f32"),
        ("float32", "f32"),
        ("float", "f32"),
        ("double", "f64"),
        ("bfloat16", "bf16"),
        ("int64", "s64"),
        ("i32", "s32"),
        ("si8", "s8"),
        ("uint8", "u8"),
        ("ui4", "u4"),
        ("bool", "pred"),
        ("i1", "pred"),
        ("complex64", "c64"),
        ("f8e4m3fnz", "f8e4m3fn"),
        ("pered", "pred"),
    ] {
        let diags = parse_shape(&format!("{name}[2]")).unwrap_err();
        assert_eq!(diags[0].message, format!("unknown element type `{name}`"));
        assert_eq!(diags[0].notes, [format!("did you mean `{meant}`?")], "{name}");
    }
    let diags = parse_shape("something_else[2]").unwrap_err();
    assert!(diags[0].notes[0].starts_with("an element type is spelt like `f32`"), "{:?}", diags[0].notes);
}
