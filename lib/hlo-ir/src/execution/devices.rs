//! The devices that a program runs on, and which of them exchange data with each other in a collective.
//!
//! A program runs on `replica_count × num_partitions` devices: device `replica × num_partitions + partition`.
//! Replicas are copies of the program that run on different data. The partitions of a replica run one copy
//! together. The meaning of the numbers in a collective's groups depends on its attributes (Operation
//! semantics, "AllReduce"):
//!
//! | `channel_id` | `use_global_device_ids` | the numbers are | a group is |
//! |---|---|---|---|
//! | no | | replicas | these replicas' devices of one partition |
//! | yes | absent from the opcode | partitions | these partitions' devices of one replica |
//! | yes | false | replicas | all devices of these replicas |
//! | yes | true | devices | these devices |
//!
//! If the attribute `mode=` is present, it determines the meaning instead.

use crate::attr::CollectiveMode;
use crate::effects::effect::{Effect, Groups};
use crate::{InstrId, Module, Op, Opcode};
use std::collections::HashMap;
use std::hash::Hash;

/// Maximum number of devices of a program. Each device has a thread and its own memory.
pub const MAX_DEVICES: usize = 1024;

/// The number of devices that a program runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceCounts {
    /// Number of copies of the program.
    pub replicas: usize,
    /// Number of devices that run each copy.
    pub partitions: usize,
}

impl DeviceCounts {
    /// Returns the counts in a module's header; `None` if one of them is less than 1 or there are more than
    /// [`MAX_DEVICES`].
    pub fn of(module: &Module) -> Option<Self> {
        let count = |n: i64| usize::try_from(n).ok().filter(|&n| (1..=MAX_DEVICES).contains(&n));
        let (replicas, partitions) =
            (count(module.header.replica_count.0)?, count(module.header.num_partitions.0)?);
        (replicas * partitions <= MAX_DEVICES).then_some(Self { replicas, partitions })
    }

    /// Returns the number of devices.
    pub fn devices(self) -> usize {
        self.replicas * self.partitions
    }

    /// Returns the device of a replica and a partition.
    pub fn device(self, replica: usize, partition: usize) -> usize {
        replica * self.partitions + partition
    }

    /// Returns the replica of a device.
    pub fn replica(self, device: usize) -> usize {
        device / self.partitions
    }

    /// Returns the partition of a device.
    pub fn partition(self, device: usize) -> usize {
        device % self.partitions
    }
}

/// Returns the meaning of a collective's numbers, according to its attributes.
pub fn collective_mode(op: &Op) -> CollectiveMode {
    let written = match op {
        Op::AllReduce(a) | Op::AllReduceStart(a) => a.mode,
        Op::ReduceScatter(a) => a.mode,
        _ => None,
    };
    written.unwrap_or_else(|| match op.effect() {
        Effect::Groups(Groups { channel, global, .. }) => match (channel, global) {
            (None, _) => CollectiveMode::CrossReplica,
            (Some(_), None) => CollectiveMode::CrossPartition,
            (Some(_), Some(false)) => CollectiveMode::CrossReplicaAndPartition,
            (Some(_), Some(true)) => CollectiveMode::FlattenedId,
        },
        effect if effect.channel().is_some() => CollectiveMode::CrossPartition,
        _ => CollectiveMode::CrossReplica,
    })
}

/// A collective, and the devices that exchange data in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The name in messages: `` `all-reduce` `sum` ``.
    pub name: String,
    /// The participating devices. See [`groups`].
    pub groups: Vec<Vec<usize>>,
    /// The pairs of a permute. See [`pairs`].
    pub pairs: Vec<(usize, usize)>,
    /// The operation that combines values, if their order does not matter. See [`unordered_reduction`].
    pub reduction: Option<(Opcode, bool)>,
}

