//! The values of a contraction's output, computed by products of matrices or by elementwise operations and
//! reductions.

use super::aggregates::{aggregated, initial};
use super::form::{Expression, Form};
use super::labeled::{Label, Labeled, read};
use super::masks::mask;
use super::{convolution, window};
use crate::support::expander::Emitter;
use hlo_ir::attr::{ComparisonDirection, DotAttrs};
use hlo_ir::build::Build;
use hlo_ir::contraction::{Aggregation, Combination, Constraint};
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// The values of a contraction's output: an array whose dimensions are indices of the output, and which of
/// its elements have a value.
pub(super) struct Values {
    pub(super) array: Labeled,
    /// A predicate array of the same dimensions: whether an element has a value. `None` if all have.
    pub(super) written: Option<InstrId>,
}

/// Computes the values of a contraction. Returns `None` if its form is not supported.
pub(super) fn values(e: &mut Emitter<'_>, form: &mut Form, operands: &[InstrId]) -> Option<Values> {
    let spreads =
        |(e, &size): (&Expression, &i64)| matches!(e, Expression::Two(..)) && form.digits(*e, size).is_none();
    let convolves = form.output.iter().zip(&form.sizes).any(spreads);
    let mut arrays = Vec::with_capacity(operands.len());
    for (number, &operand) in operands.iter().enumerate() {
        arrays.push(read(e, form, number, operand)?);
    }
    let has_window = |a: &Labeled| a.labels.iter().any(|l| matches!(l, Label::Window(..)));
    let windows = arrays.iter().any(has_window) || convolves;
    let within = |c: &Constraint, is: &dyn Fn(usize) -> bool| {
        (0..form.ranges.len()).all(|i| !c.index.depends_on(i) || is(i))
    };
    // Constraints on indices of the output only determine which elements have values. Other constraints mask
    // elements of the operand.
    let (outside, inside): (Vec<Constraint>, Vec<Constraint>) =
        form.masks.clone().into_iter().partition(|c| within(c, &|i| form.is_output(i)));
    if let [single] = &mut arrays[..]
        && form.combination == Combination::Single
    {
        let mut held = None;
        if !inside.is_empty() {
            if windows || !inside.iter().all(|c| within(c, &|i| form.is_in(0, i))) {
                return None;
            }
            held = Some(mask_invalid_elements(e, form, single, &inside.iter().collect::<Vec<_>>())?);
        }
        let array = if windows { window::reduced(e, form, single)? } else { reduce_all(e, form, single)? };
        // Sums and moved elements that are not written are already 0.
        let zero = matches!(form.aggregation, Aggregation::Sum | Aggregation::Assign);
        let written = match held {
            Some(held) if form.has_default || !zero => {
                let any = reduce_mask(e, form, &held)?;
                Some(any.in_order(e, &array.indices())?.value)
            }
            _ => None,
        };
        return with_outside(e, form, Values { array, written }, &outside);
    }
    if !inside.is_empty() {
        return None;
    }
    let array = match (&arrays[..], windows) {
        ([a, b], true) => convolution::convolved(e, form, a, b)?,
        (_, true) => return None,
        ([a, b], false) if is_product(e, form, a, b)? => product(e, form, a, b)?,
        _ => combined(e, form, &arrays)?,
    };
    with_outside(e, form, Values { array, written: None }, &outside)
}

/// Applies the constraints on indices of the output.
fn with_outside(e: &mut Emitter<'_>, form: &Form, values: Values, outside: &[Constraint]) -> Option<Values> {
    if outside.is_empty() {
        return Some(values);
    }
    // Indices of constraints that the array lacks become dimensions.
    let mut indices = values.array.indices();
    for i in 0..form.ranges.len() {
        if !indices.contains(&i) && outside.iter().any(|c| c.index.depends_on(i)) {
            indices.push(i);
        }
    }
    let array = Labeled {
        value: values.array.spread(e, form, &indices)?,
        labels: indices.iter().map(|&i| Label::Index(i)).collect(),
    };
    let holds = mask(e, form, &outside.iter().collect::<Vec<_>>(), &indices)?;
    let written = match values.written {
        None => holds,
        Some(written) => {
            let before = Labeled { value: written, labels: values.array.labels };
            let before = before.spread(e, form, &indices)?;
            e.same(Op::And, &[before, holds])
        }
    };
    Some(Values { array, written: Some(written) })
}

