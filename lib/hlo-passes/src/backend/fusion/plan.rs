//! Which instructions of a computation are fused with which.
//!
//! One walk from the users to what they use. An instruction joins the cluster that holds all its users if the
//! cost rule allows; a small one is computed again in several clusters; one that is needed in a cluster's loop
//! and elsewhere may become a further result of that cluster; the others start clusters of their own.

use super::cluster::{Cluster, Kind, MAX_OPERATIONS};
use super::cost::{Role, element_count, is_duplicable, is_scalar_constant, role};
use super::rows;
use crate::support::effects::control_dependent;
use hlo_ir::{ComputationId, Dims, InstrId, Module, Op};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// The number of a cluster.
type ClusterId = u32;

/// The clusters of one computation.
pub(super) struct Plan<'m> {
    module: &'m Module,
    /// By instruction index, for the instructions of this computation.
    roles: Vec<Role>,
    row_values: HashMap<InstrId, Dims>,
    /// The places in the order: operands come first.
    position: HashMap<InstrId, usize>,
    clusters: Vec<Option<Cluster>>,
    /// The clusters that compute an instruction.
    inside: HashMap<InstrId, SmallVec<[ClusterId; 1]>>,
    /// The cluster that an instruction is a result of.
    root_of: HashMap<InstrId, ClusterId>,
}

/// The largest number of results of a fusion.
const MAX_ROOTS: usize = 16;
/// Values that more clusters than this use are not a reason to merge them.
const MAX_SIBLINGS: usize = 6;
/// Merging loops saves reading what both read; of arrays smaller than this (in elements) it is not worth it.
const MIN_SHARED_ELEMENTS: u64 = 4096;
/// How many instructions a search for a path looks at before it gives up, and the merge is not done.
const MAX_SEARCH: usize = 4096;

/// Finds the clusters of a computation, in the order of their first results.
pub(super) fn plan(module: &Module, computation: ComputationId, multi_output: bool) -> Vec<Cluster> {
    let order = module.post_order(computation);
    let pinned = control_dependent(module);
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
        position: order.iter().enumerate().map(|(n, &i)| (i, n)).collect(),
        clusters: Vec::new(),
        inside: HashMap::with_capacity(order.len()),
        root_of: HashMap::new(),
    };
    let root = module[computation].root();
    for &i in order.iter().rev() {
        plan.place(i, i == root, multi_output);
    }
    let position = plan.position;
    let mut clusters: Vec<Cluster> = plan.clusters.into_iter().flatten().collect();
    for c in &mut clusters {
        c.members.sort_unstable_by_key(|i| position.get(i));
        c.roots.sort_unstable_by_key(|i| position.get(i));
    }
    clusters.sort_by_key(|c| c.roots.first().and_then(|i| position.get(i)).copied());
    clusters
}

