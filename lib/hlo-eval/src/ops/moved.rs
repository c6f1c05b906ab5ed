//! Data movement by index maps, which say where each element of a result comes from or goes to.
//!
//! An operation that moves elements is written as in the semantics: as the operand index for each index of
//! the result.

use super::fast::walk::{Walk, copy_bytes};
use super::support::{Result, array};
use crate::context::Context;
use crate::element::{Elements, ElementsMut};
use crate::error::EvalError;
use crate::index::{count, indices};
use hlo_ir::{ArrayShape, Dims, Literal};

/// Returns the array of a shape whose element at each index `i` is the operand's element at `source(i)`. The
/// map writes the source index to its second argument, which has an entry for each dimension of the operand.
/// The map must be affine, as for [`copy`].
pub(super) fn moved(
    cx: &mut Context<'_>,
    shape: &ArrayShape,
    operand: Literal,
    source: impl Fn(&[i64], &mut [i64]),
) -> Result<Literal> {
    let mut result = cx.allocate(shape)?;
    copy(cx, &shape.dims, (&operand, source), (&mut result, same))?;
    cx.release(operand);
    Ok(result)
}

/// Maps an index to itself.
pub(super) fn same(index: &[i64], out: &mut [i64]) {
    out.iter_mut().zip(index).for_each(|(o, &i)| *o = i);
}

/// Copies element `source(i)` of one array to element `target(i)` of another, for each index `i` below
/// `dims`.
///
/// Both maps must be affine: a step along a dimension always changes the index by the same amount. Fails if
/// a map is not affine, or if an index is out of bounds.
pub(super) fn copy(
    cx: &Context<'_>,
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
    if !cx.definitions_only() {
        let source = Walk::along(dims, &from_shape.dims, source)?;
        let target = Walk::along(dims, &to_shape.dims, target)?;
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
