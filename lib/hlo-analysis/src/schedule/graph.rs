//! The graph of a computation's instructions that the scheduler works on, and the orders that it tries.

use crate::in_place::updated;
use crate::{BufferKind, Buffers, Roles, is_alias};
use hlo_ir::effects::Effects;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Maximum number of instructions visited in a search for a path between two instructions. If the search is
/// not complete by then, no order between them is requested.
const MAX_SEARCH_VISITS: usize = 2_000;

/// Maximum number of requested orders. Each of them requires a search.
const MAX_REQUESTED_ORDERS: usize = 20_000;

/// A computation's instructions, by their position in an initial order.
pub struct Graph {
    /// The instructions.
    pub nodes: Vec<InstrId>,
    /// The nodes that must run before each node: operands, control predecessors, the previous effect.
    pub before: Vec<Vec<usize>>,
    /// The nodes that must run after each node.
    after: Vec<Vec<usize>>,
    /// The temporaries that each node reads.
    reads: Vec<Vec<usize>>,
    /// The nodes that read each buffer.
    readers: Vec<Vec<usize>>,
    /// The bytes of each buffer.
    bytes: Vec<u64>,
    /// The bytes of the temporaries that each node writes.
    pub made: Vec<u64>,
    /// The part of [`Graph::made`] that nothing reads. It is freed immediately.
    unread: Vec<u64>,
    /// The bytes that each node needs for the computations it calls.
    called: Vec<u64>,
    /// The number of reads of each buffer. Buffers of the result count one more.
    uses: Vec<usize>,
}

impl Graph {
    /// Builds the graph of a computation. `nodes` is the initial order, and `called` returns the bytes that an
    /// instruction needs for the computations it calls.
    pub fn new(
        module: &Module,
        computation: ComputationId,
        nodes: Vec<InstrId>,
        effects: &Effects,
        roles: &Roles,
        called: &dyn Fn(InstrId) -> u64,
    ) -> Self {
        let buffers = Buffers::in_order(module, computation, &nodes, roles);
        let n = nodes.len();
        let position: HashMap<InstrId, usize> = nodes.iter().enumerate().map(|(at, &i)| (i, at)).collect();
        let mut graph = Graph {
            before: vec![Vec::new(); n],
            after: vec![Vec::new(); n],
            reads: vec![Vec::new(); n],
            readers: vec![Vec::new(); buffers.list().len()],
            bytes: buffers.list().iter().map(|b| b.bytes).collect(),
            made: vec![0; n],
            unread: vec![0; n],
            called: nodes.iter().map(|&i| called(i)).collect(),
            uses: vec![0; buffers.list().len()],
            nodes,
        };
        for b in buffers.list().iter().filter(|b| b.kind == BufferKind::Temporary) {
            if let Some(&at) = position.get(&b.instruction) {
                graph.made[at] = graph.made[at].saturating_add(b.bytes);
            }
        }
        let mut last_effect = None;
        for at in 0..n {
            let id = graph.nodes[at];
            let control = module[id].control_predecessors();
            let mut before: Vec<usize> = Vec::new();
            before.extend(module[id].operands.iter().chain(control).filter_map(|p| position.get(p)).copied());
            if effects.has(module, id) {
                before.extend(last_effect.replace(at));
            }
            before.sort_unstable();
            before.dedup();
            before.iter().for_each(|&p| graph.after[p].push(at));
            graph.before[at] = before;
            graph.note_reads(module, &buffers, at);
        }
        graph.ask_for_updates(module, computation, &position);
        if module.has_root(computation) {
            buffers.leaves(module[computation].root()).iter().for_each(|&b| graph.uses[b] += 1);
        }
        for (b, uses) in buffers.list().iter().zip(&graph.uses) {
            if let (0, BufferKind::Temporary, Some(&at)) = (*uses, b.kind, position.get(&b.instruction)) {
                graph.unread[at] = graph.unread[at].saturating_add(b.bytes);
            }
        }
        graph
    }

