//! Rules on quantized types: which operations accept a scale for each slice, and which scales results may
//! have.

use super::check::Check;
use crate::text::type_text;
use crate::tree::{
    Attribute, FloatType, Name, Operation, Quantization, Signedness, TensorType, Type, TypeKind,
};

/// The operations whose operands and results must have a single scale if they are quantized.
const SINGLE_SCALE_OPERATIONS: &[&str] = &[
    "abs",
    "all_gather",
    "all_to_all",
    "atan2",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "cbrt",
    "ceil",
    "cholesky",
    "clamp",
    "collective_permute",
    "compare",
    "concatenate",
    "cosine",
    "divide",
    "dynamic_slice",
    "dynamic_update_slice",
    "exponential",
    "exponential_minus_one",
    "floor",
    "gather",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "map",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "optimization_barrier",
    "pad",
    "power",
    "reduce",
    "reduce_precision",
    "reduce_scatter",
    "reduce_window",
    "remainder",
    "reverse",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "scatter",
    "select",
    "select_and_scatter",
    "sign",
    "sine",
    "slice",
    "sort",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
];

/// Checks whether an operation only accepts a single scale.
pub(super) fn is_of_one_scale(name: &Name) -> bool {
    name.strip_prefix("stablehlo.").is_some_and(|name| SINGLE_SCALE_OPERATIONS.contains(&name))
}

/// Returns the quantization of an array's elements.
fn of(array: &TensorType) -> Option<&Quantization> {
    match &*array.element {
        TypeKind::Quantized(q) => Some(q),
        _ => None,
    }
}

fn of_type(ty: &Type) -> Option<&Quantization> {
    of(ty.as_tensor()?)
}

/// Checks whether both have the same scales and zero points. The axes may differ.
fn same_scales(a: &Quantization, b: &Quantization) -> bool {
    a.scales == b.scales && a.zero_points == b.zero_points
}

/// Checks whether two element types are of one kind: equal, or quantized with equal storage and expressed
/// types.
pub(super) fn same_kind(a: &Type, b: &Type) -> bool {
    match (&**a, &**b) {
        (TypeKind::Quantized(a), TypeKind::Quantized(b)) => {
            a.storage == b.storage && a.expressed == b.expressed
        }
        _ => a == b,
    }
}

/// Checks the quantized types of operands and results: the storage type, and the ranges of zero points and
/// scales.
pub(super) fn types(check: &mut Check<'_, '_>) {
    if check.operation.name == "func.func" {
        return;
    }
    for ty in check.types() {
        storable(check, ty);
    }
}

/// Checks the types of a function's arguments in the same way.
pub(super) fn arguments(check: &mut Check<'_, '_>) {
    let operation: &Operation = check.operation;
    for &argument in operation.body().map_or(&[][..], |block| &block.arguments) {
        storable(check, check.tree.type_of(argument));
    }
}

fn storable(check: &mut Check<'_, '_>, ty: &Type) {
    let Some(q) = of_type(ty) else { return };
    let signed = matches!(*q.storage, TypeKind::Integer(_, Signedness::Signed));
    check.require(!signed, "", || format!("numbers are stored as `i8` or `u8`, found {}", type_text(ty)));
    let inside = q.zero_points.iter().all(|z| (q.storage_min..=q.storage_max).contains(z));
    check.require(inside, "C8", || format!("zero points can be stored, found {}", type_text(ty)));
    let TypeKind::Float(float) = *q.expressed else { return };
    if let Some((smallest, largest)) = range_of(float) {
        let inside = q.scales.iter().all(|s| (smallest..=largest).contains(s));
        check.require(inside, "C6", || {
            format!("scales are {} numbers, found {}", float.name(), type_text(ty))
        });
    }
}

/// Returns the smallest and the largest positive number of a type.
fn range_of(float: FloatType) -> Option<(f64, f64)> {
    match float {
        FloatType::F16 => Some((2f64.powi(-24), 65504.0)),
        FloatType::BF16 => Some((2f64.powi(-133), (2.0 - 2f64.powi(-7)) * 2f64.powi(127))),
        FloatType::F32 => Some((2f64.powi(-149), f64::from(f32::MAX))),
        FloatType::F64 => Some((2f64.powi(-1022) * 2f64.powi(-52), f64::MAX)),
        _ => None,
    }
}

