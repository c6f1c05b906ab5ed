//! Side effects: which instructions do more than compute their results, and the order in which a computation's
//! effects happen. Passes ask what must stay though nothing uses it, execution asks what must run, and when.

pub mod effect;

use crate::effects::effect::Effect;
use crate::{ComputationId, InstrId, Module, Op};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

/// The effects of a module's instructions; each computation is looked at once and remembered. Adding computations
/// or effects afterwards makes it stale.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    computations: HashMap<ComputationId, Summary>,
}

/// What a computation, or an instruction with what it calls, does.
#[derive(Clone, Debug, Default)]
struct Summary {
    any: bool,
    infeeds: bool,
    /// The channels of its sends.
    sends: Channels,
    /// The channels that it waits for.
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

/// A channel of transfers within the program; without a number, those that have none.
type Channel = Option<i64>;

/// A set of channels.
#[derive(Clone, Debug, Default)]
struct Channels {
    ids: BTreeSet<Channel>,
    /// True for all channels: the sets of callers stay small.
    all: bool,
}

impl Channels {
    /// A set with more channels counts as all of them.
    const MAX: usize = 64;

    fn is_empty(&self) -> bool {
        self.ids.is_empty() && !self.all
    }

    fn contains(&self, channel: &Channel) -> bool {
        self.all || self.ids.contains(channel)
    }

    fn add(&mut self, other: &Channels) {
        self.ids.extend(&other.ids);
        self.all |= other.all || self.ids.len() > Self::MAX;
        if self.all {
            self.ids.clear();
        }
    }
}

impl Effects {
    /// Looks through the whole module.
    pub fn of(module: &Module) -> Self {
        let mut effects = Self::default();
        for c in module.computations_post_order() {
            effects.summarize(module, c);
        }
        effects
    }

    /// Looks through a computation and what it calls, but for what is known already.
    pub fn reach(&mut self, module: &Module, computation: ComputationId) {
        let mut open = BTreeSet::new();
        let mut stack = vec![computation];
        while let Some(&at) = stack.last() {
            if self.computations.contains_key(&at) {
                stack.pop();
                continue;
            }
            let callees = module[at].instructions().iter().flat_map(|&i| module[i].op.called_computations());
            let new: Vec<ComputationId> = match open.insert(at) {
                // What is open already calls itself, which the verifier reports.
                true => callees.filter(|c| !self.computations.contains_key(c) && !open.contains(c)).collect(),
                false => Vec::new(),
            };
            if new.is_empty() {
                self.summarize(module, at);
                stack.pop();
            }
            stack.extend(new);
        }
    }

    /// Sums up a computation whose callees are known.
    fn summarize(&mut self, module: &Module, computation: ComputationId) {
        let mut sum = Summary::default();
        for &i in module[computation].instructions() {
            if let Some(own) = self.summary(module, i) {
                sum.add(&own);
            }
        }
        self.computations.insert(computation, sum);
    }

    /// What an instruction does, with what it calls; `None` for nothing.
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
                // Callees come first; a computation that is not known calls itself: leave it alone.
                None => sum.any = true,
            }
        }
        sum.any.then_some(sum)
    }

    /// True if the instruction, or what it calls, does more than compute its result.
    pub fn has(&self, module: &Module, id: InstrId) -> bool {
        module[id].op.has_side_effect() || module[id].op.called_computations().iter().any(|&c| self.any(c))
    }

    /// True if some instruction of the computation has an effect.
    pub fn any(&self, computation: ComputationId) -> bool {
        self.computations.get(&computation).is_none_or(|c| c.any)
    }

    /// True if the instruction, or what it calls, reads the infeed.
    pub fn infeeds(&self, module: &Module, id: InstrId) -> bool {
        let callees = module[id].op.called_computations();
        matches!(module[id].op, Op::Infeed(_))
            || callees.iter().any(|c| self.computations.get(c).is_some_and(|c| c.infeeds))
    }

    /// The order in which a computation's instructions run one after the other: the schedule if there is one, else
    /// [`Module::post_order`], but that what waits for a transfer within the program waits until nothing else
    /// can run, and that of those waiting one goes first whose transfer was sent.
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

/// A computation's instructions on their way into an order.
struct Queue {
    order: Vec<InstrId>,
    /// What each instruction does, by position.
    does: Vec<Option<Summary>>,
    /// The positions of an instruction's users and control successors.
    after: Vec<Vec<usize>>,
    /// The number of operands and control predecessors that have not run.
    missing: Vec<usize>,
    /// Those that can run and wait for nothing else.
    ready: BinaryHeap<Reverse<usize>>,
    /// Those that can run and wait for a transfer.
    waiting: BTreeSet<usize>,
    /// How many transfers of each channel may be under way.
    sent: HashMap<Channel, u64>,
    all_sent: bool,
}

impl Queue {
    /// A computation called by an instruction may send any number of times.
    const MANY: u64 = 1 << 32;
    /// So many of those waiting are compared.
    const COMPARED: usize = 64;

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
        match self.does[at].as_ref().is_some_and(|d| !d.receives.is_empty()) {
            true => {
                self.waiting.insert(at);
            }
            false => self.ready.push(Reverse(at)),
        }
    }

    /// Takes the first of those waiting whose transfers may be there, else the first.
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
        let found = self.waiting.iter().take(Self::COMPARED).copied().find(|at| there(at));
        let at = found.or_else(|| self.waiting.first().copied())?;
        self.waiting.remove(&at);
        Some(at)
    }

    /// Counts what an instruction sends and receives.
    fn note(&mut self, at: usize) {
        let Some(does) = &self.does[at] else { return };
        // One transfer, unless it is what the instruction calls that sends or receives.
        let own = |c: &Channels, other: &Channels| c.ids.len() == 1 && other.is_empty() && !c.all;
        for channel in &does.sends.ids {
            let n = if own(&does.sends, &does.receives) { 1 } else { Self::MANY };
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

/// Why a `recv-done` never ends for which its channel has nothing.
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

/// Why a `send` never ends that nothing receives.
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
