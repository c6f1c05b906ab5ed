//! Rules of communication between devices: `all-gather`, `all-reduce`, `all-to-all`, `collective-permute` and the
//! like, with their asynchronous forms. A result's size may depend on the number of devices, which groups that
//! are not written leave open.

use super::context::{Context, one_or_tuple};
use super::contract::Contract;
use super::dim::{Dim, array_of, dim, dims, shapes_agree};
use super::groups::{check_described, group_size};
use super::violation::{Place, Rule, Violation};
use crate::attr::{
    AllGatherAttrs, AllReduceAttrs, AllToAllAttrs, CollectiveBroadcastAttrs, CollectivePermuteAttrs,
    RaggedAllToAllAttrs, ReduceScatterAttrs,
};
use crate::opcode::Types;
use crate::rules::code;
use crate::{ArrayShape, ComputationId, ElementType, Shape};

const REDUCER: Contract = Contract {
    attribute: "to_apply",
    parameters: code::COLLECTIVE_REDUCER_PARAMETERS,
    result: code::COLLECTIVE_REDUCER_RESULT,
};

/// The operands' shapes: one as it is, several as a tuple.
fn operands(cx: &Context<'_>) -> Shape {
    one_or_tuple(cx.operands.iter().map(|&s| s.clone()).collect())
}

/// The operands, which must be arrays.
fn arrays<'a>(cx: &Context<'a>) -> Result<Vec<&'a ArrayShape>, Violation> {
    (0..cx.operands.len()).map(|i| cx.array(i)).collect()
}

/// `all-reduce`, `all-reduce-start`: the operands' shapes, reduced by a function on scalars.
pub(super) fn all_reduce(cx: &Context<'_>, attrs: &AllReduceAttrs) -> Rule {
    check_described(cx, &attrs.replica_groups);
    check_reducer(cx, attrs.to_apply)?;
    Ok(Some(operands(cx)))
}

/// The function takes two scalars of the operands' type and gives one. Operands of several types share one
/// function, so that only their number is checked then.
fn check_reducer(cx: &Context<'_>, to_apply: ComputationId) -> Result<(), Violation> {
    let arrays = arrays(cx)?;
    let t = arrays.first().map_or(ElementType::F32, |a| a.element_type);
    let callee = cx.callee(REDUCER.attribute, to_apply)?;
    let own: Vec<&Shape> = callee.parameters.iter().take(2).map(|&p| &cx.module[p].shape).collect();
    // Values of one floating-point type may be combined in another.
    let float = |s: &&Shape| s.as_array().is_some_and(|a| a.rank() == 0 && a.element_type.is_float());
    let in_another = t.is_float() && own.iter().all(float) && own.first() == own.last();
    let called = if arrays.iter().all(|a| a.element_type == t) && !in_another {
        cx.check_scalars(REDUCER, to_apply, [t, t])?
    } else {
        match own[..] {
            [a, b] => cx.check_parameters(REDUCER, to_apply, &[a, b])?,
            _ => cx.check_scalars(REDUCER, to_apply, [t, t])?,
        }
    };
    if called.parameters_fit
        && let Some(&p) = cx.callee(REDUCER.attribute, to_apply)?.parameters.first()
    {
        cx.check_result(REDUCER, called, &cx.module[p].shape);
    }
    Ok(())
}

/// How a collective changes the size of the operands along its dimension.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    /// By the number of devices in a group.
    Multiplied,
    /// By the same number, which has to divide it.
    Divided,
}

/// Checks what `operand`, number `i`, gives along dimension `d`: `result`.
fn check_along(
    cx: &Context<'_>,
    (i, operand): (usize, &ArrayShape),
    result: &Shape,
    d: usize,
    change: Change,
    devices: Option<i64>,
) {
    let error = |code, message: String| cx.operand_error(code, i, message).of_shape();
    let result = match result.as_array() {
        Some(r) if r.element_type == operand.element_type && r.rank() == operand.rank() => r,
        _ => {
            cx.report(error(
                code::COLLECTIVE_RESULT,
                format!(
                    "of {operand} gives an array of that element type and rank, but its shape is written {result}"
                ),
            ));
            return;
        }
    };
    if let Some((j, (a, b))) =
        dims(operand).zip(dims(result)).enumerate().find(|&(j, (a, b))| j != d && !a.agrees(b))
    {
        cx.report(error(
            code::COLLECTIVE_OTHER_SIZES,
            format!(
                "changes dimension {d} only, but its shape is written {result} with {} instead of {} in dimension {j}",
                b.size, a.size
            ),
        ));
    }
    let (from, to) = (dim(operand, d as i64), dim(result, d as i64));
    let (Some(n), Some(m)) = (from.known(), to.known()) else { return };
    let (small, large, code, word) = match change {
        Change::Multiplied => (n, m, code::GATHERED_SIZE, "multiplies"),
        Change::Divided => (m, n, code::SCATTERED_SIZE, "divides"),
    };
    // As XLA has it, groups of one device say nothing about the size: tests are written that way.
    let fits = match devices {
        Some(k) if k != 1 => small.checked_mul(k) == Some(large),
        _ => (small == 0 && large == 0) || (small > 0 && large % small == 0),
    };
    if !fits {
        let by = match devices {
            Some(k) if k != 1 => format!("{k}, the number of devices in a group"),
            _ => "the number of devices".to_string(),
        };
        cx.report(error(code, format!("{word} the size of dimension {d} by {by}, found {n} and then {m}")));
    }
}

