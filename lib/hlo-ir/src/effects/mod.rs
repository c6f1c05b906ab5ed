//! Side effects: which instructions do more than compute their results, and the order of a computation's
//! effects. Passes use it to keep unused instructions with effects. Engines use it to decide which
//! instructions run, and when.

pub mod effect;

use crate::effects::effect::Effect;
use crate::{ComputationId, InstrId, Module, Op};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// The effects of a module's instructions. Each computation is analyzed once. The data is out of date after
/// computations or effects are added.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    computations: HashMap<ComputationId, Summary>,
}

/// The effects of a computation, or of an instruction including the computations that it calls.
#[derive(Clone, Debug, Default)]
struct Summary {
    any: bool,
    infeeds: bool,
    /// The channels on which it sends.
    sends: Channels,
    /// The channels for which it waits.
    receives: Channels,
}

impl Summary {
    fn add(&mut self, other: &Summary) {
        self.any |= other.any;
        self.infeeds |= other.infeeds;
        self.sends.add(&other.sends);
        self.receives.add(&other.receives);
    }
}

/// A channel of transfers within the program. `None` is the channel of transfers without a number.
type Channel = Option<i64>;

/// A set of channels.
#[derive(Clone, Debug, Default)]
struct Channels {
    ids: BTreeSet<Channel>,
    /// Whether the set contains all channels. This keeps the sets of callers small.
    all: bool,
}

impl Channels {
    /// Larger sets count as all channels.
    const MAX_CHANNELS: usize = 64;

    fn is_empty(&self) -> bool {
        self.ids.is_empty() && !self.all
    }

    fn contains(&self, channel: &Channel) -> bool {
        self.all || self.ids.contains(channel)
    }

    fn add(&mut self, other: &Channels) {
        self.ids.extend(&other.ids);
        self.all |= other.all || self.ids.len() > Self::MAX_CHANNELS;
        if self.all {
            self.ids.clear();
        }
    }
}

impl Effects {
    /// Analyses the whole module.
    pub fn of(module: &Module) -> Self {
        let mut effects = Self::default();
        for c in module.computations_post_order() {
            effects.summarize(module, c);
        }
        effects
    }

    /// Analyses a computation and the computations that it calls, except those already known.
    pub fn reach(&mut self, module: &Module, computation: ComputationId) {
        let mut open = BTreeSet::new();
        let mut stack = vec![computation];
        while let Some(&at) = stack.last() {
            if self.computations.contains_key(&at) {
                stack.pop();
                continue;
            }
            let callees = module[at].instructions().iter().flat_map(|&i| module[i].op.called_computations());
            let new: Vec<ComputationId> = if open.insert(at) {
                // A callee that is already open is recursive, which the verifier reports.
                callees.filter(|c| !self.computations.contains_key(c) && !open.contains(c)).collect()
            } else {
                Vec::new()
            };
            if new.is_empty() {
                self.summarize(module, at);
                stack.pop();
            }
            stack.extend(new);
        }
    }

    /// Combines the effects of a computation whose callees are known.
    fn summarize(&mut self, module: &Module, computation: ComputationId) {
        let mut sum = Summary::default();
        for &i in module[computation].instructions() {
            if let Some(own) = self.summary(module, i) {
                sum.add(&own);
            }
        }
        self.computations.insert(computation, sum);
    }

    /// Returns the effects of an instruction, including the computations that it calls; `None` if there are
    /// none.
    fn summary(&self, module: &Module, id: InstrId) -> Option<Summary> {
        let op = &module[id].op;
        let mut sum = Summary { any: op.has_side_effect(), ..Summary::default() };
        match op {
            Op::Infeed(_) => sum.infeeds = true,
            Op::Send(a) if !a.is_host_transfer => sum.sends.ids.extend([a.channel_id]),
            Op::RecvDone(a) if !a.is_host_transfer => sum.receives.ids.extend([a.channel_id]),
            _ => {}
        }
        for callee in op.called_computations() {
            match self.computations.get(&callee) {
                Some(known) => sum.add(known),
                // Callees are analyzed first. An unknown one is recursive, and is assumed to have effects.
                None => sum.any = true,
            }
        }
        sum.any.then_some(sum)
    }

    /// Returns whether the instruction, or a computation that it calls, does more than compute its result.
    pub fn has(&self, module: &Module, id: InstrId) -> bool {
        module[id].op.has_side_effect() || module[id].op.called_computations().iter().any(|&c| self.any(c))
    }

    /// Returns whether an instruction of the computation has an effect.
    pub fn any(&self, computation: ComputationId) -> bool {
        self.computations.get(&computation).is_none_or(|c| c.any)
    }

    /// Returns whether the instruction, or a computation that it calls, reads the infeed.
    pub fn infeeds(&self, module: &Module, id: InstrId) -> bool {
        let callees = module[id].op.called_computations();
        matches!(module[id].op, Op::Infeed(_))
            || callees.iter().any(|c| self.computations.get(c).is_some_and(|c| c.infeeds))
    }

    /// Returns the order in which a computation's instructions run sequentially. In a scheduled module it is
    /// the schedule. Otherwise it is [`Module::post_order`] with one difference: an instruction that waits
    /// for a transfer within the program runs only when no other instruction can run. Of several waiting
    /// instructions, one whose transfer was sent runs first.
    pub fn order(&self, module: &Module, computation: ComputationId) -> Vec<InstrId> {
        let order = module.post_order(computation);
        if module.header.is_scheduled
            || self.computations.get(&computation).is_none_or(|c| c.receives.is_empty())
        {
            return order;
        }
        Queue::new(self, module, order).run()
    }
}

