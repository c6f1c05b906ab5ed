//! Gather, one result element at a time, and scatter, in place.
//!
//! Sources: operation semantics, "Gather" and "Scatter".

use super::carried_loops::{carried_loops, round_all};
use super::element::ElementCx;
use super::index::Idx;
use super::scalar;
use crate::builder::{Binary, IntPredicate, V};
use crate::elem::{self, Elem};
use hlo_ir::{ArrayShape, ElementType, InstrId, Op};
use hlo_kernel::single_binary_op;
use hlo_plan::{Refusal, array};

/// Returns the dimensions below `rank` that are not in `excluded`.
fn others(rank: usize, excluded: &[i64]) -> Vec<usize> {
    (0..rank).filter(|d| !excluded.contains(&(*d as i64))).collect()
}

/// Returns the index of component `component` of the index vector at a batch position.
fn index_vector_index<'c>(
    rank: usize,
    vector_dim: usize,
    batch: &[Idx<'c>],
    component: usize,
) -> Vec<Idx<'c>> {
    let mut batch = batch.iter();
    (0..rank)
        .map(|d| {
            if d == vector_dim {
                Idx::constant(component as i64)
            } else {
                batch.next().copied().unwrap_or(Idx::constant(0))
            }
        })
        .collect()
}

/// Returns the component of a batch position for `indices_dim`. Batch positions omit the index-vector
/// dimension.
fn batch_position(indices_dim: i64, vector_dim: usize) -> usize {
    let d = indices_dim as usize;
    if d > vector_dim { d - 1 } else { d }
}

/// Emits the result element of a `gather` at an index.
pub fn element<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
    let module = cx.body.module;
    let instr = &module[id];
    let Op::Gather(a) = &instr.op else { return Err("not a gather".into()) };
    let (operand_id, indices_id) = (instr.operands[0], instr.operands[1]);
    let (operand, indices) = (array(module, operand_id)?, array(module, indices_id)?);
    if a.reads_nothing() {
        return Ok(elem::constant(cx.b, operand.element_type, &[]));
    }
    let vector_dim = a.index_vector_dim as usize;
    let batch: Vec<Idx<'c>> = others(index.len(), &a.offset_dims).iter().map(|&d| index[d]).collect();
    let dropped: Vec<i64> = a.collapsed_slice_dims.iter().chain(&a.operand_batching_dims).copied().collect();
    let mut at = vec![Idx::constant(0); operand.rank()];
    for (k, &d) in others(operand.rank(), &dropped).iter().enumerate() {
        at[d] = index[a.offset_dims[k] as usize];
    }
    for (&o, &s) in a.operand_batching_dims.iter().zip(&a.start_indices_batching_dims) {
        at[o as usize] = batch[batch_position(s, vector_dim)];
    }
    for (k, &d) in a.start_index_map.iter().enumerate() {
        let d = d as usize;
        let limit = operand.dims[d] - a.slice_sizes[d];
        if limit <= 0 {
            continue;
        }
        let component = index_vector_index(indices.rank(), vector_dim, &batch, k);
        let start = cx.clamped(cx.value(indices_id, &component)?, indices.element_type, limit)?;
        at[d] = at[d].add(cx.b, start);
    }
    cx.value(operand_id, &at)
}

/// The parts of a scatter that its loops use.
struct Scatter<'a> {
    operands: &'a [InstrId],
    indices: InstrId,
    updates: &'a [InstrId],
    shape: &'a ArrayShape,
    types: Vec<ElementType>,
}

