//! Tests of the protocol: its stages, invalid messages, cancelled requests, exit codes.

use super::MODULE;
use super::client::{Client, URI, position};
use serde_json::{Value, json};

fn code(answer: Result<Value, Value>) -> i64 {
    answer.unwrap_err()["code"].as_i64().unwrap()
}

#[test]
fn a_session_from_start_to_end() {
    let mut client = Client::with(MODULE);
    assert!(client.diagnostics().is_empty());
    client.notify("textDocument/didSave", json!({ "textDocument": { "uri": URI } }));
    client.notify("textDocument/didClose", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(code(client.whole("textDocument/documentSymbol")), -32602);
    client.shut_down();
}

#[test]
fn nothing_is_answered_before_initialize_and_after_shutdown() {
    let mut client = Client::start();
    assert_eq!(code(client.at("textDocument/hover", json!({ "line": 0, "character": 0 }))), -32002);
    client.open(URI, MODULE);
    client.request("initialize", json!({ "capabilities": {} })).unwrap();
    // Documents opened before initialization are ignored.
    assert_eq!(code(client.whole("textDocument/documentSymbol")), -32602);
    assert_eq!(code(client.request("initialize", json!({ "capabilities": {} }))), -32600);
    client.request("shutdown", Value::Null).unwrap();
    assert_eq!(code(client.request("shutdown", Value::Null)), -32600);
    client.notify("exit", Value::Null);
    assert_eq!(client.wait(), Some(0));
}

#[test]
fn exit_without_shutdown_fails() {
    let mut client = Client::new();
    client.notify("exit", Value::Null);
    assert_eq!(client.wait(), Some(1));
    assert_eq!(Client::new().wait(), Some(1));
    assert_eq!(Client::start().wait(), Some(1));
}

#[test]
fn broken_messages_don_t_end_the_session() {
    let mut client = Client::with(MODULE);
    client.diagnostics();
    for (bytes, id, code) in [
        ("Content-Length: 1\r\n\r\n{", Value::Null, -32700),
        ("Content-Length: 2\r\n\r\n[]", Value::Null, -32600),
        ("Content-Length: 20\r\n\r\n{\"id\":7,\"method\": 1}", json!(7), -32600),
        ("Content-Typ: x\r\n\r\n", Value::Null, -32700),
    ] {
        client.send_bytes(bytes.as_bytes());
        let answer = client.receive();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"]["code"], code);
    }
    assert_eq!(code(client.request("textDocument/hover", json!({ "position": 1 }))), -32602);
    assert_eq!(code(client.request("no/method", json!([]))), -32601);
    client.notify("no/notification", Value::Null);
    client.notify("textDocument/didChange", json!({ "contentChanges": 1 }));
    client.send(json!({ "jsonrpc": "2.0", "id": 1, "result": null }));
    client.whole("textDocument/documentSymbol").unwrap();
    client.shut_down();
}

#[test]
fn requests_can_be_cancelled() {
    let mut client = Client::with(MODULE);
    let mut bytes = Vec::new();
    let requests = (1..=200).map(|id| {
        let params = json!({ "textDocument": { "uri": URI } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "textDocument/documentSymbol", "params": params })
    });
    let cancel = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": 200 } });
    let unknown = json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": "x" } });
    for message in [unknown, cancel].into_iter().chain(requests) {
        let body = message.to_string();
        bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }
    client.send_bytes(&bytes);
    for id in 1..200 {
        client.answer(id).unwrap();
    }
    // The request is answered if it was processed before the cancellation arrived.
    match client.answer(200) {
        Ok(symbols) => assert!(symbols.is_array()),
        Err(error) => assert_eq!(error["code"], -32800),
    }
    client.shut_down();
}

#[test]
fn documents_are_kept_apart() {
    let mut client = Client::with(MODULE);
    client.open("file:///other.hlo", "ENTRY e { ROOT x = f32[] ad(y) }");
    assert_eq!(client.diagnostics_of("file:///other.hlo", 1).len(), 1);
    assert!(client.diagnostics_of(URI, 1).is_empty());
    let hover = client.at("textDocument/hover", position(MODULE, "zero", 0, 0)).unwrap();
    assert!(hover["contents"]["value"].as_str().unwrap().contains("constant(0)"));
    client.shut_down();
}

#[test]
fn only_the_last_of_many_changes_is_diagnosed() {
    let mut client = Client::with(MODULE);
    let end = MODULE.matches('\n').count();
    for n in 0..300 {
        let at = json!({ "line": end, "character": n });
        client.change(json!([{ "range": { "start": at, "end": at }, "text": "x" }]));
    }
    assert_eq!(client.diagnostics().len(), 1);
    assert!(client.published() < 20, "{}", client.published());
    client.shut_down();
}

#[test]
fn megabytes_are_no_trouble() {
    let mut text = String::from("ENTRY e {\n  x0 = f32[] parameter(0)\n");
    for n in 1..40_000 {
        text.push_str(&format!("  x{n} = f32[] add(x{}, x0)\n", n - 1));
    }
    text.push_str("}\n");
    let mut client = Client::with(&text);
    assert!(client.diagnostics().is_empty());
    let definition = client.at("textDocument/definition", position(&text, "x30000", 1, 0)).unwrap();
    assert_eq!(definition["range"]["start"]["line"], 30_001);
    // An editor that renames the parameter sends all edits at once.
    let edit = client
        .request(
            "textDocument/rename",
            json!({ "textDocument": { "uri": URI }, "position": position(&text, "x0", 0, 0), "newName": "first" }),
        )
        .unwrap();
    let edits = edit["changes"][URI].as_array().unwrap();
    assert_eq!(edits.len(), 40_001);
    let changes: Vec<_> =
        edits.iter().rev().map(|e| json!({ "range": e["range"], "text": e["newText"] })).collect();
    client.change(changes.into());
    assert!(client.diagnostics().is_empty());
    client.shut_down();
}