/// `all-gather`, `reduce-scatter`: checks the written shape if there is one, else gives the shape that follows
/// if the number of devices is written.
fn resized(cx: &Context<'_>, dimensions: &[i64], change: Change, devices: Option<i64>) -> Rule {
    let arrays = arrays(cx)?;
    let d = cx.one_dim("dimensions", dimensions, arrays.first().map_or(0, |a| a.rank()))?;
    for a in &arrays {
        cx.check_dim("dimensions", d as i64, a.rank())?;
    }
    let Some(written) = cx.written else {
        return devices.filter(|&k| k != 1).map_or(Ok(None), |k| Ok(infer_resized(&arrays, d, change, k)));
    };
    let parts = match written {
        Shape::Tuple(parts) => &parts[..],
        one => std::slice::from_ref(one),
    };
    if parts.len() != arrays.len() {
        return Err(cx
            .error(
                code::COLLECTIVE_RESULT,
                format!(
                    "gives one array for each of its {} operands, but its shape is written {written}",
                    arrays.len()
                ),
            )
            .of_shape());
    }
    for (i, (a, part)) in arrays.iter().zip(parts).enumerate() {
        check_along(cx, (i, a), part, d, change, devices);
    }
    Ok(None)
}

/// The operands with the size along dimension `d` changed; `None` if it can't be.
fn infer_resized(arrays: &[&ArrayShape], d: usize, change: Change, devices: i64) -> Option<Shape> {
    let mut parts = Vec::with_capacity(arrays.len());
    for a in arrays {
        let size = dim(a, d as i64).map(|n| match change {
            Change::Multiplied => n.checked_mul(devices),
            Change::Divided => n.checked_div(devices).filter(|m| m.checked_mul(devices) == Some(n)),
        })?;
        let sizes = dims(a).enumerate().map(|(i, n)| if i == d { size } else { n });
        parts.push(array_of(a.element_type, sizes).into());
    }
    Some(one_or_tuple(parts))
}

/// `all-gather`: the operands of all devices, one after the other along a dimension.
pub(super) fn all_gather(cx: &Context<'_>, attrs: &AllGatherAttrs) -> Rule {
    let devices = group_size(cx, &attrs.replica_groups, attrs.channel_id, Some(attrs.use_global_device_ids));
    resized(cx, &attrs.dimensions, Change::Multiplied, devices)
}

/// `all-gather-start`: the operands and the results.
pub(super) fn all_gather_start(cx: &Context<'_>, attrs: &AllGatherAttrs) -> Rule {
    let devices = group_size(cx, &attrs.replica_groups, attrs.channel_id, Some(attrs.use_global_device_ids));
    let Some(written) = cx.written else {
        let result = resized(cx, &attrs.dimensions, Change::Multiplied, devices)?;
        return Ok(result.map(|r| Shape::tuple(vec![operands(cx), r])));
    };
    let Some(result) = started(cx, written) else { return Ok(None) };
    let part = Context::new(cx.module, cx.signatures, cx.opcode, cx.operands, Some(result));
    let end = resized(&part, &attrs.dimensions, Change::Multiplied, devices).map(drop);
    part.violations(end).into_iter().for_each(|v| cx.report(v));
    Ok(None)
}

