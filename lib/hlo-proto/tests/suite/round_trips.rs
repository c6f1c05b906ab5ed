//! Round trips of modules through messages.

use crate::{fixture, parsed};
use hlo_ir::Module;
use hlo_proto::file::{self, FileKind};
use hlo_proto::{from_module_with_config, to_module_with_config};
use std::path::{Path, PathBuf};

/// Size in bytes of the largest file to test. Larger files take too long in a test build.
const MAX_FILE_BYTES: u64 = 40_000;

/// Writes a module in binary form with its configuration and reads it back.
fn back(module: &Module) -> Module {
    let written = file::write(module, FileKind::ModuleWithConfig).expect("tuples nest little");
    let file = file::read(&written).unwrap_or_else(|diags| panic!("{}", diags[0].message));
    assert_eq!((file.kind, file.warnings), (FileKind::ModuleWithConfig, Vec::new()));
    file.module
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "hlo")
            && entry.metadata().is_ok_and(|m| m.len() < MAX_FILE_BYTES)
        {
            out.push(path);
        }
    }
}

#[test]
fn modules_of_the_corpus() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/corpus"), &mut all);
    assert!(all.len() > 100, "{} files", all.len());
    for path in all {
        let module = parsed(&std::fs::read_to_string(&path).expect("a text"));
        assert_eq!(module.difference(&back(&module)), None, "{}", path.display());
    }
}

#[test]
fn what_messages_of_xla_have_no_field_for() {
    let text = "HloModule own, alias_passthrough_params=true, replica_count=2, num_partitions=4, \
        allow_spmd_sharding_propagation_to_output={true,false}, \
        debug_attributes={ {\"x\"}:({log_mode=default,callback_id=1,partitioned=true,op_id=3}) }

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  p = f32[2,3] parameter(0)
  q = f32[3,4] parameter(1)
  r = f32[2,4] contraction(p, q), access={(d0,d1) += (d0,d2) * (d2,d1)}
  s = f32[2,4] all-reduce(r), replica_groups={}, mode=flattened_id, to_apply=add
  t = f32[2,4] negate(s), sharding={mesh['x'=2,'y'=4], [{'x'}, {}], unreduced=max{'y'}}
  k = f32[3] constant({...})
  ROOT u = (f32[2,4], f32[3]) tuple(t, k)
}";
    let module = parsed(text);
    assert_eq!(module.difference(&back(&module)), None);
}

#[test]
fn an_order_of_computations_in_which_callers_come_first() {
    let mut module =
        parsed("HloModule m\nENTRY main {\n  p = f32[2] parameter(0)\n  ROOT r = f32[2] negate(p)\n}");
    let entry = module.entry();
    let callee = module.add_computation("later");
    let shape = module[module[entry].root()].shape.clone();
    let x = module.add(callee, "x", shape.clone(), hlo_ir::Op::parameter(0), []);
    module.set_root(callee, x);
    let operand = module[entry].root();
    let call = module.add(entry, "call", shape, hlo_ir::Op::call(callee), [operand]);
    module.set_root(entry, call);
    assert_eq!(module.difference(&back(&module)), None);
}

#[test]
fn messages_are_recognized() {
    let module = parsed("HloModule m\nENTRY main {\n  ROOT p = f32[2] parameter(0)\n}");
    for &kind in FileKind::ALL {
        let bytes = file::write(&module, kind).expect("no tuples");
        // Without arguments, the message has the structure of HloProto.
        let expected = if kind == FileKind::UnoptimizedSnapshot { FileKind::Hlo } else { kind };
        assert_eq!(FileKind::of_binary(&bytes), Some(expected));
        assert!(file::read_as(&bytes, kind).expect("a module").module.same_as(&module), "{kind:?}");
        let text = file::write_text(&module, kind).expect("no tuples");
        assert_eq!(FileKind::of_text(&text), Some(expected), "{text}");
        assert!(file::read_text(&text).expect("a module").module.same_as(&module), "{kind:?}");
    }
    let arguments = [vec![hlo_ir::Literal::r1(&[1f32, 2.0])], vec![hlo_ir::Literal::r1(&[true, false])]];
    let bytes = file::write_unoptimized_snapshot(&module, &arguments).expect("no tuples");
    let file = file::read(&bytes).expect("a snapshot");
    assert_eq!((file.kind, &file.arguments[..]), (FileKind::UnoptimizedSnapshot, &arguments[..]));
}

#[test]
fn what_nobody_could_read_is_not_written() {
    for (depth, fits) in [(file::MAX_TUPLE_DEPTH, true), (file::MAX_TUPLE_DEPTH + 1, false), (200, false)] {
        let shape = format!("{}f32[]{}", "(".repeat(depth), ")".repeat(depth));
        let module = parsed(&format!("HloModule m\nENTRY main {{\n  ROOT p = {shape} parameter(0)\n}}"));
        for &kind in FileKind::ALL {
            let (bytes, text) = (file::write(&module, kind), file::write_text(&module, kind));
            assert_eq!((bytes.is_ok(), text.is_ok()), (fits, fits), "{depth} {kind:?}");
            for file in
                [bytes.map(|bytes| file::read_as(&bytes, kind)), text.map(|text| file::read_text(&text))]
            {
                assert!(file.is_ok_and(|read| read.is_ok_and(|file| file.module.same_as(&module))) || !fits);
            }
        }
    }
}

#[test]
fn other_files_are_not() {
    let others: &[&[u8]] = &[
        b"",
        b"HloModule m\nENTRY main { ROOT p = f32[] parameter(0) }",
        b"ML\xefR\x01StableHLO_v1.13.7\0",
        b"module @m { func.func @main() { return } }",
        b"\x93NUMPY\x01\0v\0{'descr': '<f4'}",
        b"{\"name\": 1}",
        &fixture("compile_options.pb"),
    ];
    for bytes in others {
        assert_eq!(FileKind::of_binary(bytes), None, "{:?}", String::from_utf8_lossy(bytes));
        assert!(file::read(bytes).is_err());
        if let Ok(text) = std::str::from_utf8(bytes) {
            assert_eq!(FileKind::of_text(text), None, "{text}");
            assert!(file::read_text(text).is_err());
        }
    }
}

#[test]
fn a_configuration_counts_devices() {
    let module = parsed("HloModule m, num_partitions=2\nENTRY main {\n  ROOT p = f32[2] parameter(0)\n}");
    let proto = from_module_with_config(&module);
    let (hlo, config) = (proto.hlo_module.expect("a module"), proto.config.expect("a configuration"));
    assert_eq!((config.replica_count, config.num_partitions), (1, 2));
    let again = to_module_with_config(&hlo, &config).expect("a module");
    assert!(again.same_as(&module));
}
