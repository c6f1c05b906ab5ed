//! Tensors: converts values to tensors and applies elementwise functions to them.

use super::arithmetic::Placed;
use super::{Evaluator, unsuitable};
use crate::contraction::{Access, Contraction, contract};
use crate::elementwise::{Domain, Function};
use crate::error::error;
use crate::poly::Poly;
use crate::rules;
use crate::types::{self, Kind};
use crate::value::{Output, Value};
use hlo_builder::{BuildErrors, Value as Hlo};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Shape, Span};

/// An operand of an elementwise function.
enum Operand<'b> {
    Tensor(Hlo<'b>, ArrayShape),
    Integer(i64),
    Float(f64),
    Truth(bool),
}

impl Operand<'_> {
    fn kind(&self) -> Kind {
        match self {
            Operand::Tensor(_, shape) => Kind::Tensor(shape.element_type),
            Operand::Integer(_) => Kind::Integer,
            Operand::Float(_) => Kind::Float,
            Operand::Truth(_) => Kind::Truth,
        }
    }

    fn sizes(&self) -> &[i64] {
        match self {
            Operand::Tensor(_, shape) => &shape.dims,
            _ => &[],
        }
    }
}

impl<'b> Evaluator<'b, '_> {
    /// Converts a value to a tensor. A TensorOutput is computed now and can no longer be changed.
    pub(crate) fn tensor(&mut self, value: &Value<'b>, span: Span) -> Result<Hlo<'b>, Diag> {
        match value {
            Value::Tensor(tensor) => Ok(*tensor),
            Value::Output(output) => self.made(output, span),
            other => Err(unsuitable(span, "a tensor", other)),
        }
    }

    /// Returns the shape of a value as a tensor.
    pub(super) fn array(&mut self, value: &Value<'b>, span: Span) -> Result<ArrayShape, Diag> {
        let tensor = self.tensor(value, span)?;
        self.shape_of(tensor, span)
    }

    /// Returns the shape of a tensor.
    pub(crate) fn shape_of(&self, tensor: Hlo<'b>, span: Span) -> Result<ArrayShape, Diag> {
        match tensor.shape() {
            Ok(Shape::Array(shape)) => Ok(shape),
            Ok(other) => Err(Diag::error(format!("expected an array, found {other}")).at(span, "")),
            // An earlier check missed this error.
            Err(errors) => Err(errors.diags().last().map_or_else(
                || Diag::error("the builder made no instruction").at(span, ""),
                |d| Diag::error(d.message.clone()).at(span, "made here"),
            )),
        }
    }

    /// Computes the contraction of an output, unless it was computed before.
    fn made(&mut self, output: &Output<'b>, used: Span) -> Result<Hlo<'b>, Diag> {
        let state = output.state.borrow().clone();
        if let Some((made, _)) = state.made {
            return Ok(made);
        }
        let name = output.name.borrow().clone();
        let shown = name.clone().unwrap_or_else(|| "the TensorOutput".into());
        let (Some(written), Some((indices, target))) = (&state.contraction, &state.written) else {
            let message = format!("`{shown}` is never written");
            return Err(error(rules::TILE_NO_CONTRACTION, used, message, "it is used here")
                .and(output.span, "made here")
                .note("`O[i] += A[i, j]` writes it"));
        };
        let mut sizes = Vec::new();
        for (value, span) in state.sizes.iter().flatten() {
            let size = self.size(value, *span)?;
            if size <= 0 {
                let message = format!("a dimension of `{shown}` is {size}, sizes must be positive");
                return Err(error(rules::TILE_SIZE, *span, message, format!("this is {size}")));
            }
            sizes.push(size);
        }
        let mut contraction = Contraction {
            name: shown,
            declared: output.span,
            sizes,
            output: indices.clone(),
            target: *target,
            aggregation: written.aggregation,
            combination: written.combination,
            operands: written.operands.clone(),
            constraints: state.constraints.clone(),
            default: None,
            span: written.span,
        };
        if let Some((value, span)) = &state.default {
            contraction.default = Some((self.tensor(value, *span)?, *span));
        }
        // The instruction gets the metadata of the write, not of the first use.
        let scope = self.builder.metadata_scope(written.metadata.clone());
        let made = contract(self.builder, contraction, &self.indices);
        let (mut tensor, warnings) = made.map_err(|d| match self.fitting(indices, &written.operands) {
            Some(sizes) if d.code == Some(rules::TILE_OUTPUT_RANK) && output.is_call => {
                d.did_you_mean(output.span, format!("TensorOutput({sizes})"))
            }
            _ => d,
        })?;
        if let Err(errors) = tensor.shape() {
            return Err(contraction_error(&errors, written.span));
        }
        self.warnings.extend(warnings);
        if let Some((lens, span)) = &state.lens {
            tensor = lens.written(tensor, indices.len(), *span)?;
        }
        if let Some((init, span)) = &state.init {
            tensor = self.initialized(written.aggregation, tensor, (init, *span))?;
        }
        drop(scope);
        if let Some(name) = name {
            self.name_tensor(tensor, &name);
        }
        output.state.borrow_mut().made = Some((tensor, used));
        Ok(tensor)
    }

    /// Returns output sizes that cover the ranges of the output indices in the operands. Uses the names of
    /// dimensions where they have names. Returns `None` if an output index is not also a whole index of an
    /// operand.
    fn fitting(&self, output: &[(Poly, Span)], operands: &[Access<'b>]) -> Option<String> {
        let size = |poly: &Poly| {
            let dimensions = operands.iter().flat_map(|access| {
                access.indices.iter().enumerate().map(move |(n, (index, _))| (access.value, n, index))
            });
            let alone = poly.indices().count() == 1;
            let (tensor, number, _) = dimensions.into_iter().find(|(_, _, index)| alone && *index == poly)?;
            let named = tensor.name().and_then(|name| self.bound.get(&name)?.get(number)?.clone());
            let shape = tensor.shape().ok()?;
            named.or_else(|| Some(shape.as_array()?.dims.get(number)?.to_string()))
        };
        let sizes: Option<Vec<String>> = output.iter().map(|(poly, _)| size(poly)).collect();
        Some(sizes?.join(", "))
    }

    /// Combines the result of a contraction with the elements of `init`.
    fn initialized(
        &mut self,
        aggregation: hlo_ir::contraction::Aggregation,
        tensor: Hlo<'b>,
        init: (&Value<'b>, Span),
    ) -> Result<Hlo<'b>, Diag> {
        use hlo_ir::contraction::Aggregation;
        let function = match aggregation {
            Aggregation::Sum => Function::Add,
            Aggregation::Product => Function::Mul,
            Aggregation::Max => Function::Max,
            Aggregation::Min => Function::Min,
            Aggregation::Assign => {
                let message = "`init` needs an aggregation, found `assign`";
                return Err(error(rules::TILE_COMBINATION, init.1, message, "with what to begin")
                    .note("`use_default` gives unwritten elements a value"));
            }
        };
        let combined =
            self.elementwise(function, &[(Value::Tensor(tensor), init.1), (init.0.clone(), init.1)], init.1)?;
        self.tensor(&combined, init.1)
    }

    /// Applies an elementwise function to tensors and numbers, with numpy's broadcasting.
    pub(super) fn elementwise(
        &mut self,
        function: Function,
        operands: &[Placed<'b>],
        span: Span,
    ) -> Result<Value<'b>, Diag> {
        let mut all = Vec::with_capacity(operands.len());
        for (value, place) in operands {
            all.push(self.operand(value, *place)?);
        }
        // The first operand of `select` is the condition.
        let chooses = usize::from(function == Function::Select);
        let kinds: Vec<Kind> = all.iter().skip(chooses).map(Operand::kind).collect();
        let element_type = function.working_type(&kinds).map_err(|needs| {
            let found = types::promoted(&kinds);
            let message = format!("`{}` works on {needs}, found {found}", function.name());
            error(rules::TILE_TYPE, span, message, "of this").note("`cast(X, DType.FLOAT32)` converts")
        })?;
        let sizes = self.common_sizes(function, &all, operands, span)?;
        let mut values = Vec::with_capacity(all.len());
        for (n, operand) in all.into_iter().enumerate() {
            let truth = n < chooses || function.domain() == Domain::Logical;
            let working = if truth { ElementType::Pred } else { element_type };
            values.push(self.converted(operand, working, operands[n].1)?);
        }
        let values: Vec<_> = values.into_iter().map(|v| self.broadcast(v, &sizes)).collect();
        let result = function.apply(element_type, &values);
        let result = result.ok_or_else(|| {
            let message = format!("`{}` takes {} operands", function.name(), function.arity());
            error(rules::TILE_CALL, span, message, format!("found {}", values.len()))
        })?;
        self.shape_of(result, span)?;
        Ok(Value::Tensor(result))
    }

    fn operand(&mut self, value: &Value<'b>, span: Span) -> Result<Operand<'b>, Diag> {
        Ok(match value {
            Value::Integer(n) => Operand::Integer(*n),
            Value::Dim(_) => Operand::Integer(self.size(value, span)?),
            Value::Float(x) => Operand::Float(*x),
            Value::Truth(x) => Operand::Truth(*x),
            Value::Elements(..) => {
                return Err(error(
                    rules::TILE_COMBINATION,
                    span,
                    "elementwise operations take whole tensors, found an element of one",
                    "without indices, please",
                ));
            }
            Value::Tensor(_) | Value::Output(_) => {
                let tensor = self.tensor(value, span)?;
                Operand::Tensor(tensor, self.shape_of(tensor, span)?)
            }
            other => return Err(unsuitable(span, "a tensor or a number", other)),
        })
    }

    /// Returns the shape that the operands are broadcast to.
    fn common_sizes(
        &self,
        function: Function,
        all: &[Operand<'b>],
        places: &[Placed<'b>],
        span: Span,
    ) -> Result<Vec<i64>, Diag> {
        if function == Function::Select
            && let [_, a, b] = all
            && ![a, b].iter().any(|o| o.sizes().is_empty())
            && a.sizes() != b.sizes()
        {
            let message =
                format!("both choices of `select` have one shape, found {:?} and {:?}", a.sizes(), b.sizes());
            return Err(error(rules::TILE_BROADCAST, places[2].1, message, shown(b.sizes()))
                .and(places[1].1, shown(a.sizes())));
        }
        let rank = all.iter().map(|o| o.sizes().len()).max().unwrap_or(0);
        let mut sizes = vec![1; rank];
        // The operand that determined each size.
        let mut whose = vec![0; rank];
        for (n, operand) in all.iter().enumerate() {
            let own = operand.sizes();
            for (d, &size) in own.iter().enumerate() {
                let at = rank - own.len() + d;
                if sizes[at] == 1 {
                    (sizes[at], whose[at]) = (size, n);
                } else if size != 1 && size != sizes[at] {
                    let other: &[i64] = all[whose[at]].sizes();
                    let message = format!(
                        "the shapes {other:?} and {own:?} of `{}` don't fit each other: {} and {size} in dimension {at} of the \
                         result",
                        function.name(),
                        sizes[at]
                    );
                    let d = error(rules::TILE_BROADCAST, span, message, "")
                        .and(places[whose[at]].1, shown(other))
                        .and(places[n].1, shown(own));
                    return Err(
                        d.note("shapes are aligned at their last dimensions, and sizes of 1 are repeated")
                    );
                }
            }
        }
        Ok(sizes)
    }

    /// Converts an operand to an element type.
    fn converted(&self, operand: Operand<'b>, to: ElementType, span: Span) -> Result<Hlo<'b>, Diag> {
        let b = self.builder;
        let value = match operand {
            Operand::Tensor(tensor, shape) if shape.element_type == to => tensor,
            Operand::Tensor(tensor, _) => tensor.convert(to),
            Operand::Integer(n) if to.is_pred() => b.constant_number(n != 0, to),
            Operand::Integer(n) => b.constant_number(n, to),
            Operand::Float(x) if to.is_pred() => b.constant_number(x != 0.0, to),
            Operand::Float(x) => b.constant_number(x, to),
            Operand::Truth(x) if to.is_pred() => b.constant_number(x, to),
            Operand::Truth(x) => b.constant_number(i64::from(x), to),
        };
        match value.shape() {
            Ok(_) => Ok(value),
            Err(_) => {
                let message = format!("this number is no value of the type {to}");
                Err(error(rules::TILE_TYPE, span, message, format!("the tensor beside it has {to}")))
            }
        }
    }

    /// Broadcasts a value to the given sizes.
    pub(super) fn broadcast(&self, value: Hlo<'b>, sizes: &[i64]) -> Hlo<'b> {
        let rank = value.shape().ok().and_then(|s| s.as_array().map(ArrayShape::rank)).unwrap_or(0);
        let first = sizes.len().saturating_sub(rank);
        let dimensions: Vec<i64> = (first as i64..sizes.len() as i64).collect();
        value.broadcast_in_dim(sizes, &dimensions)
    }
}

/// Returns the error for a contraction that the builder rejected.
fn contraction_error(errors: &BuildErrors, span: Span) -> Diag {
    // The last error is the new one. The builder may have earlier errors.
    match errors.diags().last() {
        None => Diag::error("the contraction could not be made").at(span, ""),
        Some(d) => error(d.code.unwrap_or(rules::TILE_OPERAND), span, d.message.clone(), "this contraction"),
    }
}

fn shown(sizes: &[i64]) -> String {
    format!("this has the shape {sizes:?}")
}
