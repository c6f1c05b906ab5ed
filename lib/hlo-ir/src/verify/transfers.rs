//! Checks of transfers between devices in a schedule: both sides of each transfer come before the next
//! collective.

use super::{Verifier, label};
use crate::attr::HloString;
use crate::effects::effect::Effect;
use crate::execution::devices::{TRANSFER_PAIRS, read_pairs};
use crate::rules::code;
use crate::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet, VecDeque};

/// The attribute of transfers whose other side is in another iteration of a loop.
const PIPELINE_ATTRIBUTE: &str = "_xla_send_recv_pipeline";

impl Verifier<'_> {
    /// Checks the order of transfers in each computation of a scheduled module. Linear in the module and in
    /// the number of device pairs that its transfers name.
    pub(super) fn check_transfers(&mut self) {
        let module = self.module;
        if module.header.is_scheduled {
            module.computations().for_each(|c| self.check_transfers_of(c));
        }
    }

    fn check_transfers_of(&mut self, computation: ComputationId) {
        let module = self.module;
        let is_send = |i: InstrId| matches!(module[i].op, Op::Send(_));
        // The transfers whose other side has not been found yet, with their positions. Each list contains the
        // transfers of the same device pairs, all in one direction.
        let mut pending: HashMap<&HloString, VecDeque<(usize, InstrId)>> = HashMap::new();
        for (place, &i) in module[computation].instructions().iter().enumerate() {
            if let Some(pairs) = pairs_of_transfer(module, i) {
                self.check_pairs_of_transfer(i, pairs);
                let same = pending.entry(pairs).or_default();
                if same.front().is_some_and(|&(_, other)| is_send(other) != is_send(i)) {
                    same.pop_front();
                } else {
                    same.push_back((place, i));
                }
            } else if matches!(module[i].op.effect(), Effect::Groups(_) | Effect::Pairs { .. }) {
                if let Some(&(_, first)) = pending.values().flatten().min() {
                    let (name, other) = (&module[i].name, &module[first].name);
                    let message = format!(
                        "`{name}` comes between `{other}` and its other end: each waits for the other"
                    );
                    label(
                        self.report(code::PENDING_TRANSFER, i, message),
                        module.span(first),
                        "not finished".to_string(),
                    );
                }
                pending.clear();
            }
        }
        let left =
            pending.into_iter().flat_map(|(pairs, all)| all.into_iter().map(move |(n, i)| (n, i, pairs)));
        let mut left: Vec<(usize, InstrId, &HloString)> = left.collect();
        left.sort_unstable_by_key(|&(place, ..)| place);
        for (_, i, pairs) in left {
            let (has, lacks) = if is_send(i) { ("send", "recv") } else { ("recv", "send") };
            let (name, devices) = (&module[i].name, pairs.to_text());
            let message = format!("the `{has}` `{name}` needs a `{lacks}` with the devices `{devices}`");
            self.report(code::PENDING_TRANSFER, i, message);
        }
    }

    /// Checks that no device sends or receives twice in a transfer, and that the pairs form no cycle.
    fn check_pairs_of_transfer(&mut self, i: InstrId, pairs: &HloString) {
        let Some(pairs) = read_pairs(&pairs.to_text()) else { return };
        let to: HashMap<usize, usize> = pairs.iter().copied().collect();
        let targets: HashSet<usize> = pairs.iter().map(|&(_, target)| target).collect();
        let message = if to.len() < pairs.len() || targets.len() < pairs.len() {
            "each device sends and receives once in a transfer"
        } else if has_cycle(&to) {
            "the devices of a transfer form no cycle, in which each would wait for the next"
        } else {
            return;
        };
        self.report_attribute(code::PENDING_TRANSFER, i, "frontend_attributes", message.to_string());
    }
}

/// Returns the device pairs of a transfer between devices, unless it belongs to a pipeline.
fn pairs_of_transfer(module: &Module, i: InstrId) -> Option<&HloString> {
    let (Op::Send(a) | Op::Recv(a)) = &module[i].op else { return None };
    let attributes = &module[i].common.as_ref()?.frontend_attributes;
    let counts = !a.is_host_transfer && attributes.get(PIPELINE_ATTRIBUTE).is_none();
    attributes.get(TRANSFER_PAIRS).filter(|_| counts)
}

/// Returns whether following the pairs leads from a device back to itself. Each device is the target of at
/// most one other.
fn has_cycle(to: &HashMap<usize, usize>) -> bool {
    let targets: HashSet<usize> = to.values().copied().collect();
    // A device that no chain from a first sender reaches is part of a cycle.
    let chains = to.keys().filter(|source| !targets.contains(source));
    let reached: usize =
        chains.map(|&first| std::iter::successors(Some(first), |d| to.get(d).copied()).count() - 1).sum();
    reached < to.len()
}
