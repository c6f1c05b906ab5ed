//! The attributes of collectives (operation semantics, "AllGather" to "ReduceScatter").

use super::{CollectiveMode, ReplicaGroups, SliceSizes, SourceTargetPairs, attrs};
use crate::{ComputationId, Dims};

attrs! {
    /// `all-gather`, `all-gather-start`.
    AllGatherAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// The groups of devices that exchange data. If there are none, all devices form one group.
        replica_groups: ReplicaGroups = Always,
        /// Whether the layouts of operands and results are fixed.
        constrain_layout: bool = Optional,
        /// The dimension to concatenate along, as a list of one.
        dimensions: Dims = Required,
        /// Whether the groups contain `replica × partitions + partition`.
        use_global_device_ids: bool = Optional,
    }
    /// `all-reduce`, `all-reduce-start`.
    AllReduceAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// The groups of devices that exchange data. If there are none, all devices form one group.
        replica_groups: ReplicaGroups = Always,
        /// Whether the layouts of operands and results are fixed.
        constrain_layout: bool = Optional,
        /// Whether the groups contain `replica × partitions + partition`.
        use_global_device_ids: bool = Optional,
        /// The meaning of the numbers in the groups.
        mode: Option<CollectiveMode> = Optional,
        /// The computation that combines two scalars.
        to_apply: ComputationId = Required,
    }
    /// `reduce-scatter`.
    ReduceScatterAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// The groups of devices that exchange data. If there are none, all devices form one group.
        replica_groups: ReplicaGroups = Always,
        /// Whether the layouts of operands and results are fixed.
        constrain_layout: bool = Optional,
        /// Whether the groups contain `replica × partitions + partition`.
        use_global_device_ids: bool = Optional,
        /// The dimension to scatter along, as a list of one.
        dimensions: Dims = Required,
        /// The meaning of the numbers in the groups.
        mode: Option<CollectiveMode> = Optional,
        /// The computation that combines two scalars.
        to_apply: ComputationId = Required,
    }
    /// `all-to-all`.
    AllToAllAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// The groups of devices that exchange data. If there are none, all devices form one group.
        replica_groups: ReplicaGroups = Always,
        /// Whether the layouts of operands and results are fixed.
        constrain_layout: bool = Optional,
        /// The dimension to split and concatenate along, as a list of one; empty if the operands are the
        /// parts.
        dimensions: Dims = Optional,
    }
    /// `collective-broadcast`.
    CollectiveBroadcastAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// The groups of devices that exchange data. The first device of each group sends.
        replica_groups: ReplicaGroups = Always,
        /// Whether the last operand contains the sender's position in its group: one for each value, or a
        /// scalar for all.
        has_dynamic_root: bool = Optional,
    }
    /// `ragged-all-to-all`.
    RaggedAllToAllAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// The groups of devices that exchange data. If there are none, all devices form one group.
        replica_groups: ReplicaGroups = Always,
        /// Accepted because XLA reads it; has no meaning.
        dimensions: Dims = Optional,
    }
    /// `collective-permute`, `collective-permute-start`.
    CollectivePermuteAttrs {
        /// The channel ID.
        channel_id: Option<i64> = Optional,
        /// The pairs of a sending and a receiving device.
        source_target_pairs: SourceTargetPairs = Required,
        /// The sizes of the slices, if the devices send slices only.
        slice_sizes: SliceSizes = Optional,
    }
}
