//! Tests of structural rules, on modules that the parser would reject.

use hlo_ir::attr::EntryLayout;
use hlo_ir::diag::{Code, Diag};
use hlo_ir::rules::code;
use hlo_ir::verify::verify;
use hlo_ir::{ComputationId, ElementType, InstrId, Literal, Module, Op, Shape, Span};

fn f32s(n: i64) -> Shape {
    Shape::array(ElementType::F32, [n])
}

fn parameter(m: &mut Module, c: ComputationId, name: &str, number: i64) -> InstrId {
    m.add(c, name, f32s(2), Op::parameter(number), [])
}

/// Builds a module whose entry `main` negates its parameter `x` into `y`.
fn valid() -> (Module, ComputationId, InstrId, InstrId) {
    let mut m = Module::new("m");
    let c = m.add_computation("main");
    let x = parameter(&mut m, c, "x", 0);
    let y = m.add(c, "y", f32s(2), Op::Negate, [x]);
    m.set_root(c, y);
    m.set_entry(c);
    (m, c, x, y)
}

/// Builds a computation with this name that negates its parameter.
fn negate(m: &mut Module, name: &str) -> ComputationId {
    let c = m.add_computation(name);
    let x = parameter(m, c, "x", 0);
    let y = m.add(c, "y", f32s(2), Op::Negate, [x]);
    m.set_root(c, y);
    c
}

fn call(m: &mut Module, from: ComputationId, name: &str, to: ComputationId, operand: InstrId) -> InstrId {
    let op = Op::call(to);
    m.add(from, name, f32s(2), op, [operand])
}

/// Returns the only report, which must have this code and text.
fn one(m: &Module, code: Code, message: &str) -> Diag {
    let mut diags = verify(m);
    assert_eq!(diags.len(), 1, "{diags:?}");
    let d = diags.remove(0);
    assert_eq!(d.code, Some(code), "{d:?}");
    assert!(d.message.contains(message), "{d:?}");
    d
}

#[test]
fn a_valid_module_has_no_reports() {
    assert_eq!(verify(&valid().0), []);
}

#[test]
fn entry_and_roots() {
    let mut m = Module::new("m");
    negate(&mut m, "f");
    one(&m, code::NO_ENTRY, "no entry");
    let (mut m, ..) = valid();
    m.add_computation("empty");
    one(&m, code::NO_ROOT, "computation `empty` has no root");
}

#[test]
fn names() {
    let (mut m, c, x, _) = valid();
    m.add(c, "y", f32s(2), Op::Negate, [x]);
    one(&m, code::INSTRUCTION_NAME, "found `y` twice");
    let (mut m, ..) = valid();
    negate(&mut m, "main");
    one(&m, code::COMPUTATION_NAME, "found `main` twice");
}

#[test]
fn parameter_numbers() {
    let (mut m, c, ..) = valid();
    parameter(&mut m, c, "z", 2);
    one(&m, code::PARAMETER_NUMBERS, "expected parameter(1), found parameter(2)");
    let (mut m, c, ..) = valid();
    parameter(&mut m, c, "z", 0);
    one(&m, code::PARAMETER_NUMBERS, "expected parameter(1), found parameter(0)");
    let (mut m, c, ..) = valid();
    parameter(&mut m, c, "z", i64::MAX);
    parameter(&mut m, c, "w", i64::MIN);
    assert_eq!(verify(&m).len(), 3);
}

#[test]
fn operands_of_other_computations() {
    let (mut m, c, ..) = valid();
    let f = negate(&mut m, "f");
    let foreign = m[f].root();
    m.add(c, "z", f32s(2), Op::Negate, [foreign]);
    one(&m, code::FOREIGN_OPERAND, "`y` is of another computation, `f`");

    let (mut m, c, x, y) = valid();
    let gone = m.add(c, "gone", f32s(2), Op::Negate, [x]);
    m.common_mut(y).control_predecessors.push(gone);
    m.common_mut(x).control_predecessors.push(InstrId::new(1_000_000));
    assert_eq!(verify(&m).len(), 1);
    m.remove(gone);
    // Removing an instruction also removes it from the lists of control predecessors.
    one(&m, code::FOREIGN_OPERAND, "is no instruction of the module");
}

