//! The clusters of one computation, and the instructions that each contains.

use super::cluster::Cluster;
use super::cost::Role;
use hlo_ir::{InstrId, Module};
use smallvec::SmallVec;
use std::collections::HashMap;

/// The index of a cluster.
pub(super) type ClusterId = u32;

/// The clusters of one computation.
pub(super) struct Clusters<'m> {
    module: &'m Module,
    /// The clusters by index. A cluster that was merged into another one is `None`.
    clusters: Vec<Option<Cluster>>,
    /// The clusters that compute each instruction.
    inside: HashMap<InstrId, SmallVec<[ClusterId; 1]>>,
    /// The cluster of which each instruction is a result.
    root_of: HashMap<InstrId, ClusterId>,
}

impl<'m> Clusters<'m> {
    /// Returns an empty list for a computation with `count` instructions.
    pub(super) fn new(module: &'m Module, count: usize) -> Self {
        Self { module, clusters: Vec::new(), inside: HashMap::with_capacity(count), root_of: HashMap::new() }
    }

    /// Returns the module of the computation.
    pub(super) fn module(&self) -> &'m Module {
        self.module
    }

    /// Returns the clusters that were not merged into others.
    pub(super) fn into_remaining(self) -> Vec<Cluster> {
        self.clusters.into_iter().flatten().collect()
    }

    /// Returns a cluster.
    pub(super) fn get(&self, c: ClusterId) -> Option<&Cluster> {
        self.clusters.get(c as usize).and_then(Option::as_ref)
    }

    /// Returns a cluster, to change it.
    pub(super) fn get_mut(&mut self, c: ClusterId) -> Option<&mut Cluster> {
        self.clusters.get_mut(c as usize).and_then(Option::as_mut)
    }

    /// Returns the clusters that compute an instruction.
    pub(super) fn computing(&self, id: InstrId) -> &[ClusterId] {
        self.inside.get(&id).map_or(&[], |of| of.as_slice())
    }

    /// Returns the cluster of which an instruction is a result.
    pub(super) fn with_root(&self, id: InstrId) -> Option<ClusterId> {
        self.root_of.get(&id).copied()
    }

    /// Checks whether a cluster computes an instruction.
    pub(super) fn is_inside(&self, id: InstrId, c: ClusterId) -> bool {
        self.computing(id).contains(&c)
    }

    /// Returns the clusters in which `id` is used, and whether it is also used outside clusters.
    pub(super) fn users(&self, id: InstrId) -> (SmallVec<[ClusterId; 4]>, bool) {
        let mut clusters: SmallVec<[ClusterId; 4]> = SmallVec::new();
        let mut elsewhere = false;
        for &user in self.module.users(id) {
            match self.computing(user) {
                [] => elsewhere = true,
                of => clusters.extend_from_slice(of),
            }
        }
        clusters.sort_unstable();
        clusters.dedup();
        (clusters, elsewhere)
    }

    /// Returns the users of `id` in a cluster.
    pub(super) fn users_in(&self, id: InstrId, c: ClusterId) -> Vec<InstrId> {
        self.module.users(id).iter().copied().filter(|&u| self.is_inside(u, c)).collect()
    }

    /// Adds a cluster that contains only a root.
    pub(super) fn start(&mut self, root: InstrId, role: Role) {
        let c = self.clusters.len() as ClusterId;
        self.clusters.push(Some(Cluster::new(self.module, root, role)));
        self.note_member(c, root);
        self.note_root(c, root);
    }

    /// Records that a cluster computes an instruction.
    pub(super) fn note_member(&mut self, c: ClusterId, id: InstrId) {
        self.inside.entry(id).or_default().push(c);
    }

    /// Records that an instruction is a result of a cluster.
    pub(super) fn note_root(&mut self, c: ClusterId, id: InstrId) {
        self.root_of.insert(id, c);
    }

    /// Moves the instructions of one cluster to another one.
    pub(super) fn merge(&mut self, into: ClusterId, from: ClusterId) {
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
        if let Some(cluster) = self.get_mut(into) {
            cluster.absorb(other);
        }
    }
}
