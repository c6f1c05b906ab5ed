//! Tests of computations built with `hlo_builder`, in both engines: the examples of the XLA preview and of
//! its chapter about broadcasting, and random programs.

mod broadcasting;
mod operations;
mod preview;
mod random;

use crate::random::{Compilation, eval_options, run};
use hlo_builder::{Builder, Value};
use hlo_ir::{ElementType, Literal, Module, Shape};
use std::cell::RefCell;

/// A computation on given values. The values are its parameters, so that nothing is known at compile time.
pub(crate) struct Example {
    builder: Builder,
    given: RefCell<Vec<Literal>>,
}

impl Example {
    pub(crate) fn new(name: &str) -> Self {
        Self { builder: Builder::new(name), given: RefCell::default() }
    }

    /// Adds a parameter with this value.
    #[track_caller]
    pub(crate) fn given(&self, value: Literal) -> Value<'_> {
        let number = self.given.borrow().len();
        let parameter =
            self.builder.parameter(number as i64, value.shape().clone(), &format!("given_{number}"));
        self.given.borrow_mut().push(value);
        parameter
    }

    /// Checks that both engines compute these values.
    #[track_caller]
    pub(crate) fn gives(&self, expected: &[(Value<'_>, Literal)]) {
        let values: Vec<Value<'_>> = expected.iter().map(|(value, _)| *value).collect();
        self.builder.set_return_value(self.builder.tuple(&values));
        let module = self.builder.build().unwrap_or_else(|e| panic!("{e}"));
        let given = self.given.borrow();
        for (engine, found) in both(&module, &given) {
            for (n, (found, (_, expected))) in found.tuple_elements().iter().zip(expected).enumerate() {
                assert!(found.shape().compatible(expected.shape()), "{engine}, value {n}: {}", found.shape());
                assert_eq!(found.bytes(), expected.bytes(), "{engine}, value {n}: {}", Text(found));
            }
        }
    }
}

impl std::ops::Deref for Example {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.builder
    }
}

/// Returns the results of both engines for a module, each with the engine's name.
#[track_caller]
pub(crate) fn both(module: &Module, inputs: &[Literal]) -> [(&'static str, Literal); 2] {
    let interpreted = hlo_eval::evaluate(module, inputs, &eval_options());
    let interpreted = interpreted.unwrap_or_else(|e| panic!("{}", e.to_diag(module).message));
    // Runs only the required passes, so that no constants are folded at compile time.
    let how = Compilation { pipeline: hlo_passes::LOWERING, threads: 1, optimize: false };
    let inputs: Vec<&Literal> = inputs.iter().collect();
    let compiled = run(module, how, &inputs).unwrap_or_else(|e| panic!("{e}"));
    [("interpreted", interpreted), ("compiled", compiled)]
}

/// A literal as text, for messages.
struct Text<'a>(&'a Literal);

impl std::fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut module = Module::new("found");
        let entry = module.add_computation("found");
        let shape = self.0.shape().clone();
        let root = module.add(entry, "found", shape, hlo_ir::Op::constant(self.0.clone()), []);
        module.set_root(entry, root);
        module.set_entry(entry);
        let text = hlo_ir::print::print_module(&module, &hlo_ir::print::PrintOptions::short()).to_string();
        write!(f, "{}", text.lines().find(|line| line.contains("ROOT")).unwrap_or_default().trim())
    }
}

/// Returns the shape of an array of `f32`.
pub(crate) fn f32s(dims: &[i64]) -> Shape {
    Shape::array(ElementType::F32, dims.iter().copied())
}
