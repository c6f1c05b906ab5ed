//! Tests metadata and shardings of scopes, names, and the order of effects.

use hlo_builder::{Builder, Value};
use hlo_ir::attr::{OpMetadata, Sharding, ShardingKind};
use hlo_ir::{ElementType, InstrId, Module, Op, Shape};

/// Returns the instruction with the given name.
fn named<'m>(module: &'m Module, name: &str) -> &'m hlo_ir::Instruction {
    let ids = module[module.entry()].instructions();
    let id: InstrId =
        ids.iter().copied().find(|&i| &*module[i].name == name).unwrap_or_else(|| panic!("{name}"));
    &module[id]
}

fn layer(name: &str) -> OpMetadata {
    OpMetadata { op_name: name.into(), ..OpMetadata::default() }
}

#[test]
fn the_innermost_scope_that_lasts_counts() {
    let b = Builder::new("scopes");
    let x = b.parameter(0, Shape::array(ElementType::F32, [4]), "x");
    let outer = b.metadata_scope(layer("outer"));
    let sharded = b.sharding_scope(Some(Sharding::single(ShardingKind::Replicated)));
    let mut values: Vec<Value<'_>> = vec![x.exp().named("a")];
    {
        let _inner = b.metadata_scope(layer("inner"));
        let _none = b.sharding_scope(None);
        values.push(x.exp().named("b"));
    }
    values.push(x.exp().named("c"));
    // Scopes may end in a different order than they began in.
    let last = b.metadata_scope(layer("last"));
    drop(outer);
    drop(sharded);
    values.push(x.exp().named("d"));
    drop(last);
    values.push(x.exp().named("e").with_metadata(layer("own")));
    values.push(x.exp().named("f"));
    let _replicated = b.sharding_scope(Some(Sharding::single(ShardingKind::Replicated)));
    let _ = b.tuple(&values).named("all");

    let module = b.build().unwrap();
    let names = ["a", "b", "c", "d", "e", "f"].map(|name| {
        let common = named(&module, name).common.as_ref().expect("metadata");
        common.metadata.op_name.as_str().unwrap_or_default()
    });
    assert_eq!(names, ["outer", "inner", "outer", "last", "own", ""]);
    let sharded = ["a", "b", "c", "d"].map(|name| named(&module, name).sharding().is_some());
    assert_eq!(sharded, [true, false, true, false]);
    // The sharding applies to each element of a tuple.
    assert_eq!(named(&module, "all").sharding().map(|s| s.leaves().len()), Some(6));
}

#[test]
fn each_instruction_has_the_line_of_the_program_unless_its_metadata_has_another() {
    let b = Builder::new("lines");
    let x = b.constant_r0(2.0f32);
    let line = line!() + 1;
    let first = (x * 3).named("first");
    let elsewhere = OpMetadata { source_file: "model.py".into(), source_line: 7, ..OpMetadata::default() };
    let _scope = b.metadata_scope(elsewhere);
    let _ = (first + x).named("second");
    let module = b.build().unwrap();
    let place = |name: &str| {
        let metadata = &named(&module, name).common.as_ref().expect("metadata").metadata;
        let file = metadata.source_file.as_str().unwrap_or_default().to_owned();
        (file, metadata.source_line)
    };
    let (file, found) = place("first");
    assert!(file.ends_with("scopes.rs"), "{file}");
    assert_eq!(u32::try_from(found), Ok(line));
    assert_eq!(place("second"), ("model.py".to_owned(), 7));
}

#[test]
fn names_are_made_unique_and_such_as_text_may_have() {
    let b = Builder::new("9 lives");
    let x = b.parameter(0, Shape::scalar(ElementType::F32), "x y");
    let (first, second) = (x.exp().named("same"), x.exp().named("same"));
    let _ = (first + second).named("-");
    let module = b.build().unwrap();
    assert_eq!(&*module.name, "a_lives");
    let names: Vec<&str> = module[module.entry()].instructions().iter().map(|&i| &*module[i].name).collect();
    assert!(names.contains(&"x_y") && names.contains(&"same") && names.contains(&"_"), "{names:?}");
    let text = hlo_ir::print::print_module(&module, &hlo_ir::print::PrintOptions::default()).to_string();
    let read = hlo_parser::parse_module(&text).unwrap();
    assert_eq!(read.difference(&module), None, "{text}");
}

/// Traces and outfeeds are not the result of the computation. They are in the order of the program.
#[test]
fn effects_are_in_order_and_no_result() {
    let b = Builder::new("effects");
    let x = b.infeed(Shape::scalar(ElementType::F32));
    let sum = x + 1;
    b.trace("sum", sum);
    b.outfeed(sum);
    let module = b.build().unwrap();
    let root = module[module.entry()].root();
    assert_eq!(module[root].op, Op::Add);
    let of = |opcode: &str| {
        let ids = module[module.entry()].instructions();
        ids.iter()
            .copied()
            .find(|&i| module[i].op.opcode().name() == opcode)
            .unwrap_or_else(|| panic!("{opcode}"))
    };
    let (traced, sent) = (of("custom-call"), of("outfeed"));
    let Op::CustomCall(attributes) = &module[traced].op else { panic!("a custom call") };
    assert_eq!(attributes.custom_call_target.as_str(), Some("trace"));
    // The outfeed waits for the trace, which waits for the infeed.
    assert_eq!(module[sent].operands[1], traced);
    let token = module[traced].operands[1];
    assert!(matches!(&module[token].op, Op::GetTupleElement(a) if a.index == 1));
}

#[test]
fn a_value_can_be_made_to_come_after_another() {
    let b = Builder::new("after");
    let x = b.constant_r0(1i32);
    let (first, second) = (x + 1, x + 2);
    let _ = first * second.after(first);
    let module = b.build().unwrap();
    let root = &module[module[module.entry()].root()];
    assert_eq!(module[root.operands[1]].control_predecessors(), [root.operands[0]]);
    // Only a value that was added before is accepted.
    let b = Builder::new("before");
    let x = b.constant_r0(1i32);
    let _ = x.after(x + 1);
    let message = "a value can only come after one that was added to the same computation before";
    assert_eq!(b.errors()[0].message, message);
}
