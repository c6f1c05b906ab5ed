//! Padding of asynchronous operations, which run immediately, of collectives of one device, which return
//! their operands, and of custom calls.
//!
//! A started operation becomes a tuple of operands, results and contexts. Sizes are tracked with it as with
//! every tuple.

use super::{Leaves, Padded, Padder, Result, Sizes, padded_shape};
use crate::support::expander::Emitter;
use hlo_ir::attr::{AsyncStartAttrs, ComparisonDirection};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Op, Shape};

/// Values to be joined, each with the sizes of all its leaves.
type Parts = Vec<(InstrId, Leaves)>;

impl Padder<'_> {
    /// Returns the replacement of an instruction, with sizes for each leaf.
    fn with_leaves(&self, id: InstrId) -> (InstrId, Leaves) {
        let mut leaves = self.sizes.get(&id).cloned().unwrap_or_default();
        leaves.resize(self.declared(id).leaf_count(), Sizes::new());
        (self.value(id), leaves)
    }

    /// Returns the operand unchanged.
    pub(super) fn same_value(&mut self) -> Padded {
        let value = self.operands().first().copied().unwrap_or(self.at);
        (value, self.leaves(0))
    }

    /// Returns an element of the operand, which is a tuple.
    pub(super) fn part(&mut self, index: i64) -> Result<Padded> {
        let op = Op::get_tuple_element(index);
        let shape = self.operand_shape(0)?.part(&[index]).cloned();
        let shape = shape.ok_or_else(|| self.unsupported_diag("lacks an element of a tuple"))?;
        let operand = self.operand_ids()[0];
        let part = self.add(shape, op, &[operand]);
        self.pad_added(part)?;
        Ok((self.value(part), self.sizes.get(&part).cloned().unwrap_or_default()))
    }

    /// Returns the tuple of the given values.
    fn joined(&mut self, parts: Parts) -> (InstrId, Leaves) {
        let values: Vec<InstrId> = parts.iter().map(|&(value, _)| value).collect();
        let leaves = parts.into_iter().flat_map(|(_, leaves)| leaves).collect();
        (self.tuple(&values), leaves)
    }

    /// Combines values to a given shape: a single value of that shape unchanged, otherwise a tuple.
    fn combine_to_shape(&mut self, mut parts: Parts, shape: &Shape) -> (InstrId, Leaves) {
        match parts.len() {
            1 if padded_shape(shape).compatible(&self.shape(parts[0].0)) => parts.remove(0),
            _ => self.joined(parts),
        }
    }

    /// Returns the state of a started operation: the given parts, followed by zeros for the contexts.
    fn started(&mut self, mut parts: Parts) -> Result<Padded> {
        let shapes = self.module[self.at].shape.as_tuple().map_or(Vec::new(), <[Shape]>::to_vec);
        for context in shapes.get(parts.len()..).unwrap_or_default() {
            let zeros = match context {
                Shape::Array(a) => {
                    let zero = self.zero(a.element_type)?;
                    self.splat(zero, &a.dims)
                }
                Shape::Token => self.add(Shape::Token, Op::AfterAll, &[]),
                Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => {
                    return Err(self.unsupported_diag(&format!("has a context of shape {context}")));
                }
            };
            parts.push((zeros, vec![Sizes::new(); context.leaf_count()]));
        }
        let (value, leaves) = self.joined(parts);
        Ok((value, if leaves.iter().any(Self::any) { leaves } else { Vec::new() }))
    }

    /// Converts an `async-start` to a call.
    pub(super) fn async_start(&mut self, attrs: &AsyncStartAttrs) -> Result<Padded> {
        let to_apply = attrs.calls.ok_or_else(|| self.unsupported_diag("lacks a computation"))?;
        let shape = self.module[self.module[to_apply].root()].shape.clone();
        self.run_on_this_thread(to_apply);
        let operands = self.operand_ids();
        let call = self.add(shape, Op::call(to_apply), &operands);
        self.pad_added(call)?;
        let given = operands.iter().map(|&o| self.with_leaves(o)).collect();
        let given = self.joined(given);
        let made = self.with_leaves(call);
        self.started(vec![given, made])
    }

    /// Moves a computation, and those that it calls, to the execution thread of the computation that is being
    /// padded.
    fn run_on_this_thread(&mut self, computation: ComputationId) {
        let thread = self.module[self.computation].execution_thread.clone();
        let mut pending = vec![computation];
        while let Some(c) = pending.pop() {
            if self.module[c].execution_thread == thread {
                continue;
            }
            self.module[c].execution_thread.clone_from(&thread);
            let called = |&i: &InstrId| self.module[i].op.called_computations();
            pending.extend(self.module[c].instructions().iter().flat_map(called));
        }
    }

    /// Converts a `copy-start` to a tuple of the copy and the source.
    pub(super) fn copy_start(&mut self) -> Result<Padded> {
        let value = self.with_leaves(self.operand_ids()[0]);
        self.started(vec![value.clone(), value])
    }

    /// Converts the start of a collective to the collective.
    pub(super) fn exchange_start(&mut self, op: &Op) -> Result<Padded> {
        let operands = self.operand_ids();
        let shape = self.module[self.at].shape.clone();
        let (whole, op) = match op {
            Op::AllReduceStart(a) => (true, Op::AllReduce(a.clone())),
            Op::AllGatherStart(a) => (false, Op::AllGather(a.clone())),
            Op::CollectivePermuteStart(a) => (false, Op::CollectivePermute(a.clone())),
            _ => return Err(self.unsupported_diag("starts nothing")),
        };
        let parts = shape.as_tuple().unwrap_or_default();
        let result = if whole { Some(&shape) } else { parts.get(1) };
        let result = result.ok_or_else(|| self.unsupported_diag("gives operands and results"))?.clone();
        let made = self.add(result, op, &operands);
        self.pad_added(made)?;
        let made = self.with_leaves(made);
        if whole {
            return Ok(made);
        }
        let given = operands.iter().map(|&o| self.with_leaves(o)).collect();
        let given = self.combine_to_shape(given, parts.first().unwrap_or(&shape));
        self.started(vec![given, made])
    }

    /// Converts a collective of one device to its operands: a single one unchanged, several as a tuple.
    pub(super) fn exchanged(&mut self, op: &Op) -> Result<Padded> {
        let operands = self.operand_ids();
        let is_root = |a: &hlo_ir::attr::CollectiveBroadcastAttrs| a.has_dynamic_root;
        let given = match op {
            Op::CollectiveBroadcast(a) if is_root(a) => operands.len().saturating_sub(1),
            _ => operands.len(),
        };
        let mut leaves = Leaves::new();
        for n in 0..given {
            leaves.push(self.sizes(n)?);
        }
        let shape = self.module[self.at].shape.clone();
        let results = shape.leaves();
        let same = |n: usize, s: &&Shape| {
            let of = self.operand_shape(n).ok().as_ref().map(padded_shape);
            of.and_then(|s| s.as_array().cloned()).map(|a| a.dims)
                == padded_shape(s).as_array().map(|a| a.dims.clone())
        };
        if results.len() != given || !results.iter().enumerate().all(|(n, s)| same(n, s)) {
            return Err(
                self.unsupported_diag(&format!("splits or joins arrays: `{}` is not compiled", op.name()))
            );
        }
        let any = leaves.iter().any(Self::any);
        Ok(self.keep(if any { leaves } else { Vec::new() }))
    }

    /// Pads a `ragged-all-to-all`. Rows of the first array replace rows of the second one, and these rows
    /// must exist.
    pub(super) fn ragged_all_to_all(&mut self) -> Result<Padded> {
        let rank = self.bounds(0)?.rank();
        let mut sizes = self.sizes(1)?;
        for (d, size) in sizes.iter_mut().enumerate().take(rank).skip(1) {
            *size = self.paired([(0, d), (1, d)])?;
        }
        for (n, from) in [(0, 2), (1, 4)] {
            let rows = self.sizes(n)?.first().copied().flatten();
            if let Some(rows) = rows {
                self.pieces_fit(from, rows)?;
            }
        }
        if (2..6).any(|n| self.sizes(n).is_ok_and(|s| Self::any(&s))) {
            return Err(self.unsupported_diag("has a number of pieces that is known at run time only"));
        }
        Ok(self.keep(super::of_array(sizes)))
    }

    /// Adds a check that no piece ends beyond `rows`. Operand `from` contains the starts of the pieces.
    fn pieces_fit(&mut self, from: usize, rows: InstrId) -> Result<()> {
        let (operands, dims) = (self.operands(), self.bounds(from)?.dims);
        let (&start, &size) = operands
            .get(from)
            .zip(operands.get(3))
            .ok_or_else(|| self.unsupported_diag("lacks an operand"))?;
        let wide = |p: &mut Self, value: InstrId| {
            let shape = ArrayShape::new(ElementType::S64, p.array(value).dims);
            p.add(shape, Op::Convert, &[value])
        };
        let (start, size, rows) = (wide(self, start), wide(self, size), wide(self, rows));
        let end = self.both(Op::Add, start, size);
        let rows = self.splat(rows, &dims);
        let beyond = self.compare(ComparisonDirection::Gt, end, rows);
        let all: Vec<i64> = (0..dims.len() as i64).collect();
        let mut emitter = Emitter::new(self.module, self.functions, self.at);
        let any = emitter.sum(beyond, &all).ok_or_else(|| self.unsupported_diag("has no pieces"))?;
        let fit = self.add(Shape::scalar(ElementType::Pred), Op::Not, &[any]);
        self.checks.push(fit);
        Ok(())
    }

    /// Pads a `custom-call`. External code expects arrays of the declared sizes. Calls that return their
    /// operands return them unchanged. Other calls receive smaller arrays extended with zeros, unless the
    /// operand is declared dynamic, which is an error.
    pub(super) fn custom_call(&mut self, forwards_operands: bool) -> Result<Padded> {
        if forwards_operands {
            let mut parts: Parts = self.operand_ids().iter().map(|&o| self.with_leaves(o)).collect();
            let (value, leaves) = if parts.len() == 1 { parts.remove(0) } else { self.joined(parts) };
            return Ok((value, if leaves.iter().any(Self::any) { leaves } else { Vec::new() }));
        }
        let mut operands = Vec::new();
        for n in 0..self.operand_ids().len() {
            if !self.operand_shape(n)?.dynamic_dimensions().is_empty() {
                return Err(self.unsupported_diag("has no way to say sizes"));
            }
            let value = self.operands()[n];
            let leaves = self.leaves(n);
            operands.push(if leaves.is_empty() {
                value
            } else {
                self.zero_padding(value, &mut leaves.into_iter())?
            });
        }
        Ok(self.keep_with_operands(&operands, Vec::new()))
    }
}
