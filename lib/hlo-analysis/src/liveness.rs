//! Liveness: computes the number of bytes that are live at each point of a computation's order, and the peak.
//!
//! A value is live from the instruction that computes it to the last one that reads it. The result of the
//! computation is live to the end. While an instruction runs, its operands and its result are live. While a
//! computation is called, its temporaries count with their peak. Results that must be copied, such as
//! parameters and constants, are live at the end. While an instruction updates a value in place, the value
//! counts twice, as in XLA's analyses.

use crate::{BufferKind, Buffers, Roles, is_alias};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

/// The positions in an order at which a buffer is live, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The position of the instruction that computes the value.
    pub start: usize,
    /// The position of the last instruction that reads it.
    pub end: usize,
}

/// The liveness of a computation that runs in a given order.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// The instructions, in the order in which they run.
    pub order: Vec<InstrId>,
    /// The buffers of the computation.
    pub buffers: Buffers,
    /// The lifetime of each buffer in [`Buffers::list`]. Parameters and constants are live all the time.
    pub lifetimes: Vec<Lifetime>,
    /// For each position, the bytes of the temporaries that are live while that instruction runs, including
    /// [`Liveness::called`].
    pub live: Vec<u64>,
    /// For each position, the bytes of the temporaries of the computations that the instruction calls.
    pub called: Vec<u64>,
    /// The size of the parameters in bytes.
    pub parameter_bytes: u64,
    /// The size of the constants in bytes.
    pub constant_bytes: u64,
    /// The peak number of bytes, without parameters, constants and the result.
    pub inner_peak: u64,
}

impl Liveness {
    /// Computes the liveness for the given order. `inner` contains the memory that each called computation
    /// needs in addition to parameters, constants and results.
    fn new(
        module: &Module,
        computation: ComputationId,
        order: Vec<InstrId>,
        inner: &HashMap<ComputationId, Inner>,
        roles: &Roles,
    ) -> Self {
        let mut buffers = Buffers::in_order(module, computation, &order, roles);
        let results = buffers.add_results(module, computation, roles);
        let mut lifetimes = lifetimes(module, computation, &buffers, &order);
        let last = order.len().saturating_sub(1);
        lifetimes[results.clone()].fill(Lifetime { start: last, end: last });
        let called: Vec<u64> = order.iter().map(|&i| called_bytes(module, i, inner)).collect();
        let list = buffers.list();
        let total = |kind: BufferKind| {
            list.iter().filter(|b| b.kind == kind).fold(0u64, |n, b| n.saturating_add(b.bytes))
        };
        let temporary = |n: usize| list[n].kind == BufferKind::Temporary;
        let live = sums(&buffers, &lifetimes, &called, temporary);
        let mut result = vec![false; list.len()];
        if module.has_root(computation) {
            buffers.leaves(module[computation].root()).iter().for_each(|&b| result[b] = true);
        }
        result[results].fill(true);
        let inside = sums(&buffers, &lifetimes, &called, |n| temporary(n) && !result[n]);
        Self {
            parameter_bytes: total(BufferKind::Parameter),
            constant_bytes: total(BufferKind::Constant),
            inner_peak: inside.into_iter().max().unwrap_or(0),
            order,
            lifetimes,
            live,
            called,
            buffers,
        }
    }

    /// Returns the maximum number of bytes of temporaries, including the result, that are live at the same
    /// time.
    pub fn peak(&self) -> u64 {
        self.live.iter().copied().max().unwrap_or(0)
    }

    /// Returns the first position at which the peak is reached, or `None` if there are no instructions.
    pub fn peak_position(&self) -> Option<usize> {
        let peak = self.peak();
        self.live.iter().position(|&n| n == peak)
    }

    /// Returns the buffers that are live at a position, including parameters and constants, as positions in
    /// [`Buffers::list`].
    pub fn live_at(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        let at = move |l: &Lifetime| (l.start..=l.end).contains(&position);
        self.lifetimes.iter().enumerate().filter(move |(_, l)| at(l)).map(|(n, _)| n)
    }
}

/// The memory that a computation needs from its caller.
#[derive(Clone, Copy, Debug, Default)]
struct Inner {
    /// The peak without parameters, constants and the result.
    without_result: u64,
    /// The peak without parameters and constants.
    with_result: u64,
}

/// The liveness of every computation of a module whose values have memory.
#[derive(Clone, Debug)]
pub struct ModuleLiveness {
    computations: HashMap<ComputationId, Liveness>,
}

