//! Tests of requests for reading: diagnostics, hover, definitions, references, symbols.

use super::MODULE;
use super::client::{Client, URI, folded, lines, names, position, text_at};
use serde_json::{Value, json};

#[test]
fn diagnostics_have_places_codes_and_related_places() {
    let text = "ENTRY e {\n  /* é😀 */ p = f32[4] parameter(0)\n  q = f32[3] parameter(1)\n  \
                /* é😀 */ ROOT s = f32[4] add(p, q)\n}\n";
    let mut client = Client::with(text);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    let d = &found[0];
    assert!(
        text_at(text, &d["range"]).starts_with("ROOT s = ") || text_at(text, &d["range"]) == "add",
        "{d}"
    );
    assert_eq!(d["severity"], 1);
    assert_eq!(d["source"], "hlo");
    let code = d["code"].as_str().unwrap();
    assert!(code.starts_with('E'), "{d}");
    assert!(d["message"].as_str().unwrap().contains(&format!("hlo-opt --explain {code}")), "{d}");
    let related = d["relatedInformation"].as_array().unwrap();
    assert!(related.iter().any(|r| text_at(text, &r["location"]["range"]).starts_with("q = ")), "{d}");
    client.shut_down();
}

#[test]
fn warnings_are_less_severe() {
    let text = "HloModule m\n\nENTRY e (q: f32[4]) -> f32[4] {\n  ROOT p = f32[4] parameter(0)\n}\n";
    let mut client = Client::with(text);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    let d = &found[0];
    assert_eq!((&d["severity"], &d["code"]), (&json!(2), &json!("W0003")), "{d}");
    assert_eq!(text_at(text, &d["range"]), "q: f32[4]");
    assert_eq!(
        text_at(text, &d["relatedInformation"][0]["location"]["range"]),
        "ROOT p = f32[4] parameter(0)"
    );
    client.set_text(&text.replace("q:", "p:"));
    assert!(client.diagnostics().is_empty());
    client.shut_down();
}

#[test]
fn syntax_errors_come_and_go_while_typing() {
    let mut client = Client::with(MODULE);
    assert!(client.diagnostics().is_empty());
    let start = position(MODULE, "add(%p", 0, 1);
    let end = position(MODULE, "add(%p", 0, 2);
    client.change(json!([{ "range": { "start": start, "end": end }, "text": "" }]));
    let found = client.diagnostics();
    assert_eq!(found.len(), 1);
    let broken = MODULE.replace("add(%p", "ad(%p");
    assert_eq!(text_at(&broken, &found[0]["range"]), "ad");
    assert!(found[0]["message"].as_str().unwrap().contains("did you mean `add`?"));
    client.change(json!([{ "range": { "start": start, "end": start }, "text": "d" }]));
    assert!(client.diagnostics().is_empty());
    for text in ["", "\n", "H", "HloModule", "ENTRY e {", "\u{feff}é", "{", "\0"] {
        client.set_text(text);
        assert_eq!(client.diagnostics().is_empty(), text.trim().is_empty(), "{text:?}");
    }
    client.shut_down();
}

