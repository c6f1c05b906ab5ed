//! Rules on attributes that MLIR does not check.

use super::check::Check;
use crate::text::type_text;
use crate::tree::{Attribute, TypeKind};

/// Checks whether a field is zero or absent. The sign bit of a floating-point zero may be set.
fn is_zero(attribute: Option<&Attribute>) -> bool {
    match attribute {
        Some(Attribute::Float(number)) => number.bits << 1 == 0,
        Some(Attribute::Integer(value, _)) => *value == 0,
        _ => true,
    }
}

/// Checks `result_accuracy`: only the mode `TOLERANCE` may have tolerances.
pub(super) fn accuracy(check: &mut Check<'_, '_>) {
    let Some(attribute) = check.operation.attribute("result_accuracy") else { return };
    let Some(fields) = attribute.fields("stablehlo.result_accuracy") else { return };
    let mode = fields.get("mode").and_then(|mode| mode.word("stablehlo.result_accuracy_mode"));
    let Some(mode @ ("DEFAULT" | "HIGHEST")) = mode else { return };
    let zero = ["atol", "rtol", "ulps"].into_iter().all(|name| is_zero(fields.get(name)));
    check.require(zero, "", || format!("`result_accuracy` of mode {mode} has no tolerances"));
}

/// Checks `precision_config` and `algorithm` of products.
pub(super) fn product(check: &mut Check<'_, '_>) {
    let list =
        check.operation.attribute("precision_config").and_then(Attribute::as_array).unwrap_or_default();
    check.require(list.len() <= 2, "", || {
        format!("`precision_config` is of two operands, found {} words", list.len())
    });
    let all_default = list.iter().all(|p| p.word("stablehlo.precision") == Some("DEFAULT"));
    let has_algorithm = check.operation.attribute("algorithm").is_some();
    check.require(!has_algorithm || all_default, "", || {
        "`precision_config` is DEFAULT where an `algorithm` is given".into()
    });
}

/// Checks the sizes of windows and of their padding. `of_all` means that the window has all dimensions of the
/// operand.
pub(super) fn window(check: &mut Check<'_, '_>, of_all: bool) {
    if let Some(Attribute::Elements(padding)) = check.operation.attribute("padding") {
        let dims = padding.ty.as_tensor().map_or(&[][..], |t| &t.dims);
        check.require(matches!(dims, [_, 2]), "C12", || {
            format!("`padding` has two numbers a dimension, found {dims:?}")
        });
    }
    let rank = check.operand_array(0).map(|a| a.dims.len());
    let sizes = check.operation.attribute("window_dimensions").and_then(Attribute::ints);
    if let (true, Some(rank)) = (of_all, rank) {
        let found = sizes.map_or(0, |s| s.len());
        check.require(found == rank, "C4", || {
            format!("`window_dimensions` has {rank} numbers, one a dimension, found {found}")
        });
    }
}

/// Checks that `transpose_a` is specified.
pub(super) fn transpose_option(check: &mut Check<'_, '_>) {
    let word = check.operation.attribute("transpose_a").and_then(|a| a.word("stablehlo.transpose"));
    check.require(word != Some("TRANSPOSE_INVALID"), "", || "`transpose_a` is not TRANSPOSE_INVALID".into());
}

/// Checks the layouts and the configuration of a custom call.
pub(super) fn custom_call(check: &mut Check<'_, '_>) {
    let operation = check.operation;
    if operation.attribute("api_version").and_then(Attribute::as_int) == Some(4) {
        let config = operation.attribute("backend_config");
        check.require(matches!(config, None | Some(Attribute::Dictionary(_))), "", || {
            "`backend_config` of the typed interface is a dictionary".into()
        });
    }
    let lists =
        ["operand_layouts", "result_layouts"].map(|n| operation.attribute(n).and_then(Attribute::as_array));
    let [operands, results] = match lists {
        [None, None] => return,
        [Some(operands), Some(results)] => [operands, results],
        _ => return check.report("", "layouts are given for operands and results, or for none"),
    };
    layouts(check, "operand", operands, &operation.operands);
    // If the result is a tuple, the layouts are those of its elements.
    let of_tuple = match operation.results[..] {
        [one] => matches!(**check.tree.type_of(one), TypeKind::Tuple(_)),
        _ => false,
    };
    if !of_tuple {
        layouts(check, "result", results, &operation.results);
    }
}

/// Checks the layouts of values.
fn layouts(check: &mut Check<'_, '_>, what: &str, layouts: &[Attribute], values: &[crate::tree::ValueId]) {
    if layouts.len() != values.len() {
        let message = format!("{} layouts are given for {} {what}s", layouts.len(), values.len());
        return check.report("", message);
    }
    for (index, (layout, &value)) in layouts.iter().zip(values).enumerate() {
        let ty = check.tree.type_of(value);
        let order = layout.ints().unwrap_or_default();
        let rank = match &**ty {
            TypeKind::Tensor(array) => array.dims.len(),
            TypeKind::Tuple(_) => {
                check.report("", format!("{what} {index} is a tuple, which has no layout"));
                continue;
            }
            _ => 0,
        };
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let is_permutation = sorted.len() == rank && sorted.iter().zip(0..).all(|(&d, n)| d == n);
        check.require(is_permutation, "", || {
            format!(
                "the layout of {what} {index}, {order:?}, is no order of the dimensions of {}",
                type_text(ty)
            )
        });
    }
}
