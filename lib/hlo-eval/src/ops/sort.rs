//! `sort` and `topk`.

use super::reduction::{collate, element_types};
use super::{Result, array, dimension};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{advance, count, row_major_strides};
use crate::program::Function;
use hlo_ir::FloatFormat;
use hlo_ir::attr::{SortAttrs, TopkAttrs};
use hlo_ir::{Dims, ElementType, Instruction, Literal};

/// `sort` (semantics, "Sort"): each line along the dimension by itself, all operands by the same permutation.
/// Always stable. The comparator may be anything: an inconsistent one gives some permutation.
pub(super) fn sort(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &SortAttrs,
) -> Result<Literal> {
    let types = element_types(&operands)?;
    let first = operands.first().ok_or_else(|| EvalError::new("an operand is missing"))?;
    let dims = array(first)?.dims.clone();
    if operands.iter().any(|o| o.shape().as_array().is_none_or(|a| a.dims != dims)) {
        return Err(EvalError::new("the operands of sort differ in dimensions"));
    }
    let pairs: Vec<ElementType> = types.iter().flat_map(|&t| [t, t]).collect();
    let mut less =
        Comparator { function: Function::new(ev, attrs.to_apply, &pairs, &[ElementType::Pred], 1)? };
    let along = attrs.dimensions.first().copied().unwrap_or(dims.len() as i64 - 1);
    let along = dimension(along, dims.len())?;
    let strides = row_major_strides(&dims);
    let (length, stride) = (dims[along].max(0) as usize, strides[along] as usize);
    let mut others = dims.clone();
    others[along] = 1;

    let mut results = operands.iter().map(|o| ev.allocate(array(o)?)).collect::<Result<Vec<_>>>()?;
    let mut line: Dims = smallvec::smallvec![0; dims.len()];
    let (mut order, mut scratch) = (Vec::with_capacity(length), Vec::with_capacity(length));
    for _ in 0..count(&others) {
        let base = line.iter().zip(&strides).map(|(&i, &s)| i * s).sum::<i64>() as usize;
        order.clear();
        order.extend((0..length).map(|i| base + i * stride));
        less.merge_sort(ev, &operands, &types, &mut order, &mut scratch)?;
        for ((result, operand), ty) in results.iter_mut().zip(&operands).zip(&types) {
            let (size, out) = (ty.byte_size(), result.bytes_mut());
            for (i, &from) in order.iter().enumerate() {
                let to = base + i * stride;
                out[to * size..(to + 1) * size]
                    .copy_from_slice(&operand.bytes()[from * size..(from + 1) * size]);
            }
        }
        advance(&mut line, &others);
    }
    operands.into_iter().for_each(|o| ev.release(o));
    collate(&instr.shape, results)
}

/// Whether the elements at one position go before those at another.
struct Comparator {
    function: Function,
}

impl Comparator {
    fn less(
        &mut self,
        ev: &mut Evaluator<'_>,
        operands: &[Literal],
        types: &[ElementType],
        a: usize,
        b: usize,
    ) -> Result<bool> {
        for (k, (operand, ty)) in operands.iter().zip(types).enumerate() {
            let size = ty.byte_size();
            let element = |at: usize| &operand.bytes()[at * size..(at + 1) * size];
            self.function.fill_parameter(2 * k, element(a), 1);
            self.function.fill_parameter(2 * k + 1, element(b), 1);
        }
        self.function.run(ev, 1)?;
        Ok(self.function.result(0).first() == Some(&1))
    }

    /// Bottom-up merging: stable, and total whatever the comparator says (the standard library's sort may panic
    /// on an inconsistent one).
    fn merge_sort(
        &mut self,
        ev: &mut Evaluator<'_>,
        operands: &[Literal],
        types: &[ElementType],
        order: &mut Vec<usize>,
        scratch: &mut Vec<usize>,
    ) -> Result<()> {
        let length = order.len();
        let mut width = 1;
        while width < length {
            scratch.clear();
            for start in (0..length).step_by(2 * width) {
                let (middle, end) = ((start + width).min(length), (start + 2 * width).min(length));
                let (mut left, mut right) = (start, middle);
                while left < middle && right < end {
                    if self.less(ev, operands, types, order[right], order[left])? {
                        scratch.push(order[right]);
                        right += 1;
                    } else {
                        scratch.push(order[left]);
                        left += 1;
                    }
                }
                scratch.extend_from_slice(&order[left..middle]);
                scratch.extend_from_slice(&order[right..end]);
            }
            std::mem::swap(order, scratch);
            width *= 2;
        }
        Ok(())
    }
}

/// `topk` (operand, k): the `k` largest (or smallest) elements of the last dimension and their positions, in
/// order; equal ones by position. NaN counts as larger than any number.
pub(super) fn top_k(
    ev: &mut Evaluator<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &TopkAttrs,
) -> Result<Literal> {
    let [operand] = super::take(operands)?;
    let shape = array(&operand)?;
    let (ty, size) = (shape.element_type, shape.element_type.byte_size());
    let length = shape.dims.last().copied().unwrap_or(0).max(0) as usize;
    let shapes = super::reduction::result_arrays(&instr.shape)?;
    let [values, positions] = shapes[..] else {
        return Err(EvalError::new("the result of topk is a pair"));
    };
    let k = values.dims.last().copied().unwrap_or(0).max(0) as usize;
    if k > length || positions.element_type != ElementType::S32 || values.element_type != ty {
        return Err(EvalError::new(format!("the result of topk does not have shape {}", instr.shape)));
    }
    let (mut top, mut at) = (ev.allocate(values)?, ev.allocate(positions)?);
    ev.charge(shape.element_count())?;
    let mut order: Vec<usize> = Vec::with_capacity(length);
    let lines = operand.bytes().chunks_exact((length * size).max(1));
    let results = top.bytes_mut().chunks_exact_mut((k * size).max(1));
    let indices = at.elements_mut::<i32>().chunks_exact_mut(k.max(1));
    for ((line, result), indices) in lines.zip(results).zip(indices) {
        let keys = sort_keys(ty, line);
        order.clear();
        order.extend(0..length);
        order.sort_by(|&a, &b| {
            let by_value = keys[a].cmp(&keys[b]);
            if attrs.largest.0 { by_value.reverse() } else { by_value }
        });
        for (n, &i) in order.iter().take(k).enumerate() {
            result[n * size..(n + 1) * size].copy_from_slice(&line[i * size..(i + 1) * size]);
            indices[n] = i32::try_from(i).unwrap_or(i32::MAX);
        }
    }
    ev.release(operand);
    Ok(Literal::tuple(vec![top, at]))
}

/// Integers that compare as the elements do: for floats the total order.
fn sort_keys(ty: ElementType, bytes: &[u8]) -> Vec<i128> {
    let format = FloatFormat::of(ty);
    bytes
        .chunks_exact(ty.byte_size())
        .map(|element| {
            let mut wide = [0u8; 16];
            wide[..element.len().min(16)].copy_from_slice(&element[..element.len().min(16)]);
            let raw = i128::from_le_bytes(wide);
            match format {
                Some(f) => {
                    let bits = f.decode(raw as u64).to_bits() as i64;
                    let number = i128::from(bits ^ (((bits >> 63) as u64) >> 1) as i64);
                    // NaNs among themselves by their payloads, which decoding loses.
                    let payload = if bits < 0 { !raw as u64 } else { raw as u64 };
                    number << 64 | i128::from(payload)
                }
                None if ty.is_signed_integer() => {
                    let unused = 128 - 8 * ty.byte_size() as u32;
                    (raw << unused) >> unused
                }
                None => raw,
            }
        })
        .collect()
}
