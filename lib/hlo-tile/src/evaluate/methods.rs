//! Methods of tensors (`bind_dims`), of outputs (`add_constraint`), and of PlaidML 1's `Contraction`.

use super::arithmetic::{ONE_LINE, Placed};
use super::builtins::{listed, positional};
use super::calls::CallArgument;
use super::{Evaluator, proposed, unsuitable};
use crate::ast::Name;
use crate::error::error;
use crate::rules;
use crate::value::{ElementwiseAggregation, Output, Value};
use hlo_ir::Span;
use hlo_ir::contraction::Aggregation;
use hlo_ir::diag::Diag;
use std::rc::Rc;

type Arguments<'b> = Vec<CallArgument<'b>>;

/// The methods of tensors.
const OF_TENSORS: [&str; 2] = ["bind_dims", "use"];

/// The methods that outputs and `Contraction` share.
const OF_OUTPUTS: [&str; 4] = ["add_constraint", "add_constraints", "no_reduce", "use_default"];

/// The additional methods of `Contraction`.
const OF_CONTRACTIONS: [&str; 9] =
    ["outShape", "outAccess", "sum", "product", "max", "min", "assign", "init", "build"];

impl<'b> Evaluator<'b, '_> {
    /// Evaluates `base.method(arguments)`.
    pub(super) fn method(
        &mut self,
        base: Value<'b>,
        place: Span,
        method: &Name,
        arguments: Arguments<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let name = method.text.as_str();
        let known: Vec<&str> = match &base {
            Value::Tensor(_) | Value::Output(_) if name == "bind_dims" => {
                return self.bind_dims(&base, place, arguments, span);
            }
            Value::Tensor(_) | Value::Output(_) if name == "use" => {
                let mut given = positional(name, &["lens"], arguments, span)?;
                return self.reordered(&base, place, &given.required(0));
            }
            Value::Output(output) if OF_OUTPUTS.contains(&name) => {
                let output = output.clone();
                self.set_options(&output, name, arguments, span)?;
                return Ok(Value::Nothing);
            }
            Value::Contraction(output) if OF_OUTPUTS.contains(&name) => {
                let output = output.clone();
                self.set_options(&output, name, arguments, span)?;
                return Ok(base);
            }
            Value::Contraction(output) if OF_CONTRACTIONS.contains(&name) => {
                let output = output.clone();
                return self.contraction_method(&output, method, arguments, span);
            }
            Value::Output(_) => OF_OUTPUTS.into_iter().chain(OF_TENSORS).collect(),
            Value::Contraction(_) => OF_CONTRACTIONS.into_iter().chain(OF_OUTPUTS).collect(),
            Value::Tensor(_) if OF_OUTPUTS.contains(&name) => {
                let message = format!("`{name}` is of a TensorOutput, found a tensor that there is already");
                return Err(error(rules::TILE_NOT_AN_OUTPUT, place, message, "not a TensorOutput"));
            }
            Value::Tensor(_) => OF_TENSORS.to_vec(),
            _ => Vec::new(),
        };
        let message = format!("{} has no method `{name}`", base.describe());
        let d = error(rules::TILE_NAME, method.span, message, "not a method");
        Err(proposed(d, method.span, name, known.into_iter()))
    }

    /// Evaluates `tensor.bind_dims(dims)`.
    fn bind_dims(
        &mut self,
        tensor: &Value<'b>,
        place: Span,
        arguments: Arguments<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let shape = self.array(tensor, place)?;
        let dims = listed(arguments);
        if dims.len() != shape.rank() {
            let message = format!("{} dimensions are bound, the tensor has {}", dims.len(), shape.rank());
            return Err(error(rules::TILE_BIND_RANK, span, message, format!("this binds {}", dims.len()))
                .and(place, format!("this has the shape {:?}", shape.dims)));
        }
        for (number, ((value, place), &size)) in dims.iter().zip(&shape.dims).enumerate() {
            let (expected, bound) = match value {
                Value::Dim(dim) => match dim.size.get() {
                    None => {
                        dim.size.set(Some((size, *place)));
                        continue;
                    }
                    Some((expected, bound)) => (expected, Some((dim.name.borrow().clone(), bound))),
                },
                other => (self.size(other, *place)?, None),
            };
            if expected == size {
                continue;
            }
            let (what, from) = match bound {
                Some((name, from)) => (format!("`{}`", name.unwrap_or("the TensorDim".into())), Some(from)),
                None => ("this".into(), None),
            };
            let message = format!("{what} is {expected}, but dimension {number} of the tensor is {size}");
            let d = error(rules::TILE_BIND_MISMATCH, *place, message, format!("the size here is {size}"));
            return Err(match from {
                Some(from) => d.and(from, format!("it is {expected} by this")),
                None => d,
            });
        }
        if let Some(name) = self.tensor(tensor, place)?.name() {
            let names = dims.iter().map(|(value, _)| match value {
                Value::Dim(dim) => dim.name.borrow().clone(),
                _ => None,
            });
            self.bound.insert(name, names.collect());
        }
        Ok(Value::Nothing)
    }

    /// Sets constraints, defaults and hints of an output.
    fn set_options(
        &mut self,
        output: &Rc<Output<'b>>,
        name: &str,
        arguments: Arguments<'b>,
        span: Span,
    ) -> Result<(), Diag> {
        if let Some((_, used)) = &output.state.borrow().made {
            let message = format!("`{name}` comes after the tensor has been used");
            return Err(error(rules::TILE_REASSIGNMENT, span, message, "too late").and(*used, "used here"));
        }
        match name {
            // This prevents PlaidML from simplifying indices. It does not change the result.
            "no_reduce" => {
                positional(name, &["flag?"], arguments, span)?;
            }
            "use_default" => {
                let mut given = positional(name, &["default"], arguments, span)?;
                output.state.borrow_mut().default = Some(given.required(0));
            }
            _ => {
                for (value, place) in listed(arguments) {
                    let Value::Constraint(index, bound) = value else {
                        let found = value.describe();
                        let message = format!("a constraint is `index < bound`, found {found}");
                        let d = error(rules::TILE_CONSTRAINT, place, message, format!("this is {found}"));
                        return Err(d.note("the comparison must have an index on its left"));
                    };
                    output.state.borrow_mut().constraints.push((index, bound, place));
                }
            }
        }
        Ok(())
    }

    /// Evaluates a method of `Contraction().outShape(N).outAccess(i).sum(A[i, j]).build()`.
    fn contraction_method(
        &mut self,
        output: &Rc<Output<'b>>,
        method: &Name,
        arguments: Arguments<'b>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let name = method.text.as_str();
        let twice = |what: &str| {
            let message = format!("the {what} of the contraction is given twice");
            error(rules::TILE_REASSIGNMENT, method.span, message, "the second")
        };
        let aggregation = match name {
            "outShape" => {
                let sizes = listed(arguments);
                if output.state.borrow_mut().sizes.replace(sizes).is_some() {
                    return Err(twice("shape"));
                }
                return Ok(Value::Contraction(output.clone()));
            }
            "outAccess" => {
                let mut indices = Vec::new();
                for (value, place) in listed(arguments) {
                    indices.push((self.poly(value, place)?, place));
                }
                if output.state.borrow_mut().written.replace((indices, span)).is_some() {
                    return Err(twice("access"));
                }
                return Ok(Value::Contraction(output.clone()));
            }
            "init" => {
                let mut given = positional(name, &["rhs"], arguments, span)?;
                output.state.borrow_mut().init = Some(given.required(0));
                return Ok(Value::Contraction(output.clone()));
            }
            "build" => {
                positional(name, &[], arguments, span)?;
                return built(output, span);
            }
            "sum" => Aggregation::Sum,
            "product" => Aggregation::Product,
            "max" => Aggregation::Max,
            "min" => Aggregation::Min,
            _ => Aggregation::Assign,
        };
        let mut given = positional(name, &["rhs"], arguments, span)?;
        let written = self.written(aggregation, given.required(0), span)?;
        if output.state.borrow_mut().contraction.replace(Rc::new(written)).is_some() {
            return Err(twice("aggregation"));
        }
        Ok(Value::Contraction(output.clone()))
    }

    fn written(
        &self,
        aggregation: Aggregation,
        (value, place): Placed<'b>,
        span: Span,
    ) -> Result<ElementwiseAggregation<'b>, Diag> {
        match value {
            Value::Elements(combination, operands) => {
                let metadata = self.metadata(span);
                Ok(ElementwiseAggregation { aggregation, combination, operands, span, metadata })
            }
            other => Err(unsuitable(place, "elements of tensors", &other).note(ONE_LINE)),
        }
    }
}

/// Returns the output of a complete `Contraction`.
fn built<'b>(output: &Rc<Output<'b>>, span: Span) -> Result<Value<'b>, Diag> {
    let mut state = output.state.borrow_mut();
    // Without `outShape` and `outAccess`, the output is a scalar.
    if state.sizes.is_none() && state.written.is_none() {
        (state.sizes, state.written) = (Some(Vec::new()), Some((Vec::new(), span)));
    }
    let missing = [
        ("outShape", state.sizes.is_none()),
        ("outAccess", state.written.is_none()),
        ("sum", state.contraction.is_none()),
    ];
    match missing.iter().find(|(_, is)| *is) {
        None => Ok(Value::Output(output.clone())),
        Some((what, _)) => {
            let message = format!("a Contraction is built without `{what}`");
            let d = error(rules::TILE_NO_CONTRACTION, span, message, "something is missing");
            Err(d.note("`Contraction().outShape(N).outAccess(n).sum(I[m, n]).build()` has all of it"))
        }
    }
}
