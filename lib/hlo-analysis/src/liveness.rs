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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Module {
        hlo_parser::parse_module(text).expect("a module")
    }

    fn entry(text: &str) -> (Module, Liveness) {
        let module = parse(text);
        let all = ModuleLiveness::of(&module);
        let liveness = all.get(module.entry()).expect("the entry").clone();
        (module, liveness)
    }

    #[test]
    fn operands_and_result_are_live_together() {
        let (_, l) = entry(
            "HloModule m, is_scheduled=true
             ENTRY e {
               p = f32[4] parameter(0)
               a = f32[4] negate(p)
               b = f32[8] concatenate(a, a), dimensions={0}
               c = f32[2] constant({1, 2})
               ROOT r = f32[4] slice(b), slice={[0:4]}
             }",
        );
        // In the order p, a, b, c, r: `a` has 16 bytes, `b` 32 and `r` 16.
        assert_eq!(l.live, [0, 16, 48, 32, 48]);
        assert_eq!((l.peak(), l.peak_position()), (48, Some(2)));
        assert_eq!((l.parameter_bytes, l.constant_bytes), (16, 8));
        assert_eq!(l.inner_peak, 48);
    }

    #[test]
    fn a_call_needs_what_is_inside_without_its_result() {
        let (_, l) = entry(
            "HloModule m
             f { p = f32[4] parameter(0)
                 big = f32[4,4] broadcast(p), dimensions={0}
                 t = f32[4,4] tanh(big)
                 z = f32[] constant(0)
                 ROOT r = f32[4] slice(p), slice={[0:4]}
                 }
             ENTRY e {
               p = f32[4] parameter(0)
               ROOT c = f32[4] call(p), to_apply=f
             }",
        );
        assert_eq!(l.called, [0, 128]);
        assert_eq!(l.live, [0, 16 + 128]);
    }

    #[test]
    fn a_loop_needs_its_next_state_beside_the_present_one() {
        let (m, l) = entry(
            "HloModule m
             c { s = (f32[4]) parameter(0)
                 ROOT t = pred[] constant(false) }
             b { s = (f32[4]) parameter(0)
                 x = f32[4] get-tuple-element(s), index=0
                 n = f32[4] negate(x)
                 ROOT r = (f32[4]) tuple(n) }
             ENTRY e {
               p = f32[4] parameter(0)
               n = f32[4] negate(p)
               i = (f32[4]) tuple(n)
               w = (f32[4]) while(i), condition=c, body=b
               ROOT r = f32[4] get-tuple-element(w), index=0
             }",
        );
        let at = l.order.iter().position(|&i| matches!(m[i].op, Op::While(_))).expect("the loop");
        assert_eq!(l.live[at], 32);
        assert_eq!(l.peak(), 32);
    }

    #[test]
    fn huge_sizes_do_not_overflow() {
        let big = "f32[1000000000,1000000000]";
        let text = format!(
            "HloModule m
             ENTRY e {{
               p = f32[] parameter(0)
               a = {big} broadcast(p), dimensions={{}}
               b = {big} negate(a)
               c = {big} add(a, b)
               d = {big} add(b, c)
               e = {big} add(c, d)
               ROOT r = ({big}, {big}, {big}, {big}, {big}) tuple(a, b, c, d, e)
             }}"
        );
        let (_, l) = entry(&text);
        assert_eq!(l.peak(), u64::MAX);
    }
}
