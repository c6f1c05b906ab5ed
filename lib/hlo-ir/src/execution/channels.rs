//! Sends and receives with different channels but the same source and target devices.

use super::devices::TRANSFER_PAIRS;
use crate::attr::{ChannelAttrs, HloString};
use crate::{InstrId, Module, Op};
use std::collections::{HashMap, HashSet};

impl Module {
    /// Returns the receives on channels that no send uses. Each is returned with a send on a channel that no
    /// receive uses, with the same source and target pairs. If there are several such channels, they are
    /// matched in the order of the text.
    ///
    /// XLA matches transfers by these pairs of devices, not by channels. Takes linear time.
    pub fn receives_of_other_channels(&self) -> Vec<(InstrId, InstrId)> {
        let all = self.computations().flat_map(|c| self[c].instructions()).copied();
        let between = all.filter_map(|i| Some((i, self.channel_between_devices(i)?.0)));
        let (sends, receives): (Vec<_>, Vec<_>) =
            between.partition(|&(i, _)| matches!(self[i].op, Op::Send(_)));
        let channels = |list: &[(InstrId, i64)]| list.iter().map(|&(_, c)| c).collect::<HashSet<i64>>();
        let (sent, received) = (channels(&sends), channels(&receives));
        // The first send on each channel without a receive, in order, by the pairs of devices.
        let mut free: HashMap<&HloString, Vec<InstrId>> = HashMap::new();
        let mut seen = HashSet::new();
        for &(i, channel) in sends.iter().filter(|(_, c)| !received.contains(c)) {
            if let Some((_, pairs)) = self.channel_between_devices(i).filter(|_| seen.insert(channel)) {
                free.entry(pairs).or_default().push(i);
            }
        }
        let mut next: HashMap<&HloString, usize> = HashMap::new();
        let mut chosen: HashMap<i64, Option<InstrId>> = HashMap::new();
        let mut found = Vec::new();
        for &(i, channel) in receives.iter().filter(|(_, c)| !sent.contains(c)) {
            let Some((_, pairs)) = self.channel_between_devices(i) else { continue };
            let send = *chosen.entry(channel).or_insert_with(|| {
                let next = next.entry(pairs).or_default();
                *next += 1;
                free.get(pairs)?.get(*next - 1).copied()
            });
            found.extend(send.map(|send| (i, send)));
        }
        found
    }

    /// Returns the channel of a transfer between devices, and its source and target pairs.
    fn channel_between_devices(&self, i: InstrId) -> Option<(i64, &HloString)> {
        let (Op::Send(a) | Op::Recv(a)) = &self[i].op else { return None };
        let &ChannelAttrs { channel_id: Some(channel), is_host_transfer: false, .. } = a else { return None };
        Some((channel, self[i].common.as_ref()?.frontend_attributes.get(TRANSFER_PAIRS)?))
    }

    /// Sets the channel of each such receive to that of its send. Returns whether a channel changed.
    pub(crate) fn join_channels(&mut self) -> bool {
        let receives = self.receives_of_other_channels();
        for &(receive, send) in &receives {
            let Op::Send(ChannelAttrs { channel_id, .. }) = self[send].op else { continue };
            let done = |&u: &InstrId| matches!(self[u].op, Op::RecvDone(_));
            let ends: Vec<InstrId> = self.users(receive).iter().copied().filter(done).collect();
            for i in ends.into_iter().chain([receive]) {
                if let Op::Recv(a) | Op::RecvDone(a) = self.op_mut(i) {
                    a.channel_id = channel_id;
                }
            }
        }
        !receives.is_empty()
    }
}
