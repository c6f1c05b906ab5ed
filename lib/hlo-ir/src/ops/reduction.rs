//! Rules for reductions, windowed reductions, `map` and sorting.

use super::context::{Context, one_or_tuple};
use super::contract::Contract;
use super::dim::{Dim, array_of, dim, dims, dims_agree};
use super::violation::{Place, Rule, Violation};
use super::window::window_outputs;
use crate::attr::{MapAttrs, ReduceAttrs, ReduceWindowAttrs, SelectAndScatterAttrs, SortAttrs, TopkAttrs};
use crate::opcode::Types;
use crate::rules::code;
use crate::{ComputationId, ElementType, Shape};

const REDUCER: Contract =
    Contract { attribute: "to_apply", parameters: code::REDUCER_PARAMETERS, result: code::REDUCER_RESULT };

const SELECT: Contract =
    Contract { attribute: "select", parameters: code::SELECT_PARAMETERS, result: code::SELECT_RESULT };

const SCATTER: Contract = Contract {
    attribute: "scatter",
    parameters: code::SCATTER_FUNCTION_PARAMETERS,
    result: code::SCATTER_FUNCTION_RESULT,
};

const MAPPED: Contract =
    Contract { attribute: "to_apply", parameters: code::MAP_PARAMETERS, result: code::MAP_RESULT };

const COMPARATOR: Contract = Contract {
    attribute: "to_apply",
    parameters: code::COMPARATOR_PARAMETERS,
    result: code::COMPARATOR_RESULT,
};

/// The element types of N arrays and of N initial values.
struct Accumulators {
    arrays: Vec<ElementType>,
    initial: Vec<ElementType>,
}

/// Checks that the operands are N arrays of the same sizes and N initial values, which are scalars of their
/// types.
fn accumulators(cx: &Context<'_>) -> Result<Accumulators, Violation> {
    let n = cx.operands.len() / 2;
    if cx.operands.len() != 2 * n || n == 0 {
        return Err(cx.error(
            code::ARITY,
            format!("takes N arrays and N initial values, found {} operands", cx.operands.len()),
        ));
    }
    let mut types = Accumulators { arrays: Vec::with_capacity(n), initial: Vec::with_capacity(n) };
    for i in 0..n {
        let (array, initial) = (cx.array(i)?, cx.array(n + i)?);
        cx.record_violation(cx.same_dims(0, i));
        if initial.rank() != 0 {
            cx.report(cx.operand_error(
                code::INITIAL_VALUE_SCALAR,
                n + i,
                format!("needs a scalar as initial value {i}, found {initial}"),
            ));
        }
        let (a, b) = (array.element_type, initial.element_type);
        if a != b {
            cx.report(
                cx.operand_error(
                    code::INITIAL_VALUE_TYPE,
                    n + i,
                    format!("starts from {b} in operand {} where array {i} has {a}", n + i),
                )
                .with(Place::Operand(i), format!("this is {array}")),
            );
        }
        types.arrays.push(a);
        types.initial.push(b);
    }
    Ok(types)
}

/// The results of a reducer, one for each accumulator.
struct Reduced {
    types: Vec<ElementType>,
    /// Whether the result is a tuple. It is one if the reducer returns a tuple, even a tuple of one element.
    tuple: bool,
}

impl Reduced {
    /// Returns the shape of the whole result, given the shape of each part.
    fn shape(&self, part: impl Fn(ElementType) -> Shape) -> Shape {
        let parts = self.types.iter().map(|&t| part(t)).collect();
        if self.tuple { Shape::tuple(parts) } else { one_or_tuple(parts) }
    }
}

/// Checks the computation that combines accumulators with elements. Returns the types of its results, or the
/// types of the accumulators if the results do not match them in number.
fn reducer(cx: &Context<'_>, to_apply: ComputationId, types: &Accumulators) -> Result<Reduced, Violation> {
    let parameters = types.initial.iter().chain(&types.arrays).copied();
    let called = cx.check_scalars(REDUCER, to_apply, parameters)?;
    cx.check_scalar_results(REDUCER, called, &types.initial);
    let found = &cx.module[called.root].shape;
    let mut reduced = Reduced { types: types.initial.clone(), tuple: found.is_tuple() };
    let results = found.leaves();
    if results.len() == types.initial.len() {
        for (t, r) in reduced.types.iter_mut().zip(results) {
            *t = r.as_array().map_or(*t, |r| r.element_type);
        }
    }
    Ok(reduced)
}

/// Checks `reduce`. The result lacks the reduced dimensions.
pub(super) fn reduce(cx: &Context<'_>, attrs: &ReduceAttrs) -> Rule {
    let types = accumulators(cx)?;
    let a = cx.array(0)?;
    let reduced = cx.check_dims("dimensions", &attrs.dimensions, a.rank());
    let results = reducer(cx, attrs.to_apply, &types)?;
    let kept: Vec<Dim> = dims(a).zip(reduced?).filter(|&(_, r)| !r).map(|(d, _)| d).collect();
    Ok(Some(results.shape(|t| array_of(t, kept.iter().copied()).into())))
}

/// Checks `reduce-window`. The result has one element for each window position.
pub(super) fn reduce_window(cx: &Context<'_>, attrs: &ReduceWindowAttrs) -> Rule {
    let types = accumulators(cx)?;
    let places = window_outputs(cx, dims(cx.array(0)?).collect(), &attrs.window);
    let results = Reduced { types: types.initial.clone(), ..reducer(cx, attrs.to_apply, &types)? };
    let places = places?;
    Ok(Some(results.shape(|t| array_of(t, places.iter().copied()).into())))
}

