//! Damaged and hostile files: reading them returns errors, does not panic, and allocates no memory for
//! missing contents.

use crate::{fixture, text_fixture};
use hlo_proto::file::{self, FileKind};
use hlo_proto::messages::{
    Described, HloComputationProto, HloInstructionProto, HloModuleProto, LayoutProto, LiteralProto,
    PrimitiveType, ShapeProto,
};
use hlo_proto::wire::{Value, push_field};
use hlo_proto::{CompileOptions, decode, read_literal, read_shape, text, to_module};

#[test]
fn every_prefix_and_every_byte() {
    for name in ["devices.pb", "header.pb", "literals.pb", "snapshot.pb"] {
        let bytes = fixture(name);
        let kind = FileKind::of_binary(&bytes).expect("a module");
        for end in (0..bytes.len()).step_by(5) {
            let _ = file::read_as(&bytes[..end], kind);
        }
        for (at, change) in (0..bytes.len()).zip([0x01, 0x80, 0xff].into_iter().cycle()) {
            let mut damaged = bytes.clone();
            damaged[at] ^= change;
            let _ = file::read_as(&damaged, kind);
        }
    }
    let options = fixture("compile_options.pb");
    for at in 0..options.len() {
        let mut damaged = options.clone();
        damaged[at] ^= 0x7f;
        let _ = CompileOptions::read(&damaged);
        let _ = CompileOptions::read(&options[..at]);
    }
}

#[test]
fn every_byte_of_a_text() {
    let text = text_fixture("tiny.pbtxt");
    let starts = text.char_indices().filter(|(_, c)| c.is_ascii()).map(|(at, _)| at);
    for at in starts.step_by(3) {
        for c in ['{', '"', '\\', '-', '9', '\n', 'é'] {
            let mut damaged = text.clone();
            damaged.replace_range(at..at + 1, c.encode_utf8(&mut [0; 4]));
            let _ = file::read_text(&damaged);
        }
        let _ = file::read_text(&text[..at]);
    }
}

#[test]
fn errors_say_where() {
    let mut bytes = fixture("tiny.pb");
    bytes.truncate(bytes.len() - 1);
    let first =
        |bytes: &[u8]| file::read_as(bytes, FileKind::Module).expect_err("damaged")[0].message.clone();
    assert!(first(&bytes).starts_with("HloModuleProto: byte "), "{}", first(&bytes));

    let diags =
        text::parse("name: \"m\" computations { id: x }", HloModuleProto::message_type()).expect_err("wrong");
    assert_eq!(diags[0].message, "expected an integer, found `x`");
    assert_eq!(diags[0].labels[0].span.range(), 29..30);
    let parsed = text::parse("name: \"m\" color { a: [1, {b: 2}] } color: 7", HloModuleProto::message_type());
    let warnings: Vec<String> = parsed.expect("a message").warnings.into_iter().map(|d| d.message).collect();
    assert_eq!(warnings, ["HloModuleProto: field `color` is not known, and left out (2 times)"]);
}

#[test]
fn fields_that_are_not_known_are_named() {
    let mut bytes = fixture("tiny.pb");
    push_field(&mut bytes, 4000, Value::Varint(1));
    let file = file::read(&bytes).expect("a module");
    assert_eq!(file.warnings[0].message, "HloModuleProto: field 4000 is not known, and left out");
    push_field(&mut bytes, 11, Value::Varint(1));
    push_field(&mut bytes, 21, Value::Delimited(b"gpu"));
    let messages: Vec<String> =
        file::read(&bytes).expect("a module").warnings.into_iter().map(|d| d.message).collect();
    assert_eq!(messages[1], "HloModuleProto: modules have nothing for `device_type`: it is left out");
}

#[test]
fn literals_are_as_large_as_the_file_says_only() {
    let dimensions = vec![1 << 20, 1 << 20];
    let shape = ShapeProto { element_type: PrimitiveType::F32, dimensions, ..ShapeProto::default() };
    let literal = LiteralProto { shape: Some(Box::new(shape)), f32s: vec![1.0], ..LiteralProto::default() };
    assert_eq!(
        read_literal(&literal).expect_err("too few elements"),
        "a literal of shape f32[1048576,1048576] has 1 elements"
    );
}