/// Checks that no operand or result has a scale for each slice.
pub(super) fn one_scale(check: &mut Check<'_, '_>) {
    let found = check.types().find(|ty| of_type(ty).is_some_and(|q| q.axis.is_some()));
    if let Some(ty) = found {
        check.report("", format!("it takes and gives numbers of one scale, found {}", type_text(ty)));
    }
}

/// Checks that the result has scales along the same dimension as an operand that has a scale for each slice.
pub(super) fn same_axis(check: &mut Check<'_, '_>) {
    let Some(result) = check.result(0).and_then(of_type) else { return };
    for index in 0..check.operation.operands.len() {
        let Some(operand) = check.operand(index).and_then(of_type) else { continue };
        check.require(operand.axis.is_none() || operand.axis == result.axis, "", || match result.axis {
            None => format!("operand {index} has a scale for each slice, and the result has not"),
            Some(_) => format!("operand {index} and the result have scales along different dimensions"),
        });
    }
}

/// Returns the types of the first operand and the first result, for reports.
fn found(check: &Check<'_, '_>) -> String {
    let of = |ty: Option<&Type>| ty.map_or(String::new(), type_text);
    format!("{} and {}", of(check.operand(0)), of(check.result(0)))
}

/// Checks the rule for operations that move elements: the scales do not change. `axis` maps the operand's
/// dimension with scales to the result.
fn moved(check: &mut Check<'_, '_>, rule: &str, axis: impl FnOnce(i32) -> Option<i64>) {
    let (Some(from), Some(to)) = (check.operand(0).and_then(of_type), check.result(0).and_then(of_type))
    else {
        return;
    };
    let types = found(check);
    check.require(same_scales(from, to), rule, || {
        format!("its result has the scales and zero points of its operand, found {types}")
    });
    if let (Some(from), Some(to)) = (from.axis, to.axis) {
        let wanted = axis(from);
        check.require(wanted == Some(to.into()), rule, || {
            format!("scales are along dimension {from} of the operand, and along {to} of the result")
        });
    }
}

/// Checks `transpose`.
pub(super) fn transpose(check: &mut Check<'_, '_>) {
    let permutation = check.operation.attribute("permutation").and_then(Attribute::ints).unwrap_or_default();
    let becomes = |axis: i32| permutation.iter().position(|&d| d == i64::from(axis)).map(|at| at as i64);
    moved(check, "C4", becomes);
}

/// Checks `reshape`: the dimension with scales keeps its size and the number of elements before it.
pub(super) fn reshape(check: &mut Check<'_, '_>) {
    let (Some(operand), Some(result)) = (check.operand_array(0), check.result_array(0)) else { return };
    let place = |array: &TensorType| {
        let axis = usize::try_from(of(array)?.axis?).ok()?;
        let before = array.dims.get(..axis)?.iter().try_fold(1i64, |n, &d| n.checked_mul(d))?;
        Some((before, *array.dims.get(axis)?, axis as i64))
    };
    let (from, to) = (place(operand), place(result));
    if let (Some(from), Some(to)) = (from, to) {
        check.require(from.1 == to.1, "C3", || {
            format!("scales are along a dimension of size {}, found {}", from.1, to.1)
        });
        check.require(from.0 == to.0, "C3", || {
            format!("as many elements are before the dimension with scales, found {} and {}", from.0, to.0)
        });
    }
    moved(check, "C3", |_| to.map(|(_, _, axis)| axis));
}

/// Checks `broadcast_in_dim`: the scales move with their dimension. If the dimension is stretched, all copies
/// have its scale.
pub(super) fn broadcast_in_dim(check: &mut Check<'_, '_>) {
    let (Some(operand), Some(result)) = (check.operand_array(0), check.result_array(0)) else { return };
    let (Some(from), Some(to)) = (of(operand), of(result)) else { return };
    let (Some(axis), Some(to_axis)) = (from.axis, to.axis) else {
        return moved(check, "C1", |_| None);
    };
    let dimensions =
        check.operation.attribute("broadcast_dimensions").and_then(Attribute::ints).unwrap_or_default();
    let becomes = usize::try_from(axis).ok().and_then(|axis| dimensions.get(axis)).copied();
    check.require(becomes == Some(to_axis.into()), "C6", || {
        format!("scales are along dimension {axis} of the operand, and along {to_axis} of the result")
    });
    let stretched = from.scales.len() == 1;
    let of_slice = |list: &[f64], i: usize| list.get(if stretched { 0 } else { i }).copied();
    let scales = to.scales.iter().enumerate().all(|(i, s)| of_slice(&from.scales, i) == Some(*s));
    let types = found(check);
    check.require(scales, "C6", || format!("its result has the scales of its operand, found {types}"));
    let zero = |i: usize| from.zero_points.get(if stretched { 0 } else { i });
    let zeros = to.zero_points.iter().enumerate().all(|(i, z)| zero(i) == Some(z));
    check.require(zeros, "C6", || format!("its result has the zero points of its operand, found {types}"));
}

