//! Data movement by index maps: where each element of a result comes from, or goes to.
//!
//! An operation that moves elements is written as what the document says of it: which index of the operand belongs to
//! an index of the result.

use super::fast::walk::{Walk, copy_bytes};
use super::{Result, array};
use crate::EvalError;
use crate::element::{Elements, ElementsMut};
use crate::evaluator::Evaluator;
use crate::index::{count, indices};
use hlo_ir::{ArrayShape, Dims, Literal};

/// The array of a shape whose element at each index `i` is the operand's at `source(i)`. The map writes that index to its
/// second argument, which has an entry for each dimension of the operand, and is affine: as [`copy`] needs it.
pub(super) fn moved(
    ev: &mut Evaluator<'_>,
    shape: &ArrayShape,
    operand: Literal,
    source: impl Fn(&[i64], &mut [i64]),
) -> Result<Literal> {
    let mut result = ev.allocate(shape)?;
    copy(ev, &shape.dims, (&operand, source), (&mut result, same))?;
    ev.release(operand);
    Ok(result)
}

/// The map of an index to itself.
pub(super) fn same(index: &[i64], out: &mut [i64]) {
    out.iter_mut().zip(index).for_each(|(o, &i)| *o = i);
}

/// For each index `i` below `dims`, element `source(i)` of one array becomes element `target(i)` of another.
///
/// Both maps are affine: a step along a dimension always changes the index by the same amount. An error if an index is
/// outside of its array.
pub(super) fn copy(
    ev: &Evaluator<'_>,
    dims: &[i64],
    (from, source): (&Literal, impl Fn(&[i64], &mut [i64])),
    (to, target): (&mut Literal, impl Fn(&[i64], &mut [i64])),
) -> Result<()> {
    let (from_shape, to_shape) = (array(from)?.clone(), array(to)?.clone());
    if from_shape.element_type.byte_size() != to_shape.element_type.byte_size() {
        return Err(EvalError::internal(format!("elements of {from_shape} are moved to {to_shape}")));
    }
    if count(dims) == 0 {
        return Ok(());
    }
    if !ev.definitions_only() {
        let source = Walk::along(dims, &from_shape.dims, source);
        let target = Walk::along(dims, &to_shape.dims, target);
        let size = from_shape.element_type.byte_size();
        return copy_bytes(size, dims, (from.bytes(), &source), (to.bytes_mut(), &target));
    }
    let (from, mut to) = (Elements::of(from)?, ElementsMut::of(to)?);
    let mut from_index: Dims = smallvec::smallvec![0; from_shape.rank()];
    let mut to_index: Dims = smallvec::smallvec![0; to_shape.rank()];
    for index in indices(dims) {
        source(&index, &mut from_index);
        target(&index, &mut to_index);
        to.set(&to_index, from.at(&from_index)?)?;
    }
    Ok(())
}
