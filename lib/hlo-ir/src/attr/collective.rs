//! The attributes of collectives (operation semantics, "AllGather" to "ReduceScatter").

use super::{CollectiveMode, ReplicaGroups, SliceSizes, SourceTargetPairs, attrs};
use crate::{ComputationId, Dims};

attrs! {
    /// `all-gather`, `all-gather-start`.
    AllGatherAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// Which devices exchange data; none means all.
        replica_groups: ReplicaGroups = Always,
        /// True if layouts are part of the contract.
        constrain_layout: bool = Optional,
        /// The dimension that is put together, a list of one.
        dimensions: Dims = Required,
        /// True if groups hold `replica × partitions + partition`.
        use_global_device_ids: bool = Optional,
    }
    /// `all-reduce`, `all-reduce-start`.
    AllReduceAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// Which devices exchange data; none means all.
        replica_groups: ReplicaGroups = Always,
        /// True if layouts are part of the contract.
        constrain_layout: bool = Optional,
        /// True if groups hold `replica × partitions + partition`.
        use_global_device_ids: bool = Optional,
        /// What the numbers in the groups mean.
        mode: Option<CollectiveMode> = Optional,
        /// Combines two scalars.
        to_apply: ComputationId = Required,
    }
    /// `reduce-scatter`.
    ReduceScatterAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// Which devices exchange data; none means all.
        replica_groups: ReplicaGroups = Always,
        /// True if layouts are part of the contract.
        constrain_layout: bool = Optional,
        /// True if groups hold `replica × partitions + partition`.
        use_global_device_ids: bool = Optional,
        /// The dimension that is scattered along, a list of one.
        dimensions: Dims = Required,
        /// What the numbers in the groups mean.
        mode: Option<CollectiveMode> = Optional,
        /// Combines two scalars.
        to_apply: ComputationId = Required,
    }
    /// `all-to-all`.
    AllToAllAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// Which devices exchange data; none means all.
        replica_groups: ReplicaGroups = Always,
        /// True if layouts are part of the contract.
        constrain_layout: bool = Optional,
        /// The dimension that is split and put together, a list of one; empty if the operands are the parts.
        dimensions: Dims = Optional,
    }
    /// `collective-broadcast`.
    CollectiveBroadcastAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// Which devices exchange data: the first of each group sends.
        replica_groups: ReplicaGroups = Always,
        /// True if the last operand has the places of the senders in their group: one for each value, or a scalar for all.
        has_dynamic_root: bool = Optional,
    }
    /// `ragged-all-to-all`.
    RaggedAllToAllAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// Which devices exchange data; none means all.
        replica_groups: ReplicaGroups = Always,
        /// Read by XLA and without a meaning.
        dimensions: Dims = Optional,
    }
    /// `collective-permute`, `collective-permute-start`.
    CollectivePermuteAttrs {
        /// The channel.
        channel_id: Option<i64> = Optional,
        /// Who sends to whom.
        source_target_pairs: SourceTargetPairs = Required,
        /// The sizes of the slices that are sent, where only slices are.
        slice_sizes: SliceSizes = Optional,
    }
}
