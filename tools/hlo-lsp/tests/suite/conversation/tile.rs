//! Tests of Tile documents.

use super::client::{Client, TILE_URI, edited, folded, lines, names, position, text_at};
use serde_json::{Value, json};

/// A file that contains something of every kind.
const FILE: &str = "\
# tile: X: f32[2,3], W: f32[3,4], s = 2
def layer(X, W, s):
  Y = dot(X, W, scale=s)
  return relu(Y)

# The product of two matrices,
# scaled.
# tile: A: f32[5,3], B: f32[3,7]
def dot(A, B, scale: int = 1):
  I, J, K = TensorDims(3)
  i, j, k = TensorIndexes(3)
  A.bind_dims(I, K)
  B.bind_dims(K, J)
  C = TensorOutput(I, J)
  C[i, j] += A[i, k] * B[k, j]
  C.add_constraint(k < 2)
  C = C * scale
  return C

def plain(A):
  \"\"\"Nobody says
  of what.\"\"\"
  return A + 1
";

fn labels(items: &Value) -> Vec<&str> {
    items["items"].as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap()).collect()
}

// ---- Diagnostics -------------------------------------------------------------------------------------------

#[test]
fn functions_with_arguments_are_specialized() {
    let mut client = Client::with_tile(FILE);
    assert_eq!(client.diagnostics(), [] as [Value; 0]);
    // The diagnostic is at the second of two sizes that differ, with a related location at the first.
    let text = FILE.replace("B: f32[3,7]", "B: f32[4,7]");
    client.set_text(&text);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    let d = &found[0];
    assert_eq!(d["range"]["start"], position(&text, "(K, J)", 0, 1));
    assert_eq!((&d["severity"], &d["code"], &d["source"]), (&json!(1), &json!("E3010"), &json!("tile")));
    let message = d["message"].as_str().unwrap();
    assert!(
        message.starts_with("`K` is 3, but dimension 0 of the tensor is 4\nthe size here is 4"),
        "{message}"
    );
    assert!(message.ends_with("(hlo-opt --explain E3010)"), "{message}");
    let related = &d["relatedInformation"][0];
    assert_eq!(related["message"], "it is 3 by this");
    assert_eq!(related["location"]["range"]["start"], position(&text, "(I, K)", 0, 4));
    // A function without arguments is not specialized.
    client.set_text(&FILE.replace("return A + 1", "return A + unknown"));
    assert!(client.diagnostics().is_empty());
    client.shut_down();
}

#[test]
fn an_error_is_shown_once_and_in_the_function_that_has_it() {
    // `layer` only fails because it calls `dot`, so the error is reported once.
    let text = FILE.replace("return C", "return D");
    let mut client = Client::with_tile(&text);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(text_at(&text, &found[0]["range"]), "D");
    // Errors in two functions are both reported.
    let text =
        FILE.replace("return relu", "return rely").replace("# tile: A: f32[5,3]", "# tile: A: f32[5,4]");
    client.set_text(&text);
    let found = client.diagnostics();
    let places: Vec<_> = found.iter().map(|d| text_at(&text, &d["range"])).collect();
    assert_eq!(places, ["rely", "K"]);
    let text = FILE.replace("relu", "rely").replace("A[i, k]", "A[i]");
    client.set_text(&text);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(text_at(&text, &found[0]["range"]), "A[i]");
    client.shut_down();
}

#[test]
fn warnings_are_less_severe() {
    let text = "# tile: A: f32[3]\ndef f(A):\n  N = TensorDim()\n  i = TensorIndex()\n  A.bind_dims(N)\n  \
                O = TensorOutput((N - 8) // 2 + 5)\n  O[i] += A[i]\n  return O\n";
    let mut client = Client::with_tile(text);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["severity"], 2);
    assert!(found[0]["code"].as_str().unwrap().starts_with("W300"), "{found:?}");
    assert_eq!(text_at(text, &found[0]["range"]), "(N - 8) // 2");
    client.shut_down();
}

