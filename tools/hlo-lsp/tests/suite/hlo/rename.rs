//! Tests of the names that instructions and computations may get.

use hlo_lsp::internals::hlo::invalid_name_reason;

#[test]
fn names() {
    for good in ["a", "_", "x.1", "add-2", "__xla_x", "F32"] {
        assert_eq!(invalid_name_reason(good), None);
    }
    for bad in ["", "1", "a b", "é", "a=", "f32", "ROOT", "__x", "-a", "%%a", "token"] {
        assert!(invalid_name_reason(bad).is_some(), "{bad}");
    }
}
