//! Lists of numbers: arrays in StableHLO, tensors of one dimension in VHLO.

use crate::dialect::ListOf;
use crate::tree::{Attribute, Elements, Type};
use hlo_ir::AlignedBytes;
use std::sync::Arc;

/// The most numbers of a list that is written as one that stands for all: no array has as many dimensions.
const MAX_REPEATED: usize = 1 << 12;

/// The numbers of a list. A tensor of some bytes may say that it has very many: then there are none.
pub(super) fn numbers(value: &Attribute) -> Option<Vec<i64>> {
    match value {
        Attribute::Elements(elements) if elements.is_splat && elements.count()? > MAX_REPEATED => None,
        _ => value.ints(),
    }
}

/// True if all numbers of a list are so.
pub(super) fn is_all(value: &Attribute, is: impl Fn(i64) -> bool) -> bool {
    numbers(value).is_some_and(|all| all.into_iter().all(is))
}

/// A tensor of numbers as an array.
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

/// An array of numbers as a tensor.
pub(super) fn to_tensor(list: ListOf, values: &[i64]) -> Attribute {
    match list {
        ListOf::I64 => ints(values),
        ListOf::Bool => {
            let bytes = values.iter().map(|&v| u8::from(v != 0)).collect();
            tensor(&[values.len() as i64], &Type::integer(1), bytes)
        }
    }
}

/// A tensor of one dimension.
pub(super) fn ints(values: &[i64]) -> Attribute {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    tensor(&[values.len() as i64], &Type::integer(64), bytes)
}

/// A tensor of given bytes.
pub(super) fn tensor(dims: &[i64], element: &Type, bytes: Vec<u8>) -> Attribute {
    Attribute::Elements(Arc::new(Elements {
        ty: Type::tensor(dims, element.clone()),
        bytes: Arc::new(AlignedBytes::from_slice(&bytes)),
        is_splat: false,
    }))
}
