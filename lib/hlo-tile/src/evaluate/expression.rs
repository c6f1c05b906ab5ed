//! Expressions other than operators and calls.

use super::lists::{list, values_of};
use super::{Evaluator, Frame, name_of, proposed, unsuitable};
use crate::ast::{Binary, Expr, ExprKind, Name};
use crate::builtins::builtin_names;
use crate::contraction::Access;
use crate::error::error;
use crate::poly::Poly;
use crate::rules;
use crate::scope;
use crate::types;
use crate::value::Value;
use hlo_ir::Span;
use hlo_ir::contraction::Combination;
use hlo_ir::diag::Diag;

impl<'b> Evaluator<'b, '_> {
    /// Evaluates an expression.
    pub(super) fn expression(&mut self, frame: &Frame<'b>, expr: &Expr) -> Result<Value<'b>, Diag> {
        Ok(match &expr.kind {
            ExprKind::Integer(n) => Value::Integer(*n),
            ExprKind::Float(x) => Value::Float(*x),
            ExprKind::Truth(x) => Value::Truth(*x),
            ExprKind::Nothing => Value::Nothing,
            ExprKind::Text(text) => Value::Text(text.clone()),
            ExprKind::Name(name) => return self.variable(frame, name, expr.span),
            ExprKind::Unary(operator, operand) => {
                let value = self.expression(frame, operand)?;
                return self.unary(*operator, (value, operand.span), expr.span);
            }
            ExprKind::Binary(operator @ (Binary::LogicalAnd | Binary::LogicalOr), left, right) => {
                return self.either(frame, *operator, left, right, expr.span);
            }
            ExprKind::Binary(operator, left, right) => {
                let a = self.expression(frame, left)?;
                let b = self.expression(frame, right)?;
                return self.binary(*operator, (a, left.span), (b, right.span), expr.span);
            }
            ExprKind::Call(callee, arguments) => return self.called(frame, callee, arguments, expr.span),
            ExprKind::Subscript(base, indices) => return self.subscript(frame, base, indices, expr.span),
            ExprKind::Slice { base, from, until } => {
                return self.slice(frame, base, [from.as_deref(), until.as_deref()]);
            }
            ExprKind::Attribute(base, name) => return self.attribute(frame, base, name),
            ExprKind::Conditional { test, then, otherwise } => {
                let value = self.expression(frame, test)?;
                let chosen = if self.truth(&value, test.span)? { then } else { otherwise };
                return self.expression(frame, chosen);
            }
            ExprKind::Sequence(all) => {
                let all = self.elements(frame, all)?.into_iter().map(|(v, _)| v).collect();
                return list(all, expr.span);
            }
            ExprKind::Starred(_) => {
                let message = "`*` stands before a list among arguments, dimensions or indices only";
                return Err(error(rules::TILE_SYNTAX, expr.span, message, "not within a list"));
            }
        })
    }

    /// Evaluates expressions. A list after `*` is expanded.
    pub(super) fn elements(
        &mut self,
        frame: &Frame<'b>,
        all: &[Expr],
    ) -> Result<Vec<(Value<'b>, Span)>, Diag> {
        let mut out = Vec::with_capacity(all.len());
        for expr in all {
            let ExprKind::Starred(inner) = &expr.kind else {
                out.push((self.expression(frame, expr)?, expr.span));
                continue;
            };
            let value = self.expression(frame, inner)?;
            let all = values_of(&value).ok_or_else(|| unsuitable(inner.span, "a list after `*`", &value))?;
            out.extend(all.into_iter().map(|v| (v, expr.span)));
        }
        Ok(out)
    }

    fn variable(&self, frame: &Frame<'b>, name: &str, span: Span) -> Result<Value<'b>, Diag> {
        if let Some(value) = frame.names.get(name) {
            return Ok(value.clone());
        }
        if self.units.is_module(self.unit(), name) {
            let message = format!("`{name}` is a module");
            let label = format!("expected a value; `{name}.function(…)` calls one of its functions");
            return Err(error(rules::TILE_OPERAND, span, message, label));
        }
        if self.is_callable(frame, name) {
            let message = format!("`{name}` is a function");
            let label = format!("expected a value; `{name}(…)` calls it");
            return Err(error(rules::TILE_OPERAND, span, message, label));
        }
        Err(self.undefined(frame, name, span))
    }

    /// Returns the module name if the expression is the name of a module.
    pub(super) fn module_of<'e>(&self, frame: &Frame<'b>, expr: &'e Expr) -> Option<&'e str> {
        name_of(expr).filter(|n| !frame.names.contains_key(*n) && self.units.is_module(self.unit(), n))
    }

    /// Whether a name is that of a function and no variable hides it.
    pub(super) fn is_callable(&self, frame: &Frame<'b>, name: &str) -> bool {
        let is_function = self.units.named(self.unit(), name).is_some();
        !frame.names.contains_key(name) && (is_function || builtin_names().any(|n| n == name))
    }

    /// Evaluates `base[indices]`: an element of a tensor or of a list.
    fn subscript(
        &mut self,
        frame: &Frame<'b>,
        base: &Expr,
        indices: &[Expr],
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        if let Some(name) = name_of(base)
            && self.is_callable(frame, name)
        {
            let message = format!("`{name}` is called with `()`, not `[]`");
            let d = error(rules::TILE_NOT_SUBSCRIPTABLE, span, message, "a function has no elements");
            let text = self.units.unit(self.unit()).text;
            let between = indices.first().zip(indices.last()).map(|(first, last)| {
                let place = Span::new(first.span.start as usize, last.span.end as usize);
                text.get(place.range()).unwrap_or_default()
            });
            return Err(d.did_you_mean(span, format!("{name}({})", between.unwrap_or_default())));
        }
        match self.expression(frame, base)? {
            tensor @ (Value::Tensor(_) | Value::Output(_)) => {
                let indices = self.index_list(frame, indices)?;
                let value = self.tensor(&tensor, base.span)?;
                let name = name_of(base).unwrap_or("the tensor").to_owned();
                Ok(Value::Elements(Combination::Single, vec![Access { value, name, indices, span }]))
            }
            list @ (Value::Sequence(_) | Value::ShapeOf(_)) => {
                let all = values_of(&list).unwrap_or_default();
                self.element_of(frame, &all, indices, span)
            }
            other => {
                let found = other.describe();
                let message = format!("only tensors and lists have elements, found {found}");
                Err(error(rules::TILE_NOT_SUBSCRIPTABLE, base.span, message, format!("this is {found}")))
            }
        }
    }

    /// Returns an element of a list. Negative positions count from the end.
    fn element_of(
        &mut self,
        frame: &Frame<'b>,
        all: &[Value<'b>],
        indices: &[Expr],
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let [index] = indices else {
            return Err(error(rules::TILE_OPERAND, span, "an element of a list has one position", ""));
        };
        let position = self.expression(frame, index)?;
        let n = self.size(&position, index.span)?;
        let at = if n < 0 { n.checked_add_unsigned(all.len() as u64) } else { Some(n) };
        let element = at.and_then(|n| usize::try_from(n).ok()).and_then(|n| all.get(n));
        element.cloned().ok_or_else(|| {
            let message = format!("position {n} of a list of {}", all.len());
            error(rules::TILE_OPERAND, index.span, message, "there is no such element")
        })
    }

    /// Evaluates the index expressions between brackets. A list of indices is expanded.
    pub(super) fn index_list(
        &mut self,
        frame: &Frame<'b>,
        indices: &[Expr],
    ) -> Result<Vec<(Poly, Span)>, Diag> {
        let mut out = Vec::new();
        for (value, span) in self.elements(frame, indices)? {
            match value {
                Value::Sequence(list) if indices.len() == 1 => {
                    for value in list {
                        out.push((self.poly(value, span)?, span));
                    }
                }
                value => out.push((self.poly(value, span)?, span)),
            }
        }
        Ok(out)
    }

    /// Evaluates `base.name`.
    fn attribute(&mut self, frame: &Frame<'b>, base: &Expr, name: &Name) -> Result<Value<'b>, Diag> {
        if name_of(base) == Some("DType") && !frame.names.contains_key("DType") {
            return types::of_name(&name.text).map(Value::ElementType).ok_or_else(|| {
                let message = format!("there is no element type `DType.{}`", name.text);
                let d = error(rules::TILE_NAME, name.span, message, "not one of the element types");
                proposed(d, name.span, &name.text, types::names())
            });
        }
        if name_of(base) == Some("SortDirection") && !frame.names.contains_key("SortDirection") {
            return match name.text.as_str() {
                "ASC" => Ok(Value::Integer(0)),
                "DESC" => Ok(Value::Integer(1)),
                other => {
                    let message = format!("there is no direction `SortDirection.{other}`");
                    Err(error(rules::TILE_NAME, name.span, message, "expected `ASC` or `DESC`"))
                }
            };
        }
        if let Some(module) = self.module_of(frame, base) {
            scope::of_module(name)?;
            let message = format!("`{module}.{}` is a function", name.text);
            return Err(error(rules::TILE_OPERAND, name.span, message, "expected a value; `(…)` calls it"));
        }
        let value = self.expression(frame, base)?;
        let known = match &value {
            Value::Tensor(_) | Value::Output(_) => {
                let shape = self.array(&value, base.span)?;
                match name.text.as_str() {
                    "rank" => return Ok(Value::Integer(shape.rank() as i64)),
                    "dtype" => return Ok(Value::ElementType(shape.element_type)),
                    "size" => {
                        let size = shape.dims.iter().try_fold(1_i64, |n, &d| n.checked_mul(d));
                        return size.map(Value::Integer).ok_or_else(|| super::dims::too_large(name.span));
                    }
                    "shape" => return Ok(Value::ShapeOf(shape.dims.to_vec())),
                    _ => "`rank`, `shape`, `size` and `dtype`",
                }
            }
            Value::ShapeOf(sizes) => match name.text.as_str() {
                "ndims" | "rank" => return Ok(Value::Integer(sizes.len() as i64)),
                "dims" | "sizes" => {
                    return Ok(Value::Sequence(sizes.iter().map(|&n| Value::Integer(n)).collect()));
                }
                _ => "`ndims` and `dims`",
            },
            _ => "none",
        };
        let found = value.describe();
        let message = format!("{found} has no attribute `{}`", name.text);
        let d = error(rules::TILE_NAME, name.span, message, "not an attribute");
        Err(d.note(format!("it has {known}")))
    }
}
