//! Rules on results that depend on the results of regions.

use super::check::Check;
use crate::text::type_text;
use crate::tree::{Region, Type, TypeKind};

/// Returns the types of a region's results.
pub(super) fn given<'t>(check: &Check<'t, '_>, region: &'t Region) -> Option<Vec<&'t Type>> {
    let last = region.blocks.first()?.terminator()?;
    Some(last.operands.iter().map(|&v| check.tree.type_of(v)).collect())
}

/// Checks whether two types match. Unknown sizes match any size.
pub(super) fn compatible(a: &Type, b: &Type) -> bool {
    match (&**a, &**b) {
        (TypeKind::Tensor(a), TypeKind::Tensor(b)) => {
            a.element == b.element && super::check::agree(&a.dims, &b.dims)
        }
        _ => a == b,
    }
}

fn list(types: &[&Type]) -> String {
    types.iter().map(|ty| type_text(ty)).collect::<Vec<_>>().join(", ")
}

/// Checks that the branches of `if` and `case` return the types of the operation's results.
pub(super) fn branches(check: &mut Check<'_, '_>) {
    let operation = check.operation;
    let results: Vec<&Type> = operation.results.iter().map(|&v| check.tree.type_of(v)).collect();
    for (index, region) in operation.regions.iter().enumerate() {
        let Some(given) = given(check, region) else { continue };
        let fits = given.len() == results.len() && given.iter().zip(&results).all(|(a, b)| compatible(a, b));
        check.require(fits, if operation.name == "stablehlo.if" { "C3" } else { "C4" }, || {
            format!("branch {index} gives ({}), the operation ({})", list(&given), list(&results))
        });
    }
}

/// Checks that `async_start` has one region, and that its result is the future of the region's result.
pub(super) fn asynchronous(check: &mut Check<'_, '_>) {
    let [region] = &check.operation.regions[..] else {
        let found = check.operation.regions.len();
        return check.report("", format!("it has one region, found {found}"));
    };
    let (Some(given), Some(result)) = (given(check, region), check.result(0)) else { return };
    let TypeKind::Future(promised) = &**result else { return };
    let fits = given.len() == promised.len() && given.iter().zip(promised).all(|(a, b)| compatible(a, b));
    check.require(fits, "C4", || {
        format!("its body gives ({}), its result is {}", list(&given), type_text(result))
    });
}

/// Checks that the regions return arrays.
pub(super) fn gives_arrays(check: &mut Check<'_, '_>) {
    for region in &check.operation.regions {
        for ty in given(check, region).unwrap_or_default() {
            check.require(ty.as_tensor().is_some(), "", || {
                format!("a region gives an array, found {}", type_text(ty))
            });
        }
    }
}
