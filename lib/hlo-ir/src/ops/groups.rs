//! Group sizes of collectives. [`crate::verify`] checks for the whole module which devices are in the groups.

use super::context::Context;
use crate::attr::{DeviceOrder, ReplicaGroups};
use crate::rules::code;

/// Returns the number of devices in each group, which determines result sizes. Without explicit groups, the
/// number of devices in the module header is used, if there is one. [`crate::devices`] describes the numbers
/// in the groups. `global` is the attribute `use_global_device_ids` of the opcodes that have it.
pub(super) fn group_size(
    cx: &Context<'_>,
    groups: &ReplicaGroups,
    channel: Option<i64>,
    global: Option<bool>,
) -> Option<i64> {
    check_described(cx, groups);
    let header = &cx.module.header;
    let (replicas, partitions) = (header.replica_count.0, header.num_partitions.0);
    if !groups.is_empty() {
        // `None` if the groups differ in size, which another rule reports.
        let size = groups.group_size()?;
        // Each replica in the group contributes all its partitions.
        return match (channel, global) {
            (Some(_), Some(false)) => size.checked_mul(partitions),
            _ => Some(size),
        };
    }
    let count = match (channel, global) {
        (Some(_), None) => partitions,
        (Some(_), Some(_)) => replicas.checked_mul(partitions)?,
        (None, _) => replicas,
    };
    // The number of devices may also be chosen when the module runs, so 1 carries no information.
    (count != 1).then_some(count)
}

/// Returns the length of the list from which groups are taken, or `None` if it does not fit in 64 bits.
pub(crate) fn listed_devices(groups: &ReplicaGroups) -> Option<i64> {
    match groups {
        ReplicaGroups::Lists(_) => groups.device_count(),
        ReplicaGroups::Iota { order, .. } => order.count(),
        ReplicaGroups::Mesh { mesh, .. } => match &mesh.device_ids {
            Some(DeviceOrder::List(list)) => i64::try_from(list.len()).ok(),
            Some(DeviceOrder::Iota(order)) => order.count(),
            None => mesh.device_count(),
        },
    }
}

/// Checks that the groups contain as many devices as the list from which they are taken.
pub(super) fn check_described(cx: &Context<'_>, groups: &ReplicaGroups) {
    if matches!(groups, ReplicaGroups::Lists(_)) {
        return;
    }
    let listed = listed_devices(groups);
    let taken = groups.device_count();
    if taken.is_none() || listed != taken {
        let text = |n: Option<i64>| n.map_or("more than 64 bits can count".to_string(), |n| n.to_string());
        cx.report(
            cx.error(
                code::GROUPED_DEVICES,
                format!(
                    "has groups of {} devices in all, taken from {} devices, in `replica_groups`",
                    text(taken),
                    text(listed)
                ),
            )
            .of("replica_groups"),
        );
    }
}
