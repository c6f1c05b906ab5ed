//! The order in which a computation's instructions run.
//!
//! A scheduled module keeps its order. Otherwise two orders are tried, depth first and a greedy one that prefers
//! what frees memory, and the one with the lower peak wins. In both, what reads a value comes before what may
//! update the value in place, where operands allow it: that is what makes such updates possible.

use crate::plan::in_place::updated_operands;
use hlo_ir::effects::Effects;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The bound on the search for a path between two instructions; without an answer no order is asked for.
const MAX_SEARCH: usize = 2_000;

/// The bound on the orders that are asked for: each takes a search.
const MAX_WANTED: usize = 20_000;

/// The instructions that the root needs and those with effects, operands and control predecessors before their users.
/// The effects keep the order that [`Effects::order`] gives them.
pub fn schedule(module: &Module, id: ComputationId, effects: &Effects) -> Vec<InstrId> {
    let effectful: Vec<InstrId> = match effects.any(id) {
        true => effects.order(module, id).into_iter().filter(|&i| effects.has(module, i)).collect(),
        false => Vec::new(),
    };
    let needed = needed(module, id, &effectful);
    let order: Vec<InstrId> = module.post_order(id).into_iter().filter(|i| needed.contains(i)).collect();
    if module.header.is_scheduled {
        return order;
    }
    let graph = Graph::new(module, id, order, &effectful);
    let depth_first = graph.depth_first();
    let greedy = graph.greedy();
    let order = if graph.peak(&greedy) < graph.peak(&depth_first) { greedy } else { depth_first };
    order.into_iter().map(|i| graph.nodes[i]).collect()
}

/// What the root and the effects need, directly or not.
fn needed(module: &Module, id: ComputationId, effectful: &[InstrId]) -> HashSet<InstrId> {
    let mut work: Vec<InstrId> = effectful.iter().copied().chain([module[id].root()]).collect();
    let mut needed: HashSet<InstrId> = work.iter().copied().collect();
    while let Some(at) = work.pop() {
        let control = module[at].control_predecessors();
        for &o in module[at].operands.iter().chain(control) {
            if needed.insert(o) {
                work.push(o);
            }
        }
    }
    needed
}

/// The instructions of a computation by their position in a first order, with what has to come before what.
struct Graph {
    nodes: Vec<InstrId>,
    /// Operands and control predecessors, and readers of what the node updates in place.
    before: Vec<Vec<usize>>,
    /// The reverse.
    after: Vec<Vec<usize>>,
    /// The nodes whose buffers a node reads.
    reads: Vec<Vec<usize>>,
    /// How often each node's buffer is read.
    readers: Vec<usize>,
    /// The bytes of each node's own buffers.
    bytes: Vec<u64>,
    root: usize,
}

impl Graph {
    fn new(module: &Module, id: ComputationId, nodes: Vec<InstrId>, effectful: &[InstrId]) -> Self {
        let position: HashMap<InstrId, usize> = nodes.iter().enumerate().map(|(i, &n)| (n, i)).collect();
        let n = nodes.len();
        let mut graph = Graph {
            before: vec![Vec::new(); n],
            after: vec![Vec::new(); n],
            reads: vec![Vec::new(); n],
            readers: vec![0; n],
            bytes: nodes.iter().map(|&i| own_bytes(module, i)).collect(),
            root: position.get(&module[id].root()).copied().unwrap_or(0),
            nodes,
        };
        for (at, &i) in graph.nodes.clone().iter().enumerate() {
            let control = module[i].control_predecessors();
            for (k, o) in module[i].operands.iter().chain(control).enumerate() {
                let Some(&p) = position.get(o) else { continue };
                // Operands come before control predecessors, so that an operand's first edge is new.
                if graph.add_edge(p, at) && k < module[i].operands.len() {
                    graph.reads[at].push(p);
                    graph.readers[p] += 1;
                }
            }
        }
        for pair in effectful.windows(2) {
            if let (Some(&first), Some(&second)) = (position.get(&pair[0]), position.get(&pair[1])) {
                graph.add_edge(first, second);
            }
        }
        for (reader, writer) in wanted_orders(module, id, &graph.nodes).into_iter().take(MAX_WANTED) {
            if let (Some(&r), Some(&w)) = (position.get(&reader), position.get(&writer))
                && !graph.reaches(w, r)
            {
                graph.add_edge(r, w);
            }
        }
        graph
    }

    /// False if the edge was there before.
    fn add_edge(&mut self, from: usize, to: usize) -> bool {
        // In the shorter list: a value may have very many users, and a tuple very many operands.
        let known = match self.after[from].len() < self.before[to].len() {
            true => self.after[from].contains(&to),
            false => self.before[to].contains(&from),
        };
        if !known {
            self.after[from].push(to);
            self.before[to].push(from);
        }
        !known
    }

