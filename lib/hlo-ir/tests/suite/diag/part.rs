//! Tests of the search for parts of instructions in their text.

use hlo_ir::Span;
use hlo_ir::diag::Part;

#[test]
fn finds_an_attribute_or_what_stands_before() {
    let text = "  y = (f32[4,4]{1,0}, s32[]) op(a, /*, x=*/ b, \"c,(\\\"\"), dims={0,1}, metadata={op_name=\"dims=\"} ";
    let span = Span::new(2, text.len());
    let found = |part: Part| part.find(span, text).map(|s| &text[s.range()]);
    assert_eq!(found(Part::Attribute("dims")), Some("dims={0,1}"));
    assert_eq!(found(Part::Attribute("metadata")), Some("metadata={op_name=\"dims=\"}"));
    assert_eq!(found(Part::Head), Some("y = (f32[4,4]{1,0}, s32[]) op(a, /*, x=*/ b, \"c,(\\\"\")"));
    assert_eq!(found(Part::Shape), Some("(f32[4,4]{1,0}, s32[])"));
    assert_eq!(found(Part::Attribute("x")), None);
    assert_eq!(found(Part::Attribute("dim")), None);
}

#[test]
fn finds_the_written_shape() {
    let found =
        |text: &str| Part::Shape.find(Span::new(0, text.len()), text).map(|s| text[s.range()].to_owned());
    for written in
        ["f32[2]", "f32[2,<=3]{1,0:T(8,128)}", "(f32[], /*index=1*/(s32[], u8[2]{0}))", "b(f32[2])"]
    {
        assert_eq!(found(&format!(" ROOT %y = {written} abs(x)")).as_deref(), Some(written));
        assert_eq!(found(&format!(" y={written}\n abs(x)")).as_deref(), Some(written));
    }
    for text in [
        "",
        " y",
        " y =",
        " y = ",
        " y = abs(x)",
        " y = f32 [2] abs(x)",
        " f32[2] abs(x), a=b ",
        " y = ) a",
        " y = (f32[]",
    ] {
        assert_eq!(found(text), None, "{text}");
    }
}

#[test]
fn parts_of_any_text() {
    for text in ["", ",", "\"", "\"\\", "/*", "//", "a // b", "}}", "a = é(\"é"] {
        let whole = Span::new(0, text.len());
        for part in [Part::Head, Part::Shape, Part::Attribute("a")] {
            let found = part.find(whole, text).unwrap_or_default();
            assert!(text.get(found.range()).is_some(), "{text}: {found:?}");
        }
    }
}
