//! Tests of whole files: reading, writing, and damage.
//!
//! `testdata` contains functions that JAX lowered and jaxlib serialized. Next to each file is the text that
//! jaxlib prints for it.

mod numbers;

use hlo_ir::diag::Diag;
use hlo_stablehlo::bytecode::{is_bytecode, read, write};
use hlo_stablehlo::dialect::Version;
use hlo_stablehlo::{Tree, text};

macro_rules! files {
    ($($name:literal),*) => {
        &[$(($name, include_bytes!(concat!("testdata/", $name, ".mlirbc")), include_str!(concat!("testdata/", $name, ".mlir")))),*]
    };
}

/// The name, the bytes and the text of each file.
static FILES: &[(&str, &[u8], &str)] =
    files!["control.1_13_0", "control.plain", "numbers.1_13_0", "sharded.1_17_0", "windows.0_9_0"];

fn tree(name: &str) -> Tree {
    let (_, bytes, _) = FILES.iter().find(|file| file.0 == name).expect("a file of testdata");
    read(bytes).unwrap_or_else(|diag| panic!("{name}: {diag:?}"))
}

fn version(text: &str) -> Version {
    text.parse().expect("a version")
}

#[test]
fn files_say_what_jaxlib_reads_in_them() {
    for (name, _, expected) in FILES {
        let expected = text::parse(expected).unwrap_or_else(|diags| panic!("{name}: {diags:?}"));
        assert_eq!(text::print(&tree(name)), text::print(&expected), "{name}");
    }
}

/// Returns the program after a round trip through VHLO, which does not record which attributes were absent.
fn without_defaults(tree: &Tree) -> Tree {
    write(tree, Version::CURRENT).and_then(|bytes| read(&bytes)).expect("what was written")
}

#[test]
fn what_is_written_reads_back() {
    for (name, _, _) in FILES {
        let tree = without_defaults(&tree(name));
        for target in ["1.13.0", "1.17.3", "1.20.0"] {
            let bytes =
                write(&tree, version(target)).unwrap_or_else(|diag| panic!("{name} {target}: {diag:?}"));
            let mut header = b"ML\xefR\x0dStableHLO_v".to_vec();
            header.extend(target.as_bytes());
            assert!(bytes.starts_with(&header), "{name} {target}");
            let again = read(&bytes).unwrap_or_else(|diag| panic!("{name} {target}: {diag:?}"));
            assert_eq!(text::print(&again), text::print(&tree), "{name} {target}");
        }
    }
    // The targets use different versions of the bytecode.
    for target in ["0.9.0", "0.10.0", "0.12.0", "0.14.0", "0.15.0", "1.0.0"] {
        for name in ["windows.0_9_0", "control.1_13_0"] {
            let tree = tree(name);
            let again = write(&tree, version(target)).and_then(|bytes| read(&bytes));
            let again = again.unwrap_or_else(|diag| panic!("{name} {target}: {diag:?}"));
            assert_eq!(text::print(&again), text::print(&tree), "{name} {target}");
        }
    }
}

#[test]
fn locations_read_back() {
    // File ranges were introduced in version 1.9.0 of StableHLO. Older targets contain only the start of a
    // range.
    let original = tree("control.1_13_0");
    let again = write(&original, Version::CURRENT).and_then(|bytes| read(&bytes)).expect("what was written");
    assert_eq!(again.module, original.module);
}

/// Returns the error of writing a program.
fn refusal(tree: &Tree, target: &str) -> Diag {
    write(tree, version(target)).expect_err("this version lacks something")
}

#[test]
fn older_versions_refuse_what_they_lack() {
    let diag = refusal(&tree("numbers.1_13_0"), "1.8.0");
    assert!(diag.message.contains("`result_accuracy`") && diag.message.contains("1.8.0"), "{diag:?}");
    assert_eq!(diag.notes[0], "in `stablehlo.exponential`");
    let diag = refusal(&tree("sharded.1_17_0"), "1.10.0");
    assert_eq!(
        diag.message,
        "what is mixed in of other dialects came with version 1.11.0, but 1.10.0 is written"
    );
    assert_eq!(diag.notes[0], "in `sdy.mesh`");
    for target in ["0.8.0", "1.21.0"] {
        assert!(refusal(&Tree::new(), target).message.contains("from 0.9.0 to 1.20.0 are written"));
    }
}