    /// Records which temporaries a node reads.
    fn note_reads(&mut self, module: &Module, buffers: &Buffers, at: usize) {
        let id = self.nodes[at];
        // An alias is not a read. Only the reads through it are.
        if is_alias(module, id) {
            return;
        }
        let mut reads: Vec<usize> =
            module[id].operands.iter().flat_map(|&o| buffers.leaves(o)).copied().collect();
        reads.retain(|&b| buffers.list()[b].kind == BufferKind::Temporary);
        reads.sort_unstable();
        reads.dedup();
        for &b in &reads {
            self.readers[b].push(at);
            self.uses[b] += 1;
        }
        self.reads[at] = reads;
    }

    /// Orders the other readers of a value before an instruction that may update it in place.
    fn ask_for_updates(
        &mut self,
        module: &Module,
        computation: ComputationId,
        position: &HashMap<InstrId, usize>,
    ) {
        for (reader, writer) in wanted_orders(module, computation, &self.nodes) {
            let (Some(&reader), Some(&writer)) = (position.get(&reader), position.get(&writer)) else {
                continue;
            };
            // Searches the shorter list, because a value may have very many users and a tuple very many
            // operands.
            let known = if self.after[reader].len() < self.before[writer].len() {
                self.after[reader].contains(&writer)
            } else {
                self.before[writer].contains(&reader)
            };
            if !known && !self.reaches(writer, reader) {
                self.after[reader].push(writer);
                self.before[writer].push(reader);
            }
        }
    }

    /// Checks whether `to` must run after `from`. Returns true also if the search takes too long.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = HashSet::from([from]);
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            if at == to || seen.len() > MAX_SEARCH_VISITS {
                return true;
            }
            work.extend(self.after[at].iter().filter(|&&n| seen.insert(n)));
        }
        false
    }

    /// Returns the order with the lowest peak.
    pub(super) fn best(&self) -> Vec<InstrId> {
        let orders = [self.first_order(), self.depth_first(), self.list_schedule()];
        let best = orders.iter().min_by_key(|order| self.peak(order));
        best.map_or(Vec::new(), |order| order.iter().map(|&at| self.nodes[at]).collect())
    }

    /// Returns the initial order, except that nodes with unfinished predecessors are delayed.
    fn first_order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut ready: BinaryHeap<Reverse<usize>> =
            (0..missing.len()).filter(|&at| missing[at] == 0).map(Reverse).collect();
        let mut out = Vec::with_capacity(missing.len());
        while let Some(Reverse(at)) = ready.pop() {
            out.push(at);
            for &next in &self.after[at] {
                missing[next] -= 1;
                ready.extend((missing[next] == 0).then_some(Reverse(next)));
            }
        }
        out
    }

    /// Returns a depth-first order, starting at the nodes without successors. Of several predecessors, the
    /// one with the most bytes in total before it runs first.
    pub fn depth_first(&self) -> Vec<usize> {
        let mut total = vec![0u64; self.nodes.len()];
        for at in 0..self.nodes.len() {
            let before = self.before[at].iter().filter(|&&p| p < at);
            total[at] = before.fold(self.made[at], |sum, &p| sum.saturating_add(total[p]));
        }
        let mut done = vec![false; self.nodes.len()];
        let mut out = Vec::with_capacity(self.nodes.len());
        for start in (0..self.nodes.len()).filter(|&at| self.after[at].is_empty()) {
            let mut stack = vec![(start, false)];
            while let Some((at, ready)) = stack.pop() {
                if done[at] {
                    continue;
                }
                if ready {
                    done[at] = true;
                    out.push(at);
                    continue;
                }
                stack.push((at, true));
                let mut before: Vec<usize> = self.before[at].iter().copied().filter(|&p| !done[p]).collect();
                // The predecessor pushed last runs first.
                before.sort_by_key(|&p| (total[p], Reverse(p)));
                stack.extend(before.into_iter().map(|p| (p, false)));
            }
        }
        out
    }

    /// Returns the order that always runs next the node that frees the most bytes beyond those it needs. The
    /// node with the lowest position wins ties.
    pub fn list_schedule(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut uses = self.uses.clone();
        let mut done = vec![false; self.nodes.len()];
        let gain = |at: usize, uses: &[usize]| -> i128 {
            let freed: i128 =
                self.reads[at].iter().filter(|&&b| uses[b] == 1).map(|&b| i128::from(self.bytes[b])).sum();
            freed - i128::from(self.made[at]) - i128::from(self.called[at])
        };
        let mut ready: BinaryHeap<(i128, Reverse<usize>)> = (0..missing.len())
            .filter(|&at| missing[at] == 0)
            .map(|at| (gain(at, &uses), Reverse(at)))
            .collect();
        let mut out = Vec::with_capacity(self.nodes.len());
        while let Some((_, Reverse(at))) = ready.pop() {
            if std::mem::replace(&mut done[at], true) {
                continue;
            }
            out.push(at);
            for &b in &self.reads[at] {
                uses[b] -= 1;
                // The last remaining reader now frees the buffer.
                if uses[b] == 1
                    && let Some(&last) = self.readers[b].iter().find(|&&r| !done[r])
                    && missing[last] == 0
                {
                    ready.push((gain(last, &uses), Reverse(last)));
                }
            }
            for &next in &self.after[at] {
                missing[next] -= 1;
                if missing[next] == 0 {
                    ready.push((gain(next, &uses), Reverse(next)));
                }
            }
        }
        out
    }

    /// Returns the maximum number of bytes that are live at the same time in an order, or the largest number
    /// if the order is incomplete.
    pub fn peak(&self, order: &[usize]) -> u128 {
        if order.len() != self.nodes.len() {
            return u128::MAX;
        }
        let mut uses = self.uses.clone();
        let (mut now, mut peak) = (0u128, 0u128);
        for &at in order {
            now += u128::from(self.made[at]);
            peak = peak.max(now + u128::from(self.called[at]));
            let mut freed = u128::from(self.unread[at]);
            for &b in &self.reads[at] {
                uses[b] -= 1;
                if uses[b] == 0 {
                    freed += u128::from(self.bytes[b]);
                }
            }
            now = now.saturating_sub(freed);
        }
        peak
    }
}

