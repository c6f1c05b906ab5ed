//! Rules for `contraction`.

use super::context::Context;
use super::violation::{Place, Rule, Violation};
use crate::contraction::{Affine, Aggregation, Combination, Contraction, NestError, Repetition};
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, ElementType, Shape};

/// Maximum number of steps of the check whether `=` assigns more than one value to an element.
const MAX_STEPS: usize = 100_000;

/// Checks `contraction(operands…, default)`. The shape of the result must be declared. It limits the valid
/// indices.
pub(super) fn contraction(cx: &Context<'_>, contraction: &Contraction) -> Rule {
    check_operands(cx, contraction)?;
    let Some(result) = cx.written_array()? else { return Ok(None) };
    check_ranks(cx, contraction, result)?;
    cx.record_violation(check_result(cx, contraction, result));
    check_static(cx, result)?;
    check_indices(cx, contraction)?;
    Ok(None)
}

/// Checks the number of operands and their types.
fn check_operands(cx: &Context<'_>, contraction: &Contraction) -> Result<(), Violation> {
    let accesses = contraction.operands.len();
    let found = cx.operands.len();
    if accesses != contraction.combination.operands() || !(accesses..=accesses + 1).contains(&found) {
        return Err(cx.error(
            code::CONTRACTION_OPERANDS,
            format!(
                "has {accesses} accesses of operands in `access`, and so needs {accesses} or {} operands, found {found}",
                accesses + 1
            ),
        ));
    }
    let types = match contraction.aggregation {
        Aggregation::Max | Aggregation::Min => Types::ORDERED,
        Aggregation::Sum | Aggregation::Product | Aggregation::Assign => Types::ANY,
    };
    let last = accesses - 1;
    match contraction.combination {
        Combination::Equal => {
            cx.array(last)?;
        }
        _ => {
            cx.array_of(last, types)?;
        }
    }
    if contraction.combination != Combination::Single
        && cx.array(0)?.element_type != cx.array(1)?.element_type
    {
        let (a, b) = (cx.array(0)?, cx.array(1)?);
        cx.report(
            cx.error(
                code::CONTRACTION_TYPES,
                format!(
                    "combines elements of one type, found {} and {} in operands 0 and 1",
                    a.element_type, b.element_type
                ),
            )
            .with(Place::Operand(0), format!("this is {a}"))
            .with(Place::Operand(1), format!("this is {b}")),
        );
    }
    Ok(())
}

/// Checks that each dimension has an index expression, with a coefficient for each index.
fn check_ranks(cx: &Context<'_>, contraction: &Contraction, result: &ArrayShape) -> Result<(), Violation> {
    let rank_error = |access: &[Affine], what: String, shape: &ArrayShape| {
        let access = Accesses(access);
        cx.error(
            code::CONTRACTION_RANK,
            format!("needs {} index expressions for {what}, {shape}, found `{access}`", shape.rank()),
        )
        .of("access")
    };
    if contraction.output.len() != result.rank() {
        return Err(rank_error(&contraction.output, "the result".into(), result));
    }
    for (n, access) in contraction.operands.iter().enumerate() {
        let operand = cx.array(n)?;
        if access.len() != operand.rank() {
            let error = rank_error(access, format!("operand {n}"), operand);
            return Err(error.with(Place::Operand(n), format!("this is {operand}")));
        }
    }
    Ok(())
}

/// An access, formatted as in the text.
struct Accesses<'a>(&'a [Affine]);

impl std::fmt::Display for Accesses<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list: Vec<String> = self.0.iter().map(Affine::to_string).collect();
        write!(f, "({})", list.join(","))
    }
}

