//! Functions: computations from scalars to scalars, which `reduce`, `sort`, `scatter` and other operations
//! apply to elements.

use crate::context::Context;
use crate::element::{Scalar, Scalars};
use crate::error::EvalError;
use crate::program::{Machine, Program, bits_of, single_element};
use hlo_ir::{AlignedBytes, ComputationId, ElementType, Literal};
use std::sync::Arc;

/// A computation from scalars to scalars, ready to be applied. It is a program if it can be compiled to one.
/// Otherwise the evaluator runs it.
pub(crate) struct Function {
    body: Body,
    results: usize,
}

enum Body {
    Program(Machine),
    /// A computation that the evaluator runs, with the results of the last call.
    Computation(ComputationId, Scalars),
}

impl Function {
    /// Prepares a computation whose parameters are scalars of the types `parameters` and whose result is one
    /// scalar, or a tuple of scalars, of the types `results`.
    pub(crate) fn new(
        cx: &mut Context<'_>,
        id: ComputationId,
        parameters: &[ElementType],
        results: &[ElementType],
    ) -> Result<Self, EvalError> {
        let body = match program(cx, id, parameters, results)? {
            Some(program) => Body::Program(Machine::new(program, 1)),
            None => Body::Computation(id, Scalars::new()),
        };
        Ok(Self { body, results: results.len() })
    }

    /// Applies the function to the bits of its arguments. Returns the bits of its results.
    pub(crate) fn call(
        &mut self,
        cx: &mut Context<'_>,
        arguments: &[Scalar],
    ) -> Result<&[Scalar], EvalError> {
        match &mut self.body {
            Body::Program(machine) => {
                cx.charge(machine.cost())?;
                machine.call(arguments)
            }
            Body::Computation(id, returned) => {
                cx.charge(1)?;
                *returned = run(cx, *id, arguments, self.results)?;
                Ok(returned)
            }
        }
    }
}

/// Returns the program of a computation from scalars of the types `parameters` to scalars of the types
/// `results`. Fails if the types do not fit. Returns `None` if the computation can't be compiled to a
/// program.
pub(crate) fn program(
    cx: &mut Context<'_>,
    id: ComputationId,
    parameters: &[ElementType],
    results: &[ElementType],
) -> Result<Option<Arc<Program>>, EvalError> {
    let module = cx.module;
    let wrong = |what: &str| {
        EvalError::new(format!("computation `{}` has {what} that do not fit its use", module[id].name))
    };
    let declared: Vec<Option<ElementType>> =
        module.parameters(id).iter().map(|&p| single_element(&module[p].shape)).collect();
    if !declared.iter().copied().eq(parameters.iter().map(|&t| Some(t))) {
        return Err(wrong("parameters"));
    }
    if !module.has_root(id) {
        return Err(wrong("no results"));
    }
    let root = &module[module[id].root()].shape;
    let returned: Vec<Option<ElementType>> = root.leaves().into_iter().map(single_element).collect();
    if !returned.iter().copied().eq(results.iter().map(|&t| Some(t))) {
        return Err(wrong("results"));
    }
    Ok(cx.program(id))
}

/// Runs a computation on scalars with the evaluator.
fn run(
    cx: &mut Context<'_>,
    id: ComputationId,
    arguments: &[Scalar],
    results: usize,
) -> Result<Scalars, EvalError> {
    let module = cx.module;
    let parameters = module.parameters(id);
    if parameters.len() != arguments.len() {
        return Err(EvalError::internal(format!(
            "`{}` has {} parameters and is given {} arguments",
            module[id].name,
            parameters.len(),
            arguments.len()
        )));
    }
    let mut literals = Vec::with_capacity(arguments.len());
    for (&parameter, bits) in parameters.iter().zip(arguments) {
        let shape = module[parameter].shape.clone();
        let bytes = bits.to_le_bytes();
        let element = bytes.get(..shape.byte_size()).map(AlignedBytes::from_slice);
        let literal = element.and_then(|bytes| Literal::try_from_bytes(shape, bytes));
        literals.push(literal.ok_or_else(|| {
            let (name, shape) = (&module[parameter].name, &module[parameter].shape);
            EvalError::internal(format!("parameter `{name}` has shape {shape}, and is given a scalar"))
        })?);
    }
    let returned = cx.call(id, literals)?;
    let values: Option<Scalars> = returned.leaves().into_iter().map(bits_of).collect();
    values.filter(|values| values.len() == results).ok_or_else(|| {
        EvalError::internal(format!(
            "`{}` gives {} where {results} scalars are expected",
            module[id].name,
            returned.shape()
        ))
    })
}
