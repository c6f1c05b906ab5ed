//! Tests of long messages.

use hlo_ir::diag::Diag;

/// Returns the message of an error with this text.
fn brief(text: String) -> String {
    Diag::error(text).message
}

#[test]
fn long_brackets_are_cut() {
    let shape = format!("({}f32[])", "f32[], ".repeat(100));
    let message = brief(format!("expected `(`, found {shape}, but {{a}} is {shape}."));
    let cut = format!("{}…)", &shape[..100]);
    assert_eq!(message, format!("expected `(`, found {cut}, but {{a}} is {cut}."));
    let nested = format!("a{}1{}b", "{(".repeat(1000), ")}".repeat(1000));
    assert_eq!(brief(nested), format!("a{}…}}b", "{(".repeat(50)));
}

#[test]
fn long_texts_are_cut_between_characters() {
    let message = brief("é".repeat(5000));
    assert_eq!(message, "é".repeat(1000) + "…");
    let message = brief(format!("x({})", "é".repeat(5000)));
    assert_eq!(message, format!("x({}…)", "é".repeat(49)));
    assert_eq!(brief("short (é)".into()), "short (é)");
}
