//! Partitions loops, branches and calls, with the computations that they call.

use super::partitioner::Partitioner;
use super::value::{Part, Value};
use hlo_ir::attr::{CallAttrs, ConditionalAttrs, TileAssignment, WhileAttrs};
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Op};

impl Partitioner<'_> {
    /// Partitions a loop. Its state has the sharding of the result before and after each iteration.
    pub(super) fn while_loop(&mut self, id: InstrId, attrs: &WhileAttrs) -> Result<Option<Value>, Diag> {
        let Some(state) = self.operand(0) else { return Ok(None) };
        let tilings = self.hoisted(id, attrs, &state)?;
        let state = self.resharded_value(&state, &tilings);
        let init = self.materialized(&state);
        let parameters = [tilings.clone()];
        let body = self.computation(attrs.body, &parameters, &tilings)?;
        let decision = self.replicated_root(attrs.condition);
        let condition = self.computation(attrs.condition, &parameters, &decision)?;
        let whole = self.module[id].shape.clone();
        let shape = self.local_shape(&whole, &tilings);
        let made = self.add(shape, Op::While(WhileAttrs { condition, body }), &[init]);
        Ok(Some(self.unpacked(made, &whole, &mut tilings.iter())))
    }

    /// Partitions a conditional. All devices take the same branch.
    pub(super) fn conditional(
        &mut self,
        id: InstrId,
        attrs: &ConditionalAttrs,
    ) -> Result<Option<Value>, Diag> {
        let Some(index) = self.part(0) else { return Ok(None) };
        let index = self.reshard(&index, &index.tiling.whole(0));
        let tilings = self.required_shardings(id);
        let mut operands = vec![index.id];
        let mut branches = Vec::new();
        for (n, &branch) in attrs.branches().iter().enumerate() {
            let Some(argument) = self.operand(n + 1) else { return Ok(None) };
            let parameter = self.parameter_tilings(branch, 0, &argument);
            let argument = self.resharded_value(&argument, &parameter);
            operands.push(self.materialized(&argument));
            branches.push(self.computation(branch, &[parameter], &tilings)?);
        }
        let mut attrs = attrs.clone();
        let mut made = branches.into_iter();
        attrs.true_computation = attrs.true_computation.and_then(|_| made.next());
        attrs.false_computation = attrs.false_computation.and_then(|_| made.next());
        attrs.branch_computations = made.collect();
        let whole = self.module[id].shape.clone();
        let shape = self.local_shape(&whole, &tilings);
        let made = self.add(shape, Op::Conditional(attrs), &operands);
        Ok(Some(self.unpacked(made, &whole, &mut tilings.iter())))
    }

    /// Partitions a call.
    pub(super) fn call(&mut self, id: InstrId, attrs: &CallAttrs) -> Result<Option<Value>, Diag> {
        let tilings = self.required_shardings(id);
        let (mut operands, mut parameters) = (Vec::new(), Vec::new());
        for n in 0..self.module[id].operands.len() {
            let Some(argument) = self.operand(n) else { return Ok(None) };
            let parameter = self.parameter_tilings(attrs.to_apply, n, &argument);
            let argument = self.resharded_value(&argument, &parameter);
            operands.push(self.materialized(&argument));
            parameters.push(parameter);
        }
        let to_apply = self.computation(attrs.to_apply, &parameters, &tilings)?;
        let whole = self.module[id].shape.clone();
        let shape = self.local_shape(&whole, &tilings);
        let made = self.add(shape, Op::Call(CallAttrs { to_apply, ..attrs.clone() }), &operands);
        Ok(Some(self.unpacked(made, &whole, &mut tilings.iter())))
    }

    /// Returns the sharding of a parameter of a computation: its annotation, or else that of the argument.
    /// The argument's sharding also takes precedence if the devices already have all that the annotation
    /// requires.
    fn parameter_tilings(&self, callee: ComputationId, n: usize, argument: &Value) -> Vec<TileAssignment> {
        match self.module.parameters(callee).get(n) {
            Some(&p)
                if self.module[p].sharding().is_some()
                    && !self.has_more(argument, &self.required_shardings(p)) =>
            {
                self.required_shardings(p)
            }
            _ => argument.tilings(self.devices),
        }
    }

    /// Returns whether each device already has all that it needs of a value. The callee may need the rest.
    fn has_more(&self, value: &Value, wanted: &[TileAssignment]) -> bool {
        let (leaves, have) = (value.leaves(), value.tilings(self.devices));
        let sent =
            |part: &Part, to: &TileAssignment| self.resharding_plan(&part.tiling, to, &part.shape.dims).cost;
        have.len() == wanted.len()
            && leaves
                .iter()
                .zip(wanted)
                .all(|(part, to)| part.as_ref().is_none_or(|part| sent(part, to) <= 0.0))
    }

    fn replicated_root(&self, computation: ComputationId) -> Vec<TileAssignment> {
        self.replicated(&self.module[self.module[computation].root()].shape)
    }
}
