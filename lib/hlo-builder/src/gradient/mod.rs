//! Gradients: reverse-mode differentiation of the instructions that a builder has added so far.
//!
//! Starting at the loss, each instruction converts the gradient of its result into the gradients of its
//! operands (`elementwise.rs`, `movement.rs`, `contraction.rs`). Dot products, convolutions and windowed sums
//! are differentiated as contractions. The gradients use the same operations, so you can differentiate them
//! again.

mod contraction;
mod elementwise;
mod movement;

use crate::{Builder, Computation, Value};
use hlo_ir::attr::OpMetadata;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op, Shape};
use std::collections::{HashMap, HashSet};
use std::panic::Location;

/// An instruction whose gradient is known, with the data that its rule needs.
struct Step<'b> {
    builder: &'b Builder,
    /// The result of the instruction.
    result: Value<'b>,
    op: Op,
    operands: Vec<Value<'b>>,
    /// Whether each operand depends on the values to differentiate with respect to.
    is_active: Vec<bool>,
    /// The gradient of the loss with respect to the result, of the same shape.
    gradient: Value<'b>,
}

/// The gradient with respect to each operand. `None` if it does not exist or is 0.
type Gradients<'b> = Vec<Option<Value<'b>>>;

impl Builder {
    /// Returns the gradients of `loss` with respect to each of `values`. Each gradient has the shape of its
    /// value. It is zero if `loss` does not depend on the value. If the loss is not a scalar, the sum of its
    /// elements is differentiated.
    ///
    /// Supported operations are elementwise operations, operations that move elements, sums, maxima and
    /// minima, `dot`, `convolution`, `contraction` and windowed sums. If the operands of an elementwise
    /// maximum or minimum are equal, each gets half of the gradient. If several elements are the maximum or
    /// minimum of a `contraction` or `reduce`, each gets the full gradient. Integers and booleans have no
    /// gradients.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    ///
    /// let b = Builder::new("squares");
    /// let x = b.constant_r1(&[1.0f32, -2.0, 3.0]);
    /// let loss = (x.square() * 0.5).exp().log();
    /// let [dx] = b.gradients(loss, &[x])[..] else { unreachable!() };
    /// assert_eq!(b.compute_constant(dx.round())?.elements::<f32>(), [1.0, -2.0, 3.0]);
    /// # Ok::<(), hlo_builder::BuildErrors>(())
    /// ```
    #[track_caller]
    pub fn gradients<'b>(&'b self, loss: Value<'b>, values: &[Value<'b>]) -> Vec<Value<'b>> {
        let at = Location::caller();
        let all: Vec<Value<'b>> = values.iter().copied().chain([loss]).collect();
        let nothing = || values.iter().map(|_| self.nothing()).collect();
        if !self.owns(&all) {
            return nothing();
        }
        let Some(last) = loss.id else { return nothing() };
        for value in &all {
            match value.shape_if_made() {
                None | Some(Shape::Array(_)) => {}
                Some(other) => {
                    self.fail(at, Diag::error(format!("gradients are of arrays by arrays, found {other}")));
                    return nothing();
                }
            }
        }
        // Errors and instructions record the line of the call to `gradients`.
        let _line = self.line_scope(at);
        let mut gradients: HashMap<InstrId, Value<'b>> = HashMap::new();
        let Some(of_loss) = loss.array("gradients") else { return nothing() };
        if !of_loss.element_type.is_float() {
            let message = format!("only floating-point numbers have gradients, found {of_loss}");
            self.fail(at, Diag::error(message));
            return nothing();
        }
        let active = self.active(last, values);
        // Added instructions get the metadata of the instruction that they differentiate.
        let scope = self.metadata_scope(self.metadata_of(last));
        gradients.insert(last, self.full(&of_loss, 1.0));
        drop(scope);
        for &id in active.iter().rev() {
            let Some(gradient) = gradients.get(&id).copied() else { continue };
            let step = self.step(id, gradient, &active);
            let scope = self.metadata_scope(self.metadata_of(id));
            let found = match step.rule() {
                Ok(found) => found,
                Err(message) => {
                    self.fail(at, Diag::error(message));
                    return nothing();
                }
            };
            for (operand, gradient) in step.operands.iter().zip(found) {
                let (Some(id), Some(gradient)) = (operand.id, gradient) else { continue };
                let sum = gradients.get(&id).map_or(gradient, |&before| before + gradient);
                gradients.insert(id, sum);
            }
            drop(scope);
        }
        let scope = self.metadata_scope(self.metadata_of(last));
        let gradient = |value: &Value<'b>| {
            let zeros = || value.array("gradients").map_or(self.nothing(), |a| self.full(&a, 0.0));
            value.id.and_then(|id| gradients.get(&id).copied()).unwrap_or_else(zeros)
        };
        let gradients = values.iter().map(gradient).collect();
        drop(scope);
        gradients
    }

    /// Returns the metadata of an instruction.
    fn metadata_of(&self, id: InstrId) -> OpMetadata {
        self.module()[id].common.as_ref().map_or_else(OpMetadata::default, |c| c.metadata.clone())
    }

    /// Returns the instructions up to `last` that depend on some of `values`, in order.
    fn active(&self, last: InstrId, values: &[Value<'_>]) -> Vec<InstrId> {
        let module = self.module();
        let state = self.state.borrow();
        let mut active: HashSet<InstrId> = values.iter().filter_map(|v| v.id).collect();
        let mut order = Vec::new();
        for &id in module[state.entry].instructions() {
            if id > last {
                break;
            }
            if active.contains(&id) || module[id].operands.iter().any(|o| active.contains(o)) {
                active.insert(id);
                order.push(id);
            }
        }
        order
    }

    fn step<'b>(&'b self, id: InstrId, gradient: Value<'b>, active: &[InstrId]) -> Step<'b> {
        let module = self.module();
        let value = |id: InstrId| Value { builder: self, id: Some(id) };
        let operands = &module[id].operands;
        Step {
            builder: self,
            result: value(id),
            op: module[id].op.clone(),
            operands: operands.iter().map(|&o| value(o)).collect(),
            is_active: operands.iter().map(|o| active.binary_search(o).is_ok()).collect(),
            gradient,
        }
    }

    /// Returns an array with the shape of `like` that contains one number in all elements.
    fn full(&self, like: &ArrayShape, number: f64) -> Value<'_> {
        self.constant_number(number, like.element_type).broadcast(&like.dims)
    }
}

