//! Restrictions on operations in older versions, apart from different attributes.

use crate::Tree;
use crate::bytecode::encoding;
use crate::bytecode::fault::{Fault, Result};
use crate::dialect::{Version, Versioned};
use crate::tree::{Attribute, Operation, Type, TypeKind, ValueId};

/// Checks an operation that is written as a VHLO operation.
pub(in crate::bytecode) fn check(
    tree: &Tree,
    operation: &Operation,
    versioned: &Versioned,
    version: Version,
) -> Result<()> {
    let newer = |what: &str, since: Version| {
        if version < since {
            return Err(Fault::new(format!("{what} came with version {since}, but {version} is written")));
        }
        Ok(())
    };
    match versioned.name {
        "all_gather_v1" | "all_reduce_v1" | "all_to_all_v1" if operation.operands.len() != 1 => {
            newer("a collective operation of several operands", Version::new(1, 5, 0))?;
        }
        "collective_broadcast_v1" if operation.operands.len() != 1 => {
            newer("a broadcast of several operands", Version::new(1, 20, 0))?;
        }
        "composite_v1" if !operation.regions.is_empty() => {
            newer("a composite with regions", Version::new(1, 14, 0))?;
        }
        "custom_call_v1" => {
            let has_fields = matches!(operation.attribute("backend_config"), Some(Attribute::Dictionary(d)) if !d.is_empty());
            let number = operation.attribute("api_version").and_then(Attribute::as_int);
            let is_typed = number
                == encoding::API_VERSIONS
                    .iter()
                    .position(|v| *v == "API_VERSION_TYPED_FFI")
                    .map(|n| n as i64);
            if has_fields || is_typed {
                newer("a custom call with a dictionary for its configuration", Version::new(1, 3, 0))?;
            }
            if operation.operands.iter().any(|&value| matches!(**tree.type_of(value), TypeKind::Future(_))) {
                newer("a custom call of futures", Version::new(1, 17, 0))?;
            }
        }
        _ => {}
    }
    let is_reduction = matches!(
        versioned.name,
        "all_reduce_v1"
            | "reduce_v1"
            | "reduce_scatter_v1"
            | "reduce_window_v1"
            | "scatter_v1"
            | "select_and_scatter_v1"
    );
    if is_reduction && !keeps_elements(tree, operation) {
        newer("a reduction to another element type", Version::new(0, 17, 0))?;
    }
    Ok(())
}

/// Checks whether the results have the element types of the operands.
fn keeps_elements(tree: &Tree, operation: &Operation) -> bool {
    let element = |value: &ValueId| -> Option<Type> {
        match &**tree.type_of(*value) {
            TypeKind::Tensor(tensor) => Some(tensor.element.clone()),
            TypeKind::UnrankedTensor(element) => Some(element.clone()),
            _ => None,
        }
    };
    operation
        .operands
        .iter()
        .zip(&operation.results)
        .all(|(operand, result)| element(operand) == element(result))
}
