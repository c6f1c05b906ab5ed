//! `ar-crs-combiner`: combines a sum over partitions and a later sum over replicas into one sum over all
//! devices.
//!
//! ```text
//! a = f32[] all-reduce(x), channel_id=1, replica_groups={{0},{1}}, …
//! b = f32[] add(a, c)                                              →    b = f32[] add(x, c / 2)
//! r = f32[] all-reduce(b), replica_groups={{0,1}}, …                    r = f32[] all-reduce(b), channel_id=1, …
//! ```
//!
//! There may be operations between the two sums that commute with a sum and are used once: `bitcast`,
//! `reshape`, `transpose`, conversions between floating-point types or to integers that are no wider, and
//! additions, subtractions and multiplications of floating-point numbers. An added value is divided by the
//! number of partitions. If it is a sum over partitions too, that sum is removed instead.
//!
//! All of these operations must compute the same value on all partitions of a replica:
//!
//! - With `spmd`, all partitions run one program. The shardings, the channels and the uses of the partition
//!   id must imply that the values are equal.
//! - Without it, the module contains the programs of all partitions. All sums of a channel must be followed
//!   by instructions that compute the same.
//!
//! With `spmd`, the pass also changes sums over all replicas of `f32` values that are equal on all
//! partitions. Such a sum becomes a sum over all devices, divided by the number of partitions. This requires
//! at least eight times as many replicas as partitions.
//!
//! These sums stay unchanged: of several arrays, asynchronous ones, with control dependencies, and over
//! groups that leave out a partition.

mod same_value;

use super::replication::Replication;
use hlo_ir::attr::AllReduceAttrs;
use hlo_ir::diag::Diag;
use hlo_ir::{ElementType, InstrId, Module, Op, Opcode};
use hlo_passes::support::device_groups::{MAX_DEVICES, reduction, whole_number};
use hlo_passes::support::effects::control_dependent;
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Preservation, Rewrites};
use same_value::SameValue;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "ar-crs-combiner",
    summary: "merge sums over partitions with later sums over replicas into sums over all devices",
    options: &[
        OptionInfo {
            name: "partitions",
            summary: "number of partitions; 0: the number that the module states",
            default: OptionValue::Count(0),
        },
        OptionInfo {
            name: "spmd",
            summary: "whether all partitions run one program (otherwise the module contains one for each)",
            default: OptionValue::Switch(true),
        },
    ],
    // The same values are added in another order.
    keeps: Preservation::Values,
    example: "\
HloModule ar_crs_combiner, replica_count=2, num_partitions=2

sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  c = f32[4] parameter(1), sharding={replicated}
  a = f32[4] all-reduce(x), channel_id=1, replica_groups={{0},{1}}, to_apply=sum
  b = f32[4] multiply(a, c)
  ROOT r = f32[4] all-reduce(b), replica_groups={{0,1}}, to_apply=sum
}
",
    build: |_, options| {
        let (partitions, spmd) = (options.count("partitions"), options.switch("spmd"));
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| run(module, partitions, spmd, rewrites))
    },
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, partitions: u64, spmd: bool, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let partitions = match partitions {
        0 => module.header.num_partitions.0,
        n => i64::try_from(n).unwrap_or(i64::MAX),
    };
    let found = Sums { module, partitions, pinned: control_dependent(module) }.groups();
    let wanted: Vec<Vec<Chain>> = if spmd {
        let known = Replication::of(module);
        let same = |chain: &Chain| chain.links.iter().all(|&i| known.is_replicated(i));
        found.into_iter().filter(|chains| matches!(&chains[..], [chain] if same(chain))).collect()
    } else {
        let mut known = SameValue::of(module);
        let all = usize::try_from(partitions).unwrap_or(usize::MAX);
        found.into_iter().filter(|c| c.len() == all && known.chains(c)).collect()
    };
    let mut gone = Vec::new();
    for chains in wanted {
        if !rewrites.allowed() {
            break;
        }
        let divisors: Option<Vec<_>> = chains.iter().map(|c| summands(module, c, partitions)).collect();
        let Some(divisors) = divisors else { continue };
        rewrites.made("combine", &module[chains[0].sum].name);
        for (chain, summands) in chains.iter().zip(divisors) {
            gone.extend(combine(module, chain, summands, partitions));
        }
    }
    module.remove_all(&gone);
    let mut changed = !gone.is_empty();
    if spmd {
        changed |= widen(module, partitions, rewrites);
    }
    Ok(changed)
}

/// A sum over partitions, the instructions that follow it, and the sum over replicas at the end.
struct Chain {
    sum: InstrId,
    /// The users from the sum over partitions on, each the only user of the one before. The last is the sum
    /// over replicas.
    links: Vec<InstrId>,
}

impl Chain {
    /// Returns the sum over replicas.
    fn end(&self) -> Option<InstrId> {
        self.links.last().copied()
    }
}

