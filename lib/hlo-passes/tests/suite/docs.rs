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
