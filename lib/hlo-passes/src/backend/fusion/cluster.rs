//! Clusters: sets of instructions that become one fusion each.
//!
//! For each member, a cluster records the *index maps* at which its elements are needed. Map 0 is the loop's
//! own index. Every operation that reads its operand at a different index (a slice, a broadcast, …) adds a
//! map. A value needed at two maps is computed twice per iteration. A value needed at a map with more
//! iterations than the value has elements is computed repeatedly. The cost rule limits both.

use super::cost::{Cost, Role, element_count};
use hlo_ir::{Dims, InstrId, Module, Op};
use smallvec::SmallVec;
use std::collections::HashMap;

/// The index of an index map in its cluster.
type MapId = u32;

/// The maps at which a value is needed.
type Maps = SmallVec<[MapId; 2]>;

/// The form of a cluster's loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A loop over the elements of the roots.
    Loop,
    /// A reduction at the root.
    Reduce,
    /// An in-place update at the root.
    Update,
    /// A loop over rows, with reductions over each row's elements and elementwise work around them. Contains
    /// the sizes of the row dimensions.
    Rows(Dims),
}

/// A set of instructions that becomes one fusion.
#[derive(Debug)]
pub(super) struct Cluster {
    /// The form of its loop.
    pub(super) kind: Kind,
    /// The dimension sizes of the roots.
    pub(super) dims: Dims,
    /// The instructions whose values are used outside the cluster.
    pub(super) roots: Vec<InstrId>,
    /// All instructions, in no particular order.
    pub(super) members: Vec<InstrId>,
    /// The amount of computation of the members, see [`Cost::weight`].
    pub(super) operations: usize,
    /// Number of members that are computed more often than they have elements, to avoid storing them.
    recomputed: usize,
    maps: HashMap<InstrId, Maps>,
    /// (reader, its map, operand number) → the map of the operand.
    derived: HashMap<(InstrId, MapId, usize), MapId>,
    /// For each map, the total number of evaluations of an element.
    evaluations: Vec<u64>,
}

/// Maximum amount of computation of the members. Larger loops take long to compile.
pub(super) const MAX_OPERATIONS: usize = 256;
/// Maximum number of members that are computed more often than they have elements.
const MAX_RECOMPUTED: usize = 12;
/// Maximum number of maps of a member whose cost is not [`Cost::Free`], and of one whose cost is.
const MAX_MAPS: usize = 4;
const MAX_FREE_MAPS: usize = 12;

impl Cluster {
    /// Creates a cluster that contains only a root.
    pub(super) fn new(module: &Module, root: InstrId, role: Role) -> Self {
        let kind = match role {
            Role::Reduce => Kind::Reduce,
            Role::Update => Kind::Update,
            Role::Elementwise(_) | Role::Indexed(_) | Role::Never => Kind::Loop,
        };
        let dims = module[root].shape.as_array().map(|a| a.dims.clone()).unwrap_or_default();
        let iterations = match kind {
            Kind::Update => module[root].operands.get(1).map_or(0, |&u| element_count(module, u)),
            _ => element_count(module, root),
        };
        Self {
            kind,
            dims,
            roots: vec![root],
            members: vec![root],
            operations: role.producer_cost().map_or(1, Cost::weight).max(1),
            recomputed: 0,
            maps: HashMap::from([(root, SmallVec::from_slice(&[0]))]),
            derived: HashMap::new(),
            evaluations: vec![iterations],
        }
    }

    /// Checks whether the instruction is a member.
    pub(super) fn contains(&self, id: InstrId) -> bool {
        self.maps.contains_key(&id)
    }

    /// Returns the maps at which the members need `id`. `users` contains the users of `id` that are members.
    fn needed_maps(&mut self, module: &Module, roles: &[Role], id: InstrId, users: &[InstrId]) -> Maps {
        let mut out = Maps::new();
        for &user in users {
            let Some(user_maps) = self.maps.get(&user).cloned() else { continue };
            for (n, _) in module[user].operands.iter().enumerate().filter(|(_, o)| **o == id) {
                for &m in &user_maps {
                    let map = self.operand_map(module, roles, user, m, n);
                    if !out.contains(&map) {
                        out.push(map);
                    }
                }
            }
        }
        out.sort_unstable();
        out
    }

