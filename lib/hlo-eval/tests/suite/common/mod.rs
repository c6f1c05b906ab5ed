//! Shared test functions: modules and values as HLO text.

#![allow(dead_code, reason = "each test file uses a part of it")]

use hlo_eval::{EvalError, Options, evaluate};
use hlo_ir::{ElementType, Literal, Module};

/// Parses a module.
pub fn module(text: &str) -> Module {
    hlo_parser::parse_module(text).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message))
}

/// Parses a literal.
pub fn literal(text: &str) -> Literal {
    hlo_parser::parse_literal(text).unwrap_or_else(|d| panic!("{}\n{text}", d[0].message))
}

/// Runs a module.
pub fn run(text: &str, inputs: &[&str]) -> Result<Literal, EvalError> {
    let inputs: Vec<Literal> = inputs.iter().map(|i| literal(i)).collect();
    evaluate(&module(text), &inputs, &Options::default())
}

/// Runs one instruction on parameters. `$0` and so on in `instruction` are replaced by their names.
pub fn apply(instruction: &str, inputs: &[&str]) -> Result<Literal, EvalError> {
    let mut body = String::new();
    let mut last = instruction.to_string();
    for (i, input) in inputs.iter().enumerate() {
        let shape = literal(input).shape().clone();
        body += &format!("  p{i} = {shape} parameter({i})\n");
        last = last.replace(&format!("${i}"), &format!("p{i}"));
    }
    run(&format!("HloModule m\nENTRY e {{\n{body}  ROOT r = {last}\n}}\n"), inputs)
}

/// Fails unless both have the same bits. Any NaN equals any other NaN, and layouts are ignored.
#[track_caller]
pub fn assert_same(got: Result<Literal, EvalError>, want: &str) {
    let got = got.unwrap_or_else(|e| panic!("{}", e.message));
    let want = literal(want);
    assert!(got.shape().compatible(want.shape()), "{} is not {}", got.shape(), want.shape());
    for (g, w) in got.leaves().into_iter().zip(want.leaves()) {
        if g.bytes() != w.bytes() && !same_but_for_nans(g, w) {
            panic!("got {}\nwant {}", show(g), show(w));
        }
    }
}

fn show(value: &Literal) -> String {
    hlo_ir::print::print_literal(value, None)
}

fn same_but_for_nans(a: &Literal, b: &Literal) -> bool {
    let Some(shape) = a.shape().as_array() else { return false };
    match shape.element_type {
        ElementType::F32 | ElementType::C64 => a
            .elements::<u32>()
            .iter()
            .zip(b.elements::<u32>())
            .all(|(&x, &y)| x == y || f32::from_bits(x).is_nan() && f32::from_bits(y).is_nan()),
        ElementType::F64 | ElementType::C128 => a
            .elements::<u64>()
            .iter()
            .zip(b.elements::<u64>())
            .all(|(&x, &y)| x == y || f64::from_bits(x).is_nan() && f64::from_bits(y).is_nan()),
        _ => false,
    }
}