/// Checks the common rules of products: the kernel is quantized, and the other operand is if the result is.
fn product(check: &mut Check<'_, '_>, rules: &str) -> Option<()> {
    let (lhs, rhs, result) = (check.operand_array(0)?, check.operand_array(1)?, check.result_array(0)?);
    let all = [lhs, rhs, result].map(of);
    if all.iter().all(Option::is_none) {
        return None;
    }
    let [left, right, product] = all;
    let Some(right) = right.filter(|_| left.is_some() == product.is_some()) else {
        let types: Vec<String> = check.types().map(type_text).collect();
        let types = types.join(", ");
        check.report(
            rules,
            format!("its second operand is quantized, and its first one is if the result is, found {types}"),
        );
        return None;
    };
    match (left, product) {
        (Some(left), Some(product)) => {
            check.require(left.storage == right.storage, rules, || {
                format!(
                    "operands are stored alike, found {} and {}",
                    type_text(&left.storage),
                    type_text(&right.storage)
                )
            });
            check.require(
                left.expressed == right.expressed && left.expressed == product.expressed,
                rules,
                || {
                    let all = [left, right, product].map(|q| type_text(&q.expressed)).join(", ");
                    format!("operands and result stand for numbers of one type, found {all}")
                },
            );
            check.require(right.axis.is_some() || product.axis.is_none(), rules, || {
                "the result has a scale for each slice, and the second operand has not".into()
            });
        }
        _ => {
            check.require(right.expressed == lhs.element && right.expressed == result.element, rules, || {
                let (wanted, found) = (type_text(&lhs.element), type_text(&right.expressed));
                format!("its second operand stands for numbers of {wanted}, found {found}")
            })
        }
    }
    Some(())
}

/// Checks `dot_general`.
pub(super) fn dot_general(check: &mut Check<'_, '_>) {
    if product(check, "C14 to C20").is_none() {
        return;
    }
    let Some(right) = check.operand(1).and_then(of_type) else { return };
    let wrong = right.zero_points.iter().find(|&&z| z != 0);
    check.require(wrong.is_none(), "C15", || {
        format!("zero points of its second operand are 0, found {}", wrong.unwrap_or(&0))
    });
    let numbers = check.operation.attribute("dot_dimension_numbers").and_then(|a| a.fields("stablehlo.dot"));
    let summed = numbers.and_then(|n| n.get("rhs_contracting_dimensions")).and_then(Attribute::ints);
    let summed = summed.unwrap_or_default();
    check.require(right.axis.is_none_or(|axis| !summed.contains(&axis.into())), "C16", || {
        let axis = right.axis.unwrap_or_default();
        format!(
            "scales of its second operand are not along a dimension that is summed over, found along {axis}"
        )
    });
}

/// Checks `convolution`.
pub(super) fn convolution(check: &mut Check<'_, '_>) {
    if product(check, "C28 to C34").is_none() {
        return;
    }
    let numbers = check.operation.attribute("dimension_numbers").and_then(|a| a.fields("stablehlo.conv"));
    let number = |name: &str| numbers.and_then(|n| n.get(name)).and_then(Attribute::as_int);
    let axes = [
        (check.operand(1), "kernel_output_feature_dimension", "C29"),
        (check.result(0), "output_feature_dimension", "C30"),
    ];
    for (ty, name, rule) in axes {
        let axis = ty.and_then(of_type).and_then(|q| q.axis);
        check.require(axis.is_none_or(|axis| number(name) == Some(axis.into())), rule, || {
            format!("scales are along `{name}`, found along {}", axis.unwrap_or_default())
        });
    }
}
