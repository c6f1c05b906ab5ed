//! Checks of asynchronous operations: each one is finished exactly once, by the matching opcode.

use super::{Verifier, label};
use crate::attr::AsyncStartAttrs;
use crate::cursor::alternatives;
use crate::ops::is_part;
use crate::rules::code;
use crate::{ComputationId, InstrId, Module, Op, Opcode, Shape};
use smallvec::SmallVec;
use std::collections::HashMap;

/// The attribute of an instruction that starts several collectives together.
const GROUP_ATTRIBUTE: &str = "_collectives_group";

/// Pairs of an opcode that starts or continues an asynchronous operation and an opcode that may follow it.
const PAIRS: &[(Opcode, Opcode)] = &[
    (Opcode::AllGatherStart, Opcode::AllGatherDone),
    (Opcode::AllReduceStart, Opcode::AllReduceDone),
    (Opcode::CollectivePermuteStart, Opcode::CollectivePermuteDone),
    (Opcode::CopyStart, Opcode::CopyDone),
    (Opcode::Send, Opcode::SendDone),
    (Opcode::Recv, Opcode::RecvDone),
    (Opcode::AsyncStart, Opcode::AsyncUpdate),
    (Opcode::AsyncStart, Opcode::AsyncDone),
    (Opcode::AsyncUpdate, Opcode::AsyncUpdate),
    (Opcode::AsyncUpdate, Opcode::AsyncDone),
];

/// Returns the opcodes that finish or continue an operation started by `opcode`.
fn continuations(opcode: Opcode) -> SmallVec<[Opcode; 2]> {
    PAIRS.iter().filter(|&&(start, _)| start == opcode).map(|&(_, next)| next).collect()
}

/// Returns the opcodes that start an operation which `opcode` finishes or continues.
fn starts(opcode: Opcode) -> SmallVec<[Opcode; 2]> {
    PAIRS.iter().filter(|&&(_, next)| next == opcode).map(|&(start, _)| start).collect()
}

/// Returns whether the opcode passes values on unchanged. Through such instructions, an operation that one
/// iteration of a loop starts can be finished by the next iteration.
fn forwards_operands(op: &Op) -> bool {
    matches!(
        op,
        Op::Parameter(_)
            | Op::Tuple
            | Op::GetTupleElement(_)
            | Op::While(_)
            | Op::Call(_)
            | Op::Conditional(_)
            | Op::Fusion(_)
            | Op::OptBarrier
            | Op::AddDependency
            | Op::Domain(_)
            | Op::Copy
            | Op::CustomCall(_)
    )
}

/// Lists opcodes in words: `a`, `b` or `c`.
fn any_of(opcodes: &[Opcode]) -> String {
    alternatives(&opcodes.iter().map(|o| format!("`{o}`")).collect::<Vec<_>>())
}

/// Returns whether the result of a start has a shape that can be finished. Another rule reports other shapes.
fn has_state(module: &Module, start: InstrId) -> bool {
    module[start].shape.as_tuple().is_some() || matches!(module[start].op, Op::AllReduceStart(_))
}