/// Checks `select-and-scatter(operand, source, initial value)`. The source has one element for each window
/// position.
pub(super) fn select_and_scatter(cx: &Context<'_>, attrs: &SelectAndScatterAttrs) -> Rule {
    let (a, source, initial) = (cx.array(0)?, cx.array(1)?, cx.array(2)?);
    cx.record_violation(cx.same_type(0, 1));
    if initial.rank() != 0 {
        cx.report(cx.operand_error(
            code::INITIAL_VALUE_SCALAR,
            2,
            format!("needs a scalar as initial value, found {initial}"),
        ));
    }
    if initial.element_type != a.element_type {
        cx.report(
            cx.operand_error(
                code::INITIAL_VALUE_TYPE,
                2,
                format!("starts from {} where the array has {}", initial.element_type, a.element_type),
            )
            .with(Place::Operand(0), format!("this is {a}")),
        );
    }
    if let Some(places) = cx.record_violation(window_outputs(cx, dims(a).collect(), &attrs.window)) {
        let places = array_of(a.element_type, places);
        if !dims_agree(&places, source) {
            cx.report(cx.operand_error(
                code::SELECT_SOURCE,
                1,
                format!("needs a source of {places}, one element a window, found {source}"),
            ));
        }
    }
    let t = a.element_type;
    let selected = cx.check_scalars(SELECT, attrs.select, [t, t])?;
    cx.check_result(SELECT, selected, &Shape::scalar(ElementType::Pred));
    let scattered = cx.check_scalars(SCATTER, attrs.scatter, [t, t])?;
    cx.check_scalar_results(SCATTER, scattered, &[t]);
    Ok(Some(a.clone().into()))
}

/// Checks `map`, which applies a computation on scalars to each element.
pub(super) fn map(cx: &Context<'_>, attrs: &MapAttrs) -> Rule {
    let a = cx.array(0)?;
    let mut types = Vec::with_capacity(cx.operands.len());
    for i in 0..cx.operands.len() {
        types.push(cx.array(i)?.element_type);
        cx.record_violation(cx.same_dims(0, i));
    }
    // The list of all dimensions in order is the only one that XLA accepts. An omitted list means the same.
    if !attrs.dimensions.is_empty() && !attrs.dimensions.iter().copied().eq(0..a.rank() as i64) {
        let found = attrs.dimensions.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        cx.report(
            cx.operand_error(
                code::MAP_DIMENSIONS,
                0,
                format!("needs all {} dimensions in order in `dimensions`, found {{{found}}}", a.rank()),
            )
            .of("dimensions"),
        );
    }
    let root = cx.check_scalars(MAPPED, attrs.to_apply, types)?.root;
    match &cx.module[root].shape {
        Shape::Array(r) if r.rank() == 0 => Ok(Some(array_of(r.element_type, dims(a)).into())),
        other => Err(cx
            .error(
                MAPPED.result,
                format!("needs a computation that gives a scalar in `to_apply`, found {other}"),
            )
            .of("to_apply")
            .with(Place::Instruction(root), format!("this root is {other}"))),
    }
}

/// Checks `sort` of N arrays of the same sizes. The comparator takes two elements of each array.
pub(super) fn sort(cx: &Context<'_>, attrs: &SortAttrs) -> Rule {
    cx.record_violation(cx.one_dim("dimensions", &attrs.dimensions, cx.array(0)?.rank()));
    let mut parameters = Vec::with_capacity(2 * cx.operands.len());
    for i in 0..cx.operands.len() {
        let t = cx.array(i)?.element_type;
        cx.record_violation(cx.same_dims(0, i));
        parameters.extend([t, t]);
    }
    let called = cx.check_scalars(COMPARATOR, attrs.to_apply, parameters)?;
    cx.check_result(COMPARATOR, called, &Shape::scalar(ElementType::Pred));
    Ok(Some(one_or_tuple(cx.operands.iter().map(|&s| s.clone()).collect())))
}

/// Checks `topk`. The result contains the `k` largest elements along the last dimension and their `s32`
/// indices.
pub(super) fn topk(cx: &Context<'_>, attrs: &TopkAttrs) -> Rule {
    let a = cx.array(0)?;
    cx.record_violation(cx.array_of(0, Types::ORDERED));
    let Some(last) = a.rank().checked_sub(1) else {
        return Err(cx.operand_error(
            code::TOPK_RANK,
            0,
            "takes the largest along the last dimension, found a scalar",
        ));
    };
    let size = dim(a, last as i64);
    if attrs.k < 0 || size.known().is_some_and(|n| attrs.k > n) {
        let of = size.known().map_or("?".to_string(), |n| n.to_string());
        return Err(cx
            .operand_error(code::TOPK_COUNT, 0, format!("asks for {} of {of} elements in `k`", attrs.k))
            .of("k"));
    }
    let result = |t| -> Shape {
        array_of(t, dims(a).enumerate().map(|(i, d)| if i == last { Dim::fixed(attrs.k) } else { d })).into()
    };
    Ok(Some(Shape::tuple(vec![result(a.element_type), result(ElementType::S32)])))
}
