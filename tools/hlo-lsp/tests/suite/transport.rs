//! Tests of reading messages.

use hlo_lsp::internals::{Incoming, read};
use lsp_server::Message;

fn all(text: &str) -> Vec<Incoming> {
    let mut input = text.as_bytes();
    std::iter::from_fn(|| read(&mut input).unwrap()).collect()
}

fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn broken_messages_are_skipped() {
    let good = frame(r#"{"jsonrpc":"2.0","method":"x"}"#);
    for bad in [
        frame("{"),
        frame("[]"),
        frame("\"\""),
        frame(r#"{"id":1,"method":2}"#),
        frame(r#"{"error":1}"#),
        frame(r#"{"id":1.5,"method":"x"}"#),
        frame("\u{fffd}"),
        "Content-Type: x\r\n\r\n".to_owned(),
        "Content-Length: -1\r\n\r\n".to_owned(),
        "\r\n".to_owned(),
    ] {
        let read = all(&format!("{bad}{good}"));
        assert_eq!(read.len(), 2, "{bad}");
        assert!(matches!(read[1], Incoming::Message(Message::Notification(_))), "{bad}");
    }
}

#[test]
fn the_input_may_break_off() {
    let good = frame(r#"{"jsonrpc":"2.0","method":"x"}"#);
    for end in 0..good.len() {
        assert!(all(&good[..end]).is_empty(), "{end}");
    }
    assert!(all(&format!("{}{good}", "x".repeat(10_000))).len() <= 1);
}

#[test]
fn headers_are_read_in_any_case() {
    let body = r#"{"id":7,"method":"x"}"#;
    let text = format!("content-type: y\r\ncontent-LENGTH:{}\n\n{body}", body.len());
    assert!(matches!(&all(&text)[..], [Incoming::Message(Message::Request(r))] if r.id == 7.into()));
}