#[test]
fn every_operation_has_attributes_in_each_version() {
    // The text contains each attribute of the newest version, so only the version determines the result.
    let text = r#"
        func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi64>) -> tensor<4xf32> {
          %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %s = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %s : tensor<f32>
          }) : (tensor<4xf32>) -> tensor<4xf32>
          %1 = stablehlo.tanh %0 : tensor<4xf32>
          %2 = stablehlo.custom_call @target(%1) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
          return %2 : tensor<4xf32>
        }"#;
    let tree = text::parse(text).expect("a function");
    for target in ["0.9.0", "1.4.0", "1.5.0", "1.10.0", "1.18.0", "1.20.0"] {
        let again = write(&tree, version(target)).and_then(|bytes| read(&bytes));
        assert_eq!(text::print(&again.expect(target)), text::print(&tree), "{target}");
    }
    let unary = text
        .replace("(%x) <{", "(%x, %x) <{")
        .replace(
            "(tensor<4xf32>) -> tensor<4xf32>\n          %1",
            "(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)\n          %1",
        )
        .replace("%0 = ", "%0:2 = ")
        .replace("tanh %0 ", "tanh %0#0 ");
    let tree = text::parse(&unary).expect("a function");
    let diag = refusal(&tree, "1.4.0");
    assert!(diag.message.starts_with("a collective operation of several operands came with version 1.5.0"));
    let chlo = "func.func @f(%x: tensor<f32>) -> tensor<f32> { %0 = chlo.erf %x : tensor<f32> -> tensor<f32> return %0 : tensor<f32> }";
    let diag = refusal(&text::parse(chlo).expect("a function"), "1.20.0");
    assert_eq!(diag.message, "`chlo.erf`, which VHLO has not: it has to be expanded first");
}

/// The generator SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Returns a file with a few bytes changed, removed, inserted or cut off.
fn damaged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(6) {
            _ if bytes.is_empty() => {}
            0 => bytes[at] = random.next() as u8,
            1 => bytes[at] ^= 1 << random.below(8),
            2 => bytes.truncate(at),
            3 => bytes.insert(at, random.next() as u8),
            4 => drop(bytes.remove(at)),
            _ => bytes[at] = bytes[random.below(bytes.len())],
        }
    }
    bytes
}

#[test]
fn damaged_files_are_refused_or_read() {
    let mut random = Random(1);
    let mut read_all_the_same = 0;
    for (name, bytes, _) in FILES {
        for round in 0..1000 {
            let Ok(tree) = read(&damaged(bytes, &mut random)) else { continue };
            read_all_the_same += 1;
            // A damaged file that can be read may contain an invalid program. It must still survive a round
            // trip.
            if let Ok(bytes) = write(&tree, Version::CURRENT) {
                assert!(read(&bytes).is_ok(), "{name}, round {round}");
            }
        }
    }
    assert!(read_all_the_same > 100, "{read_all_the_same} of the damaged files are read: nothing was tried");
}

/// Returns a file with attributes of `builtin` that consist of the given bytes, and with the operations `ir`.
fn file(attributes: &[Vec<u8>], ir: &[u8]) -> Vec<u8> {
    let number = |n: usize, out: &mut Vec<u8>| {
        out.push(0);
        out.extend((n as u64).to_le_bytes());
    };
    let mut out = b"ML\xefR\x0dtest\0".to_vec();
    let mut section = |id: u8, content: &[u8]| {
        out.push(id);
        number(content.len(), &mut out);
        out.extend(content);
    };
    // Two strings, `builtin` and `module`, one dialect, one operation.
    section(0, b"\x05\x0f\x11builtin\0module\0");
    section(1, b"\x03\x01\x03\x01\x03\x07");
    let (mut offsets, mut data) = (Vec::new(), Vec::new());
    number(attributes.len(), &mut offsets);
    number(0, &mut offsets);
    number(0, &mut offsets);
    number(attributes.len(), &mut offsets);
    for bytes in attributes {
        number(bytes.len() << 1 | 1, &mut offsets);
        data.extend(bytes);
    }
    section(3, &offsets);
    section(2, &data);
    section(4, ir);
    section(8, b"\x01");
    out
}

/// Encodes a number in nine bytes.
fn wide(number: usize) -> Vec<u8> {
    let mut out = vec![0];
    out.extend((number as u64).to_le_bytes());
    out
}

/// Returns the bytes of a module that has the attribute 0. Its location is the last of `count` attributes.
fn module(count: usize) -> Vec<u8> {
    let mut ir = vec![0x05, 0x01, 0x01 | 0x10];
    ir.extend(wide(count - 1));
    // Its attributes, and one region without blocks.
    ir.extend([0x01, 0x05, 0x01]);
    ir
}

