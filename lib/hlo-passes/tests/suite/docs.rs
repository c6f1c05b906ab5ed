//! `docs/passes.md` is up to date with the registry. `BLESS=1` writes it.

use std::path::Path;

#[test]
fn the_page_of_the_passes_is_current() {
    hlo_passes_xla::register();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/passes.md");
    let expected =
        hlo_passes::passes_markdown(&|text| hlo_parser::parse_module(text).expect("an example of a pass"));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "docs/passes.md is out of date: BLESS=1 cargo test -p hlo-passes docs::");
}

/// `docs/adding-a-pass.md` lists functions and fields for patterns. Each must exist.
#[test]
fn the_functions_for_patterns_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/adding-a-pass.md")).expect("the page");
    let sources = ["src/support/rewrite.rs", "../hlo-ir/src/build/mod.rs"];
    let code: String = sources.iter().filter_map(|p| std::fs::read_to_string(root.join(p)).ok()).collect();
    let names: Vec<&str> = page
        .match_indices("cx.")
        .map(|(at, prefix)| &page[at + prefix.len()..])
        .map(|rest| &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())])
        .collect();
    assert!(names.len() > 5, "the page names functions: {names:?}");
    for name in names {
        let exists = code.contains(&format!("pub fn {name}(")) || code.contains(&format!("pub {name}: "));
        assert!(exists, "docs/adding-a-pass.md names `cx.{name}`");
    }
}
