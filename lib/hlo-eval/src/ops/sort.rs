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
    let function = Function::new(ev, attrs.to_apply, &pairs, &[ElementType::Pred], 1)?;
    let mut less = Comparator { function, operands: &operands, types: &types };
    let along = attrs.dimensions.first().copied().unwrap_or(dims.len() as i64 - 1);
    let along = dimension(along, dims.len())?;
    let strides = row_major_strides(&dims);
    let (length, stride) = (dims[along].max(0) as usize, strides[along] as usize);
    let mut others = dims.clone();
    others[along] = 1;

    let mut results = operands.iter().map(|o| ev.allocate(array(o)?)).collect::<Result<Vec<_>>>()?;
    let mut line: Dims = smallvec::smallvec![0; dims.len()];
    let mut order = Vec::with_capacity(length);
    for _ in 0..count(&others) {
        let base = line.iter().zip(&strides).map(|(&i, &s)| i * s).sum::<i64>() as usize;
        order.clear();
        order.extend((0..length).map(|i| base + i * stride));
        less.merge_sort(ev, &mut order)?;
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
struct Comparator<'a> {
    function: Function,
    operands: &'a [Literal],
    types: &'a [ElementType],
}

impl Comparator<'_> {
    fn less(&mut self, ev: &mut Evaluator<'_>, a: usize, b: usize) -> Result<bool> {
        for (k, (operand, ty)) in self.operands.iter().zip(self.types).enumerate() {
            let size = ty.byte_size();
            let element = |at: usize| &operand.bytes()[at * size..(at + 1) * size];
            self.function.fill_parameter(2 * k, element(a), 1);
            self.function.fill_parameter(2 * k + 1, element(b), 1);
        }
        self.function.run(ev, 1)?;
        Ok(self.function.result(0).first() == Some(&1))
    }

    /// Stable, and a permutation whatever the comparator says (the standard library's sort may panic on an inconsistent
    /// one). Which one is defined (docs/numerics.md, "Sorting"): the comparisons are those of `std::stable_sort` in GNU's
    /// C++ library, which XLA's CPU backend is built with.
    fn merge_sort(&mut self, ev: &mut Evaluator<'_>, order: &mut [usize]) -> Result<()> {
        let longer = order.len() - order.len() / 2;
        let (first, second) = order.split_at_mut(longer);
        self.sort_half(ev, first)?;
        self.sort_half(ev, second)?;
        let merged = if first.len() == second.len() {
            self.merge(ev, first, second)?
        } else {
            self.merge_from_the_back(ev, first, second)?
        };
        order.copy_from_slice(&merged);
        Ok(())
    }

    /// Insertion within runs of seven, then runs are merged in pairs until one is left.
    fn sort_half(&mut self, ev: &mut Evaluator<'_>, half: &mut [usize]) -> Result<()> {
        let mut length = 7;
        for run in half.chunks_mut(length) {
            for end in 1..run.len() {
                // Before the first one it goes to the front; else the search ends behind it at the latest.
                let mut place = 0;
                if !self.less(ev, run[end], run[0])? {
                    place = end;
                    while place > 1 && self.less(ev, run[end], run[place - 1])? {
                        place -= 1;
                    }
                }
                run[place..=end].rotate_right(1);
            }
        }
        while length < half.len() {
            for pair in half.chunks_mut(2 * length) {
                if pair.len() > length {
                    let merged = self.merge(ev, &pair[..length], &pair[length..])?;
                    pair.copy_from_slice(&merged);
                }
            }
            length *= 2;
        }
        Ok(())
    }

    /// The smaller of the two first elements is next, the left one if they are equal.
    fn merge(
        &mut self,
        ev: &mut Evaluator<'_>,
        mut left: &[usize],
        mut right: &[usize],
    ) -> Result<Vec<usize>> {
        let mut merged = Vec::with_capacity(left.len() + right.len());
        while let (Some((&l, left_rest)), Some((&r, right_rest))) = (left.split_first(), right.split_first())
        {
            if self.less(ev, r, l)? {
                merged.push(r);
                right = right_rest;
            } else {
                merged.push(l);
                left = left_rest;
            }
        }
        merged.extend_from_slice(left);
        merged.extend_from_slice(right);
        Ok(merged)
    }

    /// The greater of the two last elements is last, the right one if they are equal.
    fn merge_from_the_back(
        &mut self,
        ev: &mut Evaluator<'_>,
        mut left: &[usize],
        mut right: &[usize],
    ) -> Result<Vec<usize>> {
        let mut merged = Vec::with_capacity(left.len() + right.len());
        while let (Some((&l, left_rest)), Some((&r, right_rest))) = (left.split_last(), right.split_last()) {
            if self.less(ev, r, l)? {
                merged.push(l);
                left = left_rest;
            } else {
                merged.push(r);
                right = right_rest;
            }
        }
        merged.extend(left.iter().rev());
        merged.extend(right.iter().rev());
        merged.reverse();
        Ok(merged)
    }
}

/// `topk` (operand, k): the `k` largest (or smallest) elements of the last dimension and their positions, in
/// order; equal ones by position. Floats are in total order: a NaN is larger than any number, with the sign set
/// smaller than any.
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
                Some(f) => f.total_order(raw as u64).into(),
                None if ty.is_signed_integer() => {
                    let unused = 128 - 8 * ty.byte_size() as u32;
                    (raw << unused) >> unused
                }
                None => raw,
            }
        })
        .collect()
}