impl Plan<'_> {
    /// The clusters in which `id` is used, and whether it is used elsewhere too.
    fn users(&self, id: InstrId) -> (SmallVec<[ClusterId; 4]>, bool) {
        let mut clusters: SmallVec<[ClusterId; 4]> = SmallVec::new();
        let mut elsewhere = false;
        for user in self.module.users(id) {
            match self.inside.get(user) {
                Some(of) => {
                    for &c in of {
                        if !clusters.contains(&c) {
                            clusters.push(c);
                        }
                    }
                }
                None => elsewhere = true,
            }
        }
        clusters.sort_unstable();
        (clusters, elsewhere)
    }

    /// Decides on one instruction; its users are decided on.
    fn place(&mut self, id: InstrId, is_root: bool, multi_output: bool) {
        if is_scalar_constant(self.module, id) {
            return; // every fusion holds its own
        }
        let (mut users, elsewhere) = self.users(id);
        let needed_outside = is_root || elsewhere;
        if multi_output && self.is_shared_array(id, &users) {
            users = self.merge_all(&users);
        }
        let role = self.roles[id.index()];
        if role == Role::Never {
            return;
        }
        if let ([c], false) = (users.as_slice(), needed_outside)
            && self.try_join(*c, id)
        {
            return;
        }
        if multi_output && self.try_further_root(&users, needed_outside, id) {
            return;
        }
        let mut stored = needed_outside || users.is_empty();
        let duplicable = is_duplicable(self.module, &self.roles, id);
        for &c in &users {
            stored |= !(duplicable && self.try_join(c, id));
        }
        if stored {
            self.start_cluster(id, role);
        }
    }

    /// True if several loops read a large value, so that one loop for all would save reading it again.
    fn is_shared_array(&self, id: InstrId, users: &[ClusterId]) -> bool {
        (2..=MAX_SIBLINGS).contains(&users.len()) && element_count(self.module, id) >= MIN_SHARED_ELEMENTS
    }

    fn start_cluster(&mut self, id: InstrId, role: Role) {
        if role == Role::Update && self.update_reads_updated(id) {
            return; // as it is, it may be done in place
        }
        if matches!(self.module[id].op, Op::Reshape(_)) {
            return; // a row-major array reshaped is the same bytes: no loop is needed
        }
        let c = self.clusters.len() as ClusterId;
        self.clusters.push(Some(Cluster::new(self.module, id, role)));
        self.inside.entry(id).or_default().push(c);
        self.root_of.insert(id, c);
    }

    /// True if the array that an update changes also takes part in computing the update: by the time that an
    /// element is read it may have been overwritten.
    fn update_reads_updated(&self, id: InstrId) -> bool {
        let &[updated, update, ..] = self.module[id].operands.as_slice() else { return true };
        let mut seen = HashSet::from([update]);
        let mut stack = vec![update];
        while let Some(i) = stack.pop() {
            if i == updated || seen.len() > MAX_SEARCH {
                return true;
            }
            if self.roles[i.index()].producer_cost().is_some() {
                stack.extend(self.module[i].operands.iter().copied().filter(|o| seen.insert(*o)));
            }
        }
        false
    }

    /// Lets an instruction join a cluster, if the cost rule allows.
    fn try_join(&mut self, c: ClusterId, id: InstrId) -> bool {
        let only_here = |i: InstrId| self.module[self.module[i].parent].root() != i;
        let Some(cluster) = self.clusters.get_mut(c as usize).and_then(Option::as_mut) else { return false };
        let all_users_here =
            self.module.users(id).iter().all(|u| self.inside.get(u).is_some_and(|of| of.as_slice() == [c]));
        if all_users_here && self.row_values.contains_key(&id) {
            rows::turn_to_rows(self.module, &self.roles, &self.row_values, cluster, id, &only_here);
        }
        if matches!(cluster.kind, Kind::Rows(_)) {
            let room = cluster.operations < MAX_OPERATIONS;
            if !room || !rows::joins(self.module, &self.roles, cluster, id) {
                return false;
            }
            cluster.join_row(id);
        } else {
            let Some(admission) = cluster.admits(self.module, &self.roles, id) else { return false };
            cluster.join(id, admission);
        }
        self.inside.entry(id).or_default().push(c);
        true
    }

    /// Makes an instruction a further result of the one loop that needs it in place.
    fn try_further_root(&mut self, users: &[ClusterId], needed_outside: bool, id: InstrId) -> bool {
        let users: SmallVec<[ClusterId; 4]> =
            if users.len() > 1 && !needed_outside { self.merge_all(users) } else { users.into() };
        let &[c] = users.as_slice() else { return false };
        if !needed_outside {
            return self.try_join(c, id);
        }
        let Some(dims) = self.module[id].shape.as_array().map(|a| a.dims.clone()) else { return false };
        let Some(cluster) = self.clusters.get_mut(c as usize).and_then(Option::as_mut) else { return false };
        let fits = cluster.kind == Kind::Loop
            && cluster.dims == dims
            && cluster.roots.len() < MAX_ROOTS
            && element_count(self.module, id) >= MIN_SHARED_ELEMENTS
            && cluster.needs_in_place(self.module, &self.roles, id);
        if !fits {
            return false;
        }
        let Some(admission) = cluster.admits(self.module, &self.roles, id) else { return false };
        let outside: Vec<InstrId> =
            self.module.users(id).iter().copied().filter(|&u| !self.is_inside(u, c)).collect();
        if self.reaches(&outside, c) {
            return false;
        }
        if let Some(cluster) = self.clusters.get_mut(c as usize).and_then(Option::as_mut) {
            cluster.join(id, admission);
            cluster.roots.push(id);
        }
        self.inside.entry(id).or_default().push(c);
        self.root_of.insert(id, c);
        true
    }

    fn is_inside(&self, id: InstrId, c: ClusterId) -> bool {
        self.inside.get(&id).is_some_and(|of| of.contains(&c))
    }

    fn cluster(&self, c: ClusterId) -> Option<&Cluster> {
        self.clusters.get(c as usize).and_then(Option::as_ref)
    }

    /// Merges loops over the same sizes that don't depend on one another; returns what is left of them.
    fn merge_all(&mut self, ids: &[ClusterId]) -> SmallVec<[ClusterId; 4]> {
        let mut left: SmallVec<[ClusterId; 4]> = SmallVec::new();
        for &c in ids {
            let into = left.iter().copied().find(|&into| self.may_merge(into, c));
            match into {
                Some(into) => self.merge(into, c),
                None => left.push(c),
            }
        }
        left
    }

    fn may_merge(&self, a: ClusterId, b: ClusterId) -> bool {
        let (Some(ca), Some(cb)) = (self.cluster(a), self.cluster(b)) else { return false };
        ca.kind == Kind::Loop
            && cb.kind == Kind::Loop
            && ca.dims == cb.dims
            && ca.roots.len() + cb.roots.len() <= MAX_ROOTS
            && ca.operations + cb.operations <= MAX_OPERATIONS
            && ca
                .dims
                .iter()
                .try_fold(1u64, |n, &d| n.checked_mul(d as u64))
                .is_some_and(|n| n >= MIN_SHARED_ELEMENTS)
            && !self.reaches(&self.users_of_roots(ca), b)
            && !self.reaches(&self.users_of_roots(cb), a)
    }

    fn merge(&mut self, into: ClusterId, from: ClusterId) {
        let Some(other) = self.clusters.get_mut(from as usize).and_then(Option::take) else { return };
        for &member in &other.members {
            let of = self.inside.entry(member).or_default();
            of.retain(|c| *c != from);
            if !of.contains(&into) {
                of.push(into);
            }
        }
        for &root in &other.roots {
            self.root_of.insert(root, into);
        }
        if let Some(cluster) = self.clusters.get_mut(into as usize).and_then(Option::as_mut) {
            cluster.absorb(other);
        }
    }

    fn users_of_roots(&self, cluster: &Cluster) -> Vec<InstrId> {
        cluster.roots.iter().flat_map(|&r| self.module.users(r).iter().copied()).collect()
    }

    /// True if something of `starts`, or what is computed from it, takes part in cluster `c`. A cluster runs as a
    /// whole: all its results come after all that it reads.
    fn reaches(&self, starts: &[InstrId], c: ClusterId) -> bool {
        let last =
            self.cluster(c).into_iter().flat_map(|c| &c.members).filter_map(|m| self.position.get(m)).max();
        let mut seen: HashSet<InstrId> = starts.iter().copied().collect();
        let mut stack: Vec<InstrId> = starts.to_vec();
        let mut visit = |i: InstrId, stack: &mut Vec<InstrId>| {
            if seen.insert(i) {
                stack.push(i);
            }
            seen.len()
        };
        while let Some(i) = stack.pop() {
            if self.is_inside(i, c) {
                return true;
            }
            let clusters = self.inside.get(&i).map_or(&[][..], |of| of.as_slice());
            if clusters.is_empty() && self.position.get(&i) > last {
                continue; // what comes after all members leads to none
            }
            let roots = clusters.iter().filter_map(|&of| self.cluster(of)).flat_map(|of| &of.roots);
            for &from in roots.chain(clusters.is_empty().then_some(&i)) {
                for &user in self.module.users(from) {
                    if visit(user, &mut stack) > MAX_SEARCH {
                        return true;
                    }
                }
            }
        }
        false
    }
}