    /// Returns the map at which `user` needs operand `n` when `user` itself is needed at map `m`.
    fn operand_map(&mut self, module: &Module, roles: &[Role], user: InstrId, m: MapId, n: usize) -> MapId {
        let operand = module[user].operands[n];
        let same_dims = match (module[user].shape.as_array(), module[operand].shape.as_array()) {
            (Some(a), Some(b)) => a.dims == b.dims,
            _ => false,
        };
        let here = self.evaluations.get(m as usize).copied().unwrap_or(0);
        let evaluations = match (&module[user].op, roles[user.index()]) {
            (_, Role::Elementwise(_)) if same_dims => return m,
            // The loop of an update runs over the elements of the update operand.
            (Op::DynamicUpdateSlice, _) if n == 1 => return m,
            (Op::Reduce(_), _) => {
                let factor = element_count(module, operand) / element_count(module, user).max(1);
                here.saturating_mul(factor.max(1))
            }
            // Each operand is needed only in its part of the result.
            (Op::Concatenate(_) | Op::Pad(_), _) => {
                let share = element_count(module, operand) as f64 / element_count(module, user).max(1) as f64;
                (here as f64 * share.min(1.0)) as u64
            }
            _ => here,
        };
        let next = self.evaluations.len() as MapId;
        let map = *self.derived.entry((user, m, n)).or_insert(next);
        if map == next {
            self.evaluations.push(evaluations);
        }
        map
    }

    /// Returns the maps at which `id` would be needed if it may be computed in this cluster's loop, and
    /// `None` if it may not. `users` contains the users of `id` that are members.
    pub(super) fn admits(
        &mut self,
        module: &Module,
        roles: &[Role],
        id: InstrId,
        users: &[InstrId],
    ) -> Option<Admission> {
        let cost = roles[id.index()].producer_cost()?;
        if self.operations + cost.weight() > MAX_OPERATIONS {
            return None;
        }
        if self.kind == Kind::Update && self.touches_updated(module, id) {
            return None;
        }
        let reads_elsewhere = |&user: &InstrId| {
            // The operand of a gather and the array that a dynamic update changes must be stored arrays.
            matches!(module[user].op, Op::Gather(_) | Op::DynamicUpdateSlice)
                && module[user].operands.first() == Some(&id)
        };
        if users.iter().any(reads_elsewhere) {
            return None;
        }
        let maps = self.needed_maps(module, roles, id, users);
        let evaluations: u64 = maps
            .iter()
            .fold(0, |n, &m| n.saturating_add(self.evaluations.get(m as usize).copied().unwrap_or(0)));
        let repeated = evaluations > element_count(module, id);
        let fits = match cost {
            Cost::Free => maps.len() <= MAX_FREE_MAPS,
            Cost::Cheap => maps.len() <= MAX_MAPS && (!repeated || self.recomputed < MAX_RECOMPUTED),
            Cost::Expensive => maps.len() <= 1 && !repeated,
        };
        fits.then_some(Admission { maps, cost, repeated })
    }

    /// Checks whether `id` reads the array that the root updates. Another kernel must read it before the
    /// update.
    fn touches_updated(&self, module: &Module, id: InstrId) -> bool {
        let updated = self.roots.first().and_then(|&r| module[r].operands.first());
        updated == Some(&id) || module[id].operands.iter().any(|o| updated == Some(o))
    }

    /// Adds an instruction that [`Cluster::admits`].
    pub(super) fn join(&mut self, id: InstrId, admission: Admission) {
        self.operations += admission.cost.weight();
        self.recomputed += usize::from(admission.cost > Cost::Free && admission.repeated);
        self.members.push(id);
        self.maps.insert(id, admission.maps);
    }

    /// Adds a member to a fusion by rows. Its elements are computed once.
    pub(super) fn join_row(&mut self, id: InstrId) {
        self.operations += 1;
        self.members.push(id);
        self.maps.insert(id, SmallVec::from_slice(&[0]));
    }

    /// Merges another loop over the same sizes into this one.
    pub(super) fn absorb(&mut self, other: Cluster) {
        let offset = self.evaluations.len() as MapId;
        // Map 0 is the common loop. The other maps follow those of this cluster.
        let renumber = |m: MapId| if m == 0 { 0 } else { m + offset };
        self.evaluations.extend(other.evaluations);
        for ((user, m, n), to) in other.derived {
            self.derived.entry((user, renumber(m), n)).or_insert(renumber(to));
        }
        for (id, maps) in other.maps {
            let mine = self.maps.entry(id).or_default();
            for m in maps {
                if !mine.contains(&renumber(m)) {
                    mine.push(renumber(m));
                }
            }
        }
        self.members.extend(other.members);
        self.members.sort_unstable();
        self.members.dedup();
        self.roots.extend(other.roots);
        self.operations += other.operations;
        self.recomputed += other.recomputed;
    }

    /// Checks whether `id` is needed only at map 0, the loop's own index. `users` contains the users of `id`
    /// that are members.
    pub(super) fn needs_in_place(
        &mut self,
        module: &Module,
        roles: &[Role],
        id: InstrId,
        users: &[InstrId],
    ) -> bool {
        self.needed_maps(module, roles, id, users).as_slice() == [0]
    }
}

/// The result of [`Cluster::admits`]: permission to join a cluster.
pub(super) struct Admission {
    maps: Maps,
    cost: Cost,
    repeated: bool,
}
