//! Tests of requests for editing: completion, rename, formatting.

use super::MODULE;
use super::client::{Client, URI, edited, position};
use hlo_ir::Opcode;
use serde_json::{Value, json};

/// Returns the completions at the `|` of a text.
fn complete(client: &mut Client, text: &str) -> Vec<Value> {
    let at = position(text, "|", 0, 0);
    client.set_text(&text.replacen('|', "", 1));
    let list = client.at("textDocument/completion", at).unwrap();
    list["items"].as_array().unwrap().clone()
}

fn labels(items: &[Value]) -> Vec<&str> {
    items.iter().map(|i| i["label"].as_str().unwrap()).collect()
}

/// Returns the labels of completions in `line`, which is inserted into the entry of a module.
fn in_entry(client: &mut Client, line: &str) -> Vec<String> {
    let text = MODULE.replace("  twice", &format!("  {line}\n  twice"));
    labels(&complete(client, &text)).into_iter().map(str::to_owned).collect()
}

#[test]
fn completion_of_opcodes_and_types() {
    let mut client = Client::with(MODULE);
    let opcodes = in_entry(&mut client, "x = f32[4] |");
    assert_eq!(opcodes.len(), Opcode::ALL.len());
    let both = in_entry(&mut client, "x = ad|");
    assert!(
        both.len() > Opcode::ALL.len() + 30 && both.contains(&"add".into()) && both.contains(&"f32".into())
    );
    let types = in_entry(&mut client, "x = (f32[], |");
    assert!(types.contains(&"bf16".into()) && types.contains(&"token".into()));
    let items = complete(&mut client, "e {\n  x = f32[4] com|\n}");
    let item = items.iter().find(|i| i["label"] == "compare").unwrap();
    assert_eq!(item["textEdit"]["newText"], "compare(${1}, ${2}), direction=${3}");
    assert_eq!(item["insertTextFormat"], 2);
    assert_eq!(item["textEdit"]["range"]["start"], json!({ "line": 1, "character": 13 }));
    assert!(item["detail"].as_str().unwrap().contains("relation"));
    assert!(item["documentation"]["value"].as_str().unwrap().contains("Takes 2 operands"));
    // If operands already exist, only the name is inserted.
    let items = complete(&mut client, "e {\n  x = f32[4] com|(a, b)\n}");
    let item = items.iter().find(|i| i["label"] == "compare").unwrap();
    assert_eq!(item["textEdit"]["newText"], "compare");
    client.shut_down();
}

#[test]
fn completion_of_names() {
    let mut client = Client::with(MODULE);
    // Only names that are defined earlier in this computation are offered, the nearest first.
    assert_eq!(in_entry(&mut client, "x = add(|"), ["zero", "p"]);
    assert_eq!(in_entry(&mut client, "x = add(p, %z|"), ["zero"]);
    assert_eq!(in_entry(&mut client, "x = add(p, negate(|), p)"), ["zero", "p"]);
    assert_eq!(in_entry(&mut client, "x = add(p, p), control-predecessors={|}"), ["zero", "p"]);
    assert_eq!(in_entry(&mut client, "x = f32[] call(p), to_apply=|"), ["add"]);
    assert_eq!(in_entry(&mut client, "x = f32[] call(p), to_apply=%a|"), ["add"]);
    assert!(in_entry(&mut client, "x = add(p, p|").contains(&"p".into()));
    assert!(in_entry(&mut client, "x|").contains(&"ROOT".into()));
    assert!(in_entry(&mut client, "x = f32[] constant(|").is_empty());
    assert!(in_entry(&mut client, "// |").is_empty());
    let detail = complete(&mut client, "e {\n p = f32[4] parameter(0)\n x = negate(|");
    assert_eq!(detail[0]["detail"], "f32[4] parameter");
    client.shut_down();
}

