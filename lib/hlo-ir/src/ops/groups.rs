//! How many devices exchange data in a collective. Which ones they are is checked for the whole module: see
//! [`crate::verify`].

use super::context::Context;
use crate::attr::{DeviceOrder, ReplicaGroups};
use crate::rules::code;

/// The size of each group, on which results depend: what is written, else the number of devices in the header, if
/// there is one. What the numbers in groups are is in [`crate::devices`]; `global` is `use_global_device_ids` of the opcodes
/// that have it.
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
        // `None` if they differ in size, which has its own report.
        let size = groups.group_size()?;
        // Of a replica all partitions are in the group.
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
    // Whoever runs a module may choose the numbers as well, so that 1 says nothing.
    (count != 1).then_some(count)
}

/// The length of the list that groups are taken from; `None` if it is too long to count.
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

/// Checks that groups take as many devices as the list that they are taken from has.
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
