//! Checks that the fuzzers' dictionary matches the opcode table. `BLESS=1` rewrites it.

use std::path::Path;

#[test]
fn is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/hlo.dict");
    let expected = hlo_testing::dictionary::dictionary();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let found = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert_eq!(found, expected, "BLESS=1 cargo test -p hlo-testing dictionary:: writes it anew");
}
