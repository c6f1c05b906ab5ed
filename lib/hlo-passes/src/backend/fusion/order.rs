//! The order in which kernels can run. The order contains the clusters and the instructions outside clusters.
//! Each comes after its operands, and the order is updated as clusters grow.
//!
//! Two nodes may be merged if no path leads from one to the other through a third. Only the nodes between
//! them in the order can be on such a path, so the search visits no others. It then reassigns the positions
//! of the nodes found (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs",
//! 2006).

use super::clusters::{ClusterId, Clusters};
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::{HashMap, HashSet};

/// A unit that runs as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// A cluster.
    Cluster(ClusterId),
    /// An instruction outside all clusters.
    Instruction(InstrId),
}

/// Whether the later of two nodes may read a result of the earlier one directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DirectRead {
    Allowed,
    Refused,
}

/// The direction of a search.
#[derive(Clone, Copy)]
enum SearchDirection {
    Users,
    Operands,
}

/// Maximum number of edges that a search visits. If there are more, the nodes are not merged.
const MAX_SEARCH_EDGES: usize = 4096;

/// The positions of all nodes of a computation.
#[derive(Debug)]
pub(super) struct Order {
    /// The position of each instruction, by instruction index.
    instructions: Vec<u32>,
    clusters: Vec<u32>,
    /// The control successors of each instruction.
    control: HashMap<InstrId, Vec<InstrId>>,
}

impl Order {
    /// Creates the order of a computation without clusters. `order` lists its instructions with operands
    /// before users.
    pub(super) fn new(module: &Module, computation: ComputationId, order: &[InstrId]) -> Self {
        let mut instructions = vec![0; module.instruction_capacity()];
        for (place, i) in (0u32..).zip(order) {
            instructions[i.index()] = place;
        }
        let mut control: HashMap<InstrId, Vec<InstrId>> = HashMap::new();
        for &i in module[computation].instructions() {
            for &before in module[i].control_predecessors() {
                control.entry(before).or_default().push(i);
            }
        }
        Self { instructions, clusters: Vec::new(), control }
    }

    /// Gives the next cluster the position of this instruction.
    pub(super) fn start_cluster(&mut self, id: InstrId) {
        self.clusters.push(self.place(Node::Instruction(id)));
    }

    fn place(&self, node: Node) -> u32 {
        let found = match node {
            Node::Cluster(c) => self.clusters.get(c as usize),
            Node::Instruction(i) => self.instructions.get(i.index()),
        };
        found.copied().unwrap_or(u32::MAX)
    }

    fn set_place(&mut self, node: Node, place: u32) {
        let slot = match node {
            Node::Cluster(c) => self.clusters.get_mut(c as usize),
            Node::Instruction(i) => self.instructions.get_mut(i.index()),
        };
        if let Some(slot) = slot {
            *slot = place;
        }
    }

    /// Merges `other` into `cluster` in the order. Returns false and changes nothing if another node would
    /// have to run both before and after the merged node.
    pub(super) fn unite(
        &mut self,
        clusters: &Clusters<'_>,
        cluster: ClusterId,
        other: Node,
        direct: DirectRead,
    ) -> bool {
        let cluster = Node::Cluster(cluster);
        let (first, last) =
            if self.place(cluster) < self.place(other) { (cluster, other) } else { (other, cluster) };
        let Some(after) = self.between(clusters, first, last, SearchDirection::Users, direct) else {
            return false;
        };
        let Some(before) = self.between(clusters, last, first, SearchDirection::Operands, direct) else {
            return false;
        };
        let mut places: Vec<u32> =
            before.iter().chain(&after).chain([&first, &last]).map(|&n| self.place(n)).collect();
        places.sort_unstable();
        // There is one position more than there are nodes. It stays unused.
        let both = places.get(before.len()).copied();
        for (node, place) in before.iter().zip(&places).chain(after.iter().rev().zip(places.iter().rev())) {
            self.set_place(*node, *place);
        }
        if let Some(place) = both {
            self.set_place(cluster, place);
        }
        true
    }

    /// Returns the nodes that are reachable from `from` and positioned between `from` and `to`, sorted by
    /// position. Returns `None` if one of them leads to `to`, or if the search exceeds its limit.
    fn between(
        &self,
        clusters: &Clusters<'_>,
        from: Node,
        to: Node,
        towards: SearchDirection,
        direct: DirectRead,
    ) -> Option<Vec<Node>> {
        let ends = [self.place(from), self.place(to)];
        let inside = |n: Node| (ends[0].min(ends[1])..ends[0].max(ends[1])).contains(&self.place(n));
        let mut seen: HashSet<Node> = HashSet::new();
        let mut stack = vec![from];
        let mut edges = Vec::new();
        let mut searched = 0;
        while let Some(node) = stack.pop() {
            edges.clear();
            match towards {
                SearchDirection::Users => self.users_of_node(clusters, node, &mut edges),
                SearchDirection::Operands => operands_of_node(clusters, node, &mut edges),
            }
            searched += edges.len();
            if searched > MAX_SEARCH_EDGES {
                return None;
            }
            for &next in &edges {
                if next == to {
                    if node == from && direct == DirectRead::Allowed {
                        continue;
                    }
                    return None;
                }
                if next != from && inside(next) && seen.insert(next) {
                    stack.push(next);
                }
            }
        }
        let mut out: Vec<Node> = seen.into_iter().collect();
        out.sort_unstable_by_key(|&n| self.place(n));
        Some(out)
    }

    /// Collects the nodes that read a result of a node or have a control dependency on it.
    fn users_of_node(&self, clusters: &Clusters<'_>, node: Node, out: &mut Vec<Node>) {
        let one;
        let results: &[InstrId] = match node {
            Node::Cluster(c) => clusters.get(c).map_or(&[], |c| &c.roots),
            Node::Instruction(i) => {
                one = [i];
                &one
            }
        };
        for r in results {
            let waiting = self.control.get(r).map_or(&[][..], |w| w.as_slice());
            for &user in clusters.module().users(*r).iter().chain(waiting) {
                match clusters.computing(user) {
                    [] => out.push(Node::Instruction(user)),
                    inside => out.extend(inside.iter().map(|&c| Node::Cluster(c)).filter(|&n| n != node)),
                }
                if out.len() > MAX_SEARCH_EDGES {
                    return;
                }
            }
        }
    }
}

/// Collects the nodes whose results a node reads or on which it has a control dependency.
fn operands_of_node(clusters: &Clusters<'_>, node: Node, out: &mut Vec<Node>) {
    let mut add = |o: InstrId| match clusters.with_root(o) {
        // A stored value is read, even if it could also be recomputed.
        Some(c) if node != Node::Cluster(c) => out.push(Node::Cluster(c)),
        None if clusters.computing(o).is_empty() => out.push(Node::Instruction(o)),
        // The node computes the value itself.
        _ => {}
    };
    match node {
        Node::Cluster(c) => {
            for &member in clusters.get(c).map_or(&[][..], |c| &c.members) {
                clusters.module()[member].operands.iter().for_each(|&o| add(o));
            }
        }
        Node::Instruction(i) => {
            clusters.module()[i]
                .operands
                .iter()
                .chain(clusters.module()[i].control_predecessors())
                .for_each(|&o| add(o));
        }
    }
}
