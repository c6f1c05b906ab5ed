//! Fusion planning: decides which instructions of a computation are fused with which.
//!
//! The planner visits users before the instructions that they use. An instruction joins the cluster that
//! contains all its users, if the cost rule allows it. A small expression is recomputed in several clusters.
//! An instruction needed both in a cluster's loop and elsewhere may become an additional result of that
//! cluster. All other instructions start their own clusters.

use super::cluster::{Cluster, Kind, MAX_OPERATIONS};
use super::clusters::{ClusterId, Clusters};
use super::cost::{Cost, Role, element_count, is_duplicable, is_scalar_constant, role};
use super::order::{DirectRead, Node, Order};
use super::rows;
use hlo_ir::{ComputationId, Dims, InstrId, Module, Op};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// The plan of one computation.
struct Plan<'m> {
    module: &'m Module,
    /// The role of each instruction of this computation, by instruction index.
    roles: Vec<Role>,
    row_values: HashMap<InstrId, Dims>,
    order: Order,
    clusters: Clusters<'m>,
}

/// Maximum number of results of a fusion.
const MAX_ROOTS: usize = 16;
/// Maximum number of clusters that use a value for their merging to be tried.
const MAX_SIBLINGS: usize = 6;
/// Maximum number of loops of the same sizes that are tried as merge targets.
const MAX_MERGE_CANDIDATES: usize = 8;
/// Minimum number of elements of a shared array for merging loops. Merging avoids reading the array twice,
/// which is not worth it for smaller arrays.
const MIN_SHARED_ELEMENTS: u64 = 4096;
/// Maximum number of users of an operand that are searched when deciding whether to recompute a value.
const MAX_READERS: usize = 32;
/// Maximum number of instructions visited to find what an update reads.
const MAX_SEARCH_VISITS: usize = 4096;

/// Finds the clusters of a computation, sorted by their first results. Instructions in `pinned` stay outside.
pub(super) fn plan(
    module: &Module,
    computation: ComputationId,
    pinned: &HashSet<InstrId>,
    multi_output: bool,
) -> Vec<Cluster> {
    let order = module.post_order(computation);
    let mut roles = vec![Role::Never; module.instruction_capacity()];
    for &i in &order {
        if !pinned.contains(&i) {
            roles[i.index()] = role(module, i);
        }
    }
    let mut plan = Plan {
        module,
        row_values: rows::row_values(module, &roles, &order),
        roles,
        order: Order::new(module, computation, &order),
        clusters: Clusters::new(module, order.len()),
    };
    let root = module[computation].root();
    for &i in order.iter().rev() {
        plan.place(i, i == root, multi_output);
    }
    let position: HashMap<InstrId, usize> = order.iter().enumerate().map(|(n, &i)| (i, n)).collect();
    let mut clusters: Vec<Cluster> = plan.clusters.into_remaining();
    for c in &mut clusters {
        c.members.sort_unstable_by_key(|i| position.get(i));
        c.roots.sort_unstable_by_key(|i| position.get(i));
    }
    clusters.sort_by_key(|c| c.roots.first().and_then(|i| position.get(i)).copied());
    clusters
}

