//! Tests of quick fixes.

use super::MODULE;
use super::client::{Client, URI, edited, position};
use serde_json::{Value, json};

/// Returns the fixes for the whole `text`, of all kinds or some: their titles and the text after applying
/// them.
fn fixes(client: &mut Client, text: &str, only: Option<&[&str]>) -> Vec<(String, String)> {
    client.set_text(text);
    client.diagnostics();
    let end = json!({ "line": text.lines().count(), "character": 0 });
    actions(client, json!({ "start": { "line": 0, "character": 0 }, "end": end }), only)
        .iter()
        .map(|a| {
            assert_eq!(a["kind"], "quickfix");
            assert_eq!(a["diagnostics"][0]["source"], "hlo");
            let edits = a["edit"]["changes"][URI].as_array().unwrap();
            (a["title"].as_str().unwrap().to_owned(), edited(text, edits))
        })
        .collect()
}

fn actions(client: &mut Client, range: Value, only: Option<&[&str]>) -> Vec<Value> {
    let mut context = json!({ "diagnostics": [] });
    if let Some(only) = only {
        context["only"] = json!(only);
    }
    let params = json!({ "textDocument": { "uri": URI }, "range": range, "context": context });
    client.request("textDocument/codeAction", params).unwrap().as_array().unwrap().clone()
}

#[test]
fn misspelt_words_are_mended() {
    let mut client = Client::with("");
    for (wrong, right) in [
        ("ad(", "add("),
        ("dimension=", "dimensions="),
        ("to_apply=%ad,", "to_apply=%add,"),
        ("f31[4]{0}", "f32[4]{0}"),
        ("{replicate}", "{replicated}"),
        ("is_schedule=", "is_scheduled="),
        ("%zeros)", "%zero)"),
        ("control-predecessor=", "control-predecessors="),
    ] {
        let text = MODULE.replacen(right, wrong, 1);
        let found = fixes(&mut client, &text, None);
        assert_eq!(found.iter().map(|(_, t)| t.as_str()).collect::<Vec<_>>(), [MODULE], "{wrong}");
        assert!(found[0].0.starts_with("Change `"), "{}", found[0].0);
    }
    // Characters of several bytes and UTF-16 units precede the error, which is in the second module.
    let text = format!("// é😀\n{MODULE}// -----\n{}", MODULE.replace("add(%p", "/*😀*/ ad(%p"));
    let found = fixes(&mut client, &text, None);
    assert_eq!(found, [("Change `ad` to `add`".to_owned(), text.replace(" ad(", " add("))]);
    assert!(fixes(&mut client, MODULE, None).is_empty());
    client.shut_down();
}

#[test]
fn shapes_are_mended() {
    let mut client = Client::with("");
    let text = MODULE.replace("twice = add", "twice = f32[3]{0} /* x */ add");
    let found = fixes(&mut client, &text, None);
    assert_eq!(found, [("Change `f32[3]{0}` to `f32[4]`".to_owned(), text.replace("f32[3]{0}", "f32[4]"))]);
    client.shut_down();
}

#[test]
fn what_is_asked_for_is_offered() {
    let mut client = Client::with(MODULE);
    let text = MODULE.replace("add(", "ad(").replace("reduce(", "reduc(");
    assert_eq!(fixes(&mut client, &text, None).len(), 3);
    assert_eq!(fixes(&mut client, &text, Some(&["quickfix"])).len(), 3);
    assert_eq!(fixes(&mut client, &text, Some(&["refactor", ""])).len(), 3);
    assert_eq!(fixes(&mut client, &text, Some(&["source", "quickfix.other"])).len(), 0);
    // Only the fix at the cursor is returned.
    let at = position(&text, "reduc(", 0, 5);
    let here = actions(&mut client, json!({ "start": at, "end": at }), None);
    assert_eq!(here.len(), 1);
    assert_eq!(here[0]["title"], "Change `reduc` to `reduce`");
    assert_eq!(here[0]["isPreferred"], true);
    let at = position(&text, "ROOT", 0, 0);
    assert!(actions(&mut client, json!({ "start": at, "end": at }), None).is_empty());
    // Results for an older text are not used.
    client.set_text(MODULE);
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    assert!(actions(&mut client, whole, None).is_empty());
    client.shut_down();
}

#[test]
fn an_editor_that_knows_only_commands_gets_none() {
    let mut client = Client::start();
    client.request("initialize", json!({ "processId": null, "rootUri": null, "capabilities": {} })).unwrap();
    client.open(URI, &MODULE.replace("add(", "ad("));
    assert!(!client.diagnostics_of(URI, 1).is_empty());
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    assert!(actions(&mut client, whole, None).is_empty());
    client.shut_down();
}