/// What the written shape of a start says of the result: it is a tuple of the operands, the results and perhaps
/// contexts, `u32[]` or `s32[]`. Anything else is reported.
fn started<'a>(cx: &Context<'a>, written: &'a Shape) -> Option<&'a Shape> {
    let given = operands(cx);
    let is_context = |s: &Shape| {
        s.as_array()
            .is_some_and(|a| a.rank() == 0 && matches!(a.element_type, ElementType::U32 | ElementType::S32))
    };
    match written {
        Shape::Tuple(parts) if parts.len() >= 2 && parts[2..].iter().all(is_context) => {
            if shapes_agree(&parts[0], &given) {
                return Some(&parts[1]);
            }
            let message = format!("starts with its operand, {given}, in its result, found {}", parts[0]);
            cx.report(cx.operand_error(code::START_OPERANDS, 0, message));
        }
        _ => cx.report(
            cx.error(
                code::START_RESULT,
                format!("gives a tuple of operand and result, but its shape is written {written}"),
            )
            .of_shape(),
        ),
    }
    None
}

/// `reduce-scatter`: a part of the reduced operand along a dimension.
pub(super) fn reduce_scatter(cx: &Context<'_>, attrs: &ReduceScatterAttrs) -> Rule {
    check_reducer(cx, attrs.to_apply)?;
    let devices = group_size(cx, &attrs.replica_groups, attrs.channel_id, Some(attrs.use_global_device_ids));
    resized(cx, &attrs.dimensions, Change::Divided, devices)
}

/// `all-to-all`: with a dimension, one array of the operand's shape, which is cut along it; without, as many
/// arrays as there are operands, one for each device.
pub(super) fn all_to_all(cx: &Context<'_>, attrs: &AllToAllAttrs) -> Rule {
    let arrays = arrays(cx)?;
    let devices = group_size(cx, &attrs.replica_groups, attrs.channel_id, None);
    if attrs.dimensions.is_empty() {
        for i in 1..arrays.len() {
            cx.also(cx.same_type(0, i));
            cx.also(cx.same_dims(0, i));
        }
        let count = i64::try_from(arrays.len()).unwrap_or(i64::MAX);
        if let Some(k) = devices.filter(|&k| k != count) {
            cx.report(cx.error(
                code::EXCHANGED_PARTS,
                format!("needs an operand for each of the {k} devices in a group, found {count}"),
            ));
        }
        // Of one operand it is open whether the result is a tuple.
        return Ok((arrays.len() > 1).then(|| operands(cx)));
    }
    if arrays.len() != 1 {
        return Err(
            cx.error(code::ARITY, format!("along a dimension takes one operand, found {}", arrays.len()))
        );
    }
    let a = cx.array(0)?;
    let d = cx.one_dim("dimensions", &attrs.dimensions, a.rank())?;
    if let (Some(n), Some(k)) = (dim(a, d as i64).known(), devices)
        && k > 0
        && n % k != 0
    {
        cx.report(cx.operand_error(
            code::EXCHANGED_SIZE,
            0,
            format!("cuts dimension {d} into {k} parts, one for each device in a group, but its size is {n}"),
        ));
    }
    Ok(Some(operands(cx)))
}

/// The result of `collective-permute`: the operands' shapes; with slice sizes, the second operand's, into which
/// slices of the first are put.
fn permuted(cx: &Context<'_>, attrs: &CollectivePermuteAttrs) -> Result<Shape, Violation> {
    if attrs.slice_sizes.0.is_empty() {
        return Ok(operands(cx));
    }
    if cx.operands.len() != 4 {
        return Err(cx.error(
            code::ARITY,
            format!(
                "of slices takes an input, an output and where they start in each, found {} operands",
                cx.operands.len()
            ),
        ));
    }
    for (array, place) in [(0, 2), (1, 3)] {
        check_slice_places(cx, array, place)?;
    }
    let arrays = |n: usize| Ok::<_, Violation>(cx.operand(n)?.as_tuple().map(<[Shape]>::len));
    if let (from, to) = (arrays(0)?, arrays(1)?)
        && from != to
    {
        return Err(cx.operand_error(
            code::PERMUTED_SLICES,
            1,
            format!("reads from {}, but writes to {}", cx.operand(0)?, cx.operand(1)?),
        ));
    }
    Ok(cx.operand(1)?.clone())
}

/// Checks that operand `place` has the places of slices in each array of operand `array`.
fn check_slice_places(cx: &Context<'_>, array: usize, place: usize) -> Result<(), Violation> {
    let (arrays, places) = (cx.operand(array)?, cx.operand(place)?);
    let is_place = |shape: &Shape, a: &Shape| {
        let (Some(parts), Some(a)) = (shape.as_tuple(), a.as_array()) else { return false };
        parts.len().is_multiple_of(a.rank().max(1)) && parts.iter().all(|p| p.as_array().is_some())
    };
    // One place, or a tuple of places.
    let are_places = |shape: &Shape, a: &Shape| {
        is_place(shape, a)
            || shape.as_tuple().is_some_and(|t| !t.is_empty() && t.iter().all(|p| is_place(p, a)))
    };
    let fits = match arrays.as_tuple() {
        None => are_places(places, arrays),
        Some(arrays) => places.as_tuple().is_some_and(|places| {
            arrays.len() == places.len() && places.iter().zip(arrays).all(|(p, a)| are_places(p, a))
        }),
    };
    match fits {
        true => Ok(()),
        false => Err(cx.operand_error(
            code::PERMUTED_SLICES,
            place,
            format!(
                "takes the places of slices in {arrays}, an integer for each dimension, as operand {place}, found {places}"
            ),
        )),
    }
}

