//! Tests of source excerpts.

use hlo_ir::internals::printable;
use std::borrow::Cow;

#[test]
fn what_a_terminal_would_obey_is_not_shown() {
    let text = "a\u{1b}[31m\tb\r\u{9b}2J\u{202e}c\u{7f}é";
    assert_eq!(printable(text), "a?[31m\tb?\u{bf}2J\u{fffd}c?é");
    assert_eq!(printable(text).len(), text.len());
    assert!(matches!(printable("é\n"), Cow::Borrowed(_)));
}