impl ModuleLiveness {
    /// Computes the liveness of each computation in its schedule, or in post-order if it has none. The time
    /// is nearly linear in the size of the module.
    pub fn of(module: &Module) -> Self {
        Self::of_orders(module, &Roles::of(module), |module, c, _| module.post_order(c))
    }

    /// Computes the liveness of each computation in the order that `order` returns. Called computations are
    /// processed first: `order` receives a function that returns the bytes of temporaries that an instruction
    /// needs for the computations it calls.
    pub fn of_orders(
        module: &Module,
        roles: &Roles,
        mut order: impl FnMut(&Module, ComputationId, &dyn Fn(InstrId) -> u64) -> Vec<InstrId>,
    ) -> Self {
        let mut inner = HashMap::new();
        let mut computations = HashMap::new();
        for &c in roles.order.iter().filter(|&&c| roles.has_memory(c)) {
            let order = order(module, c, &|i| called_bytes(module, i, &inner));
            let liveness = Liveness::new(module, c, order, &inner, roles);
            let needs = Inner { without_result: liveness.inner_peak, with_result: liveness.peak() };
            inner.insert(c, needs);
            computations.insert(c, liveness);
        }
        Self { computations }
    }

    /// Returns the order of each computation.
    pub fn into_orders(self) -> impl Iterator<Item = (ComputationId, Vec<InstrId>)> {
        self.computations.into_iter().map(|(c, liveness)| (c, liveness.order))
    }

    /// Returns the liveness of a computation.
    pub fn get(&self, computation: ComputationId) -> Option<&Liveness> {
        self.computations.get(&computation)
    }
}

/// Returns the bytes of temporaries that an instruction needs for the computations it calls. A conditional
/// needs those of its largest branch. A loop also needs the next state that its body computes. Fused
/// computations and computations that are applied to elements have no memory.
fn called_bytes(module: &Module, id: InstrId, inner: &HashMap<ComputationId, Inner>) -> u64 {
    let needs = |c: ComputationId| inner.get(&c).copied().unwrap_or_default();
    let op = &module[id].op;
    let callees = op.called_computations().into_iter();
    match op {
        Op::While(_) => callees.map(|c| needs(c).with_result).max().unwrap_or(0),
        Op::Call(_) | Op::Conditional(_) | Op::AsyncStart(_) | Op::Scan(_) => {
            callees.map(|c| needs(c).without_result).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// Returns the lifetime of each buffer.
fn lifetimes(
    module: &Module,
    computation: ComputationId,
    buffers: &Buffers,
    order: &[InstrId],
) -> Vec<Lifetime> {
    let last = order.len().saturating_sub(1);
    let position: HashMap<InstrId, usize> = order.iter().enumerate().map(|(at, &i)| (i, at)).collect();
    let all = buffers.list().iter();
    let mut out: Vec<Lifetime> = all
        .map(|b| match b.kind {
            BufferKind::Temporary => {
                let at = position.get(&b.instruction).copied().unwrap_or(0);
                Lifetime { start: at, end: at }
            }
            BufferKind::Parameter | BufferKind::Constant => Lifetime { start: 0, end: last },
        })
        .collect();
    for (at, &i) in order.iter().enumerate() {
        // An alias is not a read. Only the reads through it are.
        if is_alias(module, i) {
            continue;
        }
        for &b in module[i].operands.iter().flat_map(|&o| buffers.leaves(o)) {
            out[b].end = out[b].end.max(at);
        }
    }
    if module.has_root(computation) {
        for &b in buffers.leaves(module[computation].root()) {
            out[b].end = last;
        }
    }
    out
}

/// Returns for each position the bytes of the selected buffers that are live there, plus the bytes that
/// called computations need.
fn sums(
    buffers: &Buffers,
    lifetimes: &[Lifetime],
    called: &[u64],
    wanted: impl Fn(usize) -> bool,
) -> Vec<u64> {
    let mut change = vec![0i128; called.len() + 1];
    for (n, (b, life)) in buffers.list().iter().zip(lifetimes).enumerate() {
        if !wanted(n) || life.end >= called.len() {
            continue;
        }
        change[life.start] += i128::from(b.bytes);
        change[life.end + 1] -= i128::from(b.bytes);
    }
    let mut now = 0i128;
    called
        .iter()
        .zip(change)
        .map(|(&called, change)| {
            now += change;
            u64::try_from(now + i128::from(called)).unwrap_or(u64::MAX)
        })
        .collect()
}
