//! The side effects of operations, and the participating devices. It lists all opcodes with side effects.

use crate::Op;
use crate::attr::ReplicaGroups;

/// The side effect of an operation itself, without those of the computations that it calls.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'o> {
    /// No effect.
    None,
    /// It reads or changes state outside its operands: the host's queues, random state, or the state of a
    /// custom call.
    State,
    /// It is one end of a transfer.
    Transfer {
        /// The channel that both ends share.
        channel: Option<i64>,
        /// Whether the other end is the host.
        host: bool,
    },
    /// Groups of devices exchange data.
    Groups(Groups<'o>),
    /// Pairs of devices transfer data.
    Pairs {
        /// The pairs of a source and a target.
        pairs: &'o [(i64, i64)],
        /// The channel. If there is one, the IDs are those of partitions.
        channel: Option<i64>,
        /// The number of slices of one value that are transferred. A device may be a source, and a target,
        /// this many times.
        slices: usize,
    },
    /// It continues or finishes an operation that another one started, or starts the effects of its
    /// computation.
    Asynchronous,
}

/// The groups of devices that exchange data.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'o> {
    /// The groups.
    pub groups: &'o ReplicaGroups,
    /// The channel. If there is one, the IDs are those of partitions.
    pub channel: Option<i64>,
    /// The attribute `use_global_device_ids`, for opcodes that have it.
    pub global: Option<bool>,
    /// Whether the groups must have equal sizes, because the result's shape depends on the size.
    pub uniform: bool,
    /// Whether each device must be in a group. If not, devices outside all groups receive zeros.
    pub all: bool,
}

impl Effect<'_> {
    /// Returns the channel, if there is one.
    pub fn channel(&self) -> Option<i64> {
        match self {
            Effect::Transfer { channel, .. } | Effect::Pairs { channel, .. } => *channel,
            Effect::Groups(groups) => groups.channel,
            Effect::None | Effect::State | Effect::Asynchronous => None,
        }
    }
}

impl Op {
    /// Returns whether the operation itself, without the computations that it calls, has a side effect.
    pub fn has_side_effect(&self) -> bool {
        !matches!(self.effect(), Effect::None)
    }

    /// Returns a mutable reference to the channel of an operation that can have one.
    pub fn channel_mut(&mut self) -> Option<&mut Option<i64>> {
        use Op::*;
        Some(match self {
            Send(a) | Recv(a) | SendDone(a) | RecvDone(a) => &mut a.channel_id,
            AllGather(a) | AllGatherStart(a) => &mut a.channel_id,
            ReduceScatter(a) => &mut a.channel_id,
            AllReduce(a) | AllReduceStart(a) => &mut a.channel_id,
            AllToAll(a) => &mut a.channel_id,
            RaggedAllToAll(a) => &mut a.channel_id,
            CollectiveBroadcast(a) => &mut a.channel_id,
            CollectivePermute(a) | CollectivePermuteStart(a) => &mut a.channel_id,
            _ => return None,
        })
    }

    /// Returns the side effect of the operation itself, without those of the computations that it calls.
    pub fn effect(&self) -> Effect<'_> {
        use Op::*;
        let groups = |groups, channel, global, uniform| {
            Effect::Groups(Groups { groups, channel, global, uniform, all: true })
        };
        match self {
            Infeed(_) | Outfeed(_) | RngGetAndUpdateState(_) => Effect::State,
            CustomCall(a) if a.custom_call_has_side_effect => Effect::State,
            CustomCall(_) => Effect::None,
            Send(a) | Recv(a) | SendDone(a) | RecvDone(a) => {
                Effect::Transfer { channel: a.channel_id, host: a.is_host_transfer }
            }
            AllGather(a) | AllGatherStart(a) => {
                groups(&a.replica_groups, a.channel_id, Some(a.use_global_device_ids), true)
            }
            ReduceScatter(a) => groups(&a.replica_groups, a.channel_id, Some(a.use_global_device_ids), true),
            AllReduce(a) | AllReduceStart(a) => {
                groups(&a.replica_groups, a.channel_id, Some(a.use_global_device_ids), false)
            }
            AllToAll(a) => groups(&a.replica_groups, a.channel_id, None, true),
            RaggedAllToAll(a) => groups(&a.replica_groups, a.channel_id, None, true),
            CollectiveBroadcast(a) => Effect::Groups(Groups {
                groups: &a.replica_groups,
                channel: a.channel_id,
                global: None,
                uniform: false,
                all: false,
            }),
            CollectivePermute(a) | CollectivePermuteStart(a) => {
                let slices = a.slice_sizes.0.len().max(1);
                Effect::Pairs { pairs: &a.source_target_pairs.0, channel: a.channel_id, slices }
            }
            AllGatherDone | AllReduceDone | CollectivePermuteDone => Effect::Asynchronous,
            AsyncStart(_) | AsyncUpdate(_) | AsyncDone(_) => Effect::Asynchronous,
            _ => Effect::None,
        }
    }
}
