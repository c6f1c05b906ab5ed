//! Constants: evaluates values while a computation is built.

use crate::builder::{foreign, placed};
use crate::computation::extract_value;
use crate::{BuildErrors, Builder, Value};
use hlo_ir::diag::Diag;
use hlo_ir::{Family, InstrId, Layout, Literal, Module, Op, Shape};
use std::collections::HashSet;
use std::panic::Location;

impl Builder {
    /// Evaluates a value that does not depend on parameters or on external input. The interpreter computes
    /// it. Random numbers count as constants; each evaluation returns different ones.
    ///
    /// # Errors
    /// Returns an error in these cases:
    /// - The value depends on a parameter. The error names the parameter.
    /// - The value depends on something else that is unknown at build time.
    /// - The value could not be created.
    /// - It takes more work than [`Builder::limit_constants`] allows, for example because a loop does not
    ///   end.
    /// - The evaluation fails.
    #[track_caller]
    pub fn compute_constant(&self, value: Value<'_>) -> Result<Literal, BuildErrors> {
        let at = Location::caller();
        let failed = |message: String| BuildErrors::new(vec![placed(Diag::error(message), at)]);
        if !std::ptr::eq(value.builder, self) {
            return Err(failed(foreign(value.builder, self).message));
        }
        let Some(id) = self.made(value) else { return Err(self.errors_so_far(at)) };
        let part = {
            let state = self.state.borrow();
            let module = &state.module;
            if let Some(unknown) = self.unknown(module, id) {
                let what = match &module[unknown].op {
                    Op::Parameter(p) => format!("parameter {} (`{}`)", p.number, module[unknown].name),
                    op => format!("`{}`, a `{}`", module[unknown].name, op.opcode()),
                };
                let message = format!("`{}` is not constant: it depends on {what}", module[id].name);
                return Err(failed(message));
            }
            extract_value(module, id)
        };
        let options = {
            let state = &mut *self.state.borrow_mut();
            let seed = state.seed;
            state.seed = seed.wrapping_add(1);
            hlo_eval::Options { seed, max_operations: state.max_operations, ..hlo_eval::Options::default() }
        };
        hlo_eval::evaluate(&part, &[], &options)
            .map_err(|e| failed(format!("`{}` can't be computed: {e}", self.module()[id].name)))
    }

    /// Sets the limit on the work of [`Builder::compute_constant`] for one value, in element operations. Each
    /// instruction counts as at least one. The default is 100 million. With `None` there is no limit, and
    /// evaluating an endless loop never returns.
    pub fn limit_constants(&self, operations: Option<u64>) {
        self.state.borrow_mut().max_operations = operations;
    }

    /// Like [`Builder::compute_constant`], but returns the array in the given layout.
    ///
    /// # Errors
    /// Returns the errors of [`Builder::compute_constant`], or an error if the layout is not valid for an
    /// array of this rank.
    #[track_caller]
    pub fn compute_constant_in_layout(
        &self,
        value: Value<'_>,
        layout: &Layout,
    ) -> Result<Literal, BuildErrors> {
        let literal = self.compute_constant(value)?;
        let order = &layout.minor_to_major;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let rank = match literal.shape() {
            Shape::Array(a) if sorted.iter().copied().eq(0..a.rank() as u32) => {
                let shape = a.clone().with_layout(layout.clone());
                return Ok(literal.with_shape(shape.into()));
            }
            Shape::Array(a) => a.rank(),
            _ => 0,
        };
        let numbers: Vec<String> = order.iter().map(u32::to_string).collect();
        let message = format!(
            "{} has no layout {{{}}}: one has each of the {rank} dimensions once",
            literal.shape(),
            numbers.join(",")
        );
        Err(BuildErrors::new(vec![placed(Diag::error(message), Location::caller())]))
    }

    /// Whether [`Builder::compute_constant`] can evaluate a value: whether it depends on no parameter and no
    /// external input. This check evaluates nothing.
    pub fn is_constant(&self, value: Value<'_>) -> bool {
        match self.made(value) {
            Some(id) => self.unknown(&self.module(), id).is_none(),
            None => false,
        }
    }

    /// Returns the first instruction found that a value depends on and that is unknown at build time.
    fn unknown(&self, module: &Module, id: InstrId) -> Option<InstrId> {
        let (mut seen, mut work) = (HashSet::from([id]), vec![id]);
        while let Some(at) = work.pop() {
            let op = &module[at].op;
            if matches!(op, Op::Parameter(_)) || has_outside_effects(op) || calls_outside(module, at) {
                return Some(at);
            }
            work.extend(module[at].operands.iter().copied().filter(|&o| seen.insert(o)));
        }
        None
    }
}

/// Whether an operation depends on or affects anything outside the computation: other devices, the host, or
/// data that the program receives at run time.
fn has_outside_effects(op: &Op) -> bool {
    let touches = matches!(
        op,
        Op::Infeed(_)
            | Op::Outfeed(_)
            | Op::Send(_)
            | Op::SendDone(_)
            | Op::Recv(_)
            | Op::RecvDone(_)
            | Op::ReplicaId
            | Op::PartitionId
            | Op::CustomCall(_)
            | Op::RngGetAndUpdateState(_)
    );
    touches || op.opcode().family() == Family::Collective
}

/// Whether a computation that an instruction calls, directly or indirectly, contains such an operation.
fn calls_outside(module: &Module, id: InstrId) -> bool {
    let mut seen = HashSet::new();
    let mut work = module[id].op.called_computations();
    while let Some(c) = work.pop() {
        if !seen.insert(c) {
            continue;
        }
        for &i in module[c].instructions() {
            let op = &module[i].op;
            if has_outside_effects(op) {
                return true;
            }
            work.extend(op.called_computations());
        }
    }
    false
}
