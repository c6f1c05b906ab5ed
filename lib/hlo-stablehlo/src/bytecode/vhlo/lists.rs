//! Lists of numbers: arrays in StableHLO, one-dimensional tensors in VHLO.

use crate::dialect::ListOf;
use crate::tree::{Attribute, Elements, Type};
use hlo_ir::AlignedBytes;
use std::sync::Arc;

/// Maximum length of a list that is stored as a single repeated number. No array has more dimensions.
const MAX_REPEATED_LENGTH: usize = 1 << 12;

/// Returns the numbers of a list. Returns `None` for a repeated number with a very large count, which takes
/// only a few bytes in a file.
pub(super) fn numbers(value: &Attribute) -> Option<Vec<i64>> {
    match value {
        Attribute::Elements(elements) if elements.is_splat && elements.count()? > MAX_REPEATED_LENGTH => None,
        _ => value.ints(),
    }
}

/// Checks whether all numbers of a list satisfy a condition.
pub(super) fn is_all(value: &Attribute, is: impl Fn(i64) -> bool) -> bool {
    numbers(value).is_some_and(|all| all.into_iter().all(is))
}

/// Converts a tensor of numbers to an array.
pub(super) fn to_array(list: ListOf, value: &Attribute) -> Option<Attribute> {
    let Attribute::Elements(_) = value else {
        return matches!(value, Attribute::DenseArray(..)).then(|| value.clone());
    };
    let numbers = numbers(value)?;
    Some(match list {
        ListOf::I64 => Attribute::i64s(numbers),
        ListOf::Bool => Attribute::DenseArray(Type::integer(1), numbers.into()),
    })
}

/// Converts an array of numbers to a tensor.
pub(super) fn to_tensor(list: ListOf, values: &[i64]) -> Attribute {
    match list {
        ListOf::I64 => ints(values),
        ListOf::Bool => {
            let bytes = values.iter().map(|&v| u8::from(v != 0)).collect();
            tensor(&[values.len() as i64], &Type::integer(1), bytes)
        }
    }
}

/// Returns a one-dimensional tensor.
pub(super) fn ints(values: &[i64]) -> Attribute {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    tensor(&[values.len() as i64], &Type::integer(64), bytes)
}

/// Returns a tensor with the given bytes.
pub(super) fn tensor(dims: &[i64], element: &Type, bytes: Vec<u8>) -> Attribute {
    Attribute::Elements(Arc::new(Elements {
        ty: Type::tensor(dims, element.clone()),
        bytes: Arc::new(AlignedBytes::from_slice(&bytes)),
        is_splat: false,
    }))
}
