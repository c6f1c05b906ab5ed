//! Calls, loops and conditionals.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::{Operation, Region, ValueId};
use hlo_ir::attr::{ConditionalAttrs, WhileAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, InstrId, Op, Shape};

impl<'t> Importer<'t> {
    /// Translates `func.call`. The frontend attribute `backend_config` becomes the backend configuration of
    /// the call.
    pub(super) fn call(&mut self, op: &Operation) -> Result<()> {
        let callee = op.text("callee")?;
        let to_apply = self.called(op, callee)?;
        let operands = self.operands(op)?;
        let config = self.site.frontend.get("backend_config").cloned();
        self.site.frontend.remove("backend_config");
        let id = self.call_of(to_apply, &operands);
        if let Some(config) = config {
            self.module.common_mut(id).backend_config = config;
        }
        self.set_result_or_elements(op, id)
    }

    /// Adds a call.
    pub(super) fn call_of(&mut self, to_apply: ComputationId, operands: &[InstrId]) -> InstrId {
        let shape = self.shape_of(self.module[to_apply].root());
        self.add(shape, Op::call(to_apply), operands)
    }

    /// Translates `while`. Values from outside that the regions use become loop-carried values that do not
    /// change.
    pub(super) fn while_op(&mut self, op: &'t Operation) -> Result<()> {
        let [condition, body] = &op.regions[..] else {
            return op
                .fail(format!("it has a condition and a body, but {} regions are given", op.regions.len()));
        };
        if op.results.len() > op.operands.len() {
            return op.fail("it has more results than operands");
        }
        let captured = self.captured(&op.regions);
        let mut operands = self.operands(op)?;
        operands.extend(self.values(op, &captured)?);
        let body = self.branch(op, body, &captured, true)?;
        let condition = self.branch(op, condition, &captured, false)?;
        self.widen_sharding(&operands, op.results.len());
        let state = self.one_or_tuple(&operands);
        let shape = self.shape_of(state);
        let id = self.add(shape, Op::While(WhileAttrs { condition, body }), &[state]);
        match (operands.len(), op.results.len()) {
            (1, 1) => self.set_result(op, id),
            (1, _) => Ok(()),
            _ => self.set_results_to_elements(op, id),
        }
    }

    /// Extends the sharding of a loop's results to its other loop-carried values, which keep their sharding
    /// from outside.
    fn widen_sharding(&mut self, operands: &[InstrId], results: usize) {
        let Some(sharding) = self.site.sharding.take() else { return };
        if operands.len() == 1 {
            self.site.sharding = Some(sharding);
            return;
        }
        let own = operands.iter().take(results).map(|&o| self.module[o].shape.clone()).collect::<Vec<_>>();
        let own = sharding.for_shape(&Shape::tuple(own));
        let further = operands.iter().skip(results).map(|&o| self.module[o].sharding().cloned());
        let all: Vec<_> = std::iter::once(Some(own)).chain(further).collect();
        self.site.sharding = Some(crate::import::shardings::tuple_of(&all));
    }

    pub(super) fn if_op(&mut self, op: &'t Operation) -> Result<()> {
        let [on_true, on_false] = &op.regions[..] else {
            return op.fail(format!("it has two branches, but {} regions are given", op.regions.len()));
        };
        let pred = self.operand(op, 0)?;
        let (true_computation, true_operand) = self.taken_branch(op, on_true)?;
        let (false_computation, false_operand) = self.taken_branch(op, on_false)?;
        let attrs = ConditionalAttrs {
            true_computation: Some(true_computation),
            false_computation: Some(false_computation),
            branch_computations: Vec::new(),
        };
        self.set_branch_results(op, attrs, &[pred, true_operand, false_operand])
    }

    pub(super) fn case(&mut self, op: &'t Operation) -> Result<()> {
        let mut operands = vec![self.operand(op, 0)?];
        let mut branch_computations = Vec::with_capacity(op.regions.len());
        for region in &op.regions {
            let (computation, operand) = self.taken_branch(op, region)?;
            branch_computations.push(computation);
            operands.push(operand);
        }
        let attrs = ConditionalAttrs { branch_computations, ..ConditionalAttrs::default() };
        self.set_branch_results(op, attrs, &operands)
    }

    /// Returns the computation of a branch, and the operand with the values from outside that it uses.
    fn taken_branch(&mut self, op: &'t Operation, region: &'t Region) -> Result<(ComputationId, InstrId)> {
        let captured: Vec<ValueId> = self.captured(std::slice::from_ref(region));
        let values = self.values(op, &captured)?;
        let computation = self.branch(op, region, &captured, false)?;
        let operand = self.one_or_tuple(&values);
        Ok((computation, operand))
    }

    fn set_branch_results(
        &mut self,
        op: &Operation,
        attrs: ConditionalAttrs,
        operands: &[InstrId],
    ) -> Result<()> {
        let first = attrs.branches().first().map(|&branch| self.module[branch].root());
        let Some(first) = first else { return op.fail("it has no branch") };
        let shape = self.shape_of(first);
        let id = self.add(shape, Op::Conditional(attrs), operands);
        self.set_result_or_elements(op, id)
    }

    pub(super) fn optimization_barrier(&mut self, op: &Operation) -> Result<()> {
        let operands = self.operands(op)?;
        if operands.is_empty() {
            return Ok(());
        }
        let operand = self.one_or_tuple(&operands);
        let shape = self.shape_of(operand);
        let id = self.add(shape, Op::OptBarrier, &[operand]);
        self.set_result_or_elements(op, id)
    }
}
