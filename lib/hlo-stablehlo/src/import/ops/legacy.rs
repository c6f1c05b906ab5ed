//! Operations of early versions that other operations replace.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::Operation;
use hlo_ir::attr::{DotAttrs, GatherAttrs};
use hlo_ir::build::Build;
use hlo_ir::{Dims, InstrId, Op, Shape};

/// The labels of an operand or a result: one letter for each dimension.
type Labels = Vec<char>;

/// Returns the dimension of a letter.
fn place(labels: &[char], letter: char) -> Option<i64> {
    labels.iter().position(|&l| l == letter).map(|at| at as i64)
}

impl Importer<'_> {
    /// Translates `einsum` of two operands, such as `ab,bc->ac`. Letters that occur only in operands are
    /// summed over.
    pub(super) fn einsum(&mut self, op: &Operation) -> Result<()> {
        let config = op.text("einsum_config")?;
        let (inputs, output) = self.labels(op, config)?;
        let [lhs, rhs] = &inputs[..] else { return op.fail(format!("`{config}` is for two operands")) };
        let operands = self.operands(op)?;
        let mut sides = Vec::with_capacity(2);
        for ((&operand, own), other) in operands.iter().zip([lhs, rhs]).zip([rhs, lhs]) {
            let is_needed = |letter: &char| other.contains(letter) || output.contains(letter);
            sides.push(self.sum_over(op, operand, own, &is_needed)?);
        }
        let [(lhs_id, lhs), (rhs_id, rhs)] = &sides[..] else { return op.fail("it has two operands") };
        let shared = || lhs.iter().copied().filter(|l| rhs.contains(l));
        let dims = |labels: &[char], batch: bool| -> Dims {
            shared().filter(|l| output.contains(l) == batch).filter_map(|l| place(labels, l)).collect()
        };
        let attrs = DotAttrs {
            lhs_batch_dims: dims(lhs, true),
            rhs_batch_dims: dims(rhs, true),
            lhs_contracting_dims: dims(lhs, false),
            rhs_contracting_dims: dims(rhs, false),
            ..DotAttrs::default()
        };
        // A product has the common letters first, then those of each operand.
        let own = |labels: &[char], other: &[char]| {
            labels.iter().copied().filter(|l| !other.contains(l)).collect::<Vec<_>>()
        };
        let mut product: Labels = shared().filter(|l| output.contains(l)).collect();
        product.extend(own(lhs, rhs));
        product.extend(own(rhs, lhs));
        let hlo = Op::Dot(Box::new(attrs));
        let ids = [*lhs_id, *rhs_id];
        let mut shape = self.inferred(op, &hlo, &ids)?;
        if let Shape::Array(array) = &mut shape {
            array.element_type = self.result_array(op)?.element_type;
        }
        let id = self.add(shape, hlo, &ids);
        self.set_transposed_result(op, id, &product, &output)
    }

    /// Translates `unary_einsum`. Letters that the result lacks are summed over.
    pub(super) fn unary_einsum(&mut self, op: &Operation) -> Result<()> {
        let config = op.text("einsum_config")?;
        let (inputs, output) = self.labels(op, config)?;
        let [labels] = &inputs[..] else { return op.fail(format!("`{config}` is for one operand")) };
        let operand = self.operand(op, 0)?;
        let (id, kept) = self.sum_over(op, operand, labels, &|letter| output.contains(letter))?;
        self.set_transposed_result(op, id, &kept, &output)
    }

    /// Parses the letters of the operands and of the result. `...` stands for all remaining dimensions.
    fn labels(&self, op: &Operation, config: &str) -> Result<(Vec<Labels>, Labels)> {
        let wrong = || op.failure(format!("`{config}` is no `einsum_config` for its operands"));
        let (inputs, output) = config.split_once("->").ok_or_else(wrong)?;
        let ranks: Vec<usize> = op
            .operands
            .iter()
            .map(|&v| self.tree.type_of(v).as_tensor().map_or(0, |t| t.dims.len()))
            .collect();
        let result = op.result(0)?;
        let rank = self.tree.type_of(result).as_tensor().map_or(0, |t| t.dims.len());
        let inputs: Vec<&str> = inputs.split(',').collect();
        if inputs.len() != ranks.len() {
            return Err(wrong());
        }
        let expand = |text: &str, rank: usize| -> Option<Labels> {
            let text = text.trim();
            let Some((before, behind)) = text.split_once("...") else {
                let labels: Labels = text.chars().collect();
                return (labels.len() == rank && is_plain(&labels)).then_some(labels);
            };
            let named = before.chars().count() + behind.chars().count();
            let more = u32::try_from(rank.checked_sub(named)?).ok().filter(|&n| n <= 26)?;
            // Private-use characters stand for these dimensions. They are counted from the last dimension.
            let rest = (0..more).rev().map(|n| char::from_u32(u32::from('\u{e000}') + n));
            let labels: Labels = before
                .chars()
                .map(Some)
                .chain(rest)
                .chain(behind.chars().map(Some))
                .collect::<Option<_>>()?;
            is_plain(&labels).then_some(labels)
        };
        let is_output_known = |labels: &Vec<Labels>, output: &Labels| {
            output.iter().all(|l| labels.iter().any(|i| i.contains(l)))
        };
        let inputs: Option<Vec<Labels>> =
            inputs.iter().zip(ranks).map(|(text, rank)| expand(text, rank)).collect();
        let (inputs, output) = inputs.zip(expand(output, rank)).ok_or_else(wrong)?;
        if is_output_known(&inputs, &output) { Ok((inputs, output)) } else { Err(wrong()) }
    }

    /// Sums over the dimensions whose letters are not needed. Returns the sum and the remaining letters.
    fn sum_over(
        &mut self,
        op: &Operation,
        id: InstrId,
        labels: &[char],
        is_needed: &dyn Fn(&char) -> bool,
    ) -> Result<(InstrId, Labels)> {
        let gone: Vec<i64> =
            labels.iter().filter(|&l| !is_needed(l)).filter_map(|&l| place(labels, l)).collect();
        if gone.is_empty() {
            return Ok((id, labels.to_vec()));
        }
        let ty = self.array(op, id)?.element_type;
        let to_apply = self.sum_of_two(ty);
        let zero = self.zero(ty).ok_or_else(|| op.failure("its elements have no zero"))?;
        let hlo = Op::reduce(gone, to_apply);
        let shape = self.inferred(op, &hlo, &[id, zero])?;
        let sum = self.add(shape, hlo, &[id, zero]);
        Ok((sum, labels.iter().copied().filter(|l| is_needed(l)).collect()))
    }

    /// Sets the result to a value whose dimensions have letters, transposed to the result's order.
    fn set_transposed_result(
        &mut self,
        op: &Operation,
        id: InstrId,
        labels: &[char],
        output: &[char],
    ) -> Result<()> {
        if labels == output {
            return self.set_result(op, id);
        }
        let order: Option<Vec<i64>> = output.iter().map(|&l| place(labels, l)).collect();
        let order = order.filter(|_| labels.len() == output.len());
        let order =
            order.ok_or_else(|| op.failure("a letter of its result is in no operand, or there twice"))?;
        self.set_result_op(op, Op::transpose(order), &[id])
    }

    /// Translates `torch_index_select`: slices along `dim`, by indices that share their first `batch_dims`
    /// dimensions with the operand.
    pub(super) fn torch_index_select(&mut self, op: &Operation) -> Result<()> {
        let (operand, index) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let (array, indices) = (self.array(op, operand)?, self.array(op, index)?);
        let (rank, index_rank) = (array.rank() as i64, indices.rank() as i64);
        let counted = |n: i64, from: i64| if n < 0 { n.saturating_add(from) } else { n };
        let dim = counted(op.int("dim")?, rank);
        let batch = counted(op.int_or("batch_dims", 0)?, index_rank);
        if !(0..rank).contains(&dim) || !(0..=dim.min(index_rank)).contains(&batch) {
            return op
                .fail(format!("it selects along dimension {dim} of {array} with {batch} batch dimensions"));
        }
        let slice_sizes = (0..rank).map(|d| if d == dim || d < batch { 1 } else { array.dims[d as usize] });
        // The dimensions of the result are the operand's before `dim`, those of the indices, and the
        // operand's after `dim`.
        let behind = dim + index_rank - batch;
        let offset_dims = (batch..dim).chain(behind..behind + rank - dim - 1);
        let attrs = GatherAttrs {
            offset_dims: offset_dims.collect(),
            collapsed_slice_dims: Dims::from_slice(&[dim]),
            start_index_map: Dims::from_slice(&[dim]),
            operand_batching_dims: (0..batch).collect(),
            start_indices_batching_dims: (0..batch).collect(),
            index_vector_dim: index_rank,
            slice_sizes: slice_sizes.collect(),
            indices_are_sorted: false,
        };
        self.set_result_op(op, Op::Gather(Box::new(attrs)), &[operand, index])
    }
}

/// Checks whether all letters are different.
fn is_plain(labels: &[char]) -> bool {
    labels.iter().enumerate().all(|(n, l)| !labels[..n].contains(l))
}
