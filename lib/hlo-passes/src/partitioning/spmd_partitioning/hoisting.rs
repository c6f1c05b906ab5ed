//! Gathers loop-invariant arrays before a loop instead of in each iteration, if this sends less data.

use super::partitioner::Partitioner;
use super::value::Value;
use crate::analysis::{sent, trips};
use hlo_ir::attr::{TileAssignment, WhileAttrs};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Op};
use std::collections::HashSet;

/// Maximum number of arrays of a loop that are tried.
const MAX_HOIST_CANDIDATES: usize = 8;

/// Loops with this many instructions or more are partitioned only once.
const MAX_INSTRUCTIONS: usize = 4000;

impl Partitioner<'_> {
    /// Returns the shardings of a loop's state: those required for the result, except that loop-invariant
    /// arrays may be replicated.
    pub(super) fn hoisted(
        &mut self,
        id: InstrId,
        attrs: &WhileAttrs,
        state: &Value,
    ) -> Result<Vec<TileAssignment>, Diag> {
        let mut tilings = self.required_shardings(id);
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
        for n in same.into_iter().take(if least > 0 { MAX_HOIST_CANDIDATES } else { 0 }) {
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

    /// Returns the loop-invariant arrays of a loop's state.
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

    /// Returns the number of bytes that a device sends in each iteration, for these shardings of the state.
    fn sent_by_round(&mut self, body: ComputationId, tilings: &[TileAssignment]) -> Result<u64, Diag> {
        let channel = self.channels.next;
        self.trying = true;
        let made = self.computation(body, &[tilings.to_vec()], tilings);
        self.trying = false;
        self.channels.next = channel;
        Ok(self.sent_by(made?))
    }

    /// Returns the number of bytes that a device sends in a computation. Unneeded instructions do not count.
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
