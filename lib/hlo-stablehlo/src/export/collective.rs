//! Collectives.

use super::attributes::{dictionary, i32, i64s, only, rows};
use super::exporter::Exporter;
use super::failure::Outcome;
use super::operation::Draft;
use super::types::array_type;
use super::value::Value;
use crate::tree::{Attribute, ValueId};
use hlo_ir::attr::{
    AllGatherAttrs, AllReduceAttrs, AllToAllAttrs, CollectiveBroadcastAttrs, CollectiveMode,
    CollectivePermuteAttrs, RaggedAllToAllAttrs, ReduceScatterAttrs, ReplicaGroups, SliceSizes,
    SourceTargetPairs,
};
use hlo_ir::devices::{DeviceCounts, collective_mode};
use hlo_ir::{ArrayShape, Dims, InstrId};

/// Maximum number of devices in groups that are written as lists.
const MAX_DEVICES: usize = 1 << 20;

/// Returns a unit attribute for true and no attribute for false.
fn unit(value: bool) -> Option<Attribute> {
    value.then_some(Attribute::Unit)
}

impl Exporter<'_> {
    /// Returns groups of devices as lists.
    fn lists(&self, id: InstrId, groups: &ReplicaGroups) -> Outcome<Vec<Vec<i64>>> {
        if groups.is_empty() {
            return Ok(vec![self.all_participants(id)]);
        }
        let lists = groups.expand(MAX_DEVICES);
        self.or_unsupported(id, lists.map_err(|e| format!("has groups in which {e}")))
    }

    /// Returns the group of all participants, which applies if the text contains no groups.
    fn all_participants(&self, id: InstrId) -> Vec<i64> {
        let Some(counts) = DeviceCounts::of(self.module) else { return vec![0] };
        let count = match collective_mode(&self.instruction(id).op) {
            CollectiveMode::CrossReplica | CollectiveMode::CrossReplicaAndPartition => counts.replicas,
            CollectiveMode::CrossPartition => counts.partitions,
            CollectiveMode::FlattenedId => counts.devices(),
        };
        (0..count as i64).collect()
    }

    /// Returns groups of devices as a matrix. Groups that are shorter than the longest one end with -1.
    fn groups(&self, id: InstrId, groups: &ReplicaGroups) -> Outcome<Attribute> {
        Ok(rows(&self.lists(id, groups)?, -1))
    }

    /// Adds one operation for each operand, for operations that have a single operand in StableHLO. `new`
    /// creates them.
    fn one_by_one(
        &mut self,
        id: InstrId,
        mut new: impl FnMut(&mut Self, ValueId) -> Outcome<Draft>,
    ) -> Outcome<Value> {
        let operands = self.leaves(id)?;
        let types = self.leaf_types(id)?;
        let mut results = Vec::new();
        for (operand, ty) in operands.into_iter().zip(types) {
            let new = new(self, operand)?;
            results.push(self.add_one(new, ty));
        }
        self.whole(id, results)
    }

    fn all_gather_of(&mut self, id: InstrId, attrs: &AllGatherAttrs) -> Outcome<Draft> {
        let AllGatherAttrs {
            channel_id,
            replica_groups,
            // StableHLO has no layouts.
            constrain_layout: _,
            dimensions,
            use_global_device_ids,
        } = attrs;
        Ok(Draft::new("stablehlo.all_gather", self.leaves(id)?)
            .with("all_gather_dim", only(dimensions))
            .with("replica_groups", self.groups(id, replica_groups)?)
            .with_optional("channel_handle", self.channel_of_devices(*channel_id))
            .with_optional("use_global_device_ids", unit(*use_global_device_ids)))
    }

    pub(super) fn all_gather(&mut self, id: InstrId, attrs: &AllGatherAttrs) -> Outcome<Value> {
        let new = self.all_gather_of(id, attrs)?;
        self.add_for(id, new)
    }

    /// Exports `all-gather-start`, whose state contains the operands and the results.
    pub(super) fn all_gather_start(&mut self, id: InstrId, attrs: &AllGatherAttrs) -> Outcome<Value> {
        let Some([_, gathered, ..]) = self.instruction(id).shape.as_tuple() else {
            return self.reject(id, "gives its operands and its result");
        };
        let types = self.leaf_types_of(id, gathered)?;
        let new = self.all_gather_of(id, attrs)?;
        let results = self.add(new, types);
        let results = self.value_from_leaves(gathered, results)?;
        Ok(self.state(id, [self.one_or_tuple(id)?, results]))
    }

    /// Returns the operand, or a tuple of several operands.
    fn one_or_tuple(&self, id: InstrId) -> Outcome<Value> {
        let mut operands = self.operand_values(id)?;
        match operands.len() {
            1 => Ok(operands.remove(0)),
            _ => Ok(Value::tuple(operands)),
        }
    }

    /// Returns the channel and `use_global_device_ids` that imply the mode of a collective. StableHLO has no
    /// attribute for the mode.
    fn implied(
        &self,
        id: InstrId,
        mode: Option<CollectiveMode>,
        channel_id: Option<i64>,
        global: bool,
    ) -> Outcome<(Option<Attribute>, bool)> {
        let some = Some(channel_id.unwrap_or(0));
        let (channel_id, global) = match mode {
            None => (channel_id, global),
            Some(CollectiveMode::CrossReplica) => (None, false),
            Some(CollectiveMode::CrossReplicaAndPartition) => (some, false),
            Some(CollectiveMode::FlattenedId) => (some, true),
            Some(CollectiveMode::CrossPartition) => {
                return self
                    .reject(id, "has mode cross_partition, which StableHLO's operation does not have");
            }
        };
        Ok((self.channel_of_devices(channel_id), global))
    }

    pub(super) fn all_reduce(&mut self, id: InstrId, attrs: &AllReduceAttrs) -> Outcome<Value> {
        let AllReduceAttrs {
            channel_id,
            replica_groups,
            // StableHLO has no layouts.
            constrain_layout: _,
            use_global_device_ids,
            mode,
            to_apply,
        } = attrs;
        let parameters = self.module.parameters(*to_apply);
        let combined = parameters.first().and_then(|&p| self.module[p].shape.as_array());
        for index in 0..self.instruction(id).operands.len() {
            let ty = self.operand_array(id, index)?.element_type;
            if combined.is_some_and(|a| a.element_type != ty) {
                return self.reject(
                    id,
                    format!("combines {ty} by a computation on another type, and StableHLO's does not"),
                );
            }
        }
        let (channel, global) = self.implied(id, *mode, *channel_id, *use_global_device_ids)?;
        let new = Draft::new("stablehlo.all_reduce", self.leaves(id)?)
            .with("replica_groups", self.groups(id, replica_groups)?)
            .with_optional("channel_handle", channel)
            .with_optional("use_global_device_ids", unit(global))
            .region(self.region(id, *to_apply, None)?);
        self.add_for(id, new)
    }

    pub(super) fn reduce_scatter(&mut self, id: InstrId, attrs: &ReduceScatterAttrs) -> Outcome<Value> {
        let ReduceScatterAttrs {
            channel_id,
            replica_groups,
            // StableHLO has no layouts.
            constrain_layout: _,
            use_global_device_ids,
            dimensions,
            mode,
            to_apply,
        } = attrs;
        let (channel, global) = self.implied(id, *mode, *channel_id, *use_global_device_ids)?;
        self.one_by_one(id, |e, operand| {
            Ok(Draft::new("stablehlo.reduce_scatter", [operand])
                .with("scatter_dimension", only(dimensions))
                .with("replica_groups", e.groups(id, replica_groups)?)
                .with_optional("channel_handle", channel.clone())
                .with_optional("use_global_device_ids", unit(global))
                .region(e.region(id, *to_apply, None)?))
        })
    }

    pub(super) fn all_to_all(&mut self, id: InstrId, attrs: &AllToAllAttrs) -> Outcome<Value> {
        let Some(&dimension) = attrs.dimensions.first() else { return self.all_to_all_of_parts(id, attrs) };
        let count = self.group_size(id, &attrs.replica_groups)?;
        let new = self.all_to_all_along(id, attrs, self.leaves(id)?, dimension, count)?;
        self.add_for(id, new)
    }

    fn all_to_all_along(
        &self,
        id: InstrId,
        attrs: &AllToAllAttrs,
        operands: Vec<ValueId>,
        dimension: i64,
        count: i64,
    ) -> Outcome<Draft> {
        let AllToAllAttrs {
            channel_id,
            replica_groups,
            // StableHLO has no layouts.
            constrain_layout: _,
            // The caller passes the dimension.
            dimensions: _,
        } = attrs;
        Ok(Draft::new("stablehlo.all_to_all", operands)
            .with("split_dimension", Attribute::i64(dimension))
            .with("concat_dimension", Attribute::i64(dimension))
            .with("split_count", Attribute::i64(count))
            .with("replica_groups", self.groups(id, replica_groups)?)
            .with_optional("channel_handle", self.channel_of_devices(*channel_id)))
    }

    /// Returns the number of devices in each group.
    fn group_size(&self, id: InstrId, groups: &ReplicaGroups) -> Outcome<i64> {
        let lists = self.lists(id, groups)?;
        let size = lists.first().map_or(0, Vec::len);
        if lists.iter().all(|group| group.len() == size) {
            Ok(size as i64)
        } else {
            self.reject(id, "has groups of several sizes")
        }
    }

    /// Exports an `all-to-all` whose operands are the parts for the devices of a group. The parts are
    /// concatenated along a new dimension, exchanged as one array, and split again.
    fn all_to_all_of_parts(&mut self, id: InstrId, attrs: &AllToAllAttrs) -> Outcome<Value> {
        let parts = self.leaves(id)?;
        let count = parts.len() as i64;
        let part = self.operand_array(id, 0)?;
        let with_first = |size: i64| {
            let dims: Dims = std::iter::once(size).chain(part.dims.iter().copied()).collect();
            ArrayShape::new(part.element_type, dims)
        };
        let (one, all) = (with_first(1), with_first(count));
        let one_type = self.or_unsupported(id, array_type(&one))?;
        let all_type = self.or_unsupported(id, array_type(&all))?;
        let mut rows = Vec::new();
        for part in parts {
            rows.push(self.add_one(Draft::new("stablehlo.reshape", [part]), one_type.clone()));
        }
        let joined = Draft::new("stablehlo.concatenate", rows).with("dimension", Attribute::i64(0));
        let joined = self.add_one(joined, all_type.clone());
        let new = self.all_to_all_along(id, attrs, vec![joined], 0, count)?;
        let exchanged = self.add_one(new, all_type);
        let mut results = Vec::new();
        for at in 0..count {
            let rest = part.dims.iter().map(|&size| [0, size, 1]);
            let ranges: Vec<[i64; 3]> = std::iter::once([at, at + 1, 1]).chain(rest).collect();
            let row = self.sliced(exchanged, &ranges, one_type.clone());
            results.push(self.reshaped(id, row, &one, part)?);
        }
        self.whole(id, results)
    }

    pub(super) fn collective_broadcast(
        &mut self,
        id: InstrId,
        attrs: &CollectiveBroadcastAttrs,
    ) -> Outcome<Value> {
        let CollectiveBroadcastAttrs { channel_id, replica_groups, has_dynamic_root } = attrs;
        if *has_dynamic_root {
            let values = self.values_and_roots(id)?;
            let types = self.leaf_types(id)?;
            let new = Draft::new("stablehlo.collective_broadcast", values)
                .with("replica_groups", self.groups(id, replica_groups)?)
                .with("has_dynamic_root", Attribute::Bool(true))
                .with_optional("channel_handle", self.channel_of_devices(*channel_id));
            let results = self.add(new, types);
            return self.whole(id, results);
        }
        self.one_by_one(id, |e, operand| {
            Ok(Draft::new("stablehlo.collective_broadcast", [operand])
                .with("replica_groups", e.groups(id, replica_groups)?)
                .with_optional("channel_handle", e.channel_of_devices(*channel_id)))
        })
    }

    /// Returns the operands of a `collective-broadcast` with dynamic roots. StableHLO has one root for each value, so a
    /// scalar root for all of them is repeated.
    fn values_and_roots(&mut self, id: InstrId) -> Outcome<Vec<ValueId>> {
        let mut operands = self.leaves(id)?;
        let count = operands.len().saturating_sub(1);
        let roots = self.operand_array(id, count)?;
        if roots.rank() == 0
            && count > 1
            && let Some(root) = operands.pop()
        {
            let ty =
                self.or_unsupported(id, array_type(&ArrayShape::new(roots.element_type, [count as i64])))?;
            let new =
                Draft::new("stablehlo.broadcast_in_dim", [root]).with("broadcast_dimensions", i64s(&[]));
            operands.push(self.add_one(new, ty));
        }
        Ok(operands)
    }

    /// Adds one `collective_permute` for each operand.
    fn permuted(&mut self, id: InstrId, attrs: &CollectivePermuteAttrs) -> Outcome<Vec<ValueId>> {
        let CollectivePermuteAttrs {
            channel_id,
            source_target_pairs: SourceTargetPairs(pairs),
            slice_sizes: SliceSizes(slices),
        } = attrs;
        if !slices.is_empty() {
            return self.reject(id, "sends slices, and StableHLO's whole arrays");
        }
        let pairs: Vec<Vec<i64>> = pairs.iter().map(|&(a, b)| vec![a, b]).collect();
        let pairs = if pairs.is_empty() { super::attributes::dense(&[0, 2], &[]) } else { rows(&pairs, -1) };
        let mut results = Vec::new();
        for operand in self.leaves(id)? {
            let ty = self.tree.type_of(operand).clone();
            let new = Draft::new("stablehlo.collective_permute", [operand])
                .with("source_target_pairs", pairs.clone())
                .with_optional("channel_handle", self.channel_of_devices(*channel_id));
            results.push(self.add_one(new, ty));
        }
        Ok(results)
    }

    pub(super) fn collective_permute(
        &mut self,
        id: InstrId,
        attrs: &CollectivePermuteAttrs,
    ) -> Outcome<Value> {
        let results = self.permuted(id, attrs)?;
        self.whole(id, results)
    }

    /// Exports `collective-permute-start`, whose state contains the operands, the results and contexts.
    pub(super) fn collective_permute_start(
        &mut self,
        id: InstrId,
        attrs: &CollectivePermuteAttrs,
    ) -> Outcome<Value> {
        let Some([_, permuted, ..]) = self.instruction(id).shape.as_tuple() else {
            return self.reject(id, "gives its operand and its result");
        };
        let results = self.permuted(id, attrs)?;
        let results = self.value_from_leaves(permuted, results)?;
        Ok(self.state(id, [self.one_or_tuple(id)?, results]))
    }

    /// Exports `ragged-all-to-all` as a custom call, as JAX and XLA do.
    pub(super) fn ragged_all_to_all(&mut self, id: InstrId, attrs: &RaggedAllToAllAttrs) -> Outcome<Value> {
        // The dimensions have no meaning.
        let RaggedAllToAllAttrs { channel_id, replica_groups, dimensions: _ } = attrs;
        let mut config = vec![("replica_groups".into(), self.groups(id, replica_groups)?)];
        config.extend(
            self.channel_number(*channel_id).map(|channel| ("channel_id".into(), Attribute::i64(channel))),
        );
        let new = Draft::new("stablehlo.custom_call", self.leaves(id)?)
            .with("call_target_name", Attribute::string("ragged_all_to_all"))
            .with("api_version", i32(4))
            .with("backend_config", dictionary(config));
        self.add_for(id, new)
    }
}
