//! `sort`.

use super::reduction::{collate, element_types};
use super::{Result, array, dimension};
use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::index::{advance, count, row_major_strides};
use crate::program::Function;
use hlo_ir::attr::SortAttrs;
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