/// Replaces the elements of an operand that violate constraints by the identity of the aggregation. Returns
/// where the constraints hold.
fn mask_invalid_elements(
    e: &mut Emitter<'_>,
    form: &Form,
    single: &mut Labeled,
    constraints: &[&Constraint],
) -> Option<Labeled> {
    let holds = mask(e, form, constraints, &single.indices())?;
    let shape = e.array(single.value)?;
    let ty = shape.element_type;
    let none = match form.aggregation {
        // For moved elements, the replacement is 0.
        Aggregation::Assign => e.zero(ty)?,
        aggregation => initial(e, aggregation, ty)?,
    };
    let none = e.broadcast(none, &shape, &[]);
    single.value = e.add(shape, Op::Select, &[holds, single.value, none]);
    Some(Labeled { value: holds, labels: single.labels.clone() })
}

/// Returns which output elements have a value, by reducing the mask over the other indices.
fn reduce_mask(e: &mut Emitter<'_>, form: &Form, written: &Labeled) -> Option<Labeled> {
    let over: Vec<usize> = written.indices().into_iter().filter(|&i| !form.is_output(i)).collect();
    let no = e.zero(ElementType::Pred)?;
    written.reduced(e, &over, &Op::Or, no)
}

/// Aggregates the operand over all indices that the output lacks.
fn reduce_all(e: &mut Emitter<'_>, form: &Form, array: &Labeled) -> Option<Labeled> {
    let over: Vec<usize> = array.indices().into_iter().filter(|&i| !form.is_output(i)).collect();
    aggregated(e, form, array, &over)
}

/// Checks for a product of matrices: a sum of products of numbers, with at least one index to sum over.
fn is_product(e: &Emitter<'_>, form: &Form, a: &Labeled, b: &Labeled) -> Option<bool> {
    let sums = form.aggregation == Aggregation::Sum && form.combination == Combination::Multiply;
    let contracts = a.indices().iter().any(|&i| b.position(i).is_some() && !form.is_output(i));
    Some(sums && contracts && !e.array(a.value)?.element_type.is_pred())
}

