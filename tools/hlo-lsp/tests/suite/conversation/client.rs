//! A test client that starts the server and communicates with it over its standard input and output.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Maximum time to wait for an answer on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The document of most tests.
pub const URI: &str = "file:///m.hlo";

/// The document of tests of Tile.
pub const TILE_URI: &str = "file:///m.tile";

pub struct Client {
    server: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Notifications that arrived while the client waited for something else.
    notifications: Vec<Value>,
    /// Answers that arrived while the client waited for something else.
    answers: Vec<Value>,
    last_id: i32,
    /// The document of requests, and its version.
    uri: &'static str,
    version: i32,
}

impl Client {
    /// Starts a server without initializing it.
    pub fn start() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_hlo-lsp"))
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = server.stdin.take();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            server,
            input,
            messages,
            notifications: Vec::new(),
            answers: Vec::new(),
            last_id: 0,
            uri: URI,
            version: 1,
        }
    }

    /// Starts and initializes a server, as an editor with all capabilities.
    pub fn new() -> Self {
        let mut client = Self::start();
        let document = json!({
            "completion": { "completionItem": { "snippetSupport": true } },
            "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
            "publishDiagnostics": { "relatedInformation": true },
            "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } } },
        });
        let params =
            json!({ "processId": null, "rootUri": null, "capabilities": { "textDocument": document } });
        let result = client.request("initialize", params).unwrap();
        assert_eq!(result["serverInfo"]["name"], "hlo-lsp");
        assert_eq!(result["capabilities"]["textDocumentSync"]["change"], 2);
        client.notify("initialized", json!({}));
        client
    }

    /// Like [`Client::new`], and opens a document.
    pub fn with(text: &str) -> Self {
        let mut client = Self::new();
        client.open(URI, text);
        client
    }

    /// Like [`Client::new`], and opens a Tile document.
    pub fn with_tile(text: &str) -> Self {
        let mut client = Self::new();
        client.uri = TILE_URI;
        client.open(TILE_URI, text);
        client
    }

    // ---- Messages ------------------------------------------------------------------------------------------

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    pub fn send(&mut self, message: Value) {
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request without waiting for the answer. Returns its number.
    pub fn ask(&mut self, method: &str, params: Value) -> i32 {
        self.last_id += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    /// Returns the answer to the request with the given number.
    pub fn answer(&mut self, id: i32) -> Result<Value, Value> {
        loop {
            if let Some(at) = self.answers.iter().position(|m| m["id"] == id) {
                let message = self.answers.swap_remove(at);
                return message.get("error").cloned().map_or(Ok(message["result"].clone()), Err);
            }
            let message = self.receive();
            let is_notification = message.get("method").is_some();
            if is_notification { &mut self.notifications } else { &mut self.answers }.push(message);
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.answer(id)
    }

    pub fn receive(&mut self) -> Value {
        self.messages.recv_timeout(ANSWER_TIMEOUT).expect("the server is silent")
    }

    // ---- Documents -----------------------------------------------------------------------------------------

    pub fn open(&mut self, uri: &str, text: &str) {
        self.version = 1;
        let language = if uri.ends_with(".tile") { "tile" } else { "hlo" };
        let document = json!({ "uri": uri, "languageId": language, "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub fn change(&mut self, changes: Value) -> i32 {
        self.version += 1;
        let document = json!({ "uri": self.uri, "version": self.version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
        self.version
    }

    pub fn set_text(&mut self, text: &str) {
        self.change(json!([{ "text": text }]));
    }

    /// Waits for the diagnostics of a document's version.
    pub fn diagnostics_of(&mut self, uri: &str, version: i32) -> Vec<Value> {
        let is_it = |m: &Value| {
            m["method"] == "textDocument/publishDiagnostics"
                && m["params"]["uri"] == uri
                && m["params"]["version"] == version
        };
        loop {
            if let Some(at) = self.notifications.iter().position(is_it) {
                let message = self.notifications.remove(at);
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
            let message = self.receive();
            self.notifications.push(message);
        }
    }

    /// Waits for the diagnostics of the current version of the document.
    pub fn diagnostics(&mut self) -> Vec<Value> {
        self.diagnostics_of(self.uri, self.version)
    }

    /// Returns the number of published diagnostics that the client has not read.
    pub fn published(&self) -> usize {
        self.notifications.iter().filter(|m| m["method"] == "textDocument/publishDiagnostics").count()
    }

    /// Sends a request about a position.
    pub fn at(&mut self, method: &str, position: Value) -> Result<Value, Value> {
        let mut params = json!({ "textDocument": { "uri": self.uri }, "position": position });
        if method == "textDocument/references" {
            params["context"] = json!({ "includeDeclaration": true });
        }
        self.request(method, params)
    }

    /// Sends a request about the whole document.
    pub fn whole(&mut self, method: &str) -> Result<Value, Value> {
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        self.request(method, json!({ "textDocument": { "uri": self.uri }, "options": options }))
    }

    // ---- The end -------------------------------------------------------------------------------------------

    /// Closes the server's input and waits for the server to exit. Returns the exit code.
    pub fn wait(mut self) -> Option<i32> {
        self.input = None;
        self.server.wait().unwrap().code()
    }

    pub fn shut_down(mut self) {
        assert_eq!(self.request("shutdown", Value::Null), Ok(Value::Null));
        self.notify("exit", Value::Null);
        assert_eq!(self.wait(), Some(0));
    }
}

/// Reads the next message. Returns `None` at the end of the output.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", n)) => length = n.parse().unwrap(),
            _ if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).unwrap();
    Some(serde_json::from_slice(&body).unwrap())
}

/// Returns the position `offset` bytes after the start of the `n`th `needle` in an ASCII text, counted from
/// 0.
pub fn position(text: &str, needle: &str, n: usize, offset: usize) -> Value {
    let (at, _) = text.match_indices(needle).nth(n).unwrap_or_else(|| panic!("no {needle}"));
    let before = &text[..at + offset];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    json!({ "line": line, "character": before[start..].encode_utf16().count() })
}

/// Returns the first lines of locations.
pub fn lines(locations: &Value) -> Vec<u64> {
    let places = locations.as_array().unwrap().iter();
    places.map(|l| l["range"]["start"]["line"].as_u64().unwrap()).collect()
}

/// Returns the names of symbols.
pub fn names(symbols: &Value) -> Vec<String> {
    symbols.as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the first and last lines of folding ranges.
pub fn folded(folds: &Value) -> Vec<(u64, u64)> {
    let line = |fold: &Value, end: &str| fold[end].as_u64().unwrap();
    folds.as_array().unwrap().iter().map(|f| (line(f, "startLine"), line(f, "endLine"))).collect()
}

/// Returns the text at a range.
pub fn text_at<'t>(text: &'t str, range: &Value) -> &'t str {
    &text[offset(text, &range["start"])..offset(text, &range["end"])]
}

/// Returns the byte offset of a position.
pub fn offset(text: &str, position: &Value) -> usize {
    let line = position["line"].as_u64().unwrap() as usize;
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = position["character"].as_u64().unwrap() as usize;
    let mut at = start;
    for c in text[start..].chars() {
        if units == 0 {
            break;
        }
        units -= c.len_utf16();
        at += c.len_utf8();
    }
    at
}

/// Applies edits that do not touch each other to a text.
pub fn edited(text: &str, edits: &[Value]) -> String {
    let mut edits: Vec<_> = edits
        .iter()
        .map(|e| {
            (
                offset(text, &e["range"]["start"]),
                offset(text, &e["range"]["end"]),
                e["newText"].as_str().unwrap(),
            )
        })
        .collect();
    edits.sort_unstable();
    let mut out = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        out.replace_range(start..end, new);
    }
    out
}
