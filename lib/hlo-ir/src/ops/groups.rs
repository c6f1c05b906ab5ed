//! Rules of which devices communicate: replica groups, source and target pairs, against the numbers of replicas
//! and partitions that the module's header names.

use super::context::Context;
use super::violation::Violation;
use crate::attr::{DeviceOrder, ReplicaGroups, SourceTargetPairs};
use crate::rules::code;
use std::collections::HashSet;

/// What the numbers in a collective's groups stand for.
#[derive(Clone, Copy)]
pub(super) enum Ids {
    /// Replicas.
    Replicas,
    /// Partitions of one replica.
    Partitions,
    /// `replica × partitions + partition`.
    Global,
}

impl Ids {
    /// Of the opcodes that have no `use_global_device_ids`: with a channel, partitions.
    pub(super) fn of_channel(channel: Option<i64>) -> Self {
        if channel.is_some() { Ids::Partitions } else { Ids::Replicas }
    }

    /// Of the opcodes that have `use_global_device_ids`.
    pub(super) fn of_global(global: bool) -> Self {
        if global { Ids::Global } else { Ids::Replicas }
    }

    fn text(self) -> &'static str {
        match self {
            Ids::Replicas => "replicas",
            Ids::Partitions => "partitions",
            Ids::Global => "devices",
        }
    }

    /// How many there are, if the header says so. It says so only by numbers other than 1: whoever runs a
    /// module may choose them as well.
    fn count(self, cx: &Context<'_>) -> Option<i64> {
        let header = &cx.module.header;
        let (replicas, partitions) = (header.replica_count.0, header.num_partitions.0);
        let count = match self {
            Ids::Replicas => replicas,
            Ids::Partitions => partitions,
            Ids::Global => replicas.checked_mul(partitions)?,
        };
        (count != 1).then_some(count)
    }
}

/// Reports the first number in each of the ways that a list of devices can be wrong: each of `0 … count-1` has
/// to stand in it once.
fn check_devices(cx: &Context<'_>, devices: impl Iterator<Item = i64>, count: i64) {
    let (mut seen, mut repeated, mut outside) = (HashSet::new(), None, None);
    for d in devices {
        if d < 0 || d >= count {
            outside = outside.or(Some(d));
        } else if !seen.insert(d) {
            repeated = repeated.or(Some(d));
        }
    }
    if let Some(d) = repeated {
        cx.report(cx.error(code::GROUP_REPEATED, format!("names device {d} twice in `replica_groups`")));
    } else if let Some(d) = outside {
        cx.report(cx.error(
            code::GROUP_DEVICES,
            format!("names device {d} in `replica_groups`, where {count} devices are numbered from 0"),
        ));
    }
}

/// Checks replica groups by themselves and against the header.
pub(super) fn check_groups(cx: &Context<'_>, groups: &ReplicaGroups, ids: Ids) {
    if groups.is_empty() {
        return;
    }
    let Some(count) = groups.device_count() else {
        cx.report(
            cx.error(code::GROUP_DEVICES, "names more devices than 64 bits can count in `replica_groups`"),
        );
        return;
    };
    let listed = match groups {
        ReplicaGroups::Lists(lists) => {
            if lists.iter().any(Vec::is_empty) {
                cx.report(cx.error(code::GROUP_EMPTY, "has a group without devices in `replica_groups`"));
                return;
            }
            check_devices(cx, lists.iter().flatten().copied(), count);
            Some(count)
        }
        ReplicaGroups::Iota { groups, size, order } => {
            if *groups < 1 || *size < 1 {
                cx.report(cx.error(code::GROUP_EMPTY, "has a group without devices in `replica_groups`"));
                return;
            }
            order.count()
        }
        ReplicaGroups::Mesh { mesh, .. } => match &mesh.device_ids {
            Some(DeviceOrder::List(list)) => {
                check_devices(cx, list.iter().copied(), count);
                i64::try_from(list.len()).ok()
            }
            Some(DeviceOrder::Iota(order)) => order.count(),
            None => Some(count),
        },
    };
    if listed != Some(count) {
        let listed = listed.map_or("more".to_string(), |n| n.to_string());
        cx.report(cx.error(
            code::GROUP_DEVICES,
            format!("takes groups of {count} devices in all from {listed} devices in `replica_groups`"),
        ));
        return;
    }
    match ids.count(cx) {
        Some(n) if n != count => cx.report(cx.error(
            code::GROUP_COVERAGE,
            format!(
                "has groups of {count} {what} in `replica_groups`, but the module runs on {n} {what}",
                what = ids.text()
            ),
        )),
        _ => {}
    }
}

/// Checks groups whose numbers may be global ones.
pub(super) fn check_global_groups(
    cx: &Context<'_>,
    groups: &ReplicaGroups,
    channel: Option<i64>,
    global: bool,
) {
    if global && channel.is_none() {
        cx.report(cx.error(code::GLOBAL_CHANNEL, "has use_global_device_ids=true without a `channel_id`"));
    }
    if global && groups.is_empty() {
        cx.report(cx.error(code::GLOBAL_GROUPS, "has use_global_device_ids=true without `replica_groups`"));
    }
    check_groups(cx, groups, Ids::of_global(global));
}

/// The size of each group, for the opcodes whose result depends on it: what is written, else the number in the
/// header, if there is one.
///
/// # Errors
/// The groups differ in size.
pub(super) fn group_size(
    cx: &Context<'_>,
    groups: &ReplicaGroups,
    ids: Ids,
) -> Result<Option<i64>, Violation> {
    if groups.is_empty() {
        return Ok(ids.count(cx));
    }
    match groups.group_size() {
        Some(size) => Ok(Some(size)),
        None => Err(cx.error(
            code::GROUP_UNIFORM,
            format!("needs groups of one size in `replica_groups`, found {groups}"),
        )),
    }
}

/// Checks who sends to whom.
pub(super) fn check_pairs(cx: &Context<'_>, pairs: &SourceTargetPairs, ids: Ids) {
    let count = ids.count(cx);
    let outside = |d: i64| d < 0 || count.is_some_and(|n| d >= n);
    if let Some(d) = pairs.0.iter().flat_map(|&(s, t)| [s, t]).find(|&d| outside(d)) {
        let range =
            count.map_or("are numbered from 0".to_string(), |n| format!("are numbered 0 to {}", n - 1));
        cx.report(cx.error(
            code::PAIR_DEVICES,
            format!("names {d} in `source_target_pairs`, but {} {range}", ids.text()),
        ));
    }
    let repeated = |part: fn(&(i64, i64)) -> i64| {
        let mut seen = HashSet::new();
        pairs.0.iter().map(part).find(|&d| !seen.insert(d))
    };
    if let Some(d) = repeated(|p| p.0) {
        cx.report(cx.error(code::PAIR_SOURCES, format!("sends from {d} twice in `source_target_pairs`")));
    }
    if let Some(d) = repeated(|p| p.1) {
        cx.report(cx.error(code::PAIR_TARGETS, format!("sends to {d} twice in `source_target_pairs`")));
    }
}