/// Finds the sums of a module.
struct Sums<'m> {
    module: &'m Module,
    partitions: i64,
    pinned: HashSet<InstrId>,
}

impl Sums<'_> {
    /// Returns the chains by the channel of their first sum. If several chains end in the same sum over
    /// replicas, only the longest is returned, because it contains the others.
    fn groups(&self) -> Vec<Vec<Chain>> {
        let mut by_channel: BTreeMap<i64, Vec<Chain>> = BTreeMap::new();
        let mut by_end: HashMap<InstrId, (i64, usize)> = HashMap::new();
        let mut shorter = HashSet::new();
        for c in self.module.computations() {
            for id in self.module.post_order(c) {
                let Some((channel, chain)) = self.chain(id) else { continue };
                let (Some(end), length) = (chain.end(), chain.links.len()) else { continue };
                if let Some(&(other, of_other)) = by_end.get(&end)
                    && other != channel
                {
                    shorter.insert(if of_other < length { other } else { channel });
                    if length <= of_other {
                        continue;
                    }
                }
                by_end.insert(end, (channel, length));
                by_channel.entry(channel).or_default().push(chain);
            }
        }
        let alike = |chains: &[Chain]| chains.windows(2).all(|c| c[0].links.len() == c[1].links.len());
        let kept = by_channel.into_iter().filter(|(channel, c)| !shorter.contains(channel) && alike(c));
        kept.map(|(_, chains)| chains).collect()
    }

    /// Returns the chain that begins at an instruction, and the channel id.
    fn chain(&self, id: InstrId) -> Option<(i64, Chain)> {
        let channel = partition_sum(self.module, id, self.partitions)?.channel_id?;
        let mut links = Vec::new();
        let mut last = id;
        loop {
            let &[next] = self.module.users(last) else { return None };
            if self.pinned.contains(&last) || self.module.is_root(last) {
                return None;
            }
            links.push(next);
            if is_replica_sum(self.module, next) {
                let stays = self.pinned.contains(&next);
                return (!stays).then_some((channel, Chain { sum: id, links }));
            }
            if !commutes(self.module, next, last) {
                return None;
            }
            last = next;
        }
    }
}

/// Returns the attributes of a sum of one array.
fn sum(module: &Module, id: InstrId) -> Option<&AllReduceAttrs> {
    let Op::AllReduce(a) = &module[id].op else { return None };
    let one = module[id].operands.len() == 1 && module[id].shape.as_array().is_some();
    (one && reduction(module, a.to_apply) == Some(Opcode::Add)).then_some(a)
}

/// Returns the attributes of a sum over all partitions of each replica.
fn partition_sum(module: &Module, id: InstrId, partitions: i64) -> Option<&AllReduceAttrs> {
    let a = sum(module, id).filter(|a| a.channel_id.is_some())?;
    let replicas = module.header.replica_count.0;
    if a.replica_groups.group_count() != Some(replicas) {
        return None;
    }
    if !a.use_global_device_ids {
        // There are as many groups as replicas, so each group contains one replica.
        return (a.replica_groups.group_size() == Some(1)).then_some(a);
    }
    let groups = a.replica_groups.expand(MAX_DEVICES).ok()?;
    let whole = groups.iter().all(|group| {
        let replica = group.first().copied().unwrap_or(0).div_euclid(partitions.max(1));
        let members: HashSet<i64> = group.iter().copied().collect();
        let all = i64::try_from(members.len()) == Ok(partitions) && members.len() == group.len();
        all && members.iter().all(|m| m.div_euclid(partitions.max(1)) == replica)
    });
    whole.then_some(a)
}

/// Returns whether the instruction is a sum over several replicas.
fn is_replica_sum(module: &Module, id: InstrId) -> bool {
    sum(module, id).is_some_and(|a| {
        a.channel_id.is_none() && !a.replica_groups.is_empty() && a.replica_groups.group_size() != Some(1)
    })
}

/// Returns whether the operation can move from a sum to its summands, once an added value is divided.
fn commutes(module: &Module, id: InstrId, operand: InstrId) -> bool {
    let float = |id: InstrId| module[id].shape.as_array().is_some_and(|a| a.element_type.is_float());
    let once = module[id].operands.iter().filter(|&&o| o == operand).count() == 1;
    match &module[id].op {
        Op::Bitcast | Op::Reshape(_) | Op::Transpose(_) => {
            let ty = |id: InstrId| module[id].shape.as_array().map(|a| a.element_type);
            ty(id) == ty(operand)
        }
        Op::Convert => {
            let ty = |id: InstrId| module[id].shape.as_array().map(|a| a.element_type);
            let (Some(to), Some(from)) = (ty(id), ty(operand)) else { return false };
            let wraps = to.is_integer() && from.is_integer() && to.bit_width() <= from.bit_width();
            wraps || to.is_float() && from.is_float()
        }
        Op::Add | Op::Subtract | Op::Multiply => once && float(id),
        _ => false,
    }
}

