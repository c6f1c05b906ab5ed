//! Steps that compute: calls of runtime functions and of kernels.

use super::{Expander, Frame, Leaves};
use crate::fusions::covers;
use crate::{
    Argument, BufId, KernelCall, Pin, RuntimeCall, Step, convolution, copy, dot, is_embedded, join, layouts,
    linear_algebra, overwritable_operands, random, sort, stored_constants, updated_operands,
};
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::borrow::Cow;

impl Expander<'_> {
    /// Returns the buffers of the operands, which must be arrays.
    pub(super) fn arrays(&mut self, id: InstrId, frame: &Frame<'_>) -> Vec<BufId> {
        (0..self.module[id].operands.len())
            .flat_map(|i| self.operand(id, i, frame).iter().copied().flatten().collect::<Vec<_>>())
            .collect()
    }

    /// Adds a runtime call that writes all leaves of an instruction, unless they are empty.
    pub(super) fn runtime(
        &mut self,
        id: InstrId,
        steps: &mut Vec<Step<BufId>>,
        call: impl FnOnce(Vec<BufId>) -> RuntimeCall<BufId>,
    ) -> Leaves {
        let leaves = self.fresh(id, &self.module[id].shape);
        let results: Vec<BufId> = leaves.iter().copied().flatten().collect();
        if results.iter().any(|&r| self.buffers[r].bytes > 0) {
            steps.push(Step::Runtime(call(results)));
        }
        leaves
    }

    /// Expands a `dot` to a runtime call, or to a kernel where that is faster.
    pub(super) fn dot(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let Some(lowered) = dot::lower(self.module, id) else {
            return self.kernel(id, frame, steps, depth);
        };
        let mut operands = self.arrays(id, frame);
        for (operand, packing) in operands.iter_mut().zip(&lowered.packed) {
            if let Some(descriptor) = packing {
                let to = self.buffers.add(self.buffers[*operand].bytes, Pin::Free, Some(id));
                let (from, descriptor) = (vec![*operand], descriptor.clone());
                let call = RuntimeCall::with_descriptor(id, copy::SYMBOL, descriptor, from, vec![to]);
                steps.push(Step::Runtime(call));
                *operand = to;
            }
        }
        self.runtime(id, steps, |results| lowered.call(id, operands, results))
    }

    pub(super) fn convolution(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let operands = self.arrays(id, frame);
        match convolution::lower(self.module, id) {
            Ok(descriptor) => self.runtime(id, steps, |results| {
                RuntimeCall::with_descriptor(id, convolution::SYMBOL, descriptor, operands, results)
            }),
            Err(refusal) => {
                self.reject(id, refusal);
                self.fresh(id, &self.module[id].shape)
            }
        }
    }

    /// Adds a runtime call that requires row-major arrays. Operands and results in other layouts are copied.
    pub(super) fn row_major(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let instr = &self.module[id];
        let mut operands = Vec::new();
        for (i, &o) in instr.operands.iter().enumerate() {
            let shape = self.module[o].shape.without_layout();
            operands.extend(self.operand_as(id, i, Some(&shape), frame, steps).iter().copied().flatten());
        }
        let shape = instr.shape.without_layout();
        let leaves = self.fresh(id, &shape);
        let results: Vec<BufId> = leaves.iter().copied().flatten().collect();
        if results.iter().any(|&r| self.buffers[r].bytes > 0) {
            let call = match &instr.op {
                Op::TopK(_) => sort::top_k(self.module, id, operands, results),
                Op::Rng(_) | Op::RngGetAndUpdateState(_) => random::draw(self.module, id, operands, results),
                Op::Concatenate(_) => join::lower(self.module, id, operands, results),
                Op::Sort(_) => sort::sort(self.module, id, operands, results),
                _ => linear_algebra::lower(self.module, id, operands, results),
            };
            match call {
                Ok(call) => steps.push(Step::Runtime(call)),
                Err(refusal) => self.reject(id, refusal),
            }
        }
        self.relaid(id, leaves, &shape, &instr.shape, steps)
    }

    /// Adds a call of an external function. The call is made even if it has no results.
    pub(super) fn custom_call(
        &mut self,
        id: InstrId,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let module = self.module;
        let leaves = self.fresh(id, &module[id].shape);
        if let Err(message) = hlo_custom_call::site(module, id) {
            self.reject(id, message);
            return leaves;
        }
        // A call that is expanded several times has one entry in the registry.
        let custom_calls = &mut self.custom_calls;
        let number = *self.custom_call_numbers.entry(id).or_insert_with(|| {
            custom_calls.push(id);
            custom_calls.len() - 1
        });
        let mut operands = Vec::new();
        for i in 0..module[id].operands.len() {
            let shape = hlo_custom_call::operand_shape(module, id, i);
            operands.extend(self.operand_as(id, i, shape.as_ref(), frame, steps).iter().copied().flatten());
        }
        let results = leaves.iter().copied().flatten().collect();
        let arguments = vec![Argument::Number(number as i64), Argument::Operands, Argument::Results];
        let descriptor = Vec::new();
        let symbol = "hlo_rt_custom_call";
        let call = RuntimeCall {
            instruction: id,
            symbol,
            arguments,
            descriptor,
            operands,
            results,
            loops: Vec::new(),
        };
        steps.push(Step::Runtime(call));
        leaves
    }

    /// Adds the call for random bits. The runtime computes the new state even if the result contains only the
    /// bits.
    pub(super) fn random_bits(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        // The runtime writes the bits in row-major order.
        let inside = self.module[id].shape.without_layout();
        let leaves = self.fresh(id, &inside);
        let operands = self.arrays(id, frame);
        let mut results: Vec<BufId> = leaves.iter().copied().flatten().collect();
        if let ([bits], [state]) = (&results[..], &operands[..]) {
            let new_state = self.buffers.add(self.buffers[*state].bytes, Pin::Free, Some(id));
            results = vec![new_state, *bits];
        }
        match random::lower(self.module, id, operands, results) {
            Ok(call) => steps.push(Step::Runtime(call)),
            Err(refusal) => self.reject(id, refusal),
        }
        self.relaid(id, leaves, &inside, &self.module[id].shape, steps)
    }

    /// Adds a kernel. A fusion that no kernel can compute becomes a call of its computation.
    pub(super) fn kernel(
        &mut self,
        id: InstrId,
        frame: &mut Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
        depth: usize,
    ) -> Leaves {
        let module = self.module;
        let instr = &module[id];
        if let Op::Fusion(f) = &instr.op
            && !self.is_covered(id)
        {
            return self.call(id, f.calls, &instr.shape, frame, steps, depth);
        }
        // If the operands or results of a fusion have other layouts than in its computation, they are copied.
        let fused = match &instr.op {
            Op::Fusion(f) if self.invariants.changes_layout(id) => Some(f.calls),
            _ => None,
        };
        let updated = if fused.is_some() { Vec::new() } else { updated_operands(module, id) };
        let mut operands: Vec<Option<BufId>> = Vec::new();
        for (i, &o) in instr.operands.iter().enumerate() {
            let at = operands.len();
            if is_embedded(module, o) && !updated.iter().any(|u| u.0 == at) {
                operands.push(None);
            } else {
                let shape = fused.and_then(|f| layouts::parameter(module, f, i));
                operands.extend(self.operand_as(id, i, shape, frame, steps).iter().copied());
            }
        }
        if let Op::Fusion(f) = &instr.op {
            for c in stored_constants(module, f.calls) {
                operands.extend(self.constant(c).iter().copied());
            }
        }
        let made = made_shape(module, id, fused);
        let result = self.fresh(id, &made);
        let results: Vec<BufId> = result.iter().copied().flatten().collect();
        if results.iter().all(|&r| self.buffers[r].bytes == 0) {
            return result;
        }
        for (operand, leaf) in updated {
            let slot = operands.get_mut(operand);
            if let (Some(slot), Some(&Some(to))) = (slot, result.get(leaf))
                && let Some(from) = *slot
            {
                steps.push(Step::Copy { from, to, bytes: self.buffers[to].bytes });
                *slot = Some(to);
            }
        }
        let overwritable = if fused.is_some() { Vec::new() } else { overwritable_operands(module, id) };
        steps.push(Step::Kernel(KernelCall { instruction: id, operands, results, overwritable }));
        self.relaid(id, result, &made, &instr.shape, steps)
    }

    /// Checks whether a kernel can compute a fusion.
    fn is_covered(&mut self, id: InstrId) -> bool {
        if let Some(&known) = self.covered.get(&id) {
            return known;
        }
        let covered = covers(self.module, id, self.invariants.changes_layout(id));
        self.covered.insert(id, covered);
        covered
    }
}

/// Returns the shape with the layouts that a kernel writes its results in. For a fusion these are those of
/// its computation. For a scatter or a contraction with a default, which run in place, they are those of the
/// operands.
fn made_shape(module: &Module, id: InstrId, fused: Option<ComputationId>) -> Cow<'_, Shape> {
    let instr = &module[id];
    match (&instr.op, fused, instr.operands.first()) {
        (_, Some(f), _) => Cow::Borrowed(layouts::result(module, f)),
        (Op::Scatter(_), None, Some(&o)) if !instr.shape.is_tuple() => Cow::Borrowed(&module[o].shape),
        (Op::Scatter(_), None, _) => {
            let updated = instr.operands.iter().take(instr.operands.len() / 2);
            Cow::Owned(Shape::Tuple(updated.map(|&o| module[o].shape.clone()).collect()))
        }
        (Op::Contraction(a), None, _) => {
            let default = instr.operands.get(a.access.operands.len());
            Cow::Borrowed(default.map_or(&instr.shape, |&o| &module[o].shape))
        }
        (_, None, _) => Cow::Borrowed(&instr.shape),
    }
}