#[test]
fn messages_of_nothing_take_no_memory() {
    // A computation whose instructions take two bytes each in the file and a thousand in memory.
    let mut computation = Vec::new();
    for _ in 0..1 << 20 {
        push_field(&mut computation, 2, Value::Delimited(b""));
    }
    let mut bytes = Vec::new();
    push_field(&mut bytes, 3, Value::Delimited(&computation));
    let diag = decode::<HloModuleProto>(&bytes).expect_err("a bomb");
    assert!(diag.message.contains("the messages are empty"), "{}", diag.message);
}

#[test]
fn nesting_is_bounded() {
    let mut shape = Vec::new();
    push_field(&mut shape, 2, Value::Varint(13));
    for _ in 0..10_000 {
        let mut outer = Vec::new();
        push_field(&mut outer, 4, Value::Delimited(&shape));
        shape = outer;
    }
    let diag = decode::<ShapeProto>(&shape).expect_err("deep");
    assert!(diag.message.ends_with("messages nest more than 100 deep"), "{}", diag.message);
    let text = "tuple_shapes {".repeat(10_000);
    assert!(text::parse(&text, ShapeProto::message_type()).is_err());
    assert_eq!(FileKind::of_text(&format!("hlo_module {{ {text}")), Some(FileKind::Hlo));
}

fn instruction(opcode: &str, id: i64, operand_ids: &[i64]) -> HloInstructionProto {
    let shape = ShapeProto { element_type: PrimitiveType::F32, ..ShapeProto::default() };
    HloInstructionProto {
        name: format!("i{id}"),
        opcode: opcode.into(),
        shape: Some(Box::new(shape)),
        id,
        operand_ids: operand_ids.to_vec(),
        ..HloInstructionProto::default()
    }
}

fn module(instructions: Vec<HloInstructionProto>) -> HloModuleProto {
    let root_id = instructions.last().map_or(0, |i| i.id);
    let computation =
        HloComputationProto { name: "main".into(), instructions, root_id, ..HloComputationProto::default() };
    HloModuleProto { name: "m".into(), computations: vec![computation], ..HloModuleProto::default() }
}

#[test]
fn what_is_named_must_be_there() {
    let message = |proto: &HloModuleProto| to_module(proto).expect_err("wrong")[0].message.clone();
    let wrong = [
        (
            vec![
                instruction("parameter", 0, &[]),
                instruction("negate", 1, &[2]),
                instruction("negate", 2, &[1]),
            ],
            "instruction `i1` of computation `main`: its operand 2 is not there before it",
        ),
        (
            vec![instruction("parameter", 0, &[]), instruction("frobnicate", 1, &[0])],
            "instruction `i1` of computation `main`: unknown opcode `frobnicate`",
        ),
        (
            vec![instruction("parameter", 0, &[]), instruction("add", 1, &[0])],
            "instruction `i1` of computation `main`: `add` has 2 operands, found 1",
        ),
        (
            vec![instruction("parameter", 0, &[]), instruction("parameter", 0, &[])],
            "instruction `i0` of computation `main`: it has the id 0 of another one",
        ),
        (
            vec![
                instruction("parameter", 0, &[]),
                HloInstructionProto { called_computation_ids: vec![0], ..instruction("call", 1, &[0]) },
            ],
            "instruction `i1` of computation `main`: it calls computation 0, which is not there before it",
        ),
    ];
    for (instructions, expected) in wrong {
        assert_eq!(message(&module(instructions)), expected);
    }
    let mut proto = module(vec![instruction("parameter", 0, &[])]);
    proto.computations[0].root_id = 7;
    assert_eq!(message(&proto), "the root of computation `main` is not there");
    assert_eq!(message(&HloModuleProto::default()), "the entry, computation 0, is not there");
}

#[test]
fn shapes_make_sense() {
    let shape = |proto: ShapeProto| read_shape(&ShapeProto { element_type: PrimitiveType::F32, ..proto });
    let layout =
        |minor_to_major: Vec<i64>| Some(Box::new(LayoutProto { minor_to_major, ..LayoutProto::default() }));
    let of = |dimensions: Vec<i64>, layout| ShapeProto { dimensions, layout, ..ShapeProto::default() };
    assert_eq!(format!("{:#}", shape(of(vec![2, 3], layout(vec![0, 1]))).expect("a shape")), "f32[2,3]{0,1}");
    for order in [vec![0, 0], vec![0, 2], vec![0, -1], vec![1], vec![0, 1, 2]] {
        assert!(shape(of(vec![2, 3], layout(order.clone()))).is_err(), "{order:?}");
    }
    assert!(shape(of(vec![-1], None)).is_err());
    assert!(read_shape(&ShapeProto { element_type: 77, ..ShapeProto::default() }).is_err());
}