/// Computes the product of two operands, summed over the indices that the output lacks.
fn product(e: &mut Emitter<'_>, form: &Form, a: &Labeled, b: &Labeled) -> Option<Labeled> {
    // First sum over the indices that occur in only one operand.
    let alone = |x: &Labeled, y: &Labeled| -> Vec<usize> {
        x.indices().into_iter().filter(|&i| !form.is_output(i) && y.position(i).is_none()).collect()
    };
    let (of_a, of_b) = (alone(a, b), alone(b, a));
    let (a, b) = (aggregated(e, form, a, &of_a)?, aggregated(e, form, b, &of_b)?);
    // The operand with the output's first free index becomes the left one, so that the result needs no
    // transpose.
    let order: Vec<usize> = form.output.iter().flat_map(Expression::terms).map(|t| t.index).collect();
    let shared = |i: &usize| a.position(*i).is_some() && b.position(*i).is_some();
    let first = order.iter().find(|i| !shared(i) && (a.position(**i).is_some() || b.position(**i).is_some()));
    let (a, b) = if first.is_some_and(|&i| a.position(i).is_none()) { (b, a) } else { (a, b) };

    let batch: Vec<usize> =
        order.iter().copied().filter(|i| a.position(*i).is_some() && b.position(*i).is_some()).collect();
    let contracted: Vec<usize> =
        a.indices().into_iter().filter(|&i| b.position(i).is_some() && !form.is_output(i)).collect();
    let dims = |x: &Labeled, indices: &[usize]| -> Option<Vec<usize>> {
        indices.iter().map(|&i| x.position(i)).collect()
    };
    let free = |x: &Labeled| -> Vec<usize> {
        x.indices().into_iter().filter(|i| !batch.contains(i) && !contracted.contains(i)).collect()
    };
    let numbers = |dims: Vec<usize>| dims.into_iter().map(|d| d as i64).collect();
    let attributes = DotAttrs {
        lhs_batch_dims: numbers(dims(&a, &batch)?),
        rhs_batch_dims: numbers(dims(&b, &batch)?),
        lhs_contracting_dims: numbers(dims(&a, &contracted)?),
        rhs_contracting_dims: numbers(dims(&b, &contracted)?),
        ..DotAttrs::default()
    };
    let indices: Vec<usize> = batch.iter().copied().chain(free(&a)).chain(free(&b)).collect();
    let ty = e.array(a.value)?.element_type;
    let shape = ArrayShape::new(ty, indices.iter().map(|&i| form.count(i)));
    let value = e.add(shape, Op::Dot(Box::new(attributes)), &[a.value, b.value]);
    Some(Labeled { value, labels: indices.into_iter().map(Label::Index).collect() })
}

/// Minimum number of repetitions of each element of the largest operand for which the combination is not
/// computed as an array. Loops are faster in this case.
const MAX_REPETITIONS: i128 = 4;

/// Combines the operands elementwise over all indices and aggregates the result. Returns `None` if the array
/// of combinations to aggregate would consist mostly of repetitions.
fn combined(e: &mut Emitter<'_>, form: &Form, arrays: &[Labeled]) -> Option<Labeled> {
    let mut indices: Vec<usize> = Vec::new();
    let of_output = form.output.iter().flat_map(Expression::terms).map(|t| t.index);
    let of_operands = arrays.iter().flat_map(Labeled::indices);
    for i in of_output.chain(of_operands) {
        if !indices.contains(&i) && arrays.iter().any(|a| a.position(i).is_some()) {
            indices.push(i);
        }
    }
    let points =
        |indices: &[usize]| indices.iter().fold(1, |n: i128, &i| n.saturating_mul(form.count(i).into()));
    let largest = arrays.iter().map(|a| points(&a.indices())).max().unwrap_or(1);
    let aggregates = indices.iter().any(|&i| !form.is_output(i));
    if aggregates && points(&indices) >= largest.saturating_mul(MAX_REPETITIONS) {
        return None;
    }
    let mut values = Vec::with_capacity(arrays.len());
    for array in arrays {
        values.push(array.spread(e, form, &indices)?);
    }
    let value = match (form.combination, &values[..]) {
        (Combination::Single, &[a]) => a,
        (Combination::Add, &[a, b]) => {
            let op = if e.array(a)?.element_type.is_pred() { Op::Or } else { Op::Add };
            e.same(op, &[a, b])
        }
        (Combination::Multiply, &[a, b]) => {
            let op = if e.array(a)?.element_type.is_pred() { Op::And } else { Op::Multiply };
            e.same(op, &[a, b])
        }
        (Combination::Equal, &[a, b]) => e.relation(a, ComparisonDirection::Eq, b),
        (Combination::Select, &[a, b, c]) => {
            let equal = e.relation(a, ComparisonDirection::Eq, b);
            let shape = e.array(c)?;
            let zero = e.zero(shape.element_type)?;
            let zero = e.broadcast(zero, &shape, &[]);
            e.add(shape, Op::Select, &[equal, c, zero])
        }
        _ => return None,
    };
    let array = Labeled { value, labels: indices.into_iter().map(Label::Index).collect() };
    reduce_all(e, form, &array)
}
