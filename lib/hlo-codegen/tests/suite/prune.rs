//! Tests of the extraction of parts of libraries, with a library built by a C compiler.

use hlo_codegen::aot::archive::PartError;
use hlo_codegen::internals::prune;
use object::{Object, ObjectSymbol, elf};
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: [(&str, &str); 3] = [
    (
        "a",
        "int helper(int x); static int table[2] = {1, 2}; extern int unused_data[];
         int used(int x) { return helper(x) + table[x & 1]; } int unused(int x) { return unused_data[x]; }",
    ),
    ("b", "int helper(int x) { return x * 2; } int other(void) { return 5; } int unused_data[100] = {1};"),
    ("c", "int never(void) { return 1; }"),
];

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Builds a library from the sources in a folder of the test.
fn library(name: &str) -> (PathBuf, Vec<u8>) {
    let folder = std::env::temp_dir().join(format!("hlo-prune-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut archive = Command::new("ar");
    archive.arg("rcs").arg(folder.join("whole.a"));
    for (name, text) in SOURCES {
        let source = folder.join(format!("{name}.c"));
        std::fs::write(&source, text).unwrap();
        let object = source.with_extension("o");
        let mut command = Command::new("gcc");
        command.args(["-c", "-O1", "-g", "-fPIC", "-ffunction-sections", "-fdata-sections"]);
        succeeds(command.args(["-fasynchronous-unwind-tables", "-o"]).arg(&object).arg(&source));
        archive.arg(object);
    }
    succeeds(&mut archive);
    let bytes = std::fs::read(folder.join("whole.a")).unwrap();
    (folder, bytes)
}

fn machine() -> (u16, &'static str) {
    if cfg!(target_arch = "x86_64") { (elf::EM_X86_64, "x86_64") } else { (elf::EM_AARCH64, "aarch64") }
}

fn definitions(object: &[u8]) -> Vec<(String, bool)> {
    let file = object::File::parse(object).unwrap();
    let defined = file.symbols().filter(|s| s.is_definition() && !s.is_local());
    defined.map(|s| (s.name().unwrap().to_string(), s.is_weak())).collect()
}

/// Links objects, each of them twice, with a program that returns `used(20)`.
fn run(folder: &Path, members: &[(String, Vec<u8>)]) -> i32 {
    let main = folder.join("main.c");
    std::fs::write(&main, "int used(int x); int main(void) { return used(20); }").unwrap();
    let program = folder.join("program");
    let mut command = Command::new("gcc");
    command.arg("-Wl,--fatal-warnings").arg("-o").arg(&program).arg(&main);
    for copy in ["x", "y"] {
        for (name, bytes) in members {
            let file = folder.join(format!("{copy}_{name}"));
            std::fs::write(&file, bytes).unwrap();
            command.arg(file);
        }
    }
    succeeds(&mut command);
    Command::new(program).status().unwrap().code().unwrap()
}

#[test]
fn what_is_needed_is_taken_and_nothing_else() {
    let (folder, whole) = library("part");
    let members = prune(&whole, &["used".into()], machine()).unwrap();
    let names: Vec<&str> = members.iter().map(|m| m.0.as_str()).collect();
    assert_eq!(names, ["a.o", "b.o"]);
    assert_eq!(definitions(&members[0].1), [("used".to_string(), true)]);
    assert_eq!(definitions(&members[1].1), [("helper".to_string(), true)]);
    for (_, bytes) in &members {
        let file = object::File::parse(&**bytes).unwrap();
        assert!(
            file.section_by_name(".debug_info").is_none()
                && file.section_by_name(".note.GNU-stack").is_some()
        );
        // No symbol refers to removed code, and each function has one unwind record.
        assert!(!file.symbols().any(|s| s.name() == Ok("unused_data")));
    }
    assert_eq!(run(&folder, &members), 41);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_with_a_library_is_said() {
    let (folder, whole) = library("wrong");
    let missing = prune(&whole, &["absent".into()], machine()).unwrap_err();
    assert_eq!(missing, PartError::Missing("absent".into()));
    let other = prune(&whole, &["used".into()], (elf::EM_RISCV, "riscv64")).unwrap_err();
    assert!(matches!(other, PartError::Machine { expected: "riscv64", .. }));
    for bytes in [&b""[..], b"no archive", b"!<arch>\n"] {
        assert!(matches!(
            prune(bytes, &["used".into()], machine()),
            Err(PartError::Format(_) | PartError::Missing(_))
        ));
    }
    // Damaged files cause errors, but no panics.
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0xff;
        let _ = prune(&damaged, &["used".into()], machine());
        let _ = prune(&whole[..at], &["used".into()], machine());
    }
    std::fs::remove_dir_all(folder).unwrap();
}
