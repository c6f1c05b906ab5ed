//! Calls of functions in the file and of built-in functions.

use super::arithmetic::{ONE_LINE, Placed};
use super::calls::CallArgument;
use super::lens::lens;
use super::lists::values_of;
use super::{Evaluator, Frame, name_of, proposed, unsuitable};
use crate::ast::{Argument, Expr, ExprKind};
use crate::builtins::{BUILTINS, Builtin};
use crate::elementwise::Function;
use crate::error::error;
use crate::poly::Poly;
use crate::rules;
use crate::scope;
use crate::value::{Dim, Output, Value};
use hlo_ir::contraction::Combination;
use hlo_ir::diag::Diag;
use hlo_ir::{ElementType, Span};
use std::rc::Rc;

/// Maximum number of TensorDims or TensorIndexes in one call.
const MAX_COUNT: i64 = 1_000;

/// The arguments of a call in the order of the parameters. Missing arguments are `None`.
pub(super) struct Arguments<'b>(Vec<Option<Placed<'b>>>);

impl<'b> Arguments<'b> {
    /// Returns the argument for optional parameter `number`.
    pub(super) fn optional(&mut self, number: usize) -> Option<Placed<'b>> {
        self.0.get_mut(number).and_then(Option::take)
    }

    /// Returns the argument for required parameter `number`.
    pub(super) fn required(&mut self, number: usize) -> Placed<'b> {
        self.optional(number).unwrap_or((Value::Nothing, Span::default()))
    }
}

