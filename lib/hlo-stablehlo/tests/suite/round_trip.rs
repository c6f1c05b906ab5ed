//! `import(export(m))` equals `m` except for names and tuples. Modules of `test/corpus` are exported,
//! printed, read, imported, and exported again as the same operations.

use hlo_stablehlo::{export::export, import::import, text};
use std::path::Path;

/// The step between tested modules of the corpus. `HLO_ROUND_TRIP_ALL=1` tests all of them.
const STEP: usize = 6;

/// Returns the sorted lines of a program without the names of values, because independent operations may
/// change places. Constants are omitted because the import creates them only where they are used.
fn operations(program: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | ':');
    let nameless = |line: &str| -> String {
        let mut parts = line.split('%');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |line, part| line + "%" + part.trim_start_matches(is_name))
    };
    let mut lines: Vec<String> =
        program.lines().filter(|line| !line.contains("stablehlo.constant")).map(nameless).collect();
    lines.sort();
    lines
}

#[test]
fn exported_modules_come_back() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/corpus");
    let entries = std::fs::read_dir(corpus).expect("the corpus is there");
    let mut folders: Vec<_> = entries.map(|e| e.expect("an entry").path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    let step = if std::env::var_os("HLO_ROUND_TRIP_ALL").is_some() { 1 } else { STEP };
    let mut came_back = 0;
    for folder in folders.iter().step_by(step) {
        let name = folder.display();
        let hlo = std::fs::read_to_string(folder.join("module.hlo")).expect("a module");
        let module = hlo_parser::parse_module(&hlo).expect("a module");
        let tree = match export(&module) {
            Ok(tree) => tree,
            Err(errors) => {
                assert!(
                    errors.iter().all(|e| e.message.ends_with("has no StableHLO form")),
                    "{name}: {errors:?}"
                );
                continue;
            }
        };
        let printed = text::print(&tree);
        let read = text::parse(&printed).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let back = import(&read).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let again = export(&back).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(operations(&text::print(&again)), operations(&printed), "{name}");
        came_back += 1;
    }
    assert!(came_back * 10 > folders.len() / step * 9, "{came_back} of {} came back", folders.len() / step);
}
