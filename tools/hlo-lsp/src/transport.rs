//! Messages on standard input and output: a header with the length, then JSON.
//!
//! Invalid messages are reported and skipped, so that one does not end the session.

use lsp_server::{ErrorCode, Message, RequestId, ResponseError};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

/// Maximum length of a message in bytes.
const MAX_LENGTH: u64 = 1 << 30;

/// Maximum length of a header line in bytes.
const MAX_HEADER: u64 = 1 << 12;

/// The result of reading a message.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// An invalid message, with the answer to it as JSON text.
    Malformed(String),
}

/// Reads the next message. Returns `None` at the end of the input.
///
/// # Errors
/// Returns an error if the input cannot be read.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    let Some(length) = length else {
        return Ok(Some(malformed(&Value::Null, ErrorCode::ParseError, "a header without Content-Length")));
    };
    if length > MAX_LENGTH {
        io::copy(&mut input.take(length), &mut io::sink())?;
        let message = format!("a message of {length} bytes is longer than {MAX_LENGTH}");
        return Ok(Some(malformed(&Value::Null, ErrorCode::InvalidRequest, &message)));
    }
    let mut body = Vec::new();
    if input.take(length).read_to_end(&mut body)? as u64 != length {
        return Ok(None);
    }
    Ok(Some(parse(&body)))
}

/// Reads a header up to the empty line. Returns `None` at the end of the input, otherwise the length if the
/// header contains it.
fn read_header(input: &mut impl BufRead) -> io::Result<Option<Option<u64>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return Ok(Some(length));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

fn parse(body: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(e) => return malformed(&Value::Null, ErrorCode::ParseError, &format!("not JSON: {e}")),
    };
    let id = value.get("id").cloned().unwrap_or_default();
    // Decide by the members: a broken request could be parsed as a response otherwise.
    let message = match (value.get("method").is_some(), value.get("id").is_some()) {
        (true, true) => serde_json::from_value(value).map(Message::Request),
        (true, false) => serde_json::from_value(value).map(Message::Notification),
        (false, _) => serde_json::from_value(value).map(Message::Response),
    };
    match message {
        Ok(message) => Incoming::Message(message),
        Err(_) => malformed(&id, ErrorCode::InvalidRequest, "not a request, a response or a notification"),
    }
}

fn malformed(id: &Value, code: ErrorCode, message: &str) -> Incoming {
    let error = json!({ "code": code as i32, "message": message });
    Incoming::Malformed(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string())
}

/// Writes a message, which is JSON text.
pub fn write(output: &mut impl Write, message: &str) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n", message.len())?;
    output.write_all(message.as_bytes())?;
    output.flush()
}

/// Returns the response to a request: its result as JSON text, or an error.
pub fn response(id: &RequestId, answer: Result<String, ResponseError>) -> String {
    match answer {
        // A result may be large, so it is not parsed again.
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, json!(id)),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
    }
}

/// Returns a notification with parameters as JSON text.
pub fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#, json!(method))
}