impl<'b> Evaluator<'b, '_> {
    /// Evaluates `callee(arguments)`.
    pub(super) fn called(
        &mut self,
        frame: &Frame<'b>,
        callee: &Expr,
        arguments: &[Argument],
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        if let ExprKind::Attribute(base, method) = &callee.kind {
            if self.module_of(frame, base).is_some() {
                let function = scope::of_module(method)?;
                let arguments = self.arguments(frame, arguments)?;
                return self.call(function, arguments, Some(span));
            }
            let base_value = self.expression(frame, base)?;
            let arguments = self.arguments(frame, arguments)?;
            return self.method(base_value, base.span, method, arguments, span);
        }
        let Some(name) = name_of(callee) else {
            let value = self.expression(frame, callee)?;
            return Err(unsuitable(callee.span, "a function", &value));
        };
        if let Some(variable) = frame.names.get(name) {
            return Err(unsuitable(callee.span, "a function", variable));
        }
        let arguments = self.arguments(frame, arguments)?;
        if let Some(function) = self.units.named(self.unit(), name) {
            return self.call(function, arguments, Some(span));
        }
        if let Some(function) = Function::of_name(name) {
            let operands = positional(name, &operand_names(function), arguments, span)?;
            let operands: Vec<_> = operands.0.into_iter().flatten().collect();
            return self.elementwise(function, &operands, span);
        }
        match BUILTINS.iter().find(|b| b.name == name) {
            Some(builtin) => self.builtin(builtin, arguments, span),
            None => Err(self.undefined(frame, name, callee.span)),
        }
    }

    /// Evaluates arguments. A list after `*` is expanded.
    fn arguments(
        &mut self,
        frame: &Frame<'b>,
        arguments: &[Argument],
    ) -> Result<Vec<CallArgument<'b>>, Diag> {
        let mut out = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let values = self.elements(frame, std::slice::from_ref(&argument.value))?;
            out.extend(values.into_iter().map(|(v, s)| (argument.name.clone(), v, s)));
        }
        Ok(out)
    }

    fn builtin(
        &mut self,
        builtin: &Builtin,
        arguments: Vec<CallArgument<'b>>,
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        match builtin.name {
            "TensorOutput" => return Ok(Value::Output(Output::new(Some(listed(arguments)), span))),
            "einsum" => return self.einsum(arguments, span),
            _ => {}
        }
        let mut given = positional(builtin.name, builtin.parameters, arguments, span)?;
        Ok(match builtin.name {
            "TensorDim" => Value::Dim(Rc::default()),
            "TensorIndex" => Value::Index(Poly::index(self.indices.fresh())),
            "TensorDims" => {
                let count = self.count(&given.required(0))?;
                Value::Sequence((0..count).map(|_| Value::Dim(Rc::<Dim>::default())).collect())
            }
            "TensorIndexes" => {
                let count = self.count(&given.required(0))?;
                let fresh = (0..count).map(|_| Value::Index(Poly::index(self.indices.fresh())));
                Value::Sequence(fresh.collect())
            }
            "Contraction" => {
                let output = Output::new(None, span);
                for argument in [given.optional(0), given.optional(1)].into_iter().flatten() {
                    match argument {
                        (Value::Text(name), _) => *output.name.borrow_mut() = Some(name),
                        (Value::Lens(lens), place) => output.state.borrow_mut().lens = Some((lens, place)),
                        (Value::Nothing, _) => {}
                        (other, place) => return Err(unsuitable(place, "a TensorLens or a name", &other)),
                    }
                }
                Value::Contraction(output)
            }
            "cond" => {
                let all = [given.required(0), given.required(1), given.required(2)];
                return conditional(all);
            }
            "cast" => {
                let (x, dtype) = (given.required(0), given.required(1));
                let Value::ElementType(to) = dtype.0 else {
                    return Err(unsuitable(dtype.1, "an element type such as `DType.FLOAT32`", &dtype.0));
                };
                return self.cast(x, to);
            }
            "as_bool" => return self.cast(given.required(0), ElementType::Pred),
            "as_float" | "as_int" | "as_uint" => {
                let (x, bits) = (given.required(0), given.required(1));
                let to = self.type_of_width(builtin.name, &bits)?;
                return self.cast(x, to);
            }
            "TensorLens" => return lens(&given.required(0), &given.required(1), span),
            "len" => return self.length(given.required(0)),
            "index" => return self.index(given.required(0), &given.required(1), span),
            "reshape" => return self.reshape(&given.required(0), given.required(1), span),
            "shape" => return self.shape(&given.required(0)),
            "gather" => return self.gather(&given.required(0), &given.required(1), given.optional(2), span),
            "scatter" => {
                return self.scatter(&given.required(0), &given.required(1), &given.required(2), span);
            }
            "argsort" => return self.argsort(&given.required(0), given.optional(1), given.optional(2), span),
            "prng" => return self.prng(&given.required(0), given.required(1), span),
            _ => return self.trace(&given.required(0), &given.required(1)),
        })
    }

    /// Returns the number of dimensions or indices to create.
    fn count(&self, (value, span): &Placed<'b>) -> Result<i64, Diag> {
        let count = self.size(value, *span)?;
        if (0..=MAX_COUNT).contains(&count) {
            return Ok(count);
        }
        let message = format!("a number up to {MAX_COUNT} is expected, found {count}");
        Err(error(rules::TILE_SIZE, *span, message, "too many, or too few"))
    }

    fn cast(&mut self, (x, span): Placed<'b>, to: ElementType) -> Result<Value<'b>, Diag> {
        let tensor = self.whole(x, span)?;
        let from = self.shape_of(tensor, span)?.element_type;
        Ok(Value::Tensor(if from == to { tensor } else { tensor.convert(to) }))
    }

    /// Converts a value to a tensor. A number becomes a tensor without dimensions.
    pub(super) fn whole(&mut self, value: Value<'b>, span: Span) -> Result<hlo_builder::Value<'b>, Diag> {
        match self.elementwise(Function::Ident, &[(value, span)], span)? {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(unsuitable(span, "a tensor", &other)),
        }
    }

    /// Returns the type for `as_float(x, 32)` and similar functions.
    fn type_of_width(&self, function: &str, (value, span): &Placed<'b>) -> Result<ElementType, Diag> {
        use ElementType::{F16, F32, F64, S8, S16, S32, S64, U8, U16, U32, U64};
        let bits = self.size(value, *span)?;
        Ok(match (function, bits) {
            ("as_float", 16) => F16,
            ("as_float", 32) => F32,
            ("as_float", 64) => F64,
            ("as_int", 8) => S8,
            ("as_int", 16) => S16,
            ("as_int", 32) => S32,
            ("as_int", 64) => S64,
            ("as_uint", 8) => U8,
            ("as_uint", 16) => U16,
            ("as_uint", 32) => U32,
            ("as_uint", 64) => U64,
            _ => {
                let message = format!("`{function}` has no type of {bits} bits");
                let widths = if function == "as_float" { "16, 32 or 64" } else { "8, 16, 32 or 64" };
                return Err(error(rules::TILE_TYPE, *span, message, format!("expected {widths}")));
            }
        })
    }
}

/// Evaluates `cond(a, b, c)` for three elements.
fn conditional(all: [Placed<'_>; 3]) -> Result<Value<'_>, Diag> {
    let mut operands = Vec::with_capacity(3);
    for (value, span) in all {
        match value {
            Value::Elements(Combination::Single, access) => operands.extend(access),
            other => {
                let found = other.describe();
                let message = format!("`cond` takes three elements of tensors, found {found}");
                return Err(error(rules::TILE_COMBINATION, span, message, "not an element of one tensor")
                    .note(ONE_LINE)
                    .note("`select(C, T, F)` is that of whole tensors"));
            }
        }
    }
    Ok(Value::Elements(Combination::Select, operands))
}

/// Returns the values of arguments. A single list argument is expanded.
pub(super) fn listed(arguments: Vec<CallArgument<'_>>) -> Vec<Placed<'_>> {
    let all: Vec<Placed<'_>> = arguments.into_iter().map(|(_, v, s)| (v, s)).collect();
    if let [(value, span)] = &all[..]
        && let Some(list) = values_of(value)
    {
        return list.into_iter().map(|v| (v, *span)).collect();
    }
    all
}

/// Returns the parameter names of an elementwise function.
fn operand_names(function: Function) -> Vec<&'static str> {
    ["x", "y", "z"].into_iter().take(function.arity()).collect()
}

/// Puts arguments into the order of the parameters.
pub(super) fn positional<'b>(
    function: &str,
    parameters: &[&str],
    arguments: Vec<CallArgument<'b>>,
    span: Span,
) -> Result<Arguments<'b>, Diag> {
    let names: Vec<&str> = parameters.iter().map(|p| p.trim_end_matches('?')).collect();
    let mut out: Vec<Option<Placed<'b>>> = vec![None; names.len()];
    let count = arguments.len();
    for (position, (name, value, place)) in arguments.into_iter().enumerate() {
        let at = match &name {
            None => (position < names.len()).then_some(position),
            Some(name) => names.iter().position(|n| *n == name.text),
        };
        let Some(at) = at else {
            return Err(match name {
                None => {
                    let message = format!("`{function}` takes {} arguments, found {count}", names.len());
                    error(rules::TILE_CALL, place, message, "one too many")
                }
                Some(name) => {
                    let message = format!("`{function}` has no parameter `{}`", name.text);
                    let d = error(rules::TILE_CALL, name.span, message, "not one of its parameters");
                    proposed(d, name.span, &name.text, names.iter().copied())
                }
            });
        };
        if out[at].replace((value, place)).is_some() {
            let message = format!("`{}` of `{function}` is given twice", names[at]);
            return Err(error(rules::TILE_CALL, place, message, "the second"));
        }
    }
    let missing = parameters.iter().zip(&out).find(|(p, a)| !p.ends_with('?') && a.is_none());
    if let Some((parameter, _)) = missing {
        let message = format!("`{function}` is called without its argument `{parameter}`");
        return Err(error(rules::TILE_CALL, span, message, format!("takes {}", names.join(", "))));
    }
    Ok(Arguments(out))
}
