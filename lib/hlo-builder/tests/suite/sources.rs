//! Reads the public methods of the crate from its sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns the files in a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).expect("the sources").map(|e| e.expect("a source").path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the public methods of the crate's types as `Type::method`. This includes methods that macros
/// generate from lines that contain a name, an opcode and a summary.
pub fn public_methods() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut methods = BTreeSet::new();
    for path in files(&folder) {
        let text = std::fs::read_to_string(path).expect("a source");
        let mut of = String::new();
        let mut macros = false;
        for line in text.lines() {
            if !line.starts_with(char::is_whitespace) {
                macros = matches!(line, "unary! {" | "binary! {" | "comparisons! {");
                if line.starts_with("impl") {
                    of = implemented(line);
                }
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["pub", "fn", rest, ..] if !rest.starts_with('$') => {
                    let name: String =
                        rest.chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect();
                    methods.insert(format!("{of}::{name}"));
                }
                [name, total, _, summary, ..] if macros && total.ends_with("total_order") => {
                    assert!(summary.starts_with('"'), "{line}");
                    methods.insert(format!("Value::{name}"));
                    methods.insert(format!("Value::{total}"));
                }
                [name, _, summary, ..] if macros && summary.starts_with('"') => {
                    methods.insert(format!("Value::{name}"));
                }
                _ => {}
            }
        }
    }
    methods
}

/// Returns the type of an `impl`.
fn implemented(line: &str) -> String {
    let rest = line.rsplit(" for ").next().unwrap_or(line).trim_start_matches("impl");
    let rest =
        if rest.starts_with('<') { rest.split_once("> ").map_or(rest, |(_, rest)| rest) } else { rest };
    rest.trim().chars().take_while(|&c| c.is_alphanumeric() || c == '_').collect()
}

#[test]
fn methods_are_found_whoever_makes_them() {
    let methods = public_methods();
    for name in [
        "Builder::parameter",
        "Value::exp",
        "Value::max",
        "Value::lt_total_order",
        "Value::dot",
        "Computation::of",
        "Convolution::dimension_numbers",
        "Padding::amounts",
    ] {
        assert!(methods.contains(name), "{name} is missing of {methods:?}");
    }
    // Methods that are not public are excluded.
    assert!(!methods.contains("Value::together") && !methods.contains("Builder::add"));
}
