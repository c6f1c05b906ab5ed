//! Tests of reading of text.

use hlo_ir::Span;
use hlo_ir::cursor::Cursor;
use hlo_ir::diag::Diag;

fn number(c: &mut Cursor<'_>) -> Result<String, Diag> {
    match c.take_while(|b| b.is_ascii_digit()) {
        "" => Err(c.expected("a number")),
        digits => Ok(digits.into()),
    }
}

/// Returns the result of `read` on a text at byte 100, the position after it, and the message of an
/// error.
fn read<T>(
    text: &str,
    read: impl FnOnce(&mut Cursor<'_>) -> Result<T, Diag>,
) -> Result<(T, usize), (String, Span)> {
    let mut c = Cursor::new(text, 100);
    match read(&mut c) {
        Ok(value) => Ok((value, c.offset())),
        Err(diag) => {
            let span = diag.primary().map_or(Span::default(), |l| l.span);
            Err((diag.message, span))
        }
    }
}

fn error(message: &str, start: usize, end: usize) -> (String, Span) {
    (message.into(), Span::new(start, end))
}

#[test]
fn lists() {
    let list = |text: &str| read(text, |c| c.list("(", ")", number).map(|l| l.join(" ")));
    assert_eq!(list(" ( 1, 2 /* 3 */ ,4 ) x"), Ok(("1 2 4".into(), 120)));
    assert_eq!(list("( )"), Ok((String::new(), 103)));
    assert_eq!(list("1"), Err(error("expected `(`, found `1`", 100, 101)));
    assert_eq!(list("(1 23)"), Err(error("expected `,` or `)`, found `23`", 103, 105)));
    assert_eq!(list("(1,)"), Err(error("expected a number, found `)`", 103, 104)));
    assert_eq!(list("(1,2"), Err(error("expected `,` or `)`, found the end", 104, 104)));
}

#[test]
fn loose_lists() {
    let list = |text: &str| read(text, |c| c.loose_list("{", "}", number).map(|l| l.join(" ")));
    assert_eq!(list("{1 2,3,}"), Ok(("1 2 3".into(), 108)));
    assert_eq!(list("{}"), Ok((String::new(), 102)));
    assert_eq!(list("{,1}"), Err(error("expected a number, found `,`", 101, 102)));
}

#[test]
fn words() {
    let mut c = Cursor::new("  a-b.1 2x%", 0);
    assert_eq!((c.word(), c.word(), c.name(), c.word()), ("a-b.1", "", "2x", ""));
    let word = |text| Cursor::new(text, 0).percent_word().to_owned();
    assert_eq!(["a", " %a b", "% a", "%2", "%", ""].map(word), ["a", "a", "", "", "", ""]);
    c.rewind(9);
    assert_eq!((c.since(8), c.peek(), c.eat("x%"), c.at_end()), (Span::new(8, 9), b'x', true, true));
    assert_eq!(c.peek(), 0);
}
