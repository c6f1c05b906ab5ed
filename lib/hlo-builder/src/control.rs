//! Calls, branches and loops (operation semantics, "Call", "CompositeCall", "Conditional", "While").

use crate::{Builder, Computation, Value};
use hlo_ir::attr::{
    CallAttrs, ConditionalAttrs, FrontendAttributes, FusionAttrs, FusionKind, HloString, OperandAlias,
    WhileAttrs,
};
use hlo_ir::{ComputationId, Op};
use std::panic::Location;

impl Builder {
    /// Calls a computation with operands and returns its result.
    #[track_caller]
    pub fn call<'b>(&'b self, computation: &Computation, operands: &[Value<'b>]) -> Value<'b> {
        match self.import(Location::caller(), computation) {
            Some(to_apply) => self.add(Op::call(to_apply), operands),
            None => self.nothing(),
        }
    }

    /// Adds an operation of another dialect, identified by its name. The computation defines its
    /// decomposition. `attributes` is a dictionary in MLIR syntax, `{}` if there are none.
    #[track_caller]
    pub fn composite_call<'b>(
        &'b self,
        computation: &Computation,
        operands: &[Value<'b>],
        name: &str,
        attributes: &str,
        version: i64,
    ) -> Value<'b> {
        let Some(to_apply) = self.import(Location::caller(), computation) else { return self.nothing() };
        let mut noted = FrontendAttributes::default();
        noted.set("composite.attributes", HloString::from(attributes));
        noted.set("composite.name", HloString::from(name));
        noted.set("composite.version", HloString::from(version.to_string().as_str()));
        self.add(Op::Call(CallAttrs { to_apply, is_composite: true }), operands)
            .with_frontend_attributes(noted)
    }

    /// Calls a computation that is compiled as one kernel. `aliasing` lists the results that share memory
    /// with operands.
    #[track_caller]
    pub fn fusion<'b>(
        &'b self,
        kind: FusionKind,
        computation: &Computation,
        operands: &[Value<'b>],
        aliasing: &[OperandAlias],
    ) -> Value<'b> {
        let Some(calls) = self.import_own(Location::caller(), computation) else { return self.nothing() };
        let attributes = FusionAttrs { kind, output_to_operand_aliasing: aliasing.to_vec(), calls };
        self.add(Op::Fusion(attributes), operands)
    }

    /// Applies `body` to the state repeatedly, starting from `init`, as long as `condition` returns true for
    /// the state. Returns the last state.
    #[track_caller]
    pub fn while_loop<'b>(
        &'b self,
        condition: &Computation,
        body: &Computation,
        init: Value<'b>,
    ) -> Value<'b> {
        let at = Location::caller();
        let (Some(condition), Some(body)) = (self.import(at, condition), self.import(at, body)) else {
            return self.nothing();
        };
        self.add(Op::While(WhileAttrs { condition, body }), &[init])
    }
}

impl<'b> Value<'b> {
    /// Calls `on_true` if this scalar is true, and `on_false` otherwise. Each has its own operand. Only one
    /// of them runs.
    #[track_caller]
    pub fn conditional(
        self,
        true_operand: Value<'b>,
        on_true: &Computation,
        false_operand: Value<'b>,
        on_false: &Computation,
    ) -> Value<'b> {
        let at = Location::caller();
        let branches = (self.builder.import(at, on_true), self.builder.import(at, on_false));
        let (Some(on_true), Some(on_false)) = branches else { return self.builder.nothing() };
        let attributes = ConditionalAttrs {
            true_computation: Some(on_true),
            false_computation: Some(on_false),
            ..ConditionalAttrs::default()
        };
        self.builder.add(Op::Conditional(attributes), &[self, true_operand, false_operand])
    }

    /// Calls the branch whose index is this `s32` scalar, each branch with its own operand. Calls the last
    /// branch if the index is out of range. Only one branch runs.
    #[track_caller]
    pub fn switch(self, branches: &[(&Computation, Value<'b>)]) -> Value<'b> {
        let at = Location::caller();
        let imported: Vec<Option<ComputationId>> =
            branches.iter().map(|(branch, _)| self.builder.import(at, branch)).collect();
        let Some(branch_computations) = imported.into_iter().collect() else { return self.builder.nothing() };
        let operands: Vec<Value<'b>> = [self].into_iter().chain(branches.iter().map(|b| b.1)).collect();
        let attributes = ConditionalAttrs { branch_computations, ..ConditionalAttrs::default() };
        self.builder.add(Op::Conditional(attributes), &operands)
    }

    /// Returns the value unchanged. Optimizations do not move code across the barrier.
    #[track_caller]
    pub fn opt_barrier(self) -> Value<'b> {
        self.builder.add(Op::OptBarrier, &[self])
    }
}