/// Emits a whole `scatter` in place. The elements of operand `i` are already in the buffer `slots[i]`.
/// Updates are applied sequentially in row-major order, so that every run computes the same result.
pub fn scatter<'c>(cx: &ElementCx<'_, 'c>, id: InstrId, slots: &[usize]) -> Result<(), Refusal> {
    let module = cx.body.module;
    let instr = &module[id];
    let n = instr.operands.len() / 2;
    let operands = &instr.operands[..n];
    let types =
        operands.iter().map(|&o| Ok(array(module, o)?.element_type)).collect::<Result<_, Refusal>>()?;
    let s = Scatter {
        operands,
        indices: instr.operands[n],
        updates: &instr.operands[n + 1..],
        shape: array(module, operands[0])?,
        types,
    };
    let sizes: Vec<i64> = array(module, s.updates[0])?.dims.to_vec();
    carried_loops(cx, &sizes, &[], Vec::new(), &mut Vec::new(), &mut |at, _| {
        update_one(cx, id, &s, slots, at)?;
        Ok(Vec::new())
    })?;
    Ok(())
}

/// Applies the update element at `at`, unless its window is partly outside of the operand.
fn update_one<'c>(
    cx: &ElementCx<'_, 'c>,
    id: InstrId,
    s: &Scatter<'_>,
    slots: &[usize],
    at: &[Idx<'c>],
) -> Result<(), Refusal> {
    let module = cx.body.module;
    let Op::Scatter(a) = &module[id].op else { return Err("not a scatter".into()) };
    let b = cx.b;
    let indices = array(module, s.indices)?;
    let update = array(module, s.updates[0])?;
    let vector_dim = a.index_vector_dim as usize;
    let batch: Vec<Idx<'c>> = others(at.len(), &a.update_window_dims).iter().map(|&d| at[d]).collect();
    let dropped: Vec<i64> = a.inserted_window_dims.iter().chain(&a.input_batching_dims).copied().collect();
    let mut target: Vec<Idx<'c>> = vec![Idx::constant(0); s.shape.rank()];
    let mut window = vec![1i64; s.shape.rank()];
    for (k, &d) in others(s.shape.rank(), &dropped).iter().enumerate() {
        let u = a.update_window_dims[k] as usize;
        target[d] = at[u];
        window[d] = update.dims[u];
    }
    for (&o, &i) in a.input_batching_dims.iter().zip(&a.scatter_indices_batching_dims) {
        target[o as usize] = batch[batch_position(i, vector_dim)];
    }
    let mut inside: Option<V<'c>> = None;
    for (k, &d) in a.scatter_dims_to_operand_dims.iter().enumerate() {
        let d = d as usize;
        let component = index_vector_index(indices.rank(), vector_dim, &batch, k);
        let start = cx.wide(cx.value(s.indices, &component)?, indices.element_type)?;
        // The whole window is skipped if any part of it is out of bounds. The comparison is unsigned: a
        // negative start is out of bounds too.
        let limit = s.shape.dims[d] - window[d];
        if limit < 0 {
            return Ok(());
        }
        let limit = b.index(limit);
        let ok = b.cmpi(IntPredicate::Ule, start, limit);
        inside = Some(inside.map_or(ok, |i| b.binary(Binary::Andi, i, ok)));
        let start = Idx::value(start, 0, (s.shape.dims[d] - window[d]).max(0));
        target[d] = target[d].add(b, start);
    }
    let apply = || -> Result<(), Refusal> {
        let mut places = Vec::with_capacity(slots.len());
        for &o in s.operands {
            places.push(cx.position(array(module, o)?, &target));
        }
        let mut arguments = Vec::new();
        for ((&slot, &ty), &place) in slots.iter().zip(&s.types).zip(&places) {
            arguments.push(elem::load(b, ty, cx.buffer(slot), place));
        }
        for &u in s.updates {
            arguments.push(cx.value(u, at)?);
        }
        let new = scalar::apply(b, module, a.to_apply, &arguments, true)?;
        // A value that was only selected keeps its exact bits. A combined value is not rounded yet.
        let combined = single_binary_op(module, a.to_apply).is_some();
        let new = if combined { round_all(cx, &s.types, new) } else { new };
        for (((&slot, &ty), &place), v) in slots.iter().zip(&s.types).zip(&places).zip(new) {
            elem::store(b, ty, cx.buffer(slot), place, v);
        }
        Ok(())
    };
    match inside {
        None => apply(),
        Some(inside) => b.if_then(inside, || cx.scoped(apply)),
    }
}