/// The treatment of a value that a chain adds.
enum Summand {
    /// Remove a sum over partitions.
    Sum(InstrId),
    /// Divide the value by the number of partitions.
    Divided(ElementType),
}

/// Returns the value that each link of a chain adds. Returns `None` if such a value cannot be divided.
fn summands(module: &Module, chain: &Chain, partitions: i64) -> Option<Vec<Option<(InstrId, Summand)>>> {
    let mut before = chain.sum;
    let mut out = Vec::with_capacity(chain.links.len());
    for &link in &chain.links {
        let adds = matches!(module[link].op, Op::Add | Op::Subtract);
        let other = module[link].operands.iter().copied().find(|&o| o != before).filter(|_| adds);
        out.push(match other {
            None => None,
            Some(other) if is_lone_sum(module, other, partitions) => Some((other, Summand::Sum(other))),
            Some(other) => {
                let ty = module[other].shape.as_array()?.element_type;
                whole_number(ty, partitions)?;
                Some((other, Summand::Divided(ty)))
            }
        });
        before = link;
    }
    Some(out)
}

/// Returns whether the instruction is a sum over partitions with a single user.
fn is_lone_sum(module: &Module, id: InstrId, partitions: i64) -> bool {
    let alone = module.users(id).len() == 1 && !module.is_root(id);
    alone && partition_sum(module, id, partitions).is_some()
}

/// Removes the sum over partitions and extends the sum over replicas to all devices. Returns the instructions
/// to remove.
fn combine(
    module: &mut Module,
    chain: &Chain,
    summands: Vec<Option<(InstrId, Summand)>>,
    partitions: i64,
) -> Vec<InstrId> {
    let channel = sum(module, chain.sum).and_then(|a| a.channel_id);
    let mut gone = vec![chain.sum];
    for (&link, summand) in chain.links.iter().zip(summands) {
        match summand {
            Some((other, Summand::Sum(sum))) => {
                let operand = module[sum].operands[0];
                module.replace_operands(link, other, operand);
                gone.push(sum);
            }
            Some((other, Summand::Divided(ty))) => {
                if let Some(divided) = divided(module, other, ty, partitions) {
                    module.replace_operands(link, other, divided);
                }
            }
            None => {}
        }
    }
    let operand = module[chain.sum].operands[0];
    module.replace_all_uses_with(chain.sum, operand);
    if let Some(end) = chain.end()
        && let Op::AllReduce(a) = module.op_mut(end)
    {
        a.channel_id = channel;
    }
    gone
}

/// Divides a value by a number.
fn divided(module: &mut Module, id: InstrId, ty: ElementType, by: i64) -> Option<InstrId> {
    let literal = whole_number(ty, by)?;
    let shape = module[id].shape.clone();
    let divisor = hlo_passes::support::device_groups::filled(module, id, &shape, literal);
    let new = module.add_like(id, shape, Op::Divide, [id, divisor]);
    Some(new)
}

/// Minimum ratio of replicas to partitions for [`widen`].
const MIN_REPLICA_RATIO: i64 = 8;

/// Replaces sums over all replicas of values that are equal on all partitions by sums over all devices.
/// Returns whether there are any.
fn widen(module: &mut Module, partitions: i64, rewrites: &mut Rewrites) -> bool {
    let replicas = module.header.replica_count.0;
    if replicas <= 1 || replicas < partitions.saturating_mul(MIN_REPLICA_RATIO) {
        return false;
    }
    let known = Replication::of(module);
    let pinned = control_dependent(module);
    let wanted = |&id: &InstrId| {
        let all = sum(module, id).is_some_and(|a| {
            a.channel_id.is_none() && a.replica_groups.group_count().is_some_and(|n| n <= 1)
        });
        let ty = module[id].shape.as_array().map(|a| a.element_type);
        all && ty == Some(ElementType::F32) && known.is_replicated(id) && !pinned.contains(&id)
    };
    let found: Vec<InstrId> =
        module.computations().flat_map(|c| module.post_order(c)).filter(wanted).collect();
    let mut channel = next_channel(module);
    let mut changed = false;
    for id in found {
        let (true, Some(next)) = (rewrites.allowed(), channel) else { break };
        let Some(whole) = divided(module, id, ElementType::F32, partitions) else { continue };
        rewrites.made("widen", &module[id].name);
        if let Op::AllReduce(a) = module.op_mut(id) {
            a.channel_id = Some(next);
        }
        // The division is itself a user. It keeps its operand.
        module.replace_all_uses_with(id, whole);
        channel = next.checked_add(1);
        changed = true;
    }
    changed
}

/// Returns an unused channel id.
fn next_channel(module: &Module) -> Option<i64> {
    let all = module.computations().flat_map(|c| module[c].instructions());
    let largest = all.filter_map(|&i| module[i].op.effect().channel()).max().unwrap_or(0);
    largest.max(0).checked_add(1)
}
