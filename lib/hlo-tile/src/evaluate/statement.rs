//! Statements: assignments, contractions, `return`.

use super::{Evaluator, Frame, name_of, unsuitable};
use crate::ast::{Binary, Expr, ExprKind, Statement, StatementKind};
use crate::error::error;
use crate::rules;
use crate::value::{ElementwiseAggregation, Output, Value};
use hlo_ir::Span;
use hlo_ir::contraction::Aggregation;
use hlo_ir::diag::Diag;
use std::rc::Rc;

impl<'b> Evaluator<'b, '_> {
    /// Runs a statement. Returns the result of the function if the statement is a `return`.
    pub(super) fn statement(
        &mut self,
        frame: &mut Frame<'b>,
        statement: &Statement,
    ) -> Result<Option<Value<'b>>, Diag> {
        match &statement.kind {
            StatementKind::Pass => {}
            StatementKind::Assert { test, message } => self.assert(frame, test, message.as_ref())?,
            StatementKind::Return(value) => {
                return match value {
                    Some(value) => self.expression(frame, value).map(Some),
                    None => Ok(Some(Value::Nothing)),
                };
            }
            StatementKind::Expression(expr) => match &expr.kind {
                // Python parses this as an expression. In Tile it is a contraction.
                ExprKind::Binary(operator, target, value) if is_subscript(target) => {
                    let aggregation = match operator {
                        Binary::GreaterEqual => Aggregation::Max,
                        Binary::LessEqual => Aggregation::Min,
                        _ => return self.expression(frame, expr).map(|_| None),
                    };
                    self.contraction(frame, target, aggregation, value, statement.span)?;
                }
                _ => {
                    self.expression(frame, expr)?;
                }
            },
            StatementKind::Assign { targets, operator, value } => {
                self.assign(frame, targets, operator, value, statement.span)?;
            }
        }
        Ok(None)
    }

    /// Evaluates `targets operator= value`.
    fn assign(
        &mut self,
        frame: &mut Frame<'b>,
        targets: &[Expr],
        operator: &str,
        value: &Expr,
        span: Span,
    ) -> Result<(), Diag> {
        if let [target] = targets
            && is_subscript(target)
        {
            let aggregation = match operator {
                "" => Aggregation::Assign,
                "+" => Aggregation::Sum,
                "*" => Aggregation::Product,
                other => {
                    let message = format!("a contraction does not aggregate by `{other}=`");
                    return Err(error(rules::TILE_COMBINATION, span, message, "not an aggregation")
                        .note("aggregations are `+=`, `*=`, `>=` (maximum), `<=` (minimum) and `=`"));
                }
            };
            return self.contraction(frame, target, aggregation, value, span);
        }
        let [target] = targets else {
            return self.unpack(frame, targets, value);
        };
        if let ExprKind::Sequence(inner) = &target.kind {
            return self.unpack(frame, inner, value);
        }
        let Some(name) = name_of(target) else {
            return Err(error(
                rules::TILE_SYNTAX,
                target.span,
                "only a name, or an element of a TensorOutput, is assigned to",
                "",
            ));
        };
        let result = match Binary::of(operator) {
            None => self.expression(frame, value)?,
            Some(operator) => {
                let left = self.expression(frame, target)?;
                let right = self.expression(frame, value)?;
                self.binary(operator, (left, target.span), (right, value.span), span)?
            }
        };
        // An alias does not rename the value.
        if name_of(value).is_none() {
            self.name(&result, name);
        }
        self.note(self.unit(), target.span, &result);
        frame.names.insert(name.to_owned(), result);
        Ok(())
    }

    /// Evaluates `a, b = value`.
    fn unpack(&mut self, frame: &mut Frame<'b>, targets: &[Expr], value: &Expr) -> Result<(), Diag> {
        let result = self.expression(frame, value)?;
        let Value::Sequence(all) = result else {
            return Err(unsuitable(value.span, &format!("{} values", targets.len()), &result));
        };
        if all.len() != targets.len() {
            let message = format!("{} names for {} values", targets.len(), all.len());
            let names = targets.first().map_or(value.span, |t| t.span);
            let d = error(rules::TILE_OPERAND, value.span, message, format!("these are {}", all.len()));
            return Err(d.and(names, format!("{} names from here on", targets.len())));
        }
        for (target, element) in targets.iter().zip(all) {
            let Some(name) = name_of(target) else {
                let message = "only names are assigned several values";
                return Err(error(rules::TILE_SYNTAX, target.span, message, "not a name"));
            };
            self.name(&element, name);
            self.note(self.unit(), target.span, &element);
            frame.names.insert(name.to_owned(), element);
        }
        Ok(())
    }

    /// Names a value after its variable, unless it has a name.
    fn name(&mut self, value: &Value<'b>, name: &str) {
        let set = |slot: &std::cell::RefCell<Option<String>>| {
            slot.borrow_mut().get_or_insert_with(|| name.to_owned());
        };
        match value {
            Value::Dim(dim) => set(&dim.name),
            Value::Index(poly) => {
                let mut indices = poly.indices();
                if let (Some(id), None) = (indices.next(), indices.next()) {
                    self.indices.name(id, name);
                }
            }
            Value::Output(output) | Value::Contraction(output) => set(&output.name),
            Value::Tensor(tensor) => self.name_tensor(*tensor, name),
            Value::Sequence(all) => all.iter().for_each(|v| self.name(v, name)),
            _ => {}
        }
    }

    /// Evaluates `target[indices] aggregation= value`.
    fn contraction(
        &mut self,
        frame: &mut Frame<'b>,
        target: &Expr,
        aggregation: Aggregation,
        value: &Expr,
        span: Span,
    ) -> Result<(), Diag> {
        let ExprKind::Subscript(base, indices) = &target.kind else { return Ok(()) };
        let output = self.target(frame, base)?;
        let indices = self.index_list(frame, indices)?;
        let aggregated = self.expression(frame, value)?;
        let Value::Elements(combination, operands) = aggregated else {
            return Err(self.unindexed(value, &aggregated));
        };
        let mut state = output.state.borrow_mut();
        if let Some(first) = &state.contraction {
            let name = output.name.borrow().clone().unwrap_or_default();
            let message = format!("`{name}` is written twice");
            return Err(error(rules::TILE_REASSIGNMENT, span, message, "the second contraction")
                .and(first.span, "the first")
                .note("a TensorOutput has one contraction: give the second one its own, and add them"));
        }
        state.written = Some((indices, target.span));
        let metadata = self.metadata(span);
        state.contraction =
            Some(Rc::new(ElementwiseAggregation { aggregation, combination, operands, span, metadata }));
        Ok(())
    }

    /// Returns the TensorOutput that a contraction writes.
    fn target(&mut self, frame: &Frame<'b>, base: &Expr) -> Result<Rc<Output<'b>>, Diag> {
        match self.expression(frame, base)? {
            Value::Output(output) => {
                if let Some((_, used)) = &output.state.borrow().made {
                    let message = "a tensor that has been used is written";
                    return Err(error(rules::TILE_REASSIGNMENT, base.span, message, "written here")
                        .and(*used, "used before"));
                }
                Ok(output)
            }
            found @ Value::Tensor(_) => {
                let found = found.describe();
                Err(error(
                    rules::TILE_NOT_AN_OUTPUT,
                    base.span,
                    "only a TensorOutput is written by a contraction",
                    format!("this is {found} that there is already"),
                )
                .note("`O = TensorOutput(N)` begins a new one"))
            }
            found => Err(unsuitable(base.span, "a TensorOutput", &found)),
        }
    }

    /// Returns the error for a value that a contraction cannot aggregate.
    fn unindexed(&self, expr: &Expr, found: &Value<'b>) -> Diag {
        let found = found.describe();
        error(
            rules::TILE_COMBINATION,
            expr.span,
            format!("a contraction aggregates elements of tensors, found {found}"),
            format!("this is {found}"),
        )
        .note(super::arithmetic::ONE_LINE)
    }
}

fn is_subscript(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Subscript(..))
}