    /// True if `to` has to come after `from`, or if that takes too long to find out.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = HashSet::from([from]);
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            if at == to || seen.len() > MAX_SEARCH {
                return true;
            }
            work.extend(self.after[at].iter().filter(|&&n| seen.insert(n)));
        }
        false
    }

    /// Depth first from the root, then from effects that the root does not need.
    fn depth_first(&self) -> Vec<usize> {
        let mut done = vec![false; self.nodes.len()];
        let mut out = Vec::with_capacity(self.nodes.len());
        for start in std::iter::once(self.root).chain(0..self.nodes.len()) {
            if !done[start] {
                self.depth_first_from(start, &mut done, &mut out);
            }
        }
        out
    }

    fn depth_first_from(&self, start: usize, done: &mut [bool], out: &mut Vec<usize>) {
        let mut stack = vec![(start, 0)];
        while let Some((at, next)) = stack.last_mut() {
            match self.before[*at].get(*next) {
                Some(&p) => {
                    *next += 1;
                    // The length check ends the walk of a cyclic graph, which the verifier refuses.
                    if !done[p] && stack.len() <= self.nodes.len() {
                        stack.push((p, 0));
                    }
                }
                None => {
                    if !std::mem::replace(&mut done[*at], true) {
                        out.push(*at);
                    }
                    stack.pop();
                }
            }
        }
    }

    /// Always runs next what frees most, the first in the list among equals.
    fn greedy(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut readers = self.readers.clone();
        let gain = |at: usize, readers: &[usize]| -> i128 {
            let freed: i128 =
                self.reads[at].iter().filter(|&&o| readers[o] == 1).map(|&o| self.bytes[o] as i128).sum();
            freed - self.bytes[at] as i128
        };
        let mut ready: BinaryHeap<(i128, std::cmp::Reverse<usize>)> = (0..missing.len())
            .filter(|&i| missing[i] == 0)
            .map(|i| (gain(i, &readers), std::cmp::Reverse(i)))
            .collect();
        let mut out = Vec::with_capacity(self.nodes.len());
        while let Some((claimed, std::cmp::Reverse(at))) = ready.pop() {
            // The gain may have grown since: then it goes back in line with its new one.
            let now = gain(at, &readers);
            if now != claimed && ready.peek().is_some_and(|top| *top > (now, std::cmp::Reverse(at))) {
                ready.push((now, std::cmp::Reverse(at)));
                continue;
            }
            out.push(at);
            for &o in &self.reads[at] {
                readers[o] -= 1;
            }
            for &next in &self.after[at] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push((gain(next, &readers), std::cmp::Reverse(next)));
                }
            }
        }
        out
    }

    /// The most bytes alive at a time in an order, aliases and updates in place not considered.
    fn peak(&self, order: &[usize]) -> u128 {
        if order.len() != self.nodes.len() {
            return u128::MAX;
        }
        let mut readers = self.readers.clone();
        let (mut now, mut peak) = (0u128, 0u128);
        for &at in order {
            now += u128::from(self.bytes[at]);
            peak = peak.max(now);
            for &o in &self.reads[at] {
                readers[o] -= 1;
                if readers[o] == 0 {
                    now -= u128::from(self.bytes[o]);
                }
            }
        }
        peak
    }
}

/// The bytes that an instruction needs of its own.
fn own_bytes(module: &Module, id: InstrId) -> u64 {
    use crate::plan::Role;
    match crate::plan::role(module, id) {
        Role::Parameter | Role::Constant | Role::Tuple | Role::Element | Role::Alias | Role::Token => 0,
        Role::Start | Role::Exchange => 0,
        Role::Copy
        | Role::Call
        | Role::Transfer
        | Role::Zero
        | Role::While
        | Role::Conditional
        | Role::Dot
        | Role::Convolution
        | Role::RandomBits
        | Role::Runtime
        | Role::CustomCall
        | Role::Kernel
        | Role::Expanded => module[id].shape.byte_size() as u64,
    }
}

/// Pairs (reader, writer) such that the writer could work in place if the reader came before it: other readers
/// of what is updated, and in loop bodies the readers of the state's leaf that the writer computes.
fn wanted_orders(module: &Module, id: ComputationId, nodes: &[InstrId]) -> Vec<(InstrId, InstrId)> {
    let mut out = Vec::new();
    let elements = elements(module, nodes);
    for &writer in nodes {
        for (operand, _) in updated_operands(module, writer) {
            // Positions of leaves are those of operands if all operands are arrays.
            let Some(&target) = module[writer].operands.get(operand) else { continue };
            if module[target].shape.as_array().is_none() {
                continue;
            }
            for reader in readers(module, target, &elements) {
                if reader != writer {
                    out.push((reader, writer));
                }
            }
        }
    }
    let root = module[id].root();
    let parameters = module.parameters(id);
    if let (Op::Tuple, [parameter]) = (&module[root].op, &parameters[..])
        && module[*parameter].shape.compatible(&module[root].shape)
    {
        for (k, &writer) in module[root].operands.iter().enumerate() {
            for &element in elements.get(&(*parameter, k as i64)).into_iter().flatten() {
                for &reader in module.users(element) {
                    if reader != writer && reader != root {
                        out.push((reader, writer));
                    }
                }
            }
        }
    }
    out
}

/// The `get-tuple-element` instructions of each element.
fn elements(module: &Module, nodes: &[InstrId]) -> HashMap<(InstrId, i64), Vec<InstrId>> {
    let mut out: HashMap<(InstrId, i64), Vec<InstrId>> = HashMap::new();
    for &i in nodes {
        if let (Op::GetTupleElement(g), Some(&o)) = (&module[i].op, module[i].operands.first()) {
            out.entry((o, g.index)).or_default().push(i);
        }
    }
    out
}

/// What reads a value, itself or by another `get-tuple-element` of the same element.
fn readers(
    module: &Module,
    value: InstrId,
    elements: &HashMap<(InstrId, i64), Vec<InstrId>>,
) -> Vec<InstrId> {
    let same = match (&module[value].op, module[value].operands.first()) {
        (Op::GetTupleElement(g), Some(&o)) => elements.get(&(o, g.index)).cloned().unwrap_or_default(),
        _ => vec![value],
    };
    same.into_iter().flat_map(|v| module.users(v).iter().copied()).collect()
}
