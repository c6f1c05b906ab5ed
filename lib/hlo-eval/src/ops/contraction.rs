//! `contraction` (docs/hlo-text.md, "Contractions").

use super::accumulate::in_range;
use super::pointwise::converted;
use super::support::{Result, array, result_array};
use super::{convert, elementwise};
use crate::context::Context;
use crate::element::{Scalar, apply, load, store};
use crate::error::EvalError;
use crate::index::row_major_strides;
use crate::kernel::{Kernel, binary, computes_in_f32};
use hlo_ir::attr::{CompareAttrs, ComparisonDirection, ComparisonType};
use hlo_ir::contraction::{Affine, Aggregation, Combination, Contraction, Nest};
use hlo_ir::{ArrayShape, ElementType, ElementwiseOp as E, Instruction, Literal, Shape};

/// For each valid index, combines the elements of the operands and aggregates the value into the result
/// element at that index. Elements without a value are those of the default, or 0.
pub(super) fn contraction(
    cx: &mut Context<'_>,
    instr: &Instruction,
    mut operands: Vec<Literal>,
    contraction: &Contraction,
) -> Result<Literal> {
    let shape = result_array(instr)?;
    let default = if operands.len() > contraction.operands.len() { operands.pop() } else { None };
    let shapes: Vec<Shape> = operands.iter().map(|o| o.shape().clone()).collect();
    let nest = contraction.nest(&instr.shape, &shapes.iter().collect::<Vec<_>>());
    let nest = nest.map_err(|_| EvalError::internal("a contraction whose indices have no bounds"))?;

    let work = WorkType::of(contraction.aggregation, shape.element_type);
    let operands = work.operands(cx, contraction.combination, operands)?;
    let mut values = cx.allocate(&shape.with_element_type(work.element_type))?;
    let mut written = cx.allocate(&shape.with_element_type(ElementType::Pred))?;
    if let Some(nest) = &nest {
        let run = Run {
            nest,
            at: position(nest, &contraction.output, shape),
            from: operand_positions(nest, contraction, &operands)?,
            combine: combination(contraction.combination, &work, &operands)?,
            aggregate: work.aggregation(contraction.aggregation)?,
            is_sum: contraction.aggregation == Aggregation::Sum,
            size: work.element_type.byte_size(),
        };
        run.all(cx, &operands, values.bytes_mut(), written.bytes_mut())?;
    }
    operands.into_iter().for_each(|o| cx.release(o));

    let mut result = converted(cx, values, shape.element_type)?;
    let size = shape.element_type.byte_size();
    for (at, _) in written.bytes().iter().enumerate().filter(|(_, w)| **w == 0) {
        // Without a default all bits are zero. This is 0 in every type that has a zero.
        let value = default.as_ref().map_or(Ok(0), |d| load(d.bytes(), size, at))?;
        store(result.bytes_mut(), size, at, value)?;
    }
    cx.release(written);
    default.into_iter().for_each(|d| cx.release(d));
    Ok(result)
}

/// Returns the row-major position of an access in an array, as a function of the loop variables.
fn position(nest: &Nest, access: &[Affine], shape: &ArrayShape) -> Affine {
    let mut position = Affine::constant(0, nest.levels().len());
    for (index, stride) in access.iter().zip(row_major_strides(&shape.dims)) {
        let index = nest.in_variables(index);
        let add = |sum: &mut i64, x: i64| *sum = sum.wrapping_add(x.wrapping_mul(stride));
        add(&mut position.constant, index.constant);
        position.coefficients.iter_mut().zip(index.coefficients).for_each(|(sum, x)| add(sum, x));
    }
    position
}

fn operand_positions(nest: &Nest, contraction: &Contraction, operands: &[Literal]) -> Result<Vec<Affine>> {
    let places = contraction.operands.iter().zip(operands);
    places.map(|(access, operand)| Ok(position(nest, access, array(operand)?))).collect()
}

/// The type that values are computed in. As in reductions and products, sums of types that fit `f32` are
/// computed in `f64`, and everything else of narrow floats in `f32`. Values are rounded once.
struct WorkType {
    element_type: ElementType,
    /// Whether the type is wider than that of the values, whose range must not be exceeded.
    is_wider: bool,
}

impl WorkType {
    fn of(aggregation: Aggregation, ty: ElementType) -> Self {
        use ElementType as T;
        let is_sum = aggregation == Aggregation::Sum;
        let (element_type, is_wider) = match ty {
            T::F64 => (ty, false),
            T::C64 if is_sum => (T::C128, true),
            _ if ty.is_float() && is_sum => (T::F64, true),
            _ if computes_in_f32(ty) => (T::F32, false),
            _ => (ty, false),
        };
        Self { element_type, is_wider }
    }

    /// Returns the operands, with those that are used as values converted to this type.
    fn operands(
        &self,
        cx: &mut Context<'_>,
        combination: Combination,
        operands: Vec<Literal>,
    ) -> Result<Vec<Literal>> {
        let is_value = |n: usize| match combination {
            Combination::Single | Combination::Multiply | Combination::Add => true,
            Combination::Equal => false,
            Combination::Select => n == 2,
        };
        let in_type =
            |(n, operand)| if is_value(n) { converted(cx, operand, self.element_type) } else { Ok(operand) };
        operands.into_iter().enumerate().map(in_type).collect()
    }

