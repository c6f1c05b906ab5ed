//! The side effects of operations, and the devices that take part: the list of all opcodes that have any.

use crate::Op;
use crate::attr::ReplicaGroups;

/// What an operation itself, not what it calls, does besides computing its result.
#[derive(Clone, Copy, Debug)]
pub enum Effect<'o> {
    /// Nothing.
    None,
    /// It reads or changes what is outside of its operands: the host's queues, random state, whatever a custom call
    /// says that it touches.
    State,
    /// It is one end of a transfer.
    Transfer {
        /// The channel that both ends have.
        channel: Option<i64>,
        /// True if the other end is the host.
        host: bool,
    },
    /// Devices in groups exchange data.
    Groups(Groups<'o>),
    /// Pairs of devices hand data from one to the other.
    Pairs {
        /// Sources and targets.
        pairs: &'o [(i64, i64)],
        /// The channel: the ids are those of partitions if there is one.
        channel: Option<i64>,
        /// How many slices of one value are handed over: so often a device may be a source, and a target.
        slices: usize,
    },
    /// It carries on or finishes what another operation started, or starts what its computation does.
    Asynchronous,
}

/// The devices that exchange data.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'o> {
    /// The groups.
    pub groups: &'o ReplicaGroups,
    /// The channel: the ids are those of partitions if there is one.
    pub channel: Option<i64>,
    /// `use_global_device_ids`, for the opcodes that have it.
    pub global: Option<bool>,
    /// True if the groups have to be of one size, because the result's shape follows from it.
    pub uniform: bool,
    /// True if each device has to be in a group; else those in none get zeros.
    pub all: bool,
}

impl Effect<'_> {
    /// The channel, of what has one.
    pub fn channel(&self) -> Option<i64> {
        match self {
            Effect::Transfer { channel, .. } | Effect::Pairs { channel, .. } => *channel,
            Effect::Groups(groups) => groups.channel,
            Effect::None | Effect::State | Effect::Asynchronous => None,
        }
    }
}

impl Op {
    /// True if the operation itself, not what it calls, does more than compute its result.
    pub fn has_side_effect(&self) -> bool {
        !matches!(self.effect(), Effect::None)
    }

    /// The channel of an operation that may have one, to be written to.
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

    /// What the operation itself, not what it calls, does besides computing its result.
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
