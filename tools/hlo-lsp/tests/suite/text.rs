//! Tests of positions in texts, and of edits.

use hlo_lsp::internals::Text;
use lsp_types::{Position, Range};

#[test]
fn positions_outside_are_moved_inside() {
    let text = Text::new("é😀\r\nx".into());
    assert_eq!(text.offset(Position::new(0, 2)), 2);
    assert_eq!(text.offset(Position::new(0, 99)), 6);
    assert_eq!(text.offset(Position::new(1, u32::MAX)), 9);
    assert_eq!(text.offset(Position::new(9, 0)), 9);
    assert_eq!(Text::new(String::new()).offset(Position::new(0, 5)), 0);
}

fn range(a: (u32, u32), b: (u32, u32)) -> Range {
    Range::new(Position::new(a.0, a.1), Position::new(b.0, b.1))
}

#[test]
fn edits() {
    let text = Text::new("one\ntwö\nthree".into());
    let text = text.edited(&[(range((0, 3), (1, 3)), " é")]);
    assert_eq!(text.as_str(), "one é\nthree");
    assert_eq!(text.position(7), Position::new(1, 0));
    assert_eq!(text.edited(&[(range((1, 0), (0, 5)), "")]).as_str(), "one éthree");
}

#[test]
fn edits_count_after_those_before_them() {
    let edit = |changes: &[(Range, &str)]| Text::new("abc\ndef".into()).edited(changes).as_str().to_owned();
    let first = (range((1, 1), (1, 2)), "\n\n");
    let second = (range((0, 1), (0, 2)), "XYZ");
    assert_eq!(edit(&[first, second]), "aXYZc\nd\n\nf");
    assert_eq!(edit(&[second, (range((0, 4), (0, 4)), "!"), first]), "aXYZ!c\nd\n\nf");
    assert_eq!(edit(&[(range((0, 0), (0, 0)), "\n"), first]), "\na\n\nc\ndef");
    assert_eq!(edit(&[(range((0, 1), (0, 1)), "1"), (range((0, 1), (0, 1)), "2")]), "a21bc\ndef");
}
