//! `topk`.

use super::reduction::result_arrays;
use super::support::{Result, array, take};
use crate::context::Context;
use crate::element::{Scalar, load};
use crate::error::EvalError;
use hlo_ir::FloatFormat;
use hlo_ir::attr::TopkAttrs;
use hlo_ir::{ArrayShape, ElementType, Instruction, Literal};

/// `topk` (operand, k): the `k` largest (or smallest) elements of the last dimension and their positions, in
/// order. Equal elements are ordered by position. Floats are in total order: a NaN is larger than any number,
/// and a NaN with the sign set is smaller than any.
pub(super) fn top_k(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &TopkAttrs,
) -> Result<Literal> {
    let [operand] = take(operands)?;
    let shape = array(&operand)?;
    let (ty, size) = (shape.element_type, shape.element_type.byte_size());
    let last = |shape: &ArrayShape| {
        let size = shape.dims.last().and_then(|&n| usize::try_from(n).ok());
        size.ok_or_else(|| EvalError::new(format!("{shape} has no last dimension")))
    };
    let length = last(shape)?;
    let shapes = result_arrays(&instr.shape)?;
    let [values, positions] = shapes[..] else {
        return Err(EvalError::new("the result of topk is a pair"));
    };
    let k = last(values)?;
    let fits = positions.dims == values.dims
        && values.rank() == shape.rank()
        && values.dims.iter().zip(&shape.dims).rev().skip(1).all(|(v, d)| v == d);
    if k > length || !fits || positions.element_type != ElementType::S32 || values.element_type != ty {
        return Err(EvalError::new(format!("the result of topk does not have shape {}", instr.shape)));
    }
    let (mut top, mut at) = (cx.allocate(values)?, cx.allocate(positions)?);
    cx.charge(shape.element_count())?;
    let mut order: Vec<usize> = Vec::with_capacity(length);
    let lines = operand.bytes().chunks_exact((length * size).max(1));
    let results = top.bytes_mut().chunks_exact_mut((k * size).max(1));
    let indices = at.elements_mut::<i32>().chunks_exact_mut(k.max(1));
    for ((line, result), indices) in lines.zip(results).zip(indices) {
        let keys = sort_keys(ty, line)?;
        order.clear();
        order.extend(0..length);
        order.sort_by(|&a, &b| {
            let by_value = keys[a].cmp(&keys[b]);
            if attrs.largest.0 { by_value.reverse() } else { by_value }
        });
        for (n, &i) in order.iter().take(k).enumerate() {
            result[n * size..(n + 1) * size].copy_from_slice(&line[i * size..(i + 1) * size]);
            indices[n] = i32::try_from(i)
                .map_err(|_| EvalError::new(format!("position {i} of topk does not fit an s32")))?;
        }
    }
    cx.release(operand);
    Ok(Literal::tuple(vec![top, at]))
}

/// Returns integers that compare as the elements do. For floats this is the total order.
fn sort_keys(ty: ElementType, bytes: &[u8]) -> Result<Vec<i128>> {
    let (format, size) = (FloatFormat::of(ty), ty.byte_size());
    let key = |raw: Scalar| match format {
        Some(f) => f.total_order(raw as u64).into(),
        None if ty.is_signed_integer() => {
            let unused = 128 - 8 * size as u32;
            ((raw as i128) << unused) >> unused
        }
        None => raw as i128,
    };
    (0..bytes.len() / size).map(|at| load(bytes, size, at).map(key)).collect()
}
