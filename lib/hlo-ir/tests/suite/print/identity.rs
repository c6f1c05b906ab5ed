//! Tests of the parts of a module that identify it.

use hlo_ir::print::{PrintOptions, for_each_identifying_part};
use hlo_ir::{Literal, Module, Op, Shape};

fn identity(module: &Module) -> Vec<u8> {
    let mut all = Vec::new();
    for_each_identifying_part(module, PrintOptions::default(), &mut |part| all.extend_from_slice(part));
    all
}

fn constant(value: Literal) -> Module {
    let mut module = Module::new("m");
    let entry = module.add_computation("e");
    let shape: Shape = value.shape().clone();
    let root = module.add(entry, "c", shape, Op::constant(value), []);
    module.set_root(entry, root);
    module.set_entry(entry);
    module
}

#[test]
fn large_constants_count_to_the_last_element() {
    let mut numbers = [0.5f32; 1000];
    let one = identity(&constant(Literal::r1(&numbers)));
    assert_eq!(one, identity(&constant(Literal::r1(&numbers))));
    numbers[999] = 0.25;
    assert_ne!(one, identity(&constant(Literal::r1(&numbers))));
}
