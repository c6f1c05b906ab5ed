//! Checks of the devices that exchange data: replica groups, source and target pairs, channels.

use super::{Verifier, label};
use crate::attr::{DeviceOrder, ReplicaGroups};
use crate::effects::effect::{Effect, Groups};
use crate::ops::{listed_devices, shapes_agree};
use crate::rules::code;
use crate::{InstrId, Op};
use std::collections::{HashMap, HashSet};

/// The number of devices and the plural noun for them; `None` if the header does not specify them.
type Devices = Option<(i64, &'static str)>;

/// Maximum number of devices that one report names.
const MAX_NUMBERS: usize = 8;

/// Formats device numbers, such as `4, 5 and 6 more`.
fn numbers(ids: &[i64]) -> String {
    let shown = ids.len().min(MAX_NUMBERS);
    let mut out = ids[..shown].iter().map(i64::to_string).collect::<Vec<String>>().join(", ");
    if ids.len() > shown {
        out.push_str(&format!(" and {} more", ids.len() - shown));
    }
    out
}

/// Checks that the order from which the groups are taken names each device once. Returns the error message if
/// not.
fn check_order(groups: &ReplicaGroups) -> Result<(), String> {
    match groups {
        ReplicaGroups::Lists(_) => Ok(()),
        ReplicaGroups::Iota { order, .. } => order.check(),
        ReplicaGroups::Mesh { mesh, .. } => mesh.device_ids.as_ref().map_or(Ok(()), DeviceOrder::check),
    }
}

impl Verifier<'_> {
    /// Checks the devices that each collective names.
    pub(super) fn check_devices(&mut self) {
        let module = self.module;
        for c in module.computations() {
            for &i in module[c].instructions() {
                match module[i].op.effect() {
                    Effect::Groups(groups) => self.check_groups(i, &groups),
                    Effect::Pairs { pairs, channel, slices } => {
                        // Like XLA, treats a count of 1 as unspecified: the number of devices may also be
                        // chosen when the module runs.
                        let devices = self.devices(channel, None).filter(|&(n, _)| n != 1);
                        self.check_pairs_of_devices(i, pairs, slices, devices);
                    }
                    Effect::None | Effect::State | Effect::Transfer { .. } | Effect::Asynchronous => {}
                }
            }
        }
    }

    /// Returns the devices that the groups of a collective name: replicas without a channel, partitions with
    /// one, or both if the ids are global. Returns `None` if both counts in the header are 1, because the
    /// devices are not known yet.
    fn devices(&self, channel: Option<i64>, global: Option<bool>) -> Devices {
        let (replicas, partitions) =
            (self.module.header.replica_count.0, self.module.header.num_partitions.0);
        if replicas == 1 && partitions == 1 {
            return None;
        }
        match (channel, global) {
            (Some(_), None) => Some((partitions, "partitions")),
            (Some(_), Some(true)) => Some((replicas.checked_mul(partitions)?, "devices")),
            (None, _) | (Some(_), Some(false)) => Some((replicas, "replicas")),
        }
    }

    fn check_groups(&mut self, i: InstrId, g: &Groups<'_>) {
        if g.global == Some(true) && g.channel.is_none() {
            self.report_attribute(
                code::GLOBAL_IDS,
                i,
                "use_global_device_ids",
                "`use_global_device_ids=true` needs a `channel_id`".to_string(),
            );
            return;
        }
        if g.global == Some(true) && g.groups.is_empty() {
            self.report_attribute(
                code::GLOBAL_GROUPS,
                i,
                "replica_groups",
                "`use_global_device_ids=true` needs `replica_groups`".to_string(),
            );
        }
        if g.uniform && !g.groups.is_empty() && g.groups.group_size().is_none() {
            let sizes = match g.groups {
                ReplicaGroups::Lists(lists) => lists.iter().map(Vec::len).collect::<Vec<usize>>(),
                ReplicaGroups::Iota { .. } | ReplicaGroups::Mesh { .. } => Vec::new(),
            };
            let other = sizes.iter().find(|&&n| Some(&n) != sizes.first());
            if let (Some(first), Some(other)) = (sizes.first(), other) {
                let message = format!(
                    "`{}` needs groups of one size in `replica_groups`, found {first} and {other}",
                    self.module[i].op.name()
                );
                self.report_attribute(code::EQUAL_GROUPS, i, "replica_groups", message);
            }
        }
        let devices = self.devices(g.channel, g.global);
        match g.groups {
            ReplicaGroups::Lists(lists) => {
                if let Some(n) = lists.iter().position(Vec::is_empty) {
                    self.report_attribute(
                        code::EMPTY_GROUP,
                        i,
                        "replica_groups",
                        format!("replica group {n} in `replica_groups` has no device"),
                    );
                }
                self.check_device_list(i, lists.iter().flatten().copied(), devices, g.all);
            }
            ReplicaGroups::Mesh { mesh, .. } if matches!(mesh.device_ids, Some(DeviceOrder::List(_))) => {
                let Some(DeviceOrder::List(list)) = &mesh.device_ids else { return };
                self.check_device_list(i, list.iter().copied(), devices, g.all);
            }
            ReplicaGroups::Iota { .. } | ReplicaGroups::Mesh { .. } => {
                if let Err(message) = check_order(g.groups) {
                    let message = format!("in `replica_groups`: {message}");
                    self.report_attribute(code::GROUP_ORDER, i, "replica_groups", message);
                    return;
                }
                // Each device is named once. Another rule reports how many devices are taken from the list.
                if listed_devices(g.groups) == g.groups.device_count()
                    && let (Some(found), Some((n, what))) = (g.groups.device_count(), devices)
                    && (found > n || (g.all && found != n))
                {
                    let message =
                        format!("`replica_groups` names {found} devices, but the module has {n} {what}");
                    self.report_attribute(code::DEVICES_COVERED, i, "replica_groups", message);
                }
            }
        }
    }

    /// Checks that no device is named twice and, if `all` is true, that every device is named.
    fn check_device_list(
        &mut self,
        i: InstrId,
        list: impl Iterator<Item = i64>,
        devices: Devices,
        all: bool,
    ) {
        let mut seen = HashSet::new();
        let (mut twice, mut negative, mut beyond) = (Vec::new(), Vec::new(), Vec::new());
        for id in list {
            if !seen.insert(id) {
                twice.push(id);
            } else if id < 0 {
                negative.push(id);
            } else if devices.is_some_and(|(n, _)| id >= n) {
                beyond.push(id);
            }
        }
        if !twice.is_empty() {
            let message = format!("`replica_groups` names each device once, found {} again", numbers(&twice));
            self.report_attribute(code::DEVICE_REPEATED, i, "replica_groups", message);
        }
        if !negative.is_empty() {
            let message =
                format!("devices in `replica_groups` are numbered from 0, found {}", numbers(&negative));
            self.report_attribute(code::DEVICE_RANGE, i, "replica_groups", message);
        }
        if let Some((n, what)) = devices.filter(|_| !beyond.is_empty()) {
            let message = format!(
                "`replica_groups` names devices 0 to {}, as the module has {n} {what}, found {}",
                n.saturating_sub(1),
                numbers(&beyond)
            );
            self.report_attribute(code::DEVICE_RANGE, i, "replica_groups", message);
        }
        if !all || seen.is_empty() || !(twice.is_empty() && negative.is_empty() && beyond.is_empty()) {
            return;
        }
        let n = devices.map_or(seen.len() as i64, |(n, _)| n);
        if let Some(missing) = (0..n).find(|id| !seen.contains(id)) {
            let message = format!(
                "`replica_groups` needs to name every device from 0 to {}, found no {missing}",
                n.saturating_sub(1)
            );
            self.report_attribute(code::DEVICES_COVERED, i, "replica_groups", message);
        }
    }

    fn check_pairs_of_devices(&mut self, i: InstrId, pairs: &[(i64, i64)], slices: usize, devices: Devices) {
        let (mut sources, mut targets) = (HashMap::new(), HashMap::new());
        let is_new = |seen: &mut HashMap<i64, usize>, id| {
            let times = seen.entry(id).or_default();
            *times += 1;
            *times <= slices
        };
        for &(source, target) in pairs {
            for (id, seen, role) in [(source, &mut sources, "source"), (target, &mut targets, "target")] {
                let bound = devices.filter(|&(n, _)| id >= n);
                let (code, message) = match bound {
                    _ if id < 0 => (
                        code::PAIR_RANGE,
                        format!("devices in `source_target_pairs` are numbered from 0, found {id} as {role}"),
                    ),
                    Some((n, what)) => {
                        let message = format!(
                            "`source_target_pairs` names devices 0 to {}, as the module has {n} {what}, found {id} as {role}",
                            n.saturating_sub(1)
                        );
                        (code::PAIR_RANGE, message)
                    }
                    None if !is_new(seen, id) => {
                        let often =
                            if slices == 1 { "once".into() } else { format!("{slices} times at most") };
                        let message =
                            format!("`source_target_pairs` names each {role} {often}, found {id} again");
                        (code::PAIR_REPEATED, message)
                    }
                    None => continue,
                };
                self.report_attribute(code, i, "source_target_pairs", message);
            }
        }
    }

    /// Checks that all instructions of a channel have the same kind.
    pub(super) fn check_channels(&mut self) {
        let module = self.module;
        let mut first: HashMap<i64, (InstrId, Option<bool>)> = HashMap::new();
        for c in module.computations() {
            for &i in module[c].instructions() {
                let Some((channel, host)) = channel_of(&module[i].op) else { continue };
                let (one, first_host) = *first.entry(channel).or_insert((i, host));
                let (a, b) = (&module[one].op, &module[i].op);
                let (code, message) = match (first_host, host) {
                    (Some(x), Some(y)) if x != y => (
                        code::CHANNEL_HOST,
                        format!("channel {channel} is used for transfers to the host and between devices"),
                    ),
                    (Some(true), Some(true)) if module[one].opcode() == module[i].opcode() => {
                        let differs = |what| {
                            (
                                code::HOST_CHANNEL,
                                format!(
                                    "transfers to or from the host on channel {channel} are alike, but `{}` and `{}` have different {what}",
                                    module[one].name, module[i].name
                                ),
                            )
                        };
                        let attributes =
                            |i: InstrId| module[i].common.as_ref().map(|c| &c.frontend_attributes);
                        if !shapes_agree(&module[one].shape, &module[i].shape) {
                            differs("shapes")
                        } else if attributes(one) != attributes(i) {
                            differs("`frontend_attributes`")
                        } else {
                            continue;
                        }
                    }
                    (Some(_), Some(_)) | (None, None) => continue,
                    (Some(_), None) | (None, Some(_)) => (
                        code::CHANNEL_KIND,
                        format!("channel {channel} is used by `{}` and by `{}`", a.name(), b.name()),
                    ),
                };
                label(
                    self.report_attribute(code, i, "channel_id", message),
                    module.span(one),
                    "the first use of the channel".to_string(),
                );
            }
        }
    }
}

/// Returns the channel of an instruction. For sends and receives, also returns whether the other side is the
/// host.
fn channel_of(op: &Op) -> Option<(i64, Option<bool>)> {
    let effect = op.effect();
    let host = match effect {
        Effect::Transfer { host, .. } => Some(host),
        _ => None,
    };
    Some((effect.channel()?, host))
}