#[test]
fn what_refers_to_itself_or_nests_too_deeply_is_refused() {
    let array = |parts: &[usize]| {
        let mut bytes = vec![0x01, (parts.len() as u8) << 1 | 1];
        parts.iter().for_each(|&part| bytes.extend(wide(part)));
        bytes
    };
    let dictionary = |value: usize| {
        let mut bytes = vec![0x03, 0x03];
        bytes.extend(wide(1));
        bytes.extend(wide(value));
        bytes
    };
    let string = || vec![0x05, 0x01];
    let unknown = || vec![15 << 1 | 1];
    let message = |attributes: Vec<Vec<u8>>| match read(&file(&attributes, &module(attributes.len()))) {
        Ok(_) => "read".to_string(),
        Err(diag) => diag.message,
    };
    // A dictionary with one array. `inner` contains the entries.
    let with = |inner: Vec<Vec<u8>>| {
        let mut all = vec![dictionary(2), string()];
        all.extend(inner);
        all.push(unknown());
        message(all)
    };
    assert_eq!(with(vec![array(&[])]), "read");
    assert_eq!(with(vec![array(&[2])]), "attribute 2 is part of itself");
    assert_eq!(with(vec![array(&[3]), array(&[2])]), "attribute 2 is part of itself");
    let chain: Vec<_> = (0..10_000).map(|at| array(&[at + 3])).chain([array(&[])]).collect();
    assert_eq!(with(chain), "attributes or types nest too deeply");
    // Each array refers twice to the next one, so the size doubles.
    let doubling: Vec<_> = (0..60).map(|at| array(&[at + 3, at + 3])).chain([array(&[])]).collect();
    assert_eq!(with(doubling), "attributes or types nest too deeply");
    // Nesting of calls is cut off.
    let calls = |depth: usize| {
        let mut all = vec![dictionary(1), string(), unknown()];
        for at in 0..depth {
            let mut call = vec![10 << 1 | 1];
            call.extend(wide(2));
            call.extend(wide(at + 2));
            all.push(call);
        }
        message(all)
    };
    assert_eq!(calls(300), "read");
    assert_eq!(calls(20_000), "read");
}

#[test]
fn regions_that_nest_too_deeply_are_refused() {
    let nested = |depth: usize| {
        // Each module has one region with one block, one operation and no values. The last module has a
        // region without blocks.
        let mut ir = vec![0x05];
        for _ in 0..depth {
            ir.extend([0x01, 0x10, 0x01, 0x05, 0x03, 0x01, 0x05]);
        }
        ir.extend([0x01, 0x10, 0x01, 0x05, 0x01]);
        read(&file(&[vec![15 << 1 | 1]], &ir)).map_err(|diag| diag.message)
    };
    assert!(nested(100).is_ok(), "{:?}", nested(100));
    assert_eq!(nested(200), Err("regions nest too deeply".into()));
    assert_eq!(nested(100_000), Err("regions nest too deeply".into()));
}

#[test]
fn what_is_no_bytecode_is_refused() {
    for (bytes, expected) in [
        (&b""[..], "this is no MLIR bytecode"),
        (b"module {}", "this is no MLIR bytecode"),
        (b"ML\xefR", "1 bytes are expected"),
        (b"ML\xefR\x0f", "bytecode of version 7"),
        (b"ML\xefR\x0dtest\0", "the bytecode has no section of strings"),
        (b"ML\xefR\x0dtest", "a text has no end"),
    ] {
        let diag = read(bytes).expect_err("no bytecode");
        assert!(diag.message.starts_with(expected), "{diag:?}");
    }
}

/// Reads all files of the folder in the variable `HLO_BYTECODE` and writes them again.
#[test]
fn files_of_a_folder_read_back() {
    let Some(folder) = std::env::var_os("HLO_BYTECODE") else { return };
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let bytes = std::fs::read(&path).expect("a file");
        if !is_bytecode(&bytes) {
            continue;
        }
        let tree = read(&bytes).unwrap_or_else(|diag| panic!("{}: {diag:?}", path.display()));
        match write(&tree, Version::CURRENT) {
            Ok(bytes) => {
                let again = read(&bytes).unwrap_or_else(|diag| panic!("{}: {diag:?}", path.display()));
                assert_eq!(text::print(&again), text::print(&tree), "{}", path.display());
            }
            // A file in StableHLO's own dialects may contain something that VHLO lacks.
            Err(diag) => assert!(diag.message.contains("which VHLO has not"), "{}: {diag:?}", path.display()),
        }
    }
}