impl Verifier<'_> {
    /// Checks each start, update and done.
    pub(super) fn check_pairs(&mut self) {
        let module = self.module;
        let mut started = Started::default();
        for c in module.computations() {
            for &i in module[c].instructions() {
                self.check_finished_once(i);
                self.check_started(i, &mut started);
            }
        }
    }

    /// Checks that the computation called by `async-start` contains one instruction. Text may use the short
    /// form for it.
    pub(super) fn check_body(&mut self, start: InstrId) {
        let module = self.module;
        let Op::AsyncStart(AsyncStartAttrs { calls: Some(called), .. }) = module[start].op else { return };
        if !module.is_live_computation(called) || !module.has_root(called) {
            return;
        }
        // As in XLA, three cases are exempt: a group of collectives that are started together, a computation
        // on another thread, and instructions that only pass values on.
        let is_group = module[start]
            .common
            .as_ref()
            .is_some_and(|c| c.frontend_attributes.get(GROUP_ATTRIBUTE).is_some());
        if is_group || module[called].execution_thread.is_some() {
            return;
        }
        let root = module[called].root();
        let mut others = module[called].instructions().iter().filter(|&&i| i != root);
        let other = others.find(|&&i| !matches!(module[i].op, Op::Parameter(_) | Op::GetTupleElement(_)));
        if let Some(&other) = other {
            let message = format!(
                "the computation of `async-start` has parameters and a root only, but `{}` has `{}` as well",
                module[called].name,
                module[other].op.name()
            );
            let diag = self.report_attribute(code::ASYNC_BODY, start, "calls", message);
            label(diag, module.span(other), "this one".to_string());
        }
    }

    fn check_finished_once(&mut self, i: InstrId) {
        let module = self.module;
        let by = continuations(module[i].opcode());
        if by.is_empty() {
            return;
        }
        let mut finishing = module.users(i).iter().copied().filter(|&u| by.contains(&module[u].opcode()));
        if let (Some(first), Some(second)) = (finishing.next(), finishing.next()) {
            let message = format!(
                "`{}` is finished twice, by `{}` and by `{}`",
                module[i].name, module[first].name, module[second].name
            );
            let diag = self.report(code::FINISHED_ONCE, second, message);
            label(diag, module.span(i), "started here".to_string());
            label(diag, module.span(first), "finished here".to_string());
        } else if !module.is_used(i) || self.is_result_of_module(i) && has_state(module, i) {
            let message = format!(
                "what `{}` starts is never finished: it needs a user, {}",
                module[i].name,
                any_of(&by)
            );
            self.report(code::NEVER_FINISHED, i, message);
        }
    }

    /// Returns whether an instruction is the root of the entry and has no users.
    fn is_result_of_module(&self, i: InstrId) -> bool {
        let module = self.module;
        let is_root = |c| module.has_root(c) && module[c].root() == i && module.users(i).is_empty();
        module.entry_if_set().is_some_and(is_root)
    }

    fn check_started(&mut self, i: InstrId, started: &mut Started) {
        let module = self.module;
        let by = starts(module[i].opcode());
        let Some(&start) =
            module[i].operands.first().filter(|&&o| !by.is_empty() && super::is_live(module, o))
        else {
            return;
        };
        let (op, from) = (&module[i].op, &module[start].op);
        if !by.contains(&from.opcode()) {
            // A state from a `tuple` was never started.
            let is_made = matches!(
                op,
                Op::CopyDone | Op::CollectivePermuteDone | Op::AllReduceDone | Op::AllGatherDone
            ) && matches!(from, Op::Tuple);
            if is_made || !forwards_operands(from) {
                let message = format!("`{}` finishes {}, found `{}`", op.name(), any_of(&by), from.name());
                label(
                    self.report(code::STARTED, i, message),
                    module.span(start),
                    format!("this is `{}`", from.name()),
                );
            }
            return;
        }
        let mismatch = match (op, from) {
            (Op::SendDone(a), Op::Send(b)) | (Op::RecvDone(a), Op::Recv(b)) => {
                let channel = |c: Option<i64>| c.map_or("no channel".to_string(), |c| format!("channel {c}"));
                if a.channel_id != b.channel_id {
                    Some((code::PAIR_CHANNEL, channel(b.channel_id), channel(a.channel_id)))
                } else if a.is_host_transfer != b.is_host_transfer {
                    let host = |h: bool| format!("is_host_transfer={h}");
                    Some((code::PAIR_CHANNEL, host(b.is_host_transfer), host(a.is_host_transfer)))
                } else {
                    None
                }
            }
            (Op::AsyncUpdate(_) | Op::AsyncDone(_), Op::AsyncStart(_) | Op::AsyncUpdate(_)) => {
                let calls = match op {
                    Op::AsyncUpdate(a) => a.calls,
                    Op::AsyncDone(a) => a.calls,
                    _ => None,
                };
                let started = started.call(module, start).filter(|&c| module.is_live_computation(c));
                match (calls.filter(|&c| module.is_live_computation(c)), started) {
                    (Some(x), Some(y)) if x != y => {
                        let name = |c: ComputationId| format!("`{}`", module[c].name);
                        Some((code::PAIR_COMPUTATION, name(y), name(x)))
                    }
                    (_, Some(calls)) => {
                        self.check_bound(i, calls);
                        None
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some((code, expected, found)) = mismatch {
            let message = format!(
                "`{}` and `{}` are of one operation, but one has {expected}, the other {found}",
                module[start].name, module[i].name
            );
            label(self.report(code, i, message), module.span(start), format!("has {expected}"));
        }
    }
}

impl Verifier<'_> {
    /// Checks the operands and the result in the state of the asynchronous update or done `i` against
    /// `calls`, the computation of its chain. A done must have all operands and the whole result.
    fn check_bound(&mut self, i: InstrId, calls: ComputationId) {
        let module = self.module;
        if !module.has_root(calls) {
            return;
        }
        let root = module[calls].root();
        let (state, ends) = match &module[i].op {
            Op::AsyncUpdate(_) => (&module[i].shape, false),
            _ => (&module[module[i].operands[0]].shape, true),
        };
        let Some([Shape::Tuple(bound), result, ..]) = state.as_tuple() else { return };
        let parameters = module.parameters(calls);
        let fits = |(&p, bound): (&InstrId, &Shape)| is_part(bound, &module[p].shape);
        let (known, needed) = (bound.len(), parameters.len());
        // Operands bound earlier are reported where they were bound.
        let before = if ends { known } else { known.saturating_sub(module[i].operands.len() - 1) };
        let fit = parameters.iter().zip(bound).skip(before).all(fits);
        if (known > needed && !ends) || (ends && known < needed) || !fit {
            let parameters = Shape::Tuple(parameters.iter().map(|&p| module[p].shape.clone()).collect());
            let bound = Shape::Tuple(bound.clone());
            let what = if ends { "ends with" } else { "goes on with" };
            let message = format!(
                "`{}` {what} the operands {bound}, but `{}` takes {parameters}",
                module[i].name, module[calls].name
            );
            self.report(code::ASYNC_PARAMETERS, i, message);
        }
        let result = if ends { &module[i].shape } else { result };
        let whole = &module[root].shape;
        if !(if ends { fits_result(result, whole) } else { is_part(result, whole) }) {
            let message = format!(
                "`{}` has the result {result}, but `{}` gives {whole}",
                module[i].name, module[calls].name
            );
            let diag = self.report(code::ASYNC_RESULT, i, message);
            label(diag, module.span(root), format!("this root is {whole}"));
        }
    }
}

/// Returns whether each shape is a part of the other.
fn fits_result(a: &Shape, b: &Shape) -> bool {
    is_part(a, b) && is_part(b, a)
}

/// The called computations of asynchronous operations, by their updates.
#[derive(Default)]
struct Started(HashMap<InstrId, Option<ComputationId>>);

impl Started {
    /// Returns the computation called by the operation that `last` starts or continues. All calls together
    /// take linear time, because no update is visited twice.
    fn call(&mut self, module: &Module, last: InstrId) -> Option<ComputationId> {
        let mut passed = Vec::new();
        let mut at = last;
        let call = loop {
            if let Some(&known) = self.0.get(&at) {
                break known;
            }
            match &module[at].op {
                Op::AsyncStart(a) => break a.calls,
                Op::AsyncUpdate(_) => {
                    // An update that is its own operand has no start.
                    self.0.insert(at, None);
                    passed.push(at);
                }
                _ => break None,
            }
            match module[at].operands.first() {
                Some(&before) if super::is_live(module, before) => at = before,
                _ => break None,
            }
        };
        self.0.extend(passed.into_iter().map(|update| (update, call)));
        call
    }
}