impl Collective {
    /// Returns the data exchange of an instruction; `None` if it is not a collective.
    ///
    /// # Errors
    /// The errors of [`groups`] and [`pairs`].
    pub fn of(module: &Module, id: InstrId, counts: DeviceCounts) -> Result<Option<Self>, String> {
        let op = &module[id].op;
        let pairs = match op.effect() {
            Effect::Groups(_) => Vec::new(),
            Effect::Pairs { .. } => pairs(module, id, counts)?,
            _ => return Ok(None),
        };
        let groups = groups(module, id, counts)?;
        let name = format!("`{}` `{}`", op.name(), module[id].name);
        Ok(Some(Self { name, groups, pairs, reduction: unordered_reduction(module, id) }))
    }
}

/// Returns the groups of devices that exchange data in a collective, in the order in which their values are
/// combined or concatenated. A device is in at most one group. A device in no group neither sends nor
/// receives data.
///
/// The groups of a permute are the sets of devices that its pairs connect.
///
/// # Errors
/// As a message: a number in a group is not a device of this program, a device occurs twice, or the
/// instruction is not a collective.
pub fn groups(module: &Module, id: InstrId, counts: DeviceCounts) -> Result<Vec<Vec<usize>>, String> {
    let op = &module[id].op;
    let groups = match op.effect() {
        Effect::Groups(g) => written_groups(&g, collective_mode(op), counts)?,
        Effect::Pairs { .. } => connected(&pairs(module, id, counts)?, counts.devices()),
        _ => return Err(format!("`{}` is no collective", op.name())),
    };
    let mut seen = vec![false; counts.devices()];
    for &device in groups.iter().flatten() {
        if std::mem::replace(&mut seen[device], true) {
            return Err(format!("device {device} is in two groups"));
        }
    }
    Ok(groups)
}

/// Returns the groups in the text as lists of devices.
fn written_groups(
    g: &Groups<'_>,
    mode: CollectiveMode,
    counts: DeviceCounts,
) -> Result<Vec<Vec<usize>>, String> {
    use CollectiveMode as Mode;
    let DeviceCounts { replicas, partitions } = counts;
    let (count, what) = match mode {
        Mode::CrossReplica | Mode::CrossReplicaAndPartition => (replicas, "replica"),
        Mode::CrossPartition => (partitions, "partition"),
        Mode::FlattenedId => (counts.devices(), "device"),
    };
    let lists: Vec<Vec<usize>> = if g.groups.is_empty() {
        vec![(0..count).collect()]
    } else {
        let lists = g.groups.expand(MAX_DEVICES)?;
        let number = |n: i64| {
            let number = usize::try_from(n).ok().filter(|&n| n < count);
            number.ok_or_else(|| format!("{what} {n} is not one of the {count} that there are"))
        };
        let list = |list: Vec<i64>| list.into_iter().map(number).collect();
        lists.into_iter().map(list).collect::<Result<_, String>>()?
    };
    Ok(match mode {
        Mode::FlattenedId => lists,
        Mode::CrossReplica => {
            let of = |p: usize| lists.iter().map(move |l| l.iter().map(|&r| counts.device(r, p)).collect());
            (0..partitions).flat_map(of).collect()
        }
        Mode::CrossPartition => {
            let of = |r: usize| lists.iter().map(move |l| l.iter().map(|&p| counts.device(r, p)).collect());
            (0..replicas).flat_map(of).collect()
        }
        Mode::CrossReplicaAndPartition => {
            let all = |&r: &usize| (0..partitions).map(move |p| counts.device(r, p));
            lists.iter().map(|l| l.iter().flat_map(all).collect()).collect()
        }
    })
}