#[test]
fn syntax_errors_come_and_go_while_typing() {
    let mut client = Client::with_tile(FILE);
    assert!(client.diagnostics().is_empty());
    for (right, wrong, place) in [
        ("dot(X, W, scale=s)", "dot(X, W, scale=s", "("),
        ("def plain(A):", "def plain(A)", ""),
        ("  return A + 1", "  return A +", ""),
        ("  return A + 1", "  for i in A", "for"),
        ("def plain", "def dot", "dot"),
        ("A: f32[5,3]", "A: f33[5,3]", "f33"),
    ] {
        let text = FILE.replace(right, wrong);
        client.set_text(&text);
        let found = client.diagnostics();
        assert_eq!(found.len(), 1, "{wrong}: {found:?}");
        assert_eq!(text_at(&text, &found[0]["range"]).trim_end(), place, "{wrong}: {found:?}");
        assert_eq!(found[0]["severity"], 1);
    }
    for text in
        ["", "\n", "# only this\n", "d", "def", "\u{feff}é", "{", "\0", "from plaidml.edsl import *\n"]
    {
        client.set_text(text);
        let is_right = text.trim().is_empty() || text.starts_with(['#', 'f']);
        assert_eq!(client.diagnostics().is_empty(), is_right, "{text:?}");
    }
    client.shut_down();
}

#[test]
fn the_name_of_a_document_says_that_it_is_tile() {
    let mut client = Client::new();
    let uri = "file:///some/conv.tile";
    let document =
        json!({ "uri": uri, "languageId": "python", "version": 1, "text": "def f(A):\n  return\n x\n" });
    client.notify("textDocument/didOpen", json!({ "textDocument": document }));
    assert_eq!(client.diagnostics_of(uri, 1)[0]["source"], "tile");
    client.shut_down();
}

#[test]
fn a_function_that_takes_long_holds_up_nothing() {
    // Each function calls the previous one twice, which exceeds the limit of statements.
    let mut text = String::from("def f0(A):\n  return A + 1\n\n");
    for n in 1..20 {
        let before = n - 1;
        text.push_str(&format!("def f{n}(A):\n  B = f{before}(A)\n  return f{before}(B)\n\n"));
    }
    text.push_str("# tile: A: f32[2]\ndef all(A):\n  return f19(A)\n");
    let mut client = Client::with_tile(&text);
    assert_eq!(client.whole("textDocument/documentSymbol").unwrap().as_array().unwrap().len(), 21);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0]["message"].as_str().unwrap().starts_with("more than 100000 statements run"),
        "{found:?}"
    );
    client.shut_down();
}

#[test]
fn megabytes_are_no_trouble() {
    let mut text = String::from("# tile: A: f32[2]\ndef f(A):\n  X0 = A\n");
    for n in 1..20_000 {
        text.push_str(&format!("  X{n} = X{} * A + {n}\n", n - 1));
    }
    text.push_str("  return X19999\n");
    let mut client = Client::with_tile(&text);
    assert!(client.diagnostics().is_empty());
    let definition = client.at("textDocument/definition", position(&text, "X15000", 1, 0)).unwrap();
    assert_eq!(definition["range"]["start"]["line"], 15_002);
    let hover = client.at("textDocument/hover", position(&text, "X15000", 1, 0)).unwrap();
    let value = hover["contents"]["value"].as_str().unwrap();
    assert!(value.contains("`X15000` is a tensor `f32[2]`."), "{value}");
    let params = json!({
        "textDocument": { "uri": TILE_URI }, "position": position(&text, "A: f32", 0, 0), "newName": "First"
    });
    let edit = client.request("textDocument/rename", params).unwrap();
    assert_eq!(edit["changes"][TILE_URI].as_array().unwrap().len(), 20_002);
    let tokens = client.whole("textDocument/semanticTokens/full").unwrap();
    assert!(tokens["data"].as_array().unwrap().len() > 5 * 80_000);
    client.shut_down();
}