/// Checks the type of the result and the shape of the default.
fn check_result(cx: &Context<'_>, contraction: &Contraction, result: &ArrayShape) -> Result<(), Violation> {
    let last = contraction.operands.len() - 1;
    let expected = match contraction.combination {
        Combination::Equal => ElementType::Pred,
        _ => cx.array(last)?.element_type,
    };
    if result.element_type != expected {
        let message = format!("gives {expected} here, but its shape is written {result}");
        return Err(cx.error(code::CONTRACTION_TYPES, message).of_shape());
    }
    let default = last + 1;
    if default < cx.operands.len() {
        let found = cx.array(default)?;
        if found.element_type != result.element_type || found.dims != result.dims {
            return Err(cx
                .error(
                    code::CONTRACTION_DEFAULT,
                    format!("needs a default of the result's shape, {result}, found {found}"),
                )
                .with(Place::Operand(default), format!("this is {found}")));
        }
    }
    Ok(())
}

fn check_static(cx: &Context<'_>, result: &ArrayShape) -> Result<(), Violation> {
    let error = |what: String, shape: &ArrayShape| {
        cx.error(code::CONTRACTION_STATIC, format!("needs static sizes, but {what} is {shape}"))
    };
    if !result.is_static() {
        return Err(error("its result".into(), result).of_shape());
    }
    for n in 0..cx.operands.len() {
        let operand = cx.array(n)?;
        if !operand.is_static() {
            return Err(error(format!("operand {n}"), operand).with(Place::Operand(n), "this one"));
        }
    }
    Ok(())
}

/// Checks that the indices are bounded, and that `=` assigns at most one value to each element.
fn check_indices(cx: &Context<'_>, contraction: &Contraction) -> Result<(), Violation> {
    let Some(result) = cx.written else { return Ok(()) };
    let accessed = |i: usize| {
        contraction.output.iter().chain(contraction.operands.iter().flatten()).any(|a| a.depends_on(i))
    };
    let constrained = |i: usize| contraction.constraints.iter().any(|c| c.index.depends_on(i));
    if let Some(i) = (0..contraction.indices).find(|&i| constrained(i) && !accessed(i)) {
        let message = format!("has `d{i}` in a constraint, but in no access");
        return Err(cx.error(code::CONTRACTION_CONSTRAINT_INDEX, message).of("access"));
    }
    let operands: Vec<&Shape> = cx.operands[..contraction.operands.len()].to_vec();
    let nest = contraction.nest(result, &operands).map_err(|error| match error {
        NestError::Unbounded(indices) => {
            let names: Vec<String> = indices.iter().map(|i| format!("`d{i}`")).collect();
            let message = format!(
                "has no bounds for {}: there are valid indices without end, unless accesses or constraints limit them",
                names.join(", ")
            );
            cx.error(code::CONTRACTION_BOUNDED, message).of("access")
        }
        NestError::TooLarge => {
            let message = "has too many indices, or bounds that do not fit in 62 bits";
            cx.error(code::CONTRACTION_SIZE, message).of("access")
        }
    })?;
    let Some(nest) = nest.filter(|_| contraction.aggregation == Aggregation::Assign) else { return Ok(()) };
    let message = match nest.repetition(MAX_STEPS) {
        Repetition::Never => return Ok(()),
        Repetition::At([first, second]) => {
            let element: Vec<String> =
                contraction.output.iter().map(|index| index.at(&first).to_string()).collect();
            format!(
                "assigns more than one value to element [{}] of its result: at {} and at {}",
                element.join(","),
                indices(&first),
                indices(&second)
            )
        }
        Repetition::Unknown => format!(
            "may assign more than one value to an element of its result: {MAX_STEPS} steps were not enough to tell; \
             where each has one value, `+=` is the same"
        ),
    };
    Err(cx.error(code::CONTRACTION_ASSIGNS_ONCE, message).of("access"))
}

/// Formats the values of indices, such as `d0=1, d1=2`.
fn indices(values: &[i64]) -> String {
    let list: Vec<String> = values.iter().enumerate().map(|(i, x)| format!("d{i}={x}")).collect();
    list.join(", ")
}
