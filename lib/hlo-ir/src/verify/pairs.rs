//! Asynchronous operations: what starts one is finished once, by its own counterpart.

use super::{Verifier, label};
use crate::rules::code;
use crate::{ComputationId, InstrId, Module, Op, Opcode};
use smallvec::SmallVec;

/// What starts an asynchronous operation, or carries it on, and what may come next.
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

/// The opcodes that finish what `opcode` starts, or carry it on.
fn continuations(opcode: Opcode) -> SmallVec<[Opcode; 2]> {
    PAIRS.iter().filter(|&&(start, _)| start == opcode).map(|&(_, next)| next).collect()
}

/// The opcodes that start what `opcode` finishes or carries on.
fn starts(opcode: Opcode) -> SmallVec<[Opcode; 2]> {
    PAIRS.iter().filter(|&&(_, next)| next == opcode).map(|&(start, _)| start).collect()
}

/// True for what hands a value on unchanged, so that an operation may be started in one iteration of a loop and
/// finished in the next.
fn hands_on(op: &Op) -> bool {
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

/// `a`, `b` or `c` in words.
fn any_of(opcodes: &[Opcode]) -> String {
    opcodes.iter().map(|o| format!("`{o}`")).collect::<Vec<_>>().join(" or ")
}

impl Verifier<'_> {
    /// Checks each start, update and end.
    pub(super) fn check_pairs(&mut self) {
        let module = self.module;
        for c in module.computations() {
            for &i in module[c].instructions() {
                self.check_finished_once(i);
                self.check_started(i);
            }
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
        } else if module.users(i).is_empty()
            && !(module.has_root(module[i].parent) && module[module[i].parent].root() == i)
        {
            let message = format!(
                "what `{}` starts is never finished: it needs a user, {}",
                module[i].name,
                any_of(&by)
            );
            self.report(code::NEVER_FINISHED, i, message);
        }
    }

    fn check_started(&mut self, i: InstrId) {
        let module = self.module;
        let by = starts(module[i].opcode());
        let Some(&start) =
            module[i].operands.first().filter(|&&o| !by.is_empty() && super::is_live(module, o))
        else {
            return;
        };
        let (op, from) = (&module[i].op, &module[start].op);
        if !by.contains(&from.opcode()) {
            if !hands_on(from) {
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
            (Op::AsyncUpdate(a) | Op::AsyncDone(a), Op::AsyncStart(_) | Op::AsyncUpdate(_)) => {
                match (a.calls, started_call(module, start)) {
                    (Some(x), Some(y)) if x != y => {
                        let name = |c: ComputationId| format!("`{}`", module[c].name);
                        let live = module.is_live_computation(x) && module.is_live_computation(y);
                        live.then(|| (code::PAIR_COMPUTATION, name(y), name(x)))
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

/// What an asynchronous operation calls, as its start or the nearest update that says so has it. Updates seldom
/// follow each other, so that it is not looked for far away.
fn started_call(module: &Module, last: InstrId) -> Option<ComputationId> {
    const LOOKED_AT: usize = 64;
    let mut at = last;
    for _ in 0..LOOKED_AT {
        match &module[at].op {
            Op::AsyncStart(a) => return a.calls,
            Op::AsyncUpdate(a) if a.calls.is_some() => return a.calls,
            Op::AsyncUpdate(_) => {
                at = module[at].operands.first().copied().filter(|&o| super::is_live(module, o))?;
            }
            _ => return None,
        }
    }
    None
}