fn hover(client: &mut Client, needle: &str, n: usize, offset: usize) -> String {
    match client.at("textDocument/hover", position(MODULE, needle, n, offset)).unwrap() {
        Value::Null => String::new(),
        hover => hover["contents"]["value"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn hover_says_what_a_word_is() {
    let mut client = Client::with(MODULE);
    let mut check = |needle: &str, n: usize, offset: usize, expected: &[&str]| {
        let text = hover(&mut client, needle, n, offset);
        for e in expected {
            assert!(text.contains(e), "{needle}: {text}");
        }
    };
    check("%zero)", 0, 1, &["%zero = f32[] constant(0)", "Shape `f32[]`", "Defined in line 11"]);
    check(
        "%twice",
        0,
        2,
        &["twice = add(%p, p)", "Shape `f32[4]", "from the operands", "sum of the operands"],
    );
    check(
        "to_apply=%add",
        0,
        11,
        &["(a: f32[], b: f32[]) -> f32[]", "3 instructions", "called in one place"],
    );
    check("main", 0, 0, &["ENTRY main (p: f32[4]) -> f32[]", "4 instructions"]);
    check("reduce(", 0, 3, &["Takes 2 or more operands", "`dimensions` (required)"]);
    check("dimensions=", 0, 0, &["dimensions to reduce", "An attribute of `reduce`, required"]);
    check("sharding", 0, 0, &["An attribute of every instruction, optional"]);
    check("is_scheduled", 0, 0, &["execution order", "`true`, `false`"]);
    check("f32[4]{0}", 0, 1, &["`f32`", "8 of the exponent, 23 of the fraction"]);
    check("{p}", 0, 1, &["%p = f32[4]{0} parameter(0)"]);
    check("(a: ", 0, 1, &["a = f32[] parameter(0)"]);
    check("m, is", 0, 0, &["module `m`"]);
    check("{replicated", 0, 3, &[]);
    assert_eq!(hover(&mut client, "f32[4]{0}", 0, 5), "");
    assert_eq!(hover(&mut client, "\n\n", 0, 1), "");
    client.shut_down();
}

#[test]
fn hover_says_what_an_element_is() {
    let text = "e {\n  p = (f32[4], (s32[], u8[2]{0})) parameter(0)\n  c = cal(p\n  \
                n = f32[4] negate(%p#0)\n  x = tuple(p#1#1, p#2, p#0#0, n)\n}\n";
    let mut client = Client::with(text);
    let mut check = |needle: &str, offset: usize| -> Value {
        client.at("textDocument/hover", position(text, needle, 0, offset)).unwrap()
    };
    let hover = check("%p#0", 3);
    let value = hover["contents"]["value"].as_str().unwrap();
    assert!(value.starts_with("Element 0 has the shape `f32[4]`."), "{value}");
    assert!(value.contains("parameter(0)") && value.contains("Defined in line 2."), "{value}");
    assert_eq!(text_at(text, &hover["range"]), "p#0");
    let value = check("p#1#1", 5)["contents"]["value"].to_string();
    assert!(value.contains("Element 1, 1 has the shape `u8[2]`."), "{value}");
    // Elements that do not exist, and the name itself, show the whole tuple.
    for (needle, offset) in [("p#2", 2), ("p#0#0", 4), ("%p#0", 1)] {
        let value = check(needle, offset)["contents"]["value"].to_string();
        assert!(value.starts_with("\"```hlo\\np = "), "{value}");
    }
    // A tuple whose shape is not written.
    let text = "e {\n  p = f32[4] parameter(0)\n  t = tuple(p, p)\n  ROOT n = f32[4] negate(t#1)\n}\n";
    client.set_text(text);
    let hover = client.at("textDocument/hover", position(text, "t#1", 0, 2)).unwrap();
    let value = hover["contents"]["value"].as_str().unwrap();
    assert!(value.starts_with("Element 1 has the shape `f32[4]`."), "{value}");
    client.shut_down();
}

/// Returns the words of the document with their kinds, decoded as an editor does.
fn words(client: &mut Client, text: &str, method: &str, mut params: Value) -> Vec<String> {
    const KINDS: [&str; 8] =
        ["namespace", "function", "parameter", "variable", "type", "property", "number", "comment"];
    params["textDocument"] = json!({ "uri": URI });
    let found = client.request(method, params).unwrap();
    let numbers: Vec<u64> = found["data"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let (mut line, mut character) = (0, 0);
    let word = |n: &[u64]| {
        character = if n[0] == 0 { character + n[1] } else { n[1] };
        line += n[0];
        let start = json!({ "line": line, "character": character });
        let end = json!({ "line": line, "character": character + n[2] });
        let word = text_at(text, &json!({ "start": start, "end": end }));
        format!("{word}:{}{}", KINDS[n[3] as usize], ["", "!", "*"][n[4] as usize])
    };
    numbers.chunks(5).map(word).collect()
}

#[test]
fn words_are_highlighted() {
    let text = "HloModule m, is_scheduled=true\n/* é😀\r\n b */ ENTRY %e (p: f32[4]) -> f32[] {\n  \
                p = (f32[4]{0}, /*index=1*/bf16[2]) parameter(0) // é\n}\n// -----\n\
                e { ROOT x = tanh(y#1), to_apply=%add }\n";
    let mut client = Client::with(text);
    let all = words(&mut client, text, "textDocument/semanticTokens/full", json!({}));
    let expected = "m:namespace is_scheduled:property /* é😀:comment  b */:comment e:function! p:parameter f32:type \
                    f32:type p:variable! f32:type /*index=1*/:comment bf16:type parameter:function* // é:comment \
                    e:function! x:variable! tanh:function* y:variable 1:number to_apply:property add:function";
    assert_eq!(all.join(" "), expected);
    let range = json!({ "start": { "line": 6, "character": 0 }, "end": { "line": 7, "character": 0 } });
    let some = words(&mut client, text, "textDocument/semanticTokens/range", json!({ "range": range }));
    assert_eq!(some.join(" "), expected[expected.rfind("e:function!").unwrap()..]);
    client.shut_down();
}

#[test]
fn definitions_and_references() {
    let mut client = Client::with(MODULE);
    for (needle, n, offset, defined) in [
        ("%p, p", 0, 1, "%p = "),
        ("%p, p", 0, 4, "%p = "),
        ("{p}", 0, 1, "%p = "),
        ("(p: ", 0, 1, "%p = "),
        ("=%add", 0, 4, "add (a"),
        ("twice", 1, 5, "twice = "),
        ("sum", 0, 0, "sum = "),
    ] {
        let found = client.at("textDocument/definition", position(MODULE, needle, n, offset)).unwrap();
        assert_eq!(found["uri"], URI);
        let skip = usize::from(defined.starts_with('%'));
        assert_eq!(found["range"]["start"], position(MODULE, defined, 0, skip), "{needle}");
    }
    let at = position(MODULE, "%p = ", 0, 1);
    let found = client.at("textDocument/references", at.clone()).unwrap();
    assert_eq!(lines(&found), [8, 9, 11, 11, 12]);
    let params = json!({
        "textDocument": { "uri": URI }, "position": at, "context": { "includeDeclaration": false }
    });
    assert_eq!(lines(&client.request("textDocument/references", params).unwrap()), [8, 11, 11, 12]);
    // The parameter of the other computation is a different item.
    let found = client.at("textDocument/references", position(MODULE, "(a, b)", 0, 1)).unwrap();
    assert_eq!(lines(&found), [2, 3, 5]);
    let found = client.at("textDocument/documentHighlight", position(MODULE, "add (", 0, 0)).unwrap();
    assert_eq!(lines(&found), [2, 12]);
    assert_eq!(found[0]["kind"], 3);
    assert_eq!(found[1]["kind"], 2);
    for method in ["textDocument/definition", "textDocument/references", "textDocument/prepareRename"] {
        let nothing = client.at(method, position(MODULE, "parameter", 0, 0)).unwrap();
        assert!(nothing.is_null() || nothing == json!([]));
    }
    client.shut_down();
}

/// The location in the user's program, from the stack-frame tables of the header.
#[test]
fn where_an_instruction_comes_from() {
    let text = "HloModule m\n\nFileNames\n1 \"/src/train step.py\"\n2 \"/src/loss.py\"\n\n\
        FunctionNames\n1 \"step\"\n2 \"loss\"\n\n\
        FileLocations\n1 {file_name_id=1 function_name_id=1 line=9 end_line=9 column=5 end_column=20}\n\
        2 {file_name_id=2 function_name_id=2 line=3 end_line=4 column=12 end_column=8}\n\n\
        StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}\n\n\
        ENTRY e {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p), metadata={stack_frame_id=2}\n}\n";
    let mut client = Client::with(text);
    let hover = client.at("textDocument/hover", position(text, "ROOT n", 0, 5)).unwrap();
    let value = hover["contents"]["value"].as_str().unwrap();
    let from = "From `/src/loss.py:3:12 in loss`.\n\nCalled from `/src/train step.py:9:5 in step`.";
    assert!(value.ends_with(from), "{value}");
    let found = client.at("textDocument/definition", position(text, "metadata", 0, 2)).unwrap();
    assert_eq!(found[0]["uri"], "file:///src/loss.py");
    assert_eq!(found[0]["range"]["start"], json!({ "line": 2, "character": 11 }));
    assert_eq!(found[0]["range"]["end"], json!({ "line": 3, "character": 7 }));
    assert_eq!(found[1]["uri"], "file:///src/train%20step.py");
    client.shut_down();
}

#[test]
fn symbols_and_folds() {
    let mut client = Client::with(MODULE);
    let symbols = client.whole("textDocument/documentSymbol").unwrap();
    assert_eq!(names(&symbols), ["add", "main"]);
    assert_eq!(names(&symbols[1]["children"]), ["p", "zero", "twice", "total"]);
    assert_eq!(symbols[1]["detail"], "ENTRY (p: f32[4]) -> f32[]");
    assert_eq!(symbols[1]["children"][0]["detail"], "f32[4]{0} parameter");
    assert_eq!(text_at(MODULE, &symbols[0]["selectionRange"]), "add");
    let folds = client.whole("textDocument/foldingRange").unwrap();
    assert_eq!(folded(&folds), [(2, 5), (8, 12)]);
    client.set_text(
        "e { x = f32[2] parameter(0)\n r = f32[2] map(x), to_apply={ y = f32[] parameter(0) \
         ROOT n = f32[] negate(y) }\n z = f32[2] negate(r) }",
    );
    let symbols = client.whole("textDocument/documentSymbol").unwrap();
    let inside = &symbols[0]["children"];
    assert_eq!(names(inside), ["x", "r", "z"]);
    assert_eq!(names(&inside[1]["children"][0]["children"]), ["y", "n"]);
    client.shut_down();
}

#[test]
fn editors_that_know_no_nested_symbols_get_a_list() {
    let mut client = Client::start();
    client.request("initialize", json!({ "capabilities": {} })).unwrap();
    client.open(URI, MODULE);
    let symbols = client.whole("textDocument/documentSymbol").unwrap();
    assert_eq!(symbols.as_array().unwrap().len(), 9);
    assert_eq!(symbols[1]["containerName"], "add");
    client.shut_down();
}

#[test]
fn each_part_of_a_file_is_a_module() {
    let text = format!("{MODULE}\n// -----\n\n{MODULE}\n// -----\n\nENTRY e {{ x = f32[] ad() }}\n");
    let mut client = Client::with(&text);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(text_at(&text, &found[0]["range"]), "ad");
    let found = client.at("textDocument/definition", position(&text, "=%add", 1, 3)).unwrap();
    assert_eq!(found["range"]["start"], position(&text, "add (a", 1, 0));
    let found = client.at("textDocument/references", position(&text, "sum", 1, 0)).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert_eq!(client.whole("textDocument/documentSymbol").unwrap().as_array().unwrap().len(), 5);
    client.shut_down();
}