    /// Returns the kernel that adds or multiplies two values.
    fn arithmetic(&self, op: E<'_>) -> Result<Kernel> {
        let t = self.element_type;
        let both = |f: fn(f64, f64) -> f64| binary(move |a: f64, b: f64| in_range(f(a, b)));
        Ok(match (op, t) {
            (E::Add, ElementType::F64) if self.is_wider => both(|a, b| a + b),
            (E::Multiply, ElementType::F64) if self.is_wider => both(|a, b| a * b),
            (E::Add, ElementType::C128) if self.is_wider => {
                binary(|a: [f64; 2], b: [f64; 2]| [in_range(a[0] + b[0]), in_range(a[1] + b[1])])
            }
            (E::Multiply, ElementType::C128) if self.is_wider => binary(|a: [f64; 2], b: [f64; 2]| {
                let product = |i: usize, j: usize| in_range(a[i] * b[j]);
                [in_range(product(0, 0) - product(1, 1)), in_range(product(0, 1) + product(1, 0))]
            }),
            _ => elementwise::kernel(op, &[t, t], t)?,
        })
    }

    /// Returns the kernel that aggregates a value with the previous one.
    fn aggregation(&self, aggregation: Aggregation) -> Result<Kernel> {
        let t = self.element_type;
        match aggregation {
            Aggregation::Sum => self.arithmetic(E::Add),
            Aggregation::Product => self.arithmetic(E::Multiply),
            Aggregation::Max => Ok(elementwise::kernel(E::Maximum, &[t, t], t)?),
            Aggregation::Min => Ok(elementwise::kernel(E::Minimum, &[t, t], t)?),
            // There is no previous value.
            Aggregation::Assign => Ok(convert::kernel(t, t)),
        }
    }
}

/// A function that computes a value from one element of each operand, given with its size.
type Combine = Box<dyn Fn(&[(Scalar, usize)]) -> Result<Scalar>>;

fn combination(combination: Combination, work: &WorkType, operands: &[Literal]) -> Result<Combine> {
    const EQUAL: CompareAttrs =
        CompareAttrs { direction: ComparisonDirection::Eq, comparison_type: ComparisonType::Default };
    let size = work.element_type.byte_size();
    let equal = || {
        let types = operands.iter().take(2).map(|o| array(o).map(|a| a.element_type));
        let types = types.collect::<Result<Vec<_>>>()?;
        Ok::<Kernel, EvalError>(elementwise::kernel(E::Compare(&EQUAL), &types, ElementType::Pred)?)
    };
    Ok(match combination {
        Combination::Single => Box::new(|elements| Ok(elements[0].0)),
        Combination::Multiply | Combination::Add => {
            let is_product = combination == Combination::Multiply;
            let kernel = work.arithmetic(if is_product { E::Multiply } else { E::Add })?;
            Box::new(move |elements| apply(&kernel, elements, size))
        }
        Combination::Equal => {
            let equal = equal()?;
            Box::new(move |elements| apply(&equal, elements, 1))
        }
        Combination::Select => {
            let equal = equal()?;
            Box::new(move |elements| match apply(&equal, &elements[..2], 1)? {
                0 => Ok(0),
                _ => Ok(elements[2].0),
            })
        }
    })
}

/// The state of a contraction that is being computed.
struct Run<'a> {
    nest: &'a Nest,
    /// The position in the result.
    at: Affine,
    /// The positions in the operands.
    from: Vec<Affine>,
    combine: Combine,
    aggregate: Kernel,
    is_sum: bool,
    /// The size of a value in bytes.
    size: usize,
}

impl Run<'_> {
    /// Runs over all valid indices.
    fn all(
        &self,
        cx: &mut Context<'_>,
        operands: &[Literal],
        values: &mut [u8],
        written: &mut [u8],
    ) -> Result<()> {
        let sizes = operands.iter().map(|o| array(o).map(|a| a.element_type.byte_size()));
        let sizes = sizes.collect::<Result<Vec<usize>>>()?;
        let mut elements = Vec::with_capacity(operands.len());
        self.nest.walk(&mut |variables| {
            cx.charge(1)?;
            if variables.len() < self.nest.levels().len() {
                return Ok(());
            }
            elements.clear();
            for ((operand, from), &size) in operands.iter().zip(&self.from).zip(&sizes) {
                elements.push((load(operand.bytes(), size, from.at(variables) as usize)?, size));
            }
            let value = (self.combine)(&elements)?;
            let at = self.at.at(variables) as usize;
            let flag = written.get_mut(at).ok_or_else(outside)?;
            // A sum starts from 0, which matters for -0. Other aggregations start with the first value.
            let value = if *flag == 0 && !self.is_sum {
                value
            } else {
                let before = load(values, self.size, at)?;
                apply(&self.aggregate, &[(before, self.size), (value, self.size)], self.size)?
            };
            *flag = 1;
            store(values, self.size, at, value)
        })
    }
}

fn outside() -> EvalError {
    EvalError::internal("a contraction writes outside of its result")
}