/// Returns pairs (reader, writer) such that the writer could work in place if the reader ran before it.
/// Readers are the other readers of an updated value and, in loop bodies, the readers of the state's leaf
/// that the writer computes. Returns at most [`MAX_REQUESTED_ORDERS`] pairs.
fn wanted_orders(module: &Module, id: ComputationId, nodes: &[InstrId]) -> Vec<(InstrId, InstrId)> {
    let mut out = Vec::new();
    let elements = elements(module, nodes);
    for &writer in nodes {
        for place in updated(module, writer) {
            let Some(&target) = module[writer].operands.get(place.operand) else { continue };
            if module[target].shape.as_array().is_some() {
                let readers = readers(module, target, &elements).into_iter().filter(|&r| r != writer);
                out.extend(readers.map(|reader| (reader, writer)).take(MAX_REQUESTED_ORDERS - out.len()));
            }
        }
    }
    if !module.has_root(id) {
        return out;
    }
    let root = module[id].root();
    let parameters = module.parameters(id);
    if let (Op::Tuple, [parameter]) = (&module[root].op, &parameters[..])
        && module[*parameter].shape.compatible(&module[root].shape)
    {
        for (k, &writer) in module[root].operands.iter().enumerate() {
            for &element in elements.get(&(*parameter, k as i64)).into_iter().flatten() {
                let readers = module.users(element).iter().filter(|&&r| r != writer && r != root);
                out.extend(readers.map(|&reader| (reader, writer)).take(MAX_REQUESTED_ORDERS - out.len()));
            }
        }
    }
    out
}

/// Returns the `get-tuple-element` instructions of each element of each tuple.
fn elements(module: &Module, nodes: &[InstrId]) -> HashMap<(InstrId, i64), Vec<InstrId>> {
    let mut out: HashMap<(InstrId, i64), Vec<InstrId>> = HashMap::new();
    for &i in nodes {
        if let (Op::GetTupleElement(g), Some(&o)) = (&module[i].op, module[i].operands.first()) {
            out.entry((o, g.index)).or_default().push(i);
        }
    }
    out
}

/// Returns the instructions that read a value, directly or through another `get-tuple-element` of the same
/// element.
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