#[test]
fn completion_of_attributes() {
    let mut client = Client::with(MODULE);
    let found = in_entry(&mut client, "x = f32[] reduce(p, zero), dimensions={0}, |");
    assert_eq!(found[0], "to_apply");
    assert!(found.contains(&"metadata".into()) && !found.contains(&"dimensions".into()));
    let found = in_entry(&mut client, "x = f32[4] compare(p, p), direction=|");
    assert_eq!(found, ["EQ", "NE", "GE", "GT", "LE", "LT"]);
    assert_eq!(in_entry(&mut client, "x = f32[4] sort(p), is_stable=|"), ["true", "false"]);
    let items = complete(&mut client, "HloModule m, is_scheduled=true, |");
    assert!(labels(&items).contains(&"num_partitions") && !labels(&items).contains(&"is_scheduled"));
    assert_eq!(items[0]["textEdit"]["newText"], "input_output_alias=");
    assert_eq!(labels(&complete(&mut client, "HloModule m, is_scheduled=|")), ["true", "false"]);
    assert_eq!(labels(&complete(&mut client, "|")), ["HloModule", "ENTRY"]);
    client.shut_down();
}

#[test]
fn completion_inside_of_values() {
    let mut client = Client::with(MODULE);
    let mut at = |value: &str| in_entry(&mut client, &format!("x = f32[4] tanh(p), {value}"));
    let found = at("metadata={|");
    assert_eq!(found[..3], ["op_type", "op_name", "source_file"]);
    assert_eq!(found.len(), 12);
    let found = at("metadata={op_name=\"a, op_type\" sour|}, sharding={replicated}");
    assert!(found.contains(&"source_line".into()) && !found.contains(&"op_name".into()));
    assert!(at("metadata={op_name=|").is_empty());
    assert!(at("metadata={op_name=\"a |\"}").is_empty());
    assert!(at("metadata={profile_type={|").is_empty());
    assert!(at("metadata=|").is_empty());

    let found = at("sharding={|");
    assert_eq!(found[..3], ["mesh", "maximal_mesh", "replicated"]);
    assert!(found.contains(&"devices".into()) && found.contains(&"last_tile_dims".into()));
    assert_eq!(at("sharding={{replicated}, {|"), found);
    assert!(!at("sharding={replicated |").contains(&"replicated".into()));
    let kinds = ["maximal", "manual", "unreduced", "replicated"];
    assert_eq!(at("sharding={devices=[2,2]<=[4] last_tile_dims={|"), kinds);
    assert_eq!(
        at("sharding={devices=[2,2]<=[4] last_tile_dims={manual, |"),
        ["maximal", "unreduced", "replicated"]
    );
    assert!(at("sharding={devices=[|").is_empty());
    assert_eq!(at("sharding={replicated metadata={|").len(), 12);
    assert_eq!(at("sharding={replicated metadata={{op_name=\"a\"}, {|").len(), 12);
    let mesh = ["replicated", "manual", "unreduced", "replicated", "unreduced", "manual", "metadata"];
    assert_eq!(at("sharding={mesh['x'=2], |"), mesh);
    assert!(at("sharding={mesh['x'=2], [{|").is_empty());
    assert_eq!(at("sharding={mesh['x'=2], [{}], unreduced=|"), ["sum", "max", "min"]);
    assert!(at("sharding={mesh['x'=2], [{}], unreduced=sum{|").is_empty());

    assert_eq!(at("result_accuracy={mode=|"), ["default", "highest"]);
    assert_eq!(at("result_accuracy={tolerance={rtol=0, |"), ["atol", "ulps"]);
    assert!(at("frontend_attributes={|").is_empty());
    let found = in_entry(&mut client, "x = f32[4] reduce-window(p, zero), window={size=2 |");
    assert_eq!(found, ["stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"]);

    let text = MODULE.replace("  twice", "  x = f32[4] tanh(p), |\n  twice");
    let items = complete(&mut client, &text);
    let new =
        |label: &str| items.iter().find(|i| i["label"] == label).unwrap()["textEdit"]["newText"].clone();
    assert_eq!(new("metadata"), "metadata={$0}");
    assert_eq!(new("backend_config"), "backend_config=");
    client.shut_down();
}