#[test]
fn misspelt_names_are_mended() {
    let mut client = Client::with_tile(FILE);
    for (right, wrong) in [
        ("relu(Y)", "rely(Y)"),
        ("bind_dims(I", "bind_dim(I"),
        ("scale=s", "scal=s"),
        ("C = C * scale", "C = C * scalee"),
    ] {
        let text = FILE.replace(right, wrong);
        client.set_text(&text);
        assert_eq!(client.diagnostics().len(), 1, "{wrong}");
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
        let params =
            json!({ "textDocument": { "uri": TILE_URI }, "range": whole, "context": { "diagnostics": [] } });
        let actions = client.request("textDocument/codeAction", params).unwrap();
        assert_eq!(actions.as_array().unwrap().len(), 1, "{wrong}: {actions}");
        assert_eq!(edited(&text, actions[0]["edit"]["changes"][TILE_URI].as_array().unwrap()), FILE);
        assert_eq!(actions[0]["kind"], "quickfix");
    }
    client.shut_down();
}

// ---- Structure and names -----------------------------------------------------------------------------------

#[test]
fn symbols_and_folds() {
    let mut client = Client::with_tile(FILE);
    let symbols = client.whole("textDocument/documentSymbol").unwrap();
    assert_eq!(names(&symbols), ["layer", "dot", "plain"]);
    assert_eq!(names(&symbols[1]["children"]), ["A", "B", "scale"]);
    assert_eq!(symbols[1]["detail"], "(A, B, scale: int = 1)");
    assert_eq!(symbols[1]["children"][2]["detail"], ": int = 1");
    assert_eq!(text_at(FILE, &symbols[1]["selectionRange"]), "dot");
    let whole = text_at(FILE, &symbols[1]["range"]);
    assert!(whole.starts_with("def dot(") && whole.ends_with("return C"), "{whole}");
    let folds = client.whole("textDocument/foldingRange").unwrap();
    assert_eq!(folded(&folds), [(1, 3), (8, 17), (19, 22)]);
    // A missing bracket does not affect the structure.
    client.set_text(&FILE.replace("dot(X, W, scale=s)", "dot(X"));
    assert_eq!(names(&client.whole("textDocument/documentSymbol").unwrap()), ["layer", "dot", "plain"]);
    assert!(client.whole("textDocument/formatting").unwrap().is_null());
    client.shut_down();
}

#[test]
fn definitions_and_references() {
    let mut client = Client::with_tile(FILE);
    for (needle, n, offset, defined, skip) in [
        // Functions, from calls.
        ("= dot(", 0, 3, "def dot", 4),
        // Parameters, from uses, arguments by name and comments.
        ("A.bind", 0, 0, "(A, B, scale", 1),
        ("scale=s", 0, 2, "scale: int", 0),
        ("B: f32", 0, 0, "(A, B, scale", 4),
        ("=s)", 0, 1, "X, W, s)", 6),
        // Variables, from uses to the previous assignment.
        ("C[i, j]", 0, 0, "C = TensorOutput", 0),
        ("C * scale", 0, 0, "C = TensorOutput", 0),
        ("return C", 0, 7, "C = C *", 0),
        ("I, K", 0, 4, "I, J, K =", 6),
        ("k < 2", 0, 1, "i, j, k =", 6),
    ] {
        let found = client.at("textDocument/definition", position(FILE, needle, n, offset)).unwrap();
        assert_eq!(found["uri"], TILE_URI);
        assert_eq!(found["range"]["start"], position(FILE, defined, 0, skip), "{needle}");
    }
    // Every assignment is a definition of the name.
    let found = client.at("textDocument/references", position(FILE, "C[i", 0, 0)).unwrap();
    assert_eq!(lines(&found), [13, 14, 15, 16, 16, 17]);
    let found = client.at("textDocument/references", position(FILE, "scale=", 0, 0)).unwrap();
    assert_eq!(lines(&found), [2, 8, 16]);
    let found = client.at("textDocument/references", position(FILE, "def dot", 0, 4)).unwrap();
    assert_eq!(lines(&found), [2, 8]);
    let found = client.at("textDocument/references", position(FILE, "A: f32", 0, 0)).unwrap();
    assert_eq!(lines(&found), [7, 8, 11, 14]);
    let found = client.at("textDocument/documentHighlight", position(FILE, "C * s", 0, 0)).unwrap();
    let kinds: Vec<_> = found.as_array().unwrap().iter().map(|h| h["kind"].as_u64().unwrap()).collect();
    assert_eq!(kinds, [3, 2, 2, 3, 2, 2]);
    for (needle, offset) in
        [("relu", 1), ("bind_dims", 2), ("return", 1), ("The product", 1), ("int", 1), ("+=", 0)]
    {
        let at = position(FILE, needle, 0, offset);
        for method in ["textDocument/definition", "textDocument/references", "textDocument/prepareRename"] {
            let nothing = client.at(method, at.clone()).unwrap();
            assert!(nothing.is_null() || nothing == json!([]), "{needle}: {nothing}");
        }
    }
    client.shut_down();
}