#[test]
fn operand_cycles() {
    let (mut m, c, x, y) = valid();
    let z = m.add(c, "z", f32s(2), Op::Negate, [y]);
    m.set_operands(y, [z]);
    one(&m, code::OPERAND_CYCLE, "depends on itself: y → z → y");
    m.set_operands(y, [x]);
    m.common_mut(x).control_predecessors.push(x);
    one(&m, code::OPERAND_CYCLE, "x → x");
}

/// Verifying a long chain neither overflows the stack nor takes long.
#[test]
fn long_chains() {
    let (mut m, c, _, mut last) = valid();
    for i in 0..100_000 {
        last = m.add(c, &format!("n{i}"), f32s(2), Op::Negate, [last]);
    }
    m.set_root(c, last);
    assert_eq!(verify(&m), []);
    m.set_operands(InstrId::new(1), [last]);
    one(&m, code::OPERAND_CYCLE, " → … → ");
}

#[test]
fn schedules() {
    let (mut m, c, x, y) = valid();
    m.set_order(c, vec![y, x]);
    assert_eq!(verify(&m), []);
    m.header.is_scheduled = true;
    one(&m, code::SCHEDULE, "`x` comes after `y`");
}

#[test]
fn call_graph() {
    let (mut m, c, x, _) = valid();
    let f = negate(&mut m, "f");
    let g = negate(&mut m, "g");
    let root = call(&mut m, c, "z", f, x);
    m.set_root(c, root);
    let (fx, gx) = (m.parameters(f)[0], m.parameters(g)[0]);
    call(&mut m, f, "fg", g, fx);
    assert_eq!(verify(&m), []);
    call(&mut m, g, "gf", f, gx);
    one(&m, code::CALL_CYCLE, "calls itself: f → g → f");

    let (mut m, c, ..) = valid();
    let f = negate(&mut m, "f");
    let fx = m.parameters(f)[0];
    call(&mut m, f, "z", c, fx);
    one(&m, code::ENTRY_CALLED, "`call` calls any computation but the entry, found `main`, which is it");

    let (mut m, c, x, _) = valid();
    call(&mut m, c, "z", c, x);
    one(&m, code::CALL_CYCLE, "main → main");

    let (mut m, c, x, _) = valid();
    let f = negate(&mut m, "f");
    call(&mut m, c, "z", f, x);
    m.remove_computation(f);
    one(&m, code::NO_CALLEE, "`to_apply` that is not there");
}

#[test]
fn entry_layout() {
    let (mut m, ..) = valid();
    m.header.entry_computation_layout = Some(EntryLayout { parameters: vec![f32s(2)], result: f32s(2) });
    assert_eq!(verify(&m), []);
    m.header.entry_computation_layout = Some(EntryLayout { parameters: vec![], result: f32s(2) });
    one(&m, code::ENTRY_LAYOUT, "has 0 parameters, but the entry, `main`, has 1");
    m.header.entry_computation_layout = Some(EntryLayout { parameters: vec![f32s(3)], result: f32s(2) });
    one(&m, code::ENTRY_LAYOUT, "says f32[3] for parameter 0, but `x` is f32[2]");
    m.header.entry_computation_layout = Some(EntryLayout { parameters: vec![f32s(2)], result: f32s(-2) });
    one(&m, code::INVALID_SHAPE, "in `entry_computation_layout`, the result");
}

/// An invalid shape is not reported again at its users.
#[test]
fn invalid_shapes_do_not_cascade() {
    let (mut m, _, x, _) = valid();
    m.set_shape(x, f32s(-1));
    one(&m, code::INVALID_SHAPE, "found -1 in dimension 0");
}