/// The state of ordering a computation's instructions.
struct Queue {
    order: Vec<InstrId>,
    /// The effects of each instruction, by position.
    does: Vec<Option<Summary>>,
    /// The positions of the users and control successors of each instruction.
    after: Vec<Vec<usize>>,
    /// Number of operands and control predecessors that have not run.
    missing: Vec<usize>,
    /// The instructions that can run and do not wait for a transfer.
    ready: BinaryHeap<Reverse<usize>>,
    /// The instructions that can run and wait for a transfer.
    waiting: BTreeSet<usize>,
    /// Upper bound of the number of transfers on each channel that are sent but not received.
    sent: HashMap<Channel, u64>,
    all_sent: bool,
}

impl Queue {
    /// The number of transfers counted for a called computation, which may send any number of times.
    const UNKNOWN_TRANSFER_COUNT: u64 = 1 << 32;
    /// Maximum number of waiting instructions to compare.
    const MAX_COMPARED_INSTRUCTIONS: usize = 64;

    fn new(effects: &Effects, module: &Module, order: Vec<InstrId>) -> Self {
        let position: HashMap<InstrId, usize> = order.iter().enumerate().map(|(at, &i)| (i, at)).collect();
        let mut queue = Self {
            does: order.iter().map(|&i| effects.summary(module, i)).collect(),
            after: vec![Vec::new(); order.len()],
            missing: vec![0; order.len()],
            ready: BinaryHeap::new(),
            waiting: BTreeSet::new(),
            sent: HashMap::new(),
            all_sent: false,
            order,
        };
        for (at, &i) in queue.order.iter().enumerate() {
            let control = module[i].control_predecessors();
            for before in module[i].operands.iter().chain(control) {
                if let Some(&p) = position.get(before) {
                    queue.after[p].push(at);
                    queue.missing[at] += 1;
                }
            }
        }
        queue
    }

    fn run(mut self) -> Vec<InstrId> {
        (0..self.order.len())
            .filter(|&at| self.missing[at] == 0)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|at| self.can_run(at));
        let mut out = Vec::with_capacity(self.order.len());
        while let Some(at) = self.ready.pop().map(|Reverse(at)| at).or_else(|| self.next_waiting()) {
            out.push(self.order[at]);
            self.note(at);
            for next in std::mem::take(&mut self.after[at]) {
                self.missing[next] -= 1;
                if self.missing[next] == 0 {
                    self.can_run(next);
                }
            }
        }
        out
    }

    fn can_run(&mut self, at: usize) {
        if self.does[at].as_ref().is_some_and(|d| !d.receives.is_empty()) {
            self.waiting.insert(at);
        } else {
            self.ready.push(Reverse(at))
        }
    }

    /// Removes and returns the first waiting instruction whose transfers may have been sent, or else the
    /// first one.
    fn next_waiting(&mut self) -> Option<usize> {
        let there = |at: &usize| match &self.does[*at] {
            Some(d) => {
                let supplied = |c: &Channel| {
                    self.all_sent || d.sends.contains(c) || self.sent.get(c).is_some_and(|&n| n > 0)
                };
                !d.receives.all && d.receives.ids.iter().all(supplied)
            }
            None => true,
        };
        let found = self.waiting.iter().take(Self::MAX_COMPARED_INSTRUCTIONS).copied().find(|at| there(at));
        let at = found.or_else(|| self.waiting.first().copied())?;
        self.waiting.remove(&at);
        Some(at)
    }

    /// Counts the transfers that an instruction sends and receives.
    fn note(&mut self, at: usize) {
        let Some(does) = &self.does[at] else { return };
        // One transfer, unless a called computation sends or receives.
        let own = |c: &Channels, other: &Channels| c.ids.len() == 1 && other.is_empty() && !c.all;
        for channel in &does.sends.ids {
            let n = if own(&does.sends, &does.receives) { 1 } else { Self::UNKNOWN_TRANSFER_COUNT };
            let sent = self.sent.entry(*channel).or_default();
            *sent = sent.saturating_add(n);
        }
        self.all_sent |= does.sends.all;
        for channel in &does.receives.ids {
            if let Some(sent) = self.sent.get_mut(channel).filter(|_| own(&does.receives, &does.sends)) {
                *sent = sent.saturating_sub(1);
            }
        }
    }
}

/// Returns the reason why a `recv-done` never finishes although its channel has no data.
pub fn unsent(module: &Module, recv_done: InstrId) -> String {
    let waits = &module[recv_done];
    let channel = channel_of(&waits.op);
    let senders = module.computations().flat_map(|c| module[c].instructions()).copied();
    let sender = senders
        .into_iter()
        .find(|&i| matches!(&module[i].op, Op::Send(_)) && channel_of(&module[i].op) == channel);
    let reason = match sender {
        Some(s) => format!(
            "`{}` in `{}` sends on it, but has not run, or not as often",
            module[s].name, module[module[s].parent].name
        ),
        None => "nothing sends on it".to_string(),
    };
    let name = channel_name(channel);
    format!("deadlock: `{}` waits for ever on {name}: {reason}", waits.name)
}

/// Returns the reason why a `send` without a receive never finishes.
pub fn unreceived(module: &Module, send: InstrId) -> String {
    let instr = &module[send];
    let name = channel_name(channel_of(&instr.op));
    format!("deadlock: `{}` waits for ever on {name}: nothing receives what it sends", instr.name)
}

fn channel_of(op: &Op) -> Channel {
    match op.effect() {
        Effect::Transfer { channel, .. } => channel,
        _ => None,
    }
}

fn channel_name(channel: Channel) -> String {
    channel.map_or("the channel without a number".to_string(), |c| format!("channel {c}"))
}