#[test]
fn imported_names_are_defined_where_they_are_imported() {
    let text = "from nn import softmax, relu6 as clip\n\ndef f(X):\n  return clip(softmax(X))\n";
    let mut client = Client::with_tile(text);
    for (needle, defined) in [("clip(", "clip\n"), ("softmax(", "softmax,")] {
        let found = client.at("textDocument/definition", position(text, needle, 0, 0)).unwrap();
        assert_eq!(found["range"]["start"], position(text, defined, 0, 0));
    }
    let refusal = rename(&mut client, text, "softmax(", 0, "other").unwrap_err();
    assert!(refusal.contains("imported"), "{refusal}");
    client.shut_down();
}

fn rename(client: &mut Client, text: &str, needle: &str, offset: usize, new: &str) -> Result<String, String> {
    let at = position(text, needle, 0, offset);
    let params = json!({ "textDocument": { "uri": TILE_URI }, "position": at, "newName": new });
    match client.request("textDocument/rename", params) {
        Ok(edit) => Ok(edited(text, edit["changes"][TILE_URI].as_array().unwrap())),
        Err(e) => Err(e["message"].as_str().unwrap().to_owned()),
    }
}

#[test]
fn rename_changes_every_place_and_no_other() {
    let mut client = Client::with_tile(FILE);
    let prepared = client.at("textDocument/prepareRename", position(FILE, "scale=", 0, 1)).unwrap();
    assert_eq!(prepared["placeholder"], "scale");
    assert_eq!(text_at(FILE, &prepared["range"]), "scale");
    let renamed = rename(&mut client, FILE, "scale: int", 0, "factor").unwrap();
    let expected =
        FILE.replace("scale=", "factor=").replace("scale:", "factor:").replace("* scale", "* factor");
    assert_eq!(renamed, expected);
    let renamed = rename(&mut client, FILE, "= dot", 2, "product").unwrap();
    assert_eq!(renamed, FILE.replace("dot(", "product("));
    // Only the parameter of one function is renamed, including its name in the comment.
    let renamed = rename(&mut client, FILE, "A[i, k]", 0, "Left").unwrap();
    let expected =
        FILE.replace("A: f32", "Left: f32").replace("(A, B", "(Left, B").replace("A.bind", "Left.bind");
    assert_eq!(renamed, expected.replace("A[i, k]", "Left[i, k]"));
    assert_eq!(rename(&mut client, FILE, "k < 2", 0, "k").unwrap(), FILE);
    // Names of other functions, and functions that are not called here, can be used.
    assert!(rename(&mut client, FILE, "k < 2", 0, "W").is_ok());
    assert!(rename(&mut client, FILE, "k < 2", 0, "exp").is_ok());
    for (needle, offset, new, why) in [
        ("k < 2", 0, "j", "a name of this function already, in line 11"),
        ("Y = dot", 0, "relu", "a function that is called here already, in line 4"),
        ("Y = dot", 0, "dot", "a function that is called here already, in line 3"),
        ("def dot", 4, "plain", "a function already, in line 20"),
        ("def dot", 4, "Y", "a name of a function that calls this one already, in line 3"),
        ("def dot", 4, "TensorDims", "a function of Tile that is called here already, in line 10"),
        ("Y = dot", 0, "1x", "no name"),
        ("Y = dot", 0, "a b", "no name"),
        ("Y = dot", 0, "lambda", "no name"),
        ("relu", 0, "x", "no name of this file here"),
    ] {
        let refusal = rename(&mut client, FILE, needle, offset, new).unwrap_err();
        assert!(refusal.contains(why), "{needle} to {new}: {refusal}");
    }
    client.shut_down();
}

