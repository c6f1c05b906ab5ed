//! Tests of `docs/opcodes`, the description of each opcode: its example is valid, and both engines give the result
//! that the page shows.

use hlo_client::{Client, CompileOptions};
use hlo_ir::print::print_literal;
use hlo_ir::{Module, Opcode};
use std::fmt::Write as _;
use std::process::Command;

/// Opcodes whose example needs inputs or transfers, so that the page shows no result.
const NEEDS_TRANSFER: &[Opcode] = &[Opcode::Parameter, Opcode::Infeed, Opcode::Outfeed];

/// Returns the output of `hlo-run` for a module of several devices.
fn output_of_devices(opcode: Opcode, text: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("manual");
    std::fs::create_dir_all(&folder).expect("a folder for tests");
    let file = folder.join(format!("{opcode}.hlo"));
    std::fs::write(&file, text).expect("a file for tests");
    let engine = if cfg!(feature = "codegen") { "--engine=both" } else { "--engine=eval" };
    let run = Command::new(env!("CARGO_BIN_EXE_hlo-run")).arg(engine).arg(&file).output().expect("hlo-run");
    assert!(run.status.success(), "{opcode}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("text")
}

/// Returns the result of each engine as `hlo-run` prints it.
fn outputs(client: &Client, opcode: Opcode, text: &str, module: &Module) -> Vec<String> {
    if module.header.replica_count.0 > 1 || module.header.num_partitions.0 > 1 {
        return vec![output_of_devices(opcode, text)];
    }
    let run = |&engine: &hlo_client::Engine| {
        let options = CompileOptions { engine: Some(engine), threads: 1, ..CompileOptions::default() };
        let program = client.compile(module, &options).unwrap_or_else(|e| panic!("{opcode}: {e}"));
        let result = program.run(&[]).unwrap_or_else(|e| panic!("{opcode}: {e}"));
        result.leaves().iter().map(|leaf| print_literal(leaf, None) + "\n").collect()
    };
    hlo_client::ENGINES.iter().map(run).collect()
}

#[test]
fn every_opcode_has_a_description_with_a_valid_example() {
    let client = Client::local();
    let mut wrong = String::new();
    for &opcode in Opcode::ALL {
        let manual = opcode.manual().unwrap_or_else(|| panic!("docs/opcodes has no section of `{opcode}`"));
        assert!(manual.text.starts_with(opcode.summary()), "{opcode}: the section starts with the summary");
        let module = hlo_parser::parse_module(manual.example).unwrap_or_else(|d| panic!("{opcode}: {d:?}"));
        assert!(hlo_ir::verify::verify(&module).is_empty(), "{opcode}: the example is not valid");
        let mut all = module.computations().flat_map(|c| module[c].instructions());
        assert!(all.any(|&i| module[i].opcode() == opcode), "the example of `{opcode}` lacks it");
        let Some(expected) = manual.result else {
            assert!(NEEDS_TRANSFER.contains(&opcode), "{opcode}: docs/opcodes shows no result");
            continue;
        };
        for found in outputs(&client, opcode, manual.example, &module) {
            if found != expected {
                let _ = writeln!(wrong, "{opcode}: expected\n{expected}found\n{found}");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Returns the sections of the pages: the name in the heading, and the name of the file.
pub fn sections() -> Vec<(String, String)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/opcodes");
    let mut sections = Vec::new();
    for page in crate::files::below(&folder) {
        let file = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&page).expect("a page");
        let names = text.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'));
        sections.extend(names.map(|name| (name.to_owned(), file.clone())));
    }
    sections
}

#[test]
fn every_section_describes_an_opcode() {
    let mut names: Vec<String> = sections().into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    let mut expected: Vec<&str> = Opcode::ALL.iter().map(|o| o.name()).collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
}
