//! Files written by other programs.

use crate::{fixture, parsed, text_fixture};
use hlo_ir::attr::{Count, HloString};
use hlo_ir::{Layout, Literal, Shape};
use hlo_proto::file::{self, FileKind};
use hlo_proto::messages::{Described, HloModuleProto};
use hlo_proto::{CompileOptions, DeviceAssignment, OptionValue, decode, from_module, text, to_module};
use prost::Message;

/// HLO texts, and the messages that jaxlib creates from them.
const MODULES: &[&str] = &["attributes", "devices", "header", "literals", "tiny"];

#[test]
fn modules_of_jaxlib_are_those_of_their_texts() {
    for name in MODULES {
        let decoded = decode::<HloModuleProto>(&fixture(&format!("{name}.pb"))).expect("a message");
        assert_eq!(decoded.warnings, [], "{name}");
        let module = to_module(&decoded.message).expect("a module");
        let mut expected = parsed(&text_fixture(&format!("{name}.hlo")));
        // A message does not contain the number of partitions.
        expected.header.num_partitions = Count(1);
        assert_eq!(expected.difference(&module), None, "{name}");
    }
}

/// The schedule of an optimized module lists no fused computations, and its ids are not ordered.
#[test]
fn an_optimized_module_of_jaxlib_is_valid_and_that_of_its_text() {
    let message = HloModuleProto::decode(&fixture("optimized.pb")[..]).expect("a message");
    let module = to_module(&message).expect("a module");
    assert_eq!(hlo_ir::verify::verify(&module), []);
    let mut expected = parsed(&text_fixture("optimized.hlo"));
    // A message does not contain these permissions.
    expected.header.allow_spmd_sharding_propagation_to_parameters = Default::default();
    expected.header.allow_spmd_sharding_propagation_to_output = Default::default();
    assert_eq!(expected.difference(&module), None);
}

#[test]
fn messages_are_those_of_jaxlib_byte_by_byte() {
    for name in MODULES {
        let bytes = fixture(&format!("{name}.pb"));
        let id = HloModuleProto::decode(&bytes[..]).expect("a message").id;
        let module = parsed(&text_fixture(&format!("{name}.hlo")));
        // The id counts the modules of a process.
        let ours = HloModuleProto { id, ..from_module(&module) };
        assert_eq!(ours.encode_to_vec(), bytes, "{name}");
    }
}

#[test]
fn the_text_form_is_that_of_python() {
    let ty = HloModuleProto::message_type();
    let bytes = fixture("tiny.pb");
    let message = |bytes: &[u8]| HloModuleProto::decode(bytes).expect("a message").encode_to_vec();
    let theirs = text::parse(&text_fixture("tiny.pbtxt"), ty).expect("a text");
    assert_eq!((message(&theirs.bytes), theirs.warnings), (bytes.clone(), Vec::new()));
    let printed = text::print(&bytes, ty).expect("a message");
    assert!(
        printed.starts_with("name: \"tiny\"\nentry_computation_name: \"main\"\ncomputations {\n"),
        "{printed}"
    );
    assert!(printed.contains("      op_name: \"a\\\"b\\né\"\n"), "{printed}");
    assert!(printed.contains("      f32s: 0.1\n      f32s: -inf\n"), "{printed}");
    assert!(printed.contains("    backend_config: \"\\000\\377\"\n"), "{printed}");
    for name in MODULES {
        let bytes = fixture(&format!("{name}.pb"));
        let printed = text::print(&bytes, ty).expect("a message");
        assert_eq!(FileKind::of_text(&printed), Some(FileKind::Module), "{name}");
        let again = text::parse(&printed, ty).expect("what was printed").bytes;
        assert_eq!(message(&again), message(&bytes), "{name}");
    }
}

#[test]
fn a_snapshot_has_arguments_and_a_result() {
    let bytes = fixture("snapshot.pb");
    let file = file::read(&bytes).expect("a snapshot");
    assert_eq!((file.kind, file.platform.as_deref()), (FileKind::Snapshot, Some("Host")));
    assert!(file.module.same_as(&parsed(&text_fixture("header.hlo"))));
    let columns = Literal::r2(&[[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let shape = columns.shape().as_array().expect("an array").clone().with_layout(Layout::new([0, 1]));
    let columns = columns.with_shape(Shape::Array(shape));
    let first = Literal::tuple(vec![Literal::r1(&[1f32, 2.0, 3.0, 4.0]), columns.clone()]);
    let vector = |value: f32| Literal::r1(&[value; 4]);
    assert_eq!(file.arguments, [vec![first, vector(0.5), vector(9.0)]]);
    assert_eq!(file.result, Some(Literal::tuple(vec![vector(-0.5), columns])));

    let written = file::write_snapshot(&file.module, &file.arguments[0], file.result.as_ref(), "Host")
        .expect("no tuples");
    let again = file::read(&written).expect("what was written");
    assert_eq!((again.arguments, again.result), (file.arguments, file.result));
    assert!(again.module.same_as(&file.module));
}

#[test]
fn compile_options_of_jaxlib() {
    let bytes = fixture("compile_options.pb");
    let options = CompileOptions::read(&bytes).expect("options");
    assert_eq!(options.warnings, []);
    assert_eq!((options.num_replicas, options.num_partitions), (2, 4));
    assert!(options.use_spmd_partitioning && options.use_shardy_partitioner);
    assert!(options.parameter_is_tupled_arguments && !options.compile_portable_executable);
    let devices = vec![vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]];
    assert_eq!(options.device_assignment, Some(DeviceAssignment { devices }));
    let layouts: Vec<String> = options.argument_layouts.iter().map(|s| format!("{s:#}")).collect();
    assert_eq!(layouts, ["f32[2,3]{0,1}"]);
    assert_eq!(options.allow_spmd_sharding_propagation_to_parameters, [true, false]);
    assert_eq!(options.allow_spmd_sharding_propagation_to_output, [true]);
    let text = |text: &str| OptionValue::Text(HloString::from(text));
    let expected = [
        ("xla_a", text("text")),
        ("xla_b", OptionValue::Bool(true)),
        ("xla_c", OptionValue::Integer(7)),
        ("xla_d", OptionValue::Number(1.5)),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(options.env_option_overrides, expected);
    // Debug options are in the part that is kept unchanged.
    assert_eq!(options.write(), bytes);
}

#[test]
fn options_that_nobody_gave_are_those_of_one_device() {
    let options = CompileOptions::read(&[]).expect("options");
    assert_eq!((options.num_replicas, options.num_partitions), (1, 1));
    assert_eq!(options.device_assignment, None);
    let default = CompileOptions::default();
    assert_eq!(CompileOptions::read(&default.write()).expect("options"), default);
}
