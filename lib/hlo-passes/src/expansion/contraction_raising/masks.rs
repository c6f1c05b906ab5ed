//! Conversion of constraints to predicate arrays.

use super::form::Form;
use crate::support::expander::Emitter;
use hlo_ir::attr::ComparisonDirection;
use hlo_ir::build::Build;
use hlo_ir::contraction::Constraint;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};

/// Returns a predicate array, with these indices as dimensions, of where all constraints hold. Returns `None`
/// if the numbers are too large.
pub(super) fn mask(
    e: &mut Emitter<'_>,
    form: &Form,
    constraints: &[&Constraint],
    indices: &[usize],
) -> Option<InstrId> {
    let mut all: Option<InstrId> = None;
    for constraint in constraints {
        let Constraint { index, bound } = constraint;
        let (least, greatest) = index.extremes(&form.ranges)?;
        // Use 32 bits where they suffice, because they are faster.
        let fits = |x: i128| i32::try_from(x).is_ok();
        let small = fits(least) && fits(greatest) && fits((*bound).into());
        let ty = if small { ElementType::S32 } else { ElementType::S64 };
        let value = linear(e, form, constraint, indices, ty)?;
        let mut sides = Vec::new();
        if least < 0 {
            sides.push((ComparisonDirection::Ge, 0));
        }
        if greatest >= i128::from(*bound) {
            sides.push((ComparisonDirection::Lt, *bound));
        }
        for (direction, limit) in sides {
            let limit = integer(e, ty, limit, &e.array(value)?)?;
            let holds = e.relation(value, direction, limit);
            all = Some(match all {
                None => holds,
                Some(before) => e.same(Op::And, &[before, holds]),
            });
        }
    }
    match all {
        Some(mask) => Some(mask),
        None => {
            let shape = ArrayShape::new(ElementType::Pred, indices.iter().map(|&i| form.count(i)));
            let truth = e.scalar(ElementType::Pred, &[1])?;
            Some(e.broadcast(truth, &shape, &[]))
        }
    }
}

/// Computes the value of a constraint's index expression for each element.
fn linear(
    e: &mut Emitter<'_>,
    form: &Form,
    constraint: &Constraint,
    indices: &[usize],
    ty: ElementType,
) -> Option<InstrId> {
    let sizes: Vec<i64> = indices.iter().map(|&i| form.count(i)).collect();
    let shape = ArrayShape::new(ty, sizes.iter().copied());
    let mut constant = constraint.index.constant;
    let mut sum: Option<InstrId> = None;
    for (along, &i) in indices.iter().enumerate() {
        let coefficient = constraint.index.coefficients[i];
        if coefficient == 0 {
            continue;
        }
        constant = constant.checked_add(coefficient.checked_mul(form.ranges[i].low)?)?;
        let mut term = e.iota(ty, &sizes, along);
        if coefficient != 1 {
            let factor = integer(e, ty, coefficient, &shape)?;
            term = e.same(Op::Multiply, &[term, factor]);
        }
        sum = Some(match sum {
            None => term,
            Some(sum) => e.same(Op::Add, &[sum, term]),
        });
    }
    let offset = integer(e, ty, constant, &shape)?;
    Some(match sum {
        Some(sum) if constant == 0 => sum,
        Some(sum) => e.same(Op::Add, &[sum, offset]),
        None => offset,
    })
}

/// Returns an array of the given shape filled with a number, which wraps around in its type. Only the final
/// result of a sum has to fit.
fn integer(e: &mut Emitter<'_>, ty: ElementType, value: i64, shape: &ArrayShape) -> Option<InstrId> {
    let scalar = match ty {
        ElementType::S32 => e.scalar(ty, &(value as i32).to_le_bytes())?,
        _ => e.scalar(ty, &value.to_le_bytes())?,
    };
    Some(e.broadcast(scalar, &shape.clone().with_element_type(ty), &[]))
}
