//! Checks that the files in `editors/` are valid and match the opcode table and Tile's functions. `BLESS=1`
//! rewrites the generated parts.

use fancy_regex::Regex;
use hlo_ir::{ElementType, Opcode};
use serde_json::{Value, json};
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../editors").join(name)
}

fn json(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file(name)).unwrap()).unwrap()
}

const HLO: &str = "vscode/syntaxes/hlo.tmLanguage.json";
const TILE: &str = "vscode/syntaxes/tile.tmLanguage.json";

const NOT_IN_NAME: &str = "(?<![A-Za-z0-9_.%-])";

/// Returns a pattern that matches one of the words, preferring longer ones.
fn one_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut words: Vec<&str> = words.collect();
    words.sort_by_key(|w| (std::cmp::Reverse(w.len()), *w));
    words.dedup();
    format!("(?:{})", words.join("|"))
}

/// Returns the patterns of a grammar that are generated from tables, with the comment that precedes each of
/// them.
fn generated(grammar: &str) -> Vec<(&'static str, String)> {
    if grammar == TILE {
        let called = hlo_tile::builtin_names().filter(|name| !matches!(*name, "DType" | "SortDirection"));
        return vec![("functions", format!("(?<![A-Za-z0-9_.]){}(?=\\s*\\()", one_of(called)))];
    }
    let opcodes = one_of(Opcode::ALL.iter().map(|o| o.name()));
    let types = one_of(ElementType::ALL.iter().map(|t| t.name()).chain(["token", "opaque"]));
    let callees = one_of(hlo_parser::outline::COMPUTATION_ATTRIBUTES.iter().map(|(name, _)| *name));
    vec![
        ("opcodes", format!("{NOT_IN_NAME}{opcodes}(?:-start|-update|-done)?(?=\\()")),
        ("element types", format!("{NOT_IN_NAME}{types}(?=\\s*\\[)")),
        ("computation attributes", format!("{NOT_IN_NAME}({callees})=(%?[A-Za-z_][A-Za-z0-9_.-]*)")),
    ]
}

#[test]
fn the_grammars_are_current() {
    for grammar in [HLO, TILE] {
        is_current(grammar);
    }
}

fn is_current(grammar: &str) {
    let written = std::fs::read_to_string(file(grammar)).unwrap();
    let mut expected = String::new();
    let mut pattern = None;
    for line in written.split_inclusive('\n') {
        let indent = &line[..line.len() - line.trim_start().len()];
        match pattern.take() {
            Some(pattern) => expected.push_str(&format!("{indent}\"match\": {},\n", Value::String(pattern))),
            None => expected.push_str(line),
        }
        let is_before = |(name, _): &(&str, _)| line.trim() == format!("\"comment\": \"generated: {name}\",");
        pattern = generated(grammar).into_iter().find(is_before).map(|(_, pattern)| pattern);
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(file(grammar), &expected).unwrap();
    } else {
        assert_eq!(written, expected, "BLESS=1 cargo test -p hlo-lsp editors:: rewrites it");
    }
    for (name, _) in generated(grammar) {
        assert!(written.contains(&format!("generated: {name}")), "{name}");
    }
}

#[test]
fn the_extension_names_files_that_are_there() {
    let package = json("vscode/package.json");
    let contributes = &package["contributes"];
    let is_there = |path: &Value| assert!(file("vscode").join(path.as_str().unwrap()).is_file(), "{path}");
    is_there(&package["main"]);
    for (n, (id, grammar)) in [("hlo", HLO), ("tile", TILE)].into_iter().enumerate() {
        let (language, highlighting) = (&contributes["languages"][n], &contributes["grammars"][n]);
        assert_eq!((&language["id"], &highlighting["language"]), (&json!(id), &json!(id)));
        assert_eq!(language["extensions"], json!([format!(".{id}")]));
        is_there(&highlighting["path"]);
        assert_eq!(highlighting["scopeName"], json(grammar)["scopeName"]);
        is_there(&language["configuration"]);
        let configuration = json(&format!("vscode/{}", language["configuration"].as_str().unwrap()));
        assert!(Regex::new(configuration["wordPattern"].as_str().unwrap()).is_ok());
        for rule in configuration["onEnterRules"].as_array().into_iter().flatten() {
            assert!(Regex::new(rule["beforeText"].as_str().unwrap()).is_ok(), "{rule}");
        }
    }
    // The extension connects all languages to the server. StableHLO is only highlighted by the server.
    let script = std::fs::read_to_string(file("vscode/extension.js")).unwrap();
    for language in contributes["languages"].as_array().unwrap() {
        is_there(&language["configuration"]);
        assert!(script.contains(&format!("{{ language: {} }}", language["id"])), "{language}");
    }
}