/// Returns the pairs of a source and a target device of a permute. If the permute transfers slices, a device
/// may occur several times.
///
/// # Errors
/// As a message: a number in a pair is not a device of this program, or the instruction is not a permute.
pub fn pairs(module: &Module, id: InstrId, counts: DeviceCounts) -> Result<Vec<(usize, usize)>, String> {
    let op = &module[id].op;
    let Effect::Pairs { pairs, .. } = op.effect() else {
        return Err(format!("`{}` is no permute", op.name()));
    };
    let DeviceCounts { replicas, partitions } = counts;
    let by_partition = collective_mode(op) == CollectiveMode::CrossPartition;
    let (count, others, what) =
        if by_partition { (partitions, replicas, "partition") } else { (replicas, partitions, "replica") };
    let number = |n: i64| {
        let number = usize::try_from(n).ok().filter(|&n| n < count);
        number.ok_or_else(|| format!("{what} {n} is not one of the {count} that there are"))
    };
    let pair = |&(source, target): &(i64, i64)| Ok((number(source)?, number(target)?));
    let pairs = pairs.iter().map(pair).collect::<Result<Vec<_>, String>>()?;
    let device =
        |n: usize, other: usize| if by_partition { counts.device(other, n) } else { counts.device(n, other) };
    let of = |other: usize| pairs.iter().map(move |&(s, t)| (device(s, other), device(t, other)));
    Ok((0..others).flat_map(of).collect())
}

/// Returns the pairs of one slice in a permute of slices. If no device is the source of two pairs, all pairs
/// apply to each slice. Otherwise, the first pair of a source applies to the first slice, its second pair to
/// the second, and so on.
pub fn pairs_of_slice<T: Copy + Eq + Hash>(pairs: &[(T, T)], slice: usize) -> Vec<(T, T)> {
    let mut times: HashMap<T, usize> = HashMap::new();
    let numbered: Vec<(usize, (T, T))> = pairs
        .iter()
        .map(|&pair| {
            let before = times.entry(pair.0).or_default();
            *before += 1;
            (*before - 1, pair)
        })
        .collect();
    let once = numbered.iter().all(|&(n, _)| n == 0);
    numbered.into_iter().filter(|&(n, _)| once || n == slice).map(|(_, pair)| pair).collect()
}

/// Returns the operation of an `all-reduce` whose result has the same bits in any order of the devices, and
/// whether its integers are signed. The operation is an `add`, `multiply`, `minimum`, `maximum`, `and`, `or`
/// or `xor` of two scalars of an integer type or `pred`. Returns `None` for all other instructions.
pub fn unordered_reduction(module: &Module, id: InstrId) -> Option<(Opcode, bool)> {
    let (Op::AllReduce(attrs) | Op::AllReduceStart(attrs)) = &module[id].op else { return None };
    let computation = &module[attrs.to_apply];
    let root = &module[computation.root()];
    let ty = root.shape.as_array()?.element_type;
    let parameters = module.parameters(attrs.to_apply);
    let is_of_both = match (&parameters[..], root.operands.as_slice()) {
        ([a, b], [x, y]) => (x, y) == (a, b) || (x, y) == (b, a),
        _ => false,
    };
    let is_of = |&id: &InstrId| module[id].shape.as_array().is_some_and(|a| a.element_type == ty);
    let is_alike = parameters.iter().chain(&module[id].operands).all(is_of);
    let opcode = root.opcode();
    let is_known = match opcode {
        Opcode::Add | Opcode::Multiply => ty.is_integer(),
        Opcode::Minimum | Opcode::Maximum | Opcode::And | Opcode::Or | Opcode::Xor => {
            ty.is_integer() || ty.is_pred()
        }
        _ => false,
    };
    let is_whole = ty.is_pred() || ty.bit_width() >= 8;
    (is_of_both && is_alike && is_known && is_whole).then(|| (opcode, ty.is_signed_integer()))
}

/// The frontend attribute with the source and target pairs of the sends and receives of a channel.
pub(crate) const TRANSFER_PAIRS: &str = "_xla_send_recv_source_target_pairs";

