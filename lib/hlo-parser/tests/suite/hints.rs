//! Suggestions for opcodes that have another name elsewhere.

use hlo_ir::Opcode;
use hlo_parser::internals::OTHER_NAMES;

/// Returns the suggestion for an unknown opcode.
fn suggestion(written: &str) -> Option<String> {
    let text = format!("HloModule m\nENTRY e {{ ROOT x = f32[] {written}() }}");
    let [error] = &hlo_parser::parse_module(&text).expect_err(written)[..] else { panic!("{written}") };
    assert_eq!(error.message, format!("unknown opcode `{written}`"));
    error.suggestions.first().map(|s| s.text.clone())
}

#[test]
fn opcodes_spelt_as_elsewhere() {
    for (written, meant) in [
        ("DynamicSlice", "dynamic-slice"),
        ("NEGATE", "negate"),
        ("dynamic_update_slice", "dynamic-update-slice"),
        ("sub", "subtract"),
        ("matmul", "dot"),
        ("mutliply", "multiply"),
        ("dynamic-slice-update", "dynamic-update-slice"),
        ("stablehlo.dynamic_slice", "dynamic-slice"),
        ("stablehlo.sub", "subtract"),
        ("sin", "sine"),
        ("cos", "cosine"),
        ("param", "parameter"),
        ("const", "constant"),
        ("sigmoid", "logistic"),
        ("dot_general", "dot"),
        ("broadcast_in_dim", "broadcast"),
        ("BroadcastInDim", "broadcast"),
        ("psum", "all-reduce"),
        ("squeeze", "reshape"),
        ("lax.convert_element_type", "convert"),
        ("log_1p", "log-plus-one"),
        ("cosin", "cosine"),
    ] {
        assert_eq!(suggestion(written).as_deref(), Some(meant), "{written}");
    }
    assert_eq!(suggestion("frobnicate"), None);
}

#[test]
fn each_name_stands_once_and_is_no_opcode() {
    assert!(OTHER_NAMES.windows(2).all(|w| w[0].0 < w[1].0));
    for (name, _) in OTHER_NAMES {
        assert_eq!(Opcode::from_name(name), None, "{name}");
    }
}