fn rename(client: &mut Client, text: &str, needle: &str, n: usize, new: &str) -> Result<String, String> {
    let at = position(text, needle, n, 1);
    let params = json!({ "textDocument": { "uri": URI }, "position": at, "newName": new });
    match client.request("textDocument/rename", params) {
        Ok(edit) => Ok(edited(text, edit["changes"][URI].as_array().unwrap())),
        Err(e) => Err(e["message"].as_str().unwrap().to_owned()),
    }
}

#[test]
fn rename_changes_every_place_and_no_other() {
    let mut client = Client::with(MODULE);
    let prepared = client.at("textDocument/prepareRename", position(MODULE, "%p, p", 0, 1)).unwrap();
    assert_eq!(prepared["placeholder"], "p");
    let renamed = rename(&mut client, MODULE, "%p = ", 0, "input").unwrap();
    let expected = MODULE
        .replace("(p: ", "(input: ")
        .replace("%p = ", "%input = ")
        .replace("(%p, p)", "(%input, input)")
        .replace("{p}", "{input}");
    assert_eq!(renamed, expected);
    let renamed = rename(&mut client, MODULE, "=%add", 0, "%plus").unwrap();
    assert_eq!(renamed, MODULE.replace("add (a", "plus (a").replace("%add", "%plus"));
    assert_eq!(rename(&mut client, MODULE, "sum", 0, "sum").unwrap(), MODULE);
    // A name of another computation can be used in this one.
    assert!(rename(&mut client, MODULE, "sum", 0, "zero").is_ok());
    for (needle, new, why) in [
        ("%p = ", "zero", "an instruction of this computation already, in line 11"),
        ("=%add", "main", "a computation already, in line 9"),
        ("sum", "1x", "no name"),
        ("sum", "a b", "no name"),
        ("sum", "f32", "a word of the language"),
        ("HloModule", "x", "no instruction and no computation here"),
    ] {
        let refusal = rename(&mut client, MODULE, needle, 0, new).unwrap_err();
        assert!(refusal.contains(why), "{refusal}");
    }
    client.shut_down();
}

fn format(client: &mut Client, text: &str) -> Result<Option<String>, String> {
    client.set_text(text);
    match client.whole("textDocument/formatting") {
        Ok(Value::Null) => Ok(None),
        Ok(edits) => Ok(Some(edited(text, edits.as_array().unwrap()))),
        Err(e) => Err(e["message"].as_str().unwrap().to_owned()),
    }
}

#[test]
fn formatting() {
    let mut client = Client::with("");
    let text =
        "// kept\nHloModule m\nENTRY e{p=f32[2]parameter(0) ROOT n =f32[2] negate( /*index=0*/p)}\n// too\n";
    let text = text.replace("p=f32", "p = f32");
    let formatted = format(&mut client, &text).unwrap().unwrap();
    assert!(formatted.starts_with("// kept\nHloModule m"), "{formatted}");
    assert!(
        formatted.contains("\n  ROOT %n = f32[2]") && formatted.contains(" negate(%p)\n}"),
        "{formatted}"
    );
    assert!(formatted.ends_with("}\n\n// too\n"), "{formatted}");
    assert_eq!(format(&mut client, &formatted).unwrap().as_deref(), Some(formatted.as_str()));

    let both = format!("{text}\n// -----\n\n{text}");
    let expected = format!("{formatted}\n// -----\n\n{formatted}");
    assert_eq!(format(&mut client, &both).unwrap(), Some(expected));

    assert_eq!(format(&mut client, &text.replace("negate", "negat")).unwrap(), None);
    let refusal = format(&mut client, &text.replace("ROOT n", "ROOT /* lost */ n")).unwrap_err();
    assert!(refusal.contains("the comment in line 3 would be lost"), "{refusal}");
    let kept = format(&mut client, &text.replace("ROOT n", "// a root\nROOT n")).unwrap().unwrap();
    assert!(kept.contains("(0) // a root\n  ROOT %n = "), "{kept}");
    assert_eq!(format(&mut client, "// only this\n").unwrap().as_deref(), Some("// only this\n"));
    assert_eq!(format(&mut client, "").unwrap().as_deref(), Some(""));
    client.shut_down();
}
