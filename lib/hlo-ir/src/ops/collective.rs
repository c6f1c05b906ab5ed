//! Rules for communication between devices: `all-gather`, `all-reduce`, `all-to-all`, `collective-permute`
//! and similar opcodes, with their asynchronous forms. The size of a result may depend on the number of
//! devices, which is unknown if the groups are not explicit.

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

/// Returns the operands' shapes: a single shape unchanged, several as a tuple.
fn operands(cx: &Context<'_>) -> Shape {
    one_or_tuple(cx.operands.iter().map(|&s| s.clone()).collect())
}

/// Returns the operands, which must be arrays.
fn arrays<'a>(cx: &Context<'a>) -> Result<Vec<&'a ArrayShape>, Violation> {
    (0..cx.operands.len()).map(|i| cx.array(i)).collect()
}

/// Checks `all-reduce` and `all-reduce-start`. The result has the operands' shapes.
pub(super) fn all_reduce(cx: &Context<'_>, attrs: &AllReduceAttrs) -> Rule {
    check_described(cx, &attrs.replica_groups);
    check_reducer(cx, attrs.to_apply)?;
    Ok(Some(operands(cx)))
}

/// Checks that the reducer takes two scalars of the operands' type and returns one. Operands of several types
/// share one reducer, so only the number of its parameters is checked then.
fn check_reducer(cx: &Context<'_>, to_apply: ComputationId) -> Result<(), Violation> {
    let arrays = arrays(cx)?;
    let t = arrays.first().map_or(ElementType::F32, |a| a.element_type);
    let callee = cx.callee(REDUCER.attribute, to_apply)?;
    let own: Vec<&Shape> = callee.parameters.iter().take(2).map(|&p| &cx.module[p].shape).collect();
    // The reducer may work in another floating-point type than the operands.
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

/// The change that a collective makes to the size of the operands along its dimension.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    /// Multiplied by the number of devices in a group.
    Multiplied,
    /// Divided by that number, which must divide the size.
    Divided,
}

/// Checks the shape `result` that a collective along dimension `d` returns for `operand`, which is operand
/// `i`.
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
    // Like XLA, does not derive sizes from groups of one device: some tests declare such groups.
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

/// Checks `all-gather` or `reduce-scatter`: compares with the declared shape if there is one, otherwise
/// infers the shape if the number of devices is known.
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

/// Returns the operands' shapes with the size along dimension `d` changed; `None` if the new size is invalid.
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

/// Checks `all-gather`. The result contains the operands of all devices, concatenated along a dimension.
pub(super) fn all_gather(cx: &Context<'_>, attrs: &AllGatherAttrs) -> Rule {
    let devices = group_size(cx, &attrs.replica_groups, attrs.channel_id, Some(attrs.use_global_device_ids));
    resized(cx, &attrs.dimensions, Change::Multiplied, devices)
}

/// Checks `all-gather-start`. The result contains the operands and the gathered arrays.
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

/// Returns the result part of the declared shape of a start. The shape must be a tuple of the operands, the
/// results and optional contexts, `u32[]` or `s32[]`. Other shapes are reported.
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

/// Checks `reduce-scatter`. The result is one part of the reduced operand along a dimension.
pub(super) fn reduce_scatter(cx: &Context<'_>, attrs: &ReduceScatterAttrs) -> Rule {
    check_reducer(cx, attrs.to_apply)?;
    let devices = group_size(cx, &attrs.replica_groups, attrs.channel_id, Some(attrs.use_global_device_ids));
    resized(cx, &attrs.dimensions, Change::Divided, devices)
}

/// Checks `all-to-all`. With a dimension, there is one operand, which is split along it, and the result has
/// the same shape. Without one, there are as many operands and results as devices in a group.
pub(super) fn all_to_all(cx: &Context<'_>, attrs: &AllToAllAttrs) -> Rule {
    let arrays = arrays(cx)?;
    let devices = group_size(cx, &attrs.replica_groups, attrs.channel_id, None);
    if attrs.dimensions.is_empty() {
        for i in 1..arrays.len() {
            cx.record_violation(cx.same_type(0, i));
            cx.record_violation(cx.same_dims(0, i));
        }
        let count = i64::try_from(arrays.len()).unwrap_or(i64::MAX);
        if let Some(k) = devices.filter(|&k| k != count) {
            cx.report(cx.error(
                code::EXCHANGED_PARTS,
                format!("needs an operand for each of the {k} devices in a group, found {count}"),
            ));
        }
        // With one operand, the result may or may not be a tuple.
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

/// Returns the result shape of `collective-permute`: the operands' shapes. With slice sizes, it is the shape
/// of the second operand, into which slices of the first are written.
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

/// Checks that operand `place` contains the slice positions for each array of operand `array`.
fn check_slice_places(cx: &Context<'_>, array: usize, place: usize) -> Result<(), Violation> {
    let (arrays, places) = (cx.operand(array)?, cx.operand(place)?);
    let is_place = |shape: &Shape, a: &Shape| {
        let (Some(parts), Some(a)) = (shape.as_tuple(), a.as_array()) else { return false };
        parts.len().is_multiple_of(a.rank().max(1)) && parts.iter().all(|p| p.as_array().is_some())
    };
    // One position, or a tuple of positions.
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
    if fits {
        Ok(())
    } else {
        Err(cx.operand_error(
            code::PERMUTED_SLICES,
            place,
            format!(
                "takes the places of slices in {arrays}, an integer for each dimension, as operand {place}, found {places}"
            ),
        ))
    }
}

/// Checks `collective-permute`.
pub(super) fn permute(cx: &Context<'_>, attrs: &CollectivePermuteAttrs) -> Rule {
    permuted(cx, attrs).map(Some)
}

/// Checks `collective-permute-start`. The result contains the operand, the result and optional contexts.
pub(super) fn permute_start(cx: &Context<'_>, attrs: &CollectivePermuteAttrs) -> Rule {
    let expected = permuted(cx, attrs)?;
    let Some(written) = cx.written else { return Ok(None) };
    if !attrs.slice_sizes.0.is_empty() {
        // XLA includes the slice positions in the result in more than one way.
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

/// Checks `collective-broadcast`. The result has the operands' shapes. If the root is not the first device of
/// the group, the last operand contains the roots: one per value, or a scalar for all.
pub(super) fn broadcast(cx: &Context<'_>, attrs: &CollectiveBroadcastAttrs) -> Rule {
    check_described(cx, &attrs.replica_groups);
    let values = match cx.operands.len().checked_sub(usize::from(attrs.has_dynamic_root)) {
        Some(n) if n > 0 => n,
        _ => return Err(cx.error(code::ARITY, "takes the root's number after a value, found 1 operand")),
    };
    if attrs.has_dynamic_root {
        cx.record_violation(cx.array_of(values, Types::INTEGER).and_then(|roots| {
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

/// Checks `ragged-all-to-all(input, output, input offsets, send sizes, output offsets, receive sizes)`. The
/// result has the shape of the output.
pub(super) fn ragged_all_to_all(cx: &Context<'_>, attrs: &RaggedAllToAllAttrs) -> Rule {
    check_described(cx, &attrs.replica_groups);
    let (input, output) = (cx.array(0)?, cx.array(1)?);
    cx.record_violation(cx.same_type(0, 1));
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
        cx.record_violation(cx.array_of(i, Types::INTEGER));
        cx.record_violation(cx.same_type(2, i));
        cx.record_violation(cx.same_dims(2, i));
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

/// Checks `all-gather-done` and `collective-permute-done`. The result is the second part of the start's
/// result.
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