/// A rule of the grammar for text within a line, with the scopes of its groups.
struct Rule {
    regex: Regex,
    scopes: Vec<(usize, String)>,
}

/// Collects the rules in order. A rule with a beginning and an end becomes a single pattern, because both are
/// on one line here.
fn rules(grammar: &Value, patterns: &Value, out: &mut Vec<Rule>) {
    for p in patterns.as_array().unwrap() {
        if let Some(include) = p["include"].as_str() {
            let included = &grammar["repository"][include.strip_prefix('#').unwrap()];
            rules(grammar, &Value::Array(vec![included.clone()]), out);
            continue;
        }
        let source = match (p["match"].as_str(), p["begin"].as_str(), p["end"].as_str()) {
            (Some(source), ..) => source.to_owned(),
            (None, Some(begin), Some(end)) => format!("{begin}(?:\\\\.|.)*?{end}"),
            _ => {
                rules(grammar, &p["patterns"], out);
                continue;
            }
        };
        let mut scopes: Vec<(usize, String)> =
            p["name"].as_str().map(|n| (0, n.to_owned())).into_iter().collect();
        for (group, capture) in p["captures"].as_object().into_iter().flatten() {
            scopes.push((group.parse().unwrap(), capture["name"].as_str().unwrap().to_owned()));
        }
        out.push(Rule { regex: Regex::new(&source).unwrap_or_else(|e| panic!("{source}: {e}")), scopes });
    }
}

/// Returns the scoped pieces of a line. The rule with the earliest match applies; of several, the first one.
fn highlight(rules: &[Rule], line: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let matches = rules.iter().filter_map(|r| Some((r, r.regex.captures_from_pos(line, at).unwrap()?)));
        let Some((rule, captures)) = matches.min_by_key(|(_, c)| c.get(0).unwrap().start()) else { break };
        for (group, scope) in &rule.scopes {
            if let Some(m) = captures.get(*group) {
                out.push((m.as_str().to_owned(), scope.split('.').take(2).collect::<Vec<_>>().join(".")));
            }
        }
        let whole = captures.get(0).unwrap();
        at = whole.end().max(whole.start() + 1);
    }
    out
}

/// Returns the rules of a grammar.
fn rules_of(grammar: &str) -> Vec<Rule> {
    let grammar = json(grammar);
    let mut all = Vec::new();
    rules(&grammar, &grammar["patterns"], &mut all);
    all
}

/// Checks the scoped pieces of lines.
fn check(rules: &[Rule], lines: &[(&str, &[(&str, &str)])]) {
    for (line, expected) in lines {
        let expected: Vec<_> = expected.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        assert_eq!(highlight(rules, line), expected, "{line}");
    }
}