impl<'b> Step<'b> {
    /// Returns the gradients with respect to the operands.
    fn rule(&self) -> Result<Gradients<'b>, String> {
        let differentiable = |value: &Value<'b>| {
            value.shape_if_made().is_some_and(|s| s.as_array().is_some_and(|a| a.element_type.is_float()))
        };
        let wanted: Vec<bool> = self
            .operands
            .iter()
            .zip(&self.is_active)
            .map(|(o, active)| *active && differentiable(o))
            .collect();
        if !wanted.contains(&true) || !differentiable(&self.result) {
            return Ok(vec![None; self.operands.len()]);
        }
        let rules = [Self::of_elementwise, Self::of_movement, Self::of_contraction];
        for rule in rules {
            if let Some(mut found) = rule(self)? {
                found.iter_mut().zip(wanted).filter(|(_, wanted)| !wanted).for_each(|(g, _)| *g = None);
                return Ok(found);
            }
        }
        Err(format!("`{}` has no gradient here", self.op.opcode()))
    }

    /// Returns the shape of an array, or an empty shape if the value could not be created.
    fn array(&self, value: Value<'b>) -> ArrayShape {
        match value.shape_if_made() {
            Some(Shape::Array(a)) => a,
            _ => ArrayShape::new(ElementType::F32, []),
        }
    }

    /// Returns an array with the shape of `value` that contains one number in all elements.
    fn like(&self, value: Value<'b>, number: f64) -> Value<'b> {
        self.builder.full(&self.array(value), number)
    }

    /// Sums over some dimensions.
    fn sum(&self, value: Value<'b>, dimensions: &[i64]) -> Value<'b> {
        if dimensions.is_empty() {
            return value;
        }
        let element_type = self.array(value).element_type;
        value.reduce(self.builder.zero(element_type), &Computation::scalar(Op::Add, element_type), dimensions)
    }
}