/// A mismatch has labels at both sides. Without source text, a note names the instruction.
#[test]
fn labels() {
    let (mut m, _, x, y) = valid();
    m.set_shape(x, Shape::array(ElementType::Pred, [2]));
    let d = one(&m, code::ELEMENT_TYPE, "operand 0 is pred[2]");
    assert_eq!((d.labels.len(), &d.notes[..]), (0, &["at `y` in `main`".to_string()][..]));
    m.set_span(x, Span::new(10, 20));
    m.set_span(y, Span::new(30, 40));
    let d = one(&m, code::ELEMENT_TYPE, "operand 0 is pred[2]");
    assert!(d.labels[0].primary && d.labels[0].span == Span::new(30, 40), "{d:?}");
    assert!(!d.labels[1].primary && d.labels[1].span == Span::new(10, 20), "{d:?}");
    assert_eq!(d.labels[1].message, "this is pred[2]");
}

#[test]
fn ranks_are_bounded() {
    let (mut m, c, ..) = valid();
    let of_rank = |rank: usize| Shape::array(ElementType::F32, vec![1; rank]);
    m.add(c, "p", of_rank(256), Op::parameter(1), []);
    assert_eq!(verify(&m), []);
    m.add(c, "q", of_rank(257), Op::parameter(2), []);
    one(&m, code::INVALID_SHAPE, "an array has at most 256 dimensions, found 257");
}

#[test]
fn every_violation_is_reported() {
    let (mut m, c, x, _) = valid();
    for i in 0..50 {
        m.add(c, &format!("bad{i}"), f32s(3), Op::Negate, [x]);
    }
    assert_eq!(verify(&m).len(), 50);
}

#[test]
fn cycles_of_small_graphs() {
    /// Returns the reports about parameters with these control predecessors.
    fn reports(edges: &[&[usize]]) -> Vec<String> {
        let mut m = Module::new("m");
        let c = m.add_computation("main");
        let nodes: Vec<InstrId> =
            (0..edges.len()).map(|n| parameter(&mut m, c, &format!("n{n}"), n as i64)).collect();
        for (&node, before) in nodes.iter().zip(edges) {
            m.common_mut(node).control_predecessors.extend(before.iter().map(|&n| nodes[n]));
        }
        m.set_root(c, nodes[0]);
        m.set_entry(c);
        verify(&m).into_iter().map(|d| d.message).collect()
    }
    assert_eq!(reports(&[&[1], &[2], &[]]), [""; 0]);
    assert_eq!(reports(&[&[1, 2], &[2], &[]]), [""; 0]);
    assert_eq!(reports(&[&[0]]), ["an instruction depends on itself: n0 → n0"]);
    assert_eq!(reports(&[&[1], &[2], &[1]]), ["an instruction depends on itself: n1 → n2 → n1"]);
}

#[test]
fn constants_have_their_literals_shape() {
    let (mut m, c, ..) = valid();
    let literal = Literal::try_zeros(&f32s(3)).unwrap();
    m.add(c, "k", f32s(2), Op::constant(literal), []);
    one(&m, code::CONSTANT_SHAPE, "has a value of f32[3], but its shape is written f32[2]");
}

/// The table has an example of every rule that text can violate. This file contains modules that violate the
/// others.
#[test]
fn rules_that_text_can_not_break() {
    // Rules about limits of the text, command lines and machines are tested elsewhere.
    let of_modules = |code: &Code| !["E01", "E40"].iter().any(|family| code.as_str().starts_with(family));
    let without = hlo_ir::rules::all().filter(|r| r.example.is_none() && of_modules(&r.code));
    let without: Vec<Code> = without.map(|r| r.code).collect();
    let here = [
        code::NO_ENTRY,
        code::NO_ROOT,
        code::COMPUTATION_NAME,
        code::INSTRUCTION_NAME,
        code::FOREIGN_OPERAND,
        code::OPERAND_CYCLE,
        code::CALL_CYCLE,
        code::NO_CALLEE,
        code::SCHEDULE,
        code::INVALID_SHAPE,
        code::CONSTANT_SHAPE,
        // Violated in the tests of the rules of opcodes.
        code::SPATIAL_COUNT,
    ];
    assert_eq!(without, here);
}