/// `collective-permute`.
pub(super) fn permute(cx: &Context<'_>, attrs: &CollectivePermuteAttrs) -> Rule {
    permuted(cx, attrs).map(Some)
}

/// `collective-permute-start`: operand, result and perhaps contexts.
pub(super) fn permute_start(cx: &Context<'_>, attrs: &CollectivePermuteAttrs) -> Rule {
    let expected = permuted(cx, attrs)?;
    let Some(written) = cx.written else { return Ok(None) };
    if !attrs.slice_sizes.0.is_empty() {
        // XLA writes the starts of slices into the result in more than one way.
        return Ok(None);
    }
    if let Some(result) = started(cx, written)
        && !shapes_agree(result, &expected)
    {
        return Err(cx
            .operand_error(
                code::DECLARED_SHAPE,
                0,
                format!("here gives {expected}, but its shape is written with {result}"),
            )
            .of_shape());
    }
    Ok(None)
}

/// `collective-broadcast`: the operands' shapes. Roots that are not the group's first are the last operand: one for each
/// value, or a scalar for all.
pub(super) fn broadcast(cx: &Context<'_>, attrs: &CollectiveBroadcastAttrs) -> Rule {
    check_described(cx, &attrs.replica_groups);
    let values = match cx.operands.len().checked_sub(usize::from(attrs.has_dynamic_root)) {
        Some(n) if n > 0 => n,
        _ => return Err(cx.error(code::ARITY, "takes the root's number after a value, found 1 operand")),
    };
    if attrs.has_dynamic_root {
        cx.also(cx.array_of(values, Types::INTEGER).and_then(|roots| {
            let one_each = roots.rank() == 1 && dims(roots).all(|d| d.agrees(Dim::fixed(values as i64)));
            if one_each || roots.rank() == 0 {
                return Ok(());
            }
            let message =
                format!("takes a root for each of its {values} values, or a scalar for all, found {roots}");
            Err(cx.operand_error(code::OPERAND_SHAPES, values, message))
        }));
    }
    Ok(Some(one_or_tuple(cx.operands[..values].iter().map(|&s| s.clone()).collect())))
}

/// `ragged-all-to-all(input, output, input offsets, send sizes, output offsets, receive sizes)`: the output.
pub(super) fn ragged_all_to_all(cx: &Context<'_>, attrs: &RaggedAllToAllAttrs) -> Rule {
    check_described(cx, &attrs.replica_groups);
    let (input, output) = (cx.array(0)?, cx.array(1)?);
    cx.also(cx.same_type(0, 1));
    let rows = |a: &ArrayShape| dims(a).skip(1).collect::<Vec<Dim>>();
    let (from, to) = (rows(input), rows(output));
    let same_rows =
        input.rank() == output.rank() && input.rank() > 0 && from.iter().zip(&to).all(|(a, b)| a.agrees(*b));
    if !same_rows {
        cx.report(
            cx.operand_error(
                code::RAGGED_ROWS,
                1,
                format!("moves rows, which have one shape, from {input} to {output}"),
            )
            .with(Place::Operand(0), format!("this is {input}")),
        );
    }
    for i in 2..6 {
        let a = cx.array(i)?;
        cx.also(cx.array_of(i, Types::INTEGER));
        cx.also(cx.same_type(2, i));
        cx.also(cx.same_dims(2, i));
        if !(1..=2).contains(&a.rank()) {
            cx.report(cx.operand_error(
                code::RAGGED_OFFSETS,
                i,
                format!("needs vectors of offsets and sizes, found {a}"),
            ));
        }
    }
    Ok(Some(output.clone().into()))
}

/// `all-gather-done`, `collective-permute-done`: the second part of what the start gave.
pub(super) fn second_part(cx: &Context<'_>) -> Rule {
    match cx.tuple(0)? {
        [_, result, ..] => Ok(Some(result.clone())),
        parts => Err(cx.operand_error(
            code::START_RESULT,
            0,
            format!("takes a tuple of operand and result from its start, found {} parts", parts.len()),
        )),
    }
}