#[test]
fn lines_of_hlo_are_highlighted() {
    let all = rules_of(HLO);
    check(
        &all,
        &[
            (
                "HloModule jit_f.1, is_scheduled=true",
                &[
                    ("HloModule", "keyword.control"),
                    ("jit_f.1", "entity.name"),
                    ("is_scheduled", "entity.other"),
                    ("true", "constant.language"),
                ],
            ),
            (
                "ENTRY %main.5 (p: f32[4]) -> f32[4] {",
                &[
                    ("ENTRY", "keyword.control"),
                    ("%main.5", "entity.name"),
                    ("p", "variable.other"),
                    ("f32", "storage.type"),
                    ("4", "constant.numeric"),
                    ("f32", "storage.type"),
                    ("4", "constant.numeric"),
                ],
            ),
            ("region_0.2 {", &[("region_0.2", "entity.name")]),
            (
                "  ROOT %sum.1 = bf16[] add-start(%a, b.2), to_apply=%add, metadata={op_name=\"a \\\" // b\"} // c",
                &[
                    ("ROOT", "keyword.control"),
                    ("%sum.1", "variable.other"),
                    ("bf16", "storage.type"),
                    ("add-start", "support.function"),
                    ("%a", "variable.other"),
                    ("b.2", "variable.other"),
                    ("to_apply", "entity.other"),
                    ("%add", "entity.name"),
                    ("metadata", "entity.other"),
                    ("op_name", "entity.other"),
                    ("\"a \\\" // b\"", "string.quoted"),
                    ("// c", "comment.line"),
                ],
            ),
            (
                "  add = (f32[], /*index=1*/token[]) all-reduce-start(f32), dimensions={0,1}",
                &[
                    ("add", "variable.other"),
                    ("f32", "storage.type"),
                    ("/*index=1*/", "comment.block"),
                    ("token", "storage.type"),
                    ("all-reduce-start", "support.function"),
                    ("f32", "variable.other"),
                    ("dimensions", "entity.other"),
                    ("0", "constant.numeric"),
                    ("1", "constant.numeric"),
                ],
            ),
            (
                "  c = f32[2] constant({-1.5e-3, nan})",
                &[
                    ("c", "variable.other"),
                    ("f32", "storage.type"),
                    ("2", "constant.numeric"),
                    ("constant", "support.function"),
                    ("-1.5e-3", "constant.numeric"),
                    ("nan", "constant.language"),
                ],
            ),
        ],
    );
    for &opcode in Opcode::ALL {
        let pieces = highlight(&all, &format!("  x = f32[] {}(y)", opcode.name()));
        assert!(pieces.contains(&(opcode.name().into(), "support.function".into())), "{opcode}");
    }
}

#[test]
fn lines_of_tile_are_highlighted() {
    let all = rules_of(TILE);
    check(
        &all,
        &[
            ("# tile: I: f32[2,3]", &[("# tile: I: f32[2,3]", "comment.line"), ("tile:", "keyword.other")]),
            (
                "def conv(I, s=2):  # é",
                &[
                    ("def", "keyword.control"),
                    ("conv", "entity.name"),
                    ("I", "variable.other"),
                    ("s", "variable.parameter"),
                    ("=", "keyword.operator"),
                    ("2", "constant.numeric"),
                    ("# é", "comment.line"),
                ],
            ),
            (
                "  M, N = TensorDims(2)",
                &[
                    ("M", "variable.other"),
                    ("N", "variable.other"),
                    ("=", "keyword.operator"),
                    ("TensorDims", "support.function"),
                    ("2", "constant.numeric"),
                ],
            ),
            (
                "  O[i] >= A[2*i]; O.add_constraint(i < .5)",
                &[
                    ("O", "variable.other"),
                    ("i", "variable.other"),
                    (">=", "keyword.operator"),
                    ("A", "variable.other"),
                    ("2", "constant.numeric"),
                    ("*", "keyword.operator"),
                    ("i", "variable.other"),
                    ("O", "variable.other"),
                    ("add_constraint", "support.function"),
                    ("i", "variable.other"),
                    ("<", "keyword.operator"),
                    (".5", "constant.numeric"),
                ],
            ),
            (
                "  return cast(f(exp), DType.FLOAT32) and trace(X, \"a # \\\" b\") is None",
                &[
                    ("return", "keyword.control"),
                    ("cast", "support.function"),
                    ("f", "entity.name"),
                    ("exp", "variable.other"),
                    ("DType", "support.type"),
                    ("FLOAT32", "storage.type"),
                    ("and", "keyword.control"),
                    ("trace", "support.function"),
                    ("X", "variable.other"),
                    ("\"a # \\\" b\"", "string.quoted"),
                    ("is", "keyword.control"),
                    ("None", "constant.language"),
                ],
            ),
            (
                "from nn import softmax",
                &[
                    ("from", "keyword.control"),
                    ("nn", "variable.other"),
                    ("import", "keyword.control"),
                    ("softmax", "variable.other"),
                ],
            ),
        ],
    );
}
