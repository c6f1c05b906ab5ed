//! What is put together in each round of a loop though it stays the same in all: that is done before the loop, if less is
//! sent then.

use super::partitioner::Partitioner;
use super::value::Value;
use crate::analysis::{sent, trips};
use hlo_ir::attr::{TileAssignment, WhileAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Op};
use std::collections::HashSet;

/// More arrays than this of a loop are not tried.
const MAX_TRIED: usize = 8;

/// Loops of more instructions than this are partitioned only once.
const MAX_INSTRUCTIONS: usize = 4000;

impl Partitioner<'_> {
    /// How the state of a loop is to lie on the devices: as is wanted, but for arrays that stay the same, of which each
    /// device may have all.
    pub(super) fn hoisted(
        &mut self,
        id: InstrId,
        attrs: &WhileAttrs,
        state: &Value,
    ) -> Result<Vec<TileAssignment>, Diag> {
        let mut tilings = self.wanted(id);
        let Value::Tuple(parts) = state else { return Ok(tilings) };
        let rounds = trips(self.module, id).filter(|&n| n > 1 && !self.trying);
        let (Some(rounds), true) = (rounds, self.module[attrs.body].instructions().len() < MAX_INSTRUCTIONS)
        else {
            return Ok(tilings);
        };
        let mut same = self.unchanged(attrs.body, parts.len());
        same.retain(|&n| tilings.len() == parts.len() && !tilings[n].is_whole());
        if same.is_empty() {
            return Ok(tilings);
        }
        let mut least = self.sent_by_round(attrs.body, &tilings)?;
        for n in same.into_iter().take(if least > 0 { MAX_TRIED } else { 0 }) {
            let Some(Value::Array(part)) = parts.get(n) else { continue };
            let whole = tilings[n].whole(part.shape.rank());
            let once = self.reshard_cost(part, &whole) - self.reshard_cost(part, &tilings[n]);
            let cut = std::mem::replace(&mut tilings[n], whole);
            let round = self.sent_by_round(attrs.body, &tilings)?;
            if round as f64 * rounds as f64 + once < least as f64 * rounds as f64 {
                least = round;
            } else {
                tilings[n] = cut;
            }
        }
        Ok(tilings)
    }

    /// The arrays of a loop's state that its body hands on.
    fn unchanged(&self, body: ComputationId, count: usize) -> Vec<usize> {
        let (root, parameters) = (self.module[body].root(), self.module.parameters(body));
        let (Op::Tuple, [parameter]) = (&self.module[root].op, &parameters[..]) else { return Vec::new() };
        let handed_on = |&n: &usize| {
            self.module[root].operands.get(n).is_some_and(|&o| match &self.module[o].op {
                Op::GetTupleElement(a) => a.index == n as i64 && self.module[o].operands[..] == [*parameter],
                _ => false,
            })
        };
        (0..count).filter(handed_on).collect()
    }

    /// The bytes that a device sends in each round of a loop, whose state lies on the devices as is said.
    fn sent_by_round(&mut self, body: ComputationId, tilings: &[TileAssignment]) -> Result<u64, Diag> {
        let channel = self.channels.next;
        self.trying = true;
        let made = self.computation(body, &[tilings.to_vec()], tilings);
        self.trying = false;
        self.channels.next = channel;
        Ok(self.sent_by(made?))
    }

    /// The bytes that a device sends in a computation, as far as anything is needed of it.
    fn sent_by(&self, computation: ComputationId) -> u64 {
        let mut needed = HashSet::new();
        let mut stack = vec![self.module[computation].root()];
        let mut sum = 0u64;
        while let Some(id) = stack.pop() {
            if !needed.insert(id) {
                continue;
            }
            stack.extend(self.module[id].operands.iter().copied());
            sum = sum.saturating_add(match &self.module[id].op {
                Op::While(a) => {
                    let times = trips(self.module, id).unwrap_or(1);
                    self.sent_by(a.body).saturating_mul(times).saturating_add(self.sent_by(a.condition))
                }
                Op::Conditional(a) => a.branches().into_iter().map(|c| self.sent_by(c)).max().unwrap_or(0),
                Op::Call(a) => self.sent_by(a.to_apply),
                _ => sent(self.module, id),
            });
        }
        sum
    }
}
