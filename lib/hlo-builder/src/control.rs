//! Calls, branches and loops (operation semantics, "Call", "CompositeCall", "Conditional", "While").

use crate::{Builder, Computation, Value};
use hlo_ir::attr::{
    CallAttrs, ConditionalAttrs, FrontendAttributes, FusionAttrs, FusionKind, HloString, OperandAlias,
    WhileAttrs,
};
use hlo_ir::{ComputationId, Op};
use std::panic::Location;

impl Builder {
    /// The result of a computation of some operands.
    #[track_caller]
    pub fn call<'b>(&'b self, computation: &Computation, operands: &[Value<'b>]) -> Value<'b> {
        match self.import(Location::caller(), computation) {
            Some(to_apply) => self.add(Op::call(to_apply), operands),
            None => self.nothing(),
        }
    }

    /// The result of an operation of a dialect, by name, that a computation says how to decompose. `attributes` are a
    /// dictionary as MLIR writes one, `{}` if there are none.
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

    /// The result of a computation that is compiled as one kernel. `aliasing` has results that share memory with operands.
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

    /// The state after `body` has been applied to `init` as long as `condition` holds of it.
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
    /// The result of `on_true` if this scalar is true, otherwise that of `on_false`, each of an operand of its own. Only one of
    /// both runs.
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

    /// The result of the branch that this scalar of type `s32` is the index of, of an operand of its own; of the last branch if
    /// it is no index of one. Only that one runs.
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

    /// The value; no optimization moves code across.
    #[track_caller]
    pub fn opt_barrier(self) -> Value<'b> {
        self.builder.add(Op::OptBarrier, &[self])
    }
}
