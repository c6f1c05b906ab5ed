//! Layouts do not change values: the forms of all opcodes with a random layout for every array, including
//! those of the entry, produce the same results as without layouts.

use super::{FORMS, compiled, inputs, module, text, written_for};
use hlo_ir::{ArrayShape, ElementType, Layout, Literal, Module, Op, Shape};
use hlo_testing::Numbers;
use hlo_tools_common::compare::{Tolerance, compare};

/// Returns the shape with a random layout.
fn layout(numbers: &mut Numbers, array: &ArrayShape) -> ArrayShape {
    let order: Vec<u32> = numbers.permutation(array.rank()).into_iter().map(|d| d as u32).collect();
    array.clone().with_layout(Layout::new(order))
}

/// Returns the shape with random layouts of its arrays.
fn relaid_shape(numbers: &mut Numbers, shape: &Shape) -> Shape {
    match shape {
        Shape::Array(a) => Shape::Array(layout(numbers, a)),
        Shape::Tuple(t) => Shape::Tuple(t.iter().map(|s| relaid_shape(numbers, s)).collect()),
        other => other.clone(),
    }
}

/// Returns the module with other layouts. A bitcast keeps its layouts, because its value depends on them.
fn relaid(module: &Module, numbers: &mut Numbers) -> Module {
    let mut module = module.clone();
    module.header.entry_computation_layout = None;
    let all: Vec<_> = module.computations().flat_map(|c| module[c].instructions().to_vec()).collect();
    let fixed = |module: &Module, id: hlo_ir::InstrId| {
        let bitcast = |i: hlo_ir::InstrId| matches!(module[i].op, Op::Bitcast);
        bitcast(id) || module.users(id).iter().any(|&u| bitcast(u))
    };
    for &id in &all {
        if !fixed(&module, id) {
            let shape = relaid_shape(numbers, &module[id].shape);
            module.set_shape(id, shape);
        }
    }
    // A scatter updates its operand in place. Code generation requires both to have the same layout, as the
    // passes ensure.
    for &id in &all {
        let operand = module[id].operands.first().map(|&o| module[o].shape.clone());
        if let (Op::Scatter(_), Some(shape)) = (&module[id].op, operand) {
            module.set_shape(id, shape);
        }
    }
    module
}

/// Returns the forms of a type that run, as one module, with the interpreter's result.
fn program(ty: ElementType) -> (Module, Literal) {
    let mut instructions = Vec::new();
    for instruction in FORMS.iter().filter(|f| !f.contains("$*")).flat_map(|f| written_for(f, ty)) {
        let Some(module) = module(&text(ty, &[&instruction])) else { continue };
        let runs = hlo_eval::evaluate(&module, &inputs(&module), &hlo_eval::Options::default()).is_ok();
        // Skips results whose size is known only at run time, because they have buffers of another form.
        if runs && !instruction.contains("<=") && compiled::compile(&module, false).is_ok() {
            instructions.push(instruction);
        }
    }
    let instructions: Vec<&str> = instructions.iter().map(String::as_str).collect();
    let module = module(&text(ty, &instructions)).expect("each instruction alone was accepted");
    let result =
        hlo_eval::evaluate(&module, &inputs(&module), &hlo_eval::Options::default()).expect("a result");
    (module, result)
}

fn check(ty: ElementType, rounds: usize) {
    let (plain, want) = program(ty);
    let mut numbers = Numbers::new(ty.bit_width().into());
    for round in 0..rounds {
        let module = relaid(&plain, &mut numbers);
        let inputs = inputs(&plain);
        let evaluated =
            hlo_eval::evaluate(&module, &inputs, &hlo_eval::Options::default()).expect("a result");
        // With the passes, all arrays inside the program are row-major. Without them, kernels work on the
        // layouts.
        for passes in [round % 2 == 0, true] {
            let program = compiled::compile(&module, passes).unwrap_or_else(|e| panic!("{e:?}"));
            let result = program.run(&inputs).expect("a run");
            for (n, (want, got)) in want.leaves().into_iter().zip(result.leaves()).enumerate() {
                let shape = program.result().leaves()[n].as_array().expect("an array");
                let tolerance = Tolerance::default_for(shape.element_type);
                for (engine, got) in [("jit", got), ("eval", evaluated.leaves()[n])] {
                    let same = compare(got, want, tolerance).expect("the same shape");
                    assert_eq!(same.mismatches, 0, "{engine} {ty}: result {n} {shape}: {:?}", same.worst);
                }
            }
        }
    }
}

#[test]
fn layouts_change_no_value() {
    for ty in [ElementType::F32, ElementType::S8, ElementType::Bf16, ElementType::C64, ElementType::Pred] {
        check(ty, 2);
    }
}
