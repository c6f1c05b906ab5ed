//! Tests of programs for other machines: the contents of their object files. Programs that this computer can
//! run must produce the same results.

use super::build::{build, link_c, run, succeeds};
use super::{CASES, Case, ELEMENTWISE, MLP, expected};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind};
use std::path::Path;
use std::process::Command;

const OBJDUMP: &str = "/usr/lib/llvm-22/bin/llvm-objdump";

/// Returns the disassembly of an object file, or `None` if LLVM's tool is not installed.
fn disassembly(object: &Path) -> Option<String> {
    Path::new(OBJDUMP).exists().then(|| {
        let mut command = Command::new(OBJDUMP);
        command.args(["-d", "--no-show-raw-insn"]).arg(object);
        String::from_utf8(succeeds(&mut command)).unwrap()
    })
}

/// Checks the properties of all object files: one visible function, no unwind tables, and no writable data.
fn check_object(name: &str, object: &Path, architecture: Architecture) {
    let bytes = std::fs::read(object).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    assert_eq!(file.architecture(), architecture, "{name}");
    let visible: Vec<&str> =
        file.symbols().filter(|s| s.is_global() && s.is_definition()).map(|s| s.name().unwrap()).collect();
    assert_eq!(visible, [name]);
    assert!(file.section_by_name(".eh_frame").is_none(), "{name} has unwind tables");
    let local =
        file.symbols().filter(|s| s.is_local() && s.is_definition() && s.kind() == object::SymbolKind::Text);
    for symbol in local {
        assert!(symbol.name().unwrap().starts_with(&format!("{name}.")), "{:?}", symbol.name());
    }
    for section in file.sections() {
        let written =
            matches!(section.kind(), SectionKind::Data | SectionKind::UninitializedData | SectionKind::Tls);
        let read_only_after_linking = section.name().unwrap().starts_with(".data.rel.ro");
        assert!(!written || section.size() == 0 || read_only_after_linking, "{name}: {:?}", section.name());
    }
}

#[test]
fn objects_show_nothing_but_their_entry() {
    for case in CASES {
        let name = format!("object_{}", case.name);
        let built = build(&name, case.text, &["--target=x86_64", "--cpu=x86-64-v3"]);
        check_object(&name, &built.object(), Architecture::X86_64);
    }
}

#[test]
fn programs_for_arm_are_arm_code() {
    for case in CASES {
        let name = format!("arm_{}", case.name);
        let built = build(&name, case.text, &["--target=aarch64", "--threads=1", "--runtime=none"]);
        check_object(&name, &built.object(), Architecture::Aarch64);
        let Some(code) = disassembly(&built.object()) else { continue };
        assert!(code.contains("file format elf64-littleaarch64") && code.contains("ret"), "{code}");
        assert!(!code.contains("<unknown>"), "{name}: {code}");
    }
    let built = build(
        "arm_sve",
        ELEMENTWISE.text,
        &["--target=aarch64-linux-gnu", "--cpu=neoverse-v1", "--threads=1"],
    );
    check_object("arm_sve", &built.object(), Architecture::Aarch64);
}

#[test]
fn levels_of_x86_64_have_their_registers_and_the_same_results() {
    let runs = |level: &str| -> bool {
        match level {
            "x86-64" => cfg!(target_arch = "x86_64"),
            #[cfg(target_arch = "x86_64")]
            "x86-64-v2" => is_x86_feature_detected!("sse4.2"),
            #[cfg(target_arch = "x86_64")]
            "x86-64-v3" => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            "x86-64-v4" => is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl"),
            _ => false,
        }
    };
    let small_types = CASES.iter().find(|c| c.name == "small_types").unwrap();
    for case in [&ELEMENTWISE, &MLP, small_types] {
        let (arguments, bits, _) = expected(case.text);
        for level in ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"] {
            let name = format!("level_{}_{}", case.name, level.replace('-', "_"));
            let built = build(&name, case.text, &["--target=x86_64-unknown-linux-gnu", "--cpu", level]);
            if let Some(code) = disassembly(&built.object()) {
                assert!(!code.contains("%zmm") || level == "x86-64-v4", "{name}");
                assert!(!code.contains("%ymm") || level >= "x86-64-v3", "{name}");
                // Nine elements are too few to fill whole registers.
                let long = case.name != small_types.name;
                assert!(code.contains("%ymm") || level < "x86-64-v3" || !long, "{name}");
            }
            if runs(level) {
                let program = link_c(&built, case.arguments, case.results);
                same_values(&name, case, &run(&program, "", &arguments.concat()), &bits);
            }
        }
    }
}

/// Compares results with those of this computer's CPU. Generated code produces the same bits on all CPUs.
fn same_values(name: &str, case: &Case, written: &[u8], bits: &[Vec<u8>]) {
    let wanted = bits.concat();
    assert_eq!(written.len(), wanted.len(), "{name}");
    assert!(written == &wanted[..], "{name}: other bits than this computer's CPU gives for {}", case.name);
}

#[test]
fn features_are_added_and_taken_away() {
    let with = build("with_avx2", ELEMENTWISE.text, &["--cpu=x86-64", "--features=+avx2,+fma"]);
    let without =
        build("without_avx", ELEMENTWISE.text, &["--target=x86_64", "--cpu=x86-64-v3", "--features=-avx"]);
    if let (Some(with), Some(without)) = (disassembly(&with.object()), disassembly(&without.object())) {
        assert!(with.contains("%ymm") && !without.contains("%ymm"));
    }
}
