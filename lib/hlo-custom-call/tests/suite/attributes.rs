//! Tests of attribute dictionaries.

use hlo_custom_call::{Attribute, Attributes};

#[test]
fn values_of_every_kind() {
    let text = r#"{diag = 85 : ui8, "x y" = "a\"b", on, off = false, f = -1.5e3 : f32,
        list = [1 : i64, "s"], sizes = array<i64: 3, -4>, none = array<f32>, nan = 0x7F800000 : f32, inner = {k = 0x10 : i32}}"#;
    let a = Attributes::parse(text.as_bytes()).unwrap();
    assert_eq!(a.letter("diag", "NU"), Ok('U'));
    assert_eq!(a.get("x y"), Some(&Attribute::Text("a\"b".into())));
    assert_eq!((a.get("on"), a.get("off")), (Some(&Attribute::Bool(true)), Some(&Attribute::Bool(false))));
    assert_eq!(a.get("f"), Some(&Attribute::Float(-1500.0, "f32")));
    let integers = [3, -4].map(|i| Attribute::Integer(i, "s64")).to_vec();
    assert_eq!(a.get("sizes"), Some(&Attribute::Array("s64", integers)));
    assert_eq!(a.get("none"), Some(&Attribute::Array("f32", Vec::new())));
    assert_eq!(a.get("nan"), Some(&Attribute::Float(f64::INFINITY, "f32")));
    assert_eq!(
        a.get("list"),
        Some(&Attribute::List(vec![Attribute::Integer(1, "s64"), Attribute::Text("s".into())]))
    );
    assert_eq!(
        a.get("inner"),
        Some(&Attribute::Dictionary(vec![("k".into(), Attribute::Integer(16, "s32"))]))
    );
    assert_eq!(Attributes::parse(b" {} "), Ok(Attributes::default()));
    assert_eq!(Attributes::parse(b""), Ok(Attributes::default()));
}

#[test]
fn what_is_no_dictionary_is_refused() {
    for text in
        ["{", "x", "{a = }", "{a = 1", "{a = \"x}", "{a = 1 : i32} b", "{= 1}", "{a = 1 b = 2}", "{a = \"\\"]
    {
        assert!(Attributes::parse(text.as_bytes()).is_err(), "{text}");
    }
    assert!(Attributes::parse("{a = ".repeat(1000).as_bytes()).is_err());
    assert!(Attributes::parse(&[b'{', 0xff, b'}']).is_err());
    let a = Attributes::parse(b"{mode = 88 : ui8, x = true}").unwrap();
    assert_eq!(
        a.letter("mode", "NV").unwrap_err().0,
        "the attribute `mode` must be 78 (`N`) or 86 (`V`), found 88"
    );
    assert_eq!(a.integer("x").unwrap_err().0, "the attribute `x` must be an integer");
    assert_eq!(a.integer("y").unwrap_err().0, "the attribute `y` is missing");
}