/// Returns the pairs of a sending and a receiving device of a `send` or `recv` between devices, or of the
/// instruction that finishes it. If its `frontend_attributes` contain no pairs, each device transfers to
/// itself.
///
/// The numbers are those of partitions. In a program with one partition, they are those of replicas.
///
/// # Errors
/// As a message: the pairs cannot be parsed, a number is not a device of this program, or a sender or
/// receiver occurs twice.
pub fn transfer_pairs(
    module: &Module,
    id: InstrId,
    counts: DeviceCounts,
) -> Result<Vec<(usize, usize)>, String> {
    let noted = |id: InstrId| module[id].common.as_ref()?.frontend_attributes.get(TRANSFER_PAIRS);
    let started = match module[id].op {
        Op::SendDone(_) | Op::RecvDone(_) => module[id].operands.first().copied(),
        _ => None,
    };
    let Some(text) = noted(id).or_else(|| started.and_then(noted)) else {
        return Ok((0..counts.devices()).map(|d| (d, d)).collect());
    };
    let unreadable =
        || format!("`{TRANSFER_PAIRS}` is read as `{{{{0,1}},{{1,2}}}}`, found `{}`", text.to_text());
    let pairs = read_pairs(&text.to_text()).ok_or_else(unreadable)?;
    let by_partition = counts.partitions > 1;
    let (count, others) =
        if by_partition { (counts.partitions, counts.replicas) } else { (counts.replicas, 1) };
    let (mut senders, mut receivers) = (vec![false; count], vec![false; count]);
    for &(source, target) in &pairs {
        for (n, seen) in [(source, &mut senders), (target, &mut receivers)] {
            let Some(seen) = seen.get_mut(n) else {
                return Err(format!("`{TRANSFER_PAIRS}` names device {n} of {count}"));
            };
            if std::mem::replace(seen, true) {
                return Err(format!("`{TRANSFER_PAIRS}` names device {n} twice on one side"));
            }
        }
    }
    let device = |n: usize, other: usize| if by_partition { counts.device(other, n) } else { n };
    let of = |other: usize| pairs.iter().map(move |&(s, t)| (device(s, other), device(t, other)));
    Ok((0..others).flat_map(of).collect())
}

/// Reads pairs of devices: `{{0,1},{1,2}}`.
pub(crate) fn read_pairs(text: &str) -> Option<Vec<(usize, usize)>> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    if inner.is_empty() {
        return Some(Vec::new());
    }
    let pair = |pair: &str| {
        let (source, target) = pair.split_once(',')?;
        Some((source.parse().ok()?, target.parse().ok()?))
    };
    inner.strip_prefix('{')?.strip_suffix('}')?.split("},{").map(pair).collect()
}

/// Returns the device that `own` sends to, and the device that it receives from. Each device is in at most
/// one pair per side.
pub fn ends(pairs: &[(usize, usize)], own: usize) -> (Option<usize>, Option<usize>) {
    let target = pairs.iter().find(|p| p.0 == own).map(|p| p.1);
    let source = pairs.iter().find(|p| p.1 == own).map(|p| p.0);
    (target, source)
}

/// Returns the sets of devices that pairs connect, each in ascending order.
fn connected(pairs: &[(usize, usize)], devices: usize) -> Vec<Vec<usize>> {
    // A union-find forest: the lowest known companion of each device.
    let mut lowest: Vec<usize> = (0..devices).collect();
    let find = |lowest: &[usize], mut device: usize| {
        while lowest[device] != device {
            device = lowest[device];
        }
        device
    };
    let mut takes_part = vec![false; devices];
    for &(source, target) in pairs {
        let (a, b) = (find(&lowest, source), find(&lowest, target));
        lowest[a.max(b)] = a.min(b);
        takes_part[source] = true;
        takes_part[target] = true;
    }
    let mut groups = vec![Vec::new(); devices];
    for device in (0..devices).filter(|&d| takes_part[d]) {
        groups[find(&lowest, device)].push(device);
    }
    groups.into_iter().filter(|g| !g.is_empty()).collect()
}
