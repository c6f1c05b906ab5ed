//! Regression tests of fuzzing: every input in `test/fuzz-regressions/{parse,hlo_opt,forms}` and every test module
//! must satisfy the properties of the fuzz targets. `HLO_FUZZ_CORPUS=DIR` replays a directory with the same
//! subdirectories instead.

use crate::files;
use hlo_testing::check;
use std::path::{Path, PathBuf};

/// Checks a property of the text of every file below `dir`. Skips files that are not UTF-8.
fn replay(dir: &Path, largest: u64, property: impl Fn(&str) -> check::Check) -> usize {
    let mut failures = Vec::new();
    let mut count = 0;
    for file in files::below(dir) {
        let small = std::fs::metadata(&file).is_ok_and(|m| m.len() <= largest);
        let Some(text) = small.then(|| std::fs::read_to_string(&file).ok()).flatten() else { continue };
        count += 1;
        // A panic ends the test. This line then shows the file.
        println!("{}", file.display());
        if let Err(finding) = property(&text) {
            failures.push(format!("{}: {finding}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    count
}

fn corpus() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/fuzz-regressions");
    std::env::var_os("HLO_FUZZ_CORPUS").map_or(own, PathBuf::from)
}

#[test]
fn parse_regressions() {
    assert!(replay(&corpus().join("parse"), 1 << 20, |t| check::parse(t).map(drop)) > 0);
}

#[test]
fn hlo_opt_regressions() {
    assert!(replay(&corpus().join("hlo_opt"), 1 << 20, check::hlo_opt) > 0);
}

/// A program in any form that is read and valid prints as text that parses to the same program.
#[test]
fn forms_regressions() {
    let files = files::below(&corpus().join("forms"));
    for file in &files {
        let bytes = std::fs::read(file).expect("a regression");
        let Ok(program) = hlo_forms::read(&bytes) else { continue };
        if hlo_ir::verify::verify(&program.module).is_empty() {
            check::reads_back(&program.module)
                .unwrap_or_else(|finding| panic!("{}: {finding}", file.display()));
        }
    }
    assert!(!files.is_empty());
}

#[test]
fn test_modules() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("test");
    assert!(replay(&tests, 1 << 14, |t| check::parse(t).map(drop)) > 100);
}