// ---- Hover -------------------------------------------------------------------------------------------------

fn hover(client: &mut Client, needle: &str, offset: usize) -> String {
    match client.at("textDocument/hover", position(FILE, needle, 0, offset)).unwrap() {
        Value::Null => String::new(),
        hover => hover["contents"]["value"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn hover_says_what_names_are_for_the_arguments_of_the_comment() {
    let mut client = Client::with_tile(FILE);
    client.diagnostics();
    let mut check = |needle: &str, offset: usize, expected: &[&str]| {
        let text = hover(&mut client, needle, offset);
        for e in expected {
            assert!(text.contains(e), "{needle}: {text}");
        }
        assert_eq!(expected.is_empty(), text.is_empty(), "{needle}: {text}");
    };
    check("A, B, scale", 0, &["```tile\nA\n```", "A parameter of `dot`.", "`A` is a tensor `f32[5,3]`."]);
    check("A.bind", 0, &["`A` is a tensor `f32[5,3]`.", "Defined in line 9."]);
    check("B: f32", 0, &["`B` is a tensor `f32[3,7]`."]);
    check("I, K)", 3, &["```tile\nI, J, K = TensorDims(3)\n```", "`K` is a TensorDim, 3."]);
    check("k < 2", 0, &["`k` is an index."]);
    check("scale=", 0, &["scale: int = 1", "`scale` is the number 1."]);
    // A later assignment defines a different tensor.
    check("C = TensorOutput", 0, &["`C` is a tensor `f32[5,7]`."]);
    check(
        "return C",
        7,
        &["```tile\nC = C * scale\n```", "`C` is a tensor `f32[5,7]`.", "Defined in line 17."],
    );
    check("Y)", 0, &["`Y` is a tensor `f32[2,4]`."]);
    // The shape is not known.
    check("A + 1", 0, &["A parameter of `plain`.\n\nDefined in line 20."]);
    // A contraction.
    let hlo = "C = f32[5,7] contraction(A, B), access={(d0,d1) += (d0,d2) * (d2,d1)";
    check("C[i, j]", 0, &["`C` is a tensor `f32[5,7]`.", "```hlo\n", hlo]);
    check("+=", 1, &["`+=` Values for the same element are added.", hlo]);
    // Functions.
    check(
        "= dot",
        3,
        &[
            "```tile\ndef dot(A, B, scale: int = 1)\n```",
            "The product of two matrices,\nscaled.",
            "`dot` returns `f32[5,7]` for the arguments of its comment.",
            "Defined in line 9.",
        ],
    );
    check("plain(A)", 0, &["```tile\ndef plain(A)\n```\n\nNobody says\nof what."]);
    for word in ["return", "# The product", "scaled.", "int"] {
        check(word, 1, &[]);
    }
    client.shut_down();
}

#[test]
fn hover_says_what_tile_has() {
    let mut client = Client::with_tile(FILE);
    let mut check = |text: &str, needle: &str, expected: &[&str]| {
        client.set_text(text);
        let hover = client.at("textDocument/hover", position(text, needle, 0, 1)).unwrap();
        let value = hover["contents"]["value"].as_str().unwrap();
        for e in expected {
            assert!(value.contains(e), "{needle}: {value}");
        }
    };
    check(
        FILE,
        "relu",
        &["```tile\nrelu(x)\n```", "Each element, or 0 if it is negative.", "Example: `O = relu(X)`"],
    );
    check(FILE, "TensorOutput", &["```tile\nTensorOutput(size, …)\n```", "A new tensor of these sizes"]);
    check(FILE, "bind_dims", &["bind_dims(dim, …)", "Example: `X.bind_dims(M, N)`"]);
    check(
        FILE,
        "add_constraint",
        &["add_constraint(index < bound)", "valid only where `0 <= index < bound`"],
    );
    let text = "def f(X):\n  O = Contraction().outShape(2).outAccess(0).max(X[0]).build()\n  \
                return select(O.shape.ndims > 1, cast(X, DType.FLOAT16), max(O, 0))\n";
    check(text, "max(X", &["max(rhs)", "The greatest of the values"]);
    check(text, "max(O", &["max(x, y)", "The greater of two elements."]);
    check(text, "outAccess", &["The element that is written."]);
    check(text, "shape.", &["The sizes of the tensor"]);
    check(text, "ndims", &["The number of dimensions."]);
    check(text, "FLOAT16", &["The element type `f16`."]);
    check(text, "DType", &["The element types"]);
    // A variable hides a function after its assignment.
    check("def f(X):\n  exp = exp(X)\n  return exp\n", "exp(X", &["e to the power of each element."]);
    check("def f(X):\n  exp = exp(X)\n  return exp\n", "exp\n", &["```tile\nexp = exp(X)\n```"]);
    client.shut_down();
}

#[test]
fn hover_tells_calls_and_unfinished_functions_apart() {
    // Without its own arguments, a function is described for a call.
    let text = FILE.replace("# tile: A: f32[5,3], B: f32[3,7]\n", "");
    let mut client = Client::with_tile(&text);
    client.diagnostics();
    let value = |client: &mut Client, text: &str, needle: &str, offset: usize| {
        let hover = client.at("textDocument/hover", position(text, needle, 0, offset)).unwrap();
        hover["contents"]["value"].as_str().unwrap().to_owned()
    };
    let shown = value(&mut client, &text, "A.bind", 0);
    assert!(shown.contains("`A` is a tensor `f32[2,3]`, as `layer` calls it."), "{shown}");
    // Names before an error are known.
    let text = FILE.replace("return C", "return D");
    client.set_text(&text);
    assert_eq!(client.diagnostics().len(), 1);
    let shown = value(&mut client, &text, "C = C", 0);
    assert!(shown.contains("`C` is a tensor `f32[5,7]`."), "{shown}");
    // Results for an older text are not used.
    client.set_text("def f(A):\n  return A\n");
    let shown = value(&mut client, "def f(A):\n  return A\n", "A\n", 0);
    assert!(!shown.contains("tensor"), "{shown}");
    client.shut_down();
}

// ---- Completion and highlighting ---------------------------------------------------------------------------

/// Returns the completions at the `|` of a text.
fn complete(client: &mut Client, text: &str) -> Value {
    let at = position(text, "|", 0, 0);
    client.set_text(&text.replacen('|', "", 1));
    client.at("textDocument/completion", at).unwrap()
}

/// Returns the completions in `line`, which is inserted before the end of a function.
fn in_function(client: &mut Client, line: &str) -> Value {
    complete(client, &FILE.replace("  C = C * scale", &format!("  {line}\n  C = C * scale")))
}

#[test]
fn completion_of_names() {
    let mut client = Client::with_tile(FILE);
    // Local names that are defined before, the nearest first, then the functions of the file, then the
    // built-in ones.
    let items = in_function(&mut client, "D = |");
    let found = labels(&items);
    assert_eq!(found[..13], ["C", "k", "j", "i", "K", "J", "I", "scale", "B", "A", "layer", "dot", "plain"]);
    assert!(found.contains(&"exp") && found.contains(&"TensorOutput") && !found.contains(&"W"));
    let item = |items: &Value, label: &str| -> Value {
        items["items"].as_array().unwrap().iter().find(|i| i["label"] == label).unwrap().clone()
    };
    assert_eq!(item(&items, "C")["detail"], "C = TensorOutput(I, J)");
    assert_eq!(item(&items, "A")["detail"], "parameter");
    assert_eq!(item(&items, "dot")["detail"], "dot(A, B, scale: int = 1)");
    assert_eq!(item(&items, "select")["textEdit"]["newText"], "select($0)");
    assert_eq!(item(&items, "select")["insertTextFormat"], 2);
    assert!(
        item(&items, "select")["documentation"]["value"].as_str().unwrap().contains("Example: `O = select(")
    );
    let items = in_function(&mut client, "D = sel|(A, B)");
    assert_eq!(item(&items, "select")["textEdit"]["newText"], "select");
    // At the start of a statement.
    assert_eq!(labels(&in_function(&mut client, "|"))[..2], ["return", "C"]);
    assert_eq!(labels(&complete(&mut client, "|")), ["def", "from"]);
    assert_eq!(labels(&complete(&mut client, &FILE.replace("def plain", "d|\ndef plain"))), ["def", "from"]);
    // Arguments by name, also of functions that are defined further down. Arguments that are already given
    // are not offered.
    let text = FILE.replace("dot(X, W, scale=s)", "dot(A=X, |");
    let items = complete(&mut client, &text);
    assert_eq!(labels(&items)[..5], ["s", "W", "X", "B=", "scale="]);
    let items = in_function(&mut client, "D = select(C > 0, f(1), |");
    let found = labels(&items);
    assert!(found.contains(&"z=") && !found.contains(&"y=") && !found.contains(&"x="), "{found:?}");
    for nothing in ["# |", "D = \"|", "D = 2|", "D = 1.5|"] {
        assert!(labels(&in_function(&mut client, nothing)).is_empty(), "{nothing}");
    }
    assert!(labels(&complete(&mut client, "def f(A, |")).is_empty());
    assert!(labels(&complete(&mut client, "def |")).is_empty());
    client.shut_down();
}

#[test]
fn completion_of_members() {
    let mut client = Client::with_tile(FILE);
    let outputs = ["add_constraint", "add_constraints", "no_reduce", "use_default"];
    let tensors = ["bind_dims", "dtype", "rank", "shape", "size", "use"];
    assert_eq!(labels(&in_function(&mut client, "A.|")), tensors);
    assert_eq!(labels(&in_function(&mut client, "C.bi|")), [&outputs[..], &tensors].concat());
    assert_eq!(labels(&in_function(&mut client, "D = exp(A).|")), tensors);
    assert_eq!(labels(&in_function(&mut client, "D = A.shape.|")), ["dims", "ndims"]);
    assert!(labels(&in_function(&mut client, "D = I.|")).is_empty());
    let contractions = in_function(&mut client, "D = Contraction().outShape(I, J).|");
    assert_eq!(labels(&contractions)[..4], ["assign", "build", "init", "max"]);
    assert!(labels(&contractions).contains(&"add_constraint"));
    let built = "D = Contraction().outShape(I).outAccess(i).sum(A[i, k]).build()\n  D.|";
    assert_eq!(labels(&in_function(&mut client, built)), [&outputs[..], &tensors].concat());
    let types = in_function(&mut client, "D = cast(A, DType.|)");
    assert!(labels(&types).contains(&"BFLOAT16") && labels(&types).len() == 13);
    // The trigger characters of HLO do not apply to Tile.
    let at = position(FILE, "X, W, scale", 0, 2);
    let params = json!({
        "textDocument": { "uri": TILE_URI }, "position": at,
        "context": { "triggerKind": 2, "triggerCharacter": "," }
    });
    client.set_text(FILE);
    assert_eq!(client.request("textDocument/completion", params).unwrap(), Value::Null);
    client.shut_down();
}

#[test]
fn functions_of_the_library() {
    let text = "from nn import softmax, conv_2d as conv\nimport nn as lib\n\n# tile: X: f32[2,3]\ndef f(X):\n  \
                Y = softmax(X, axis=0)\n  return lib.log_softmax(X) if X.rank > 1 else conv(Y)\n";
    let mut client = Client::with_tile(text);
    assert!(client.diagnostics().is_empty());
    let check = |client: &mut Client, text: &str, needle: &str, expected: &[&str]| {
        let hover = client.at("textDocument/hover", position(text, needle, 0, 1)).unwrap();
        let value = hover["contents"]["value"].as_str().unwrap();
        for e in expected {
            assert!(value.contains(e), "{needle}: {value}");
        }
    };
    check(
        &mut client,
        text,
        "softmax(X, a",
        &["```tile\nsoftmax(X, axis=-1)\n```", "A function of the library, `nn`.", "Defined in line 1."],
    );
    check(&mut client, text, "conv(Y", &["conv_2d(", "Defined in line 1."]);
    check(
        &mut client,
        text,
        "log_softmax",
        &["```tile\nlog_softmax(X, axis=-1)\n```", "with sums along a dimension"],
    );
    check(&mut client, text, "Y = ", &["`Y` is a tensor `f32[2,3]`."]);
    check(&mut client, text, "X):", &["`X` is a tensor `f32[2,3]`."]);
    // An error in the library is reported at the call.
    let wrong = text.replace("axis=0", "axis=7");
    client.set_text(&wrong);
    let found = client.diagnostics();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(text_at(&wrong, &found[0]["range"]), "softmax(X, axis=7)");
    // Completion of imports, members and arguments.
    let offered = |client: &mut Client, text: &str| -> Vec<String> {
        labels(&complete(client, text)).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(offered(&mut client, "from |"), ["nn"]);
    let all = offered(&mut client, "from nn import softmax, |\n");
    assert!(
        all.len() > 50 && all.contains(&"conv_2d".into()) && !all.iter().any(|n| n.starts_with('_')),
        "{all:?}"
    );
    assert_eq!(offered(&mut client, &text.replace("lib.log", "lib.|")), all);
    let arguments = offered(&mut client, &text.replace("axis=0", "|"));
    assert!(arguments.contains(&"axis=".into()) && !arguments.contains(&"X=".into()), "{arguments:?}");
    assert!(!offered(&mut client, &text.replace("axis=0", "|")).contains(&"gelu".into()));
    let text = "from nn import *\n\ndef f(X):\n  return gelu(|X)\n";
    assert!(offered(&mut client, text).contains(&"elu".into()));
    let text = text.replace('|', "");
    check(&mut client, &text, "gelu", &["gelu(X)", "A function of the library"]);
    let refusal = rename(&mut client, &text, "X)", 0, "gelu").unwrap_err();
    assert!(refusal.contains("a function that is called here"), "{refusal}");
    client.shut_down();
}

#[test]
fn words_are_highlighted() {
    let text = "# tile: A: f32[2] é\ndef f(A, s=1):  # 😀\n  '''a\n  b'''\n  exp = exp(A.shape[0])\n  \
                O = f(exp, s=DType.INT8) and 2\n  O.bind_dims(s)\n  return g\n";
    const KINDS: [&str; 10] = [
        "namespace",
        "function",
        "parameter",
        "variable",
        "type",
        "property",
        "number",
        "comment",
        "keyword",
        "string",
    ];
    let mut client = Client::with_tile(text);
    let found = client.whole("textDocument/semanticTokens/full").unwrap();
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
    let words: Vec<String> = numbers.chunks(5).map(word).collect();
    let expected = "# tile::comment A:parameter : f32[2] é:comment def:keyword f:function! A:parameter! \
                    s:parameter! 1:number # 😀:comment '''a:string   b''':string exp:variable! exp:function* \
                    A:parameter shape:property 0:number O:variable! f:function exp:variable s:parameter DType:type* \
                    INT8:property and:keyword 2:number O:variable bind_dims:function* s:parameter return:keyword \
                    g:variable";
    assert_eq!(words.join(" "), expected);
    client.shut_down();
}