impl Plan<'_> {
    /// Computes `id` in every cluster that uses it, as far as the cost rule allows. Returns whether all of
    /// them compute it.
    fn join_all(&mut self, id: InstrId) -> bool {
        let mut uses: Vec<(ClusterId, InstrId)> = Vec::new();
        for &user in self.module.users(id) {
            uses.extend(self.clusters.computing(user).iter().map(|&c| (c, user)));
        }
        uses.sort_by_key(|&(c, _)| c);
        let mut all = true;
        for group in uses.chunk_by(|a, b| a.0 == b.0) {
            let users: Vec<InstrId> = group.iter().map(|&(_, user)| user).collect();
            all &= group.first().is_some_and(|&(c, _)| self.try_join(c, id, &users));
        }
        all
    }

    /// Decides where one instruction is computed. Its users must have been placed.
    fn place(&mut self, id: InstrId, is_root: bool, multi_output: bool) {
        if is_scalar_constant(self.module, id) {
            return; // Every fusion contains its own copy.
        }
        let (mut users, elsewhere) = self.clusters.users(id);
        let needed_outside = is_root || elsewhere;
        if multi_output && self.is_shared_array(id, &users) {
            users = self.merge_all(&users);
        }
        let role = self.roles[id.index()];
        if role == Role::Never {
            return;
        }
        if let ([c], false) = (users.as_slice(), needed_outside)
            && self.try_join(*c, id, &self.clusters.users_in(id, *c))
        {
            return;
        }
        if multi_output && self.try_further_root(&users, needed_outside, id) {
            return;
        }
        let repeated =
            is_duplicable(self.module, &self.roles, id) || !needed_outside && self.adds_no_reads(id, &users);
        let joined = !users.is_empty() && repeated && self.join_all(id);
        if needed_outside || !joined {
            self.start_cluster(id, role);
        }
    }

    /// Checks whether a value is cheap and every cluster that uses it already reads its operands. Recomputing
    /// the value then costs less than reading it, and it needs no memory in between.
    fn adds_no_reads(&self, id: InstrId, users: &[ClusterId]) -> bool {
        let is_read = |&o: &InstrId| {
            let others = self.module.users(o);
            let read_in = |&c: &ClusterId| others.iter().any(|&u| u != id && self.clusters.is_inside(u, c));
            self.module[o].shape.is_scalar() || others.len() <= MAX_READERS && users.iter().all(read_in)
        };
        let is_cheap = matches!(self.roles[id.index()], Role::Elementwise(Cost::Free | Cost::Cheap));
        is_cheap && self.module[id].operands.iter().all(is_read)
    }

    /// Checks whether several loops read a large value, so that merging them would avoid reading it
    /// repeatedly.
    fn is_shared_array(&self, id: InstrId, users: &[ClusterId]) -> bool {
        (2..=MAX_SIBLINGS).contains(&users.len()) && element_count(self.module, id) >= MIN_SHARED_ELEMENTS
    }

    fn start_cluster(&mut self, id: InstrId, role: Role) {
        if role == Role::Update && self.update_reads_updated(id) {
            return; // Without a fusion, the update may be done in place.
        }
        if matches!(self.module[id].op, Op::Reshape(_)) {
            return; // Reshaping a row-major array keeps its bytes, so no loop is needed.
        }
        self.clusters.start(id, role);
        self.order.start_cluster(id);
    }

    /// Checks whether the update's value is computed from the array that it updates. In a fusion, an element
    /// might be overwritten before it is read.
    fn update_reads_updated(&self, id: InstrId) -> bool {
        let &[updated, update, ..] = self.module[id].operands.as_slice() else { return true };
        let mut seen = HashSet::from([update]);
        let mut stack = vec![update];
        while let Some(i) = stack.pop() {
            if i == updated || seen.len() > MAX_SEARCH_VISITS {
                return true;
            }
            if self.roles[i.index()].producer_cost().is_some() {
                stack.extend(self.module[i].operands.iter().copied().filter(|o| seen.insert(*o)));
            }
        }
        false
    }

    /// Adds an instruction to cluster `c` if the cost rule allows it. `users` contains its users in the
    /// cluster.
    fn try_join(&mut self, c: ClusterId, id: InstrId, users: &[InstrId]) -> bool {
        let only_here = |i: InstrId| !self.module.is_root(i);
        let only = |&u: &InstrId| self.clusters.computing(u) == [c];
        let all_users_here = users.len() == self.module.users(id).len() && users.iter().all(only);
        let Some(cluster) = self.clusters.get_mut(c) else { return false };
        if all_users_here && self.row_values.contains_key(&id) {
            rows::turn_to_rows(self.module, &self.roles, &self.row_values, cluster, id, &only_here);
        }
        if matches!(cluster.kind, Kind::Rows(_)) {
            let room = cluster.operations < MAX_OPERATIONS;
            if !room || !rows::joins(self.module, &self.roles, cluster, id, users) {
                return false;
            }
            cluster.join_row(id);
        } else {
            let Some(admission) = cluster.admits(self.module, &self.roles, id, users) else { return false };
            cluster.join(id, admission);
        }
        self.clusters.note_member(c, id);
        true
    }

    /// Tries to make an instruction an additional result of the only loop that uses it, which must need it at
    /// the loop's own index.
    fn try_further_root(&mut self, users: &[ClusterId], needed_outside: bool, id: InstrId) -> bool {
        let users: SmallVec<[ClusterId; 4]> =
            if users.len() > 1 && !needed_outside { self.merge_all(users) } else { users.into() };
        let &[c] = users.as_slice() else { return false };
        let here = self.clusters.users_in(id, c);
        if !needed_outside {
            return self.try_join(c, id, &here);
        }
        let Some(dims) = self.module[id].shape.as_array().map(|a| a.dims.clone()) else { return false };
        let Some(cluster) = self.clusters.get_mut(c) else { return false };
        let fits = cluster.kind == Kind::Loop
            && cluster.dims == dims
            && cluster.roots.len() < MAX_ROOTS
            && element_count(self.module, id) >= MIN_SHARED_ELEMENTS
            && cluster.needs_in_place(self.module, &self.roles, id, &here);
        if !fits {
            return false;
        }
        let Some(admission) = cluster.admits(self.module, &self.roles, id, &here) else { return false };
        // Its other users then have to wait for the cluster.
        if !self.order.unite(&self.clusters, c, Node::Instruction(id), DirectRead::Allowed) {
            return false;
        }
        if let Some(cluster) = self.clusters.get_mut(c) {
            cluster.join(id, admission);
            cluster.roots.push(id);
        }
        self.clusters.note_member(c, id);
        self.clusters.note_root(c, id);
        true
    }

    /// Merges loops over the same sizes that do not depend on each other. Returns the remaining clusters.
    fn merge_all(&mut self, ids: &[ClusterId]) -> SmallVec<[ClusterId; 4]> {
        let mut left: SmallVec<[ClusterId; 4]> = SmallVec::new();
        // The last remaining clusters of each size.
        let mut open: HashMap<Dims, Vec<ClusterId>> = HashMap::new();
        for &c in ids {
            let dims = self.clusters.get(c).map(|c| c.dims.clone()).unwrap_or_default();
            let alike = open.entry(dims).or_default();
            let into = alike.iter().copied().find(|&into| {
                self.may_merge(into, c)
                    && self.order.unite(&self.clusters, into, Node::Cluster(c), DirectRead::Refused)
            });
            match into {
                Some(into) => self.clusters.merge(into, c),
                None => {
                    if alike.len() == MAX_MERGE_CANDIDATES {
                        alike.remove(0);
                    }
                    alike.push(c);
                    left.push(c);
                }
            }
        }
        left
    }

    /// Checks whether two clusters of the same sizes are loops that are small enough together.
    fn may_merge(&self, a: ClusterId, b: ClusterId) -> bool {
        let (Some(ca), Some(cb)) = (self.clusters.get(a), self.clusters.get(b)) else { return false };
        ca.kind == Kind::Loop
            && cb.kind == Kind::Loop
            && ca.roots.len() + cb.roots.len() <= MAX_ROOTS
            && ca.operations + cb.operations <= MAX_OPERATIONS
            && ca
                .dims
                .iter()
                .try_fold(1u64, |n, &d| n.checked_mul(d as u64))
                .is_some_and(|n| n >= MIN_SHARED_ELEMENTS)
    }
}
