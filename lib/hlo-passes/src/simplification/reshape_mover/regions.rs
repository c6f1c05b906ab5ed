//! Finds the regions of elementwise operations past which reshapes and transposes move.

use super::free::Free;
use super::mover::{Mover, plain};
use crate::simplification::convert_mover::{bits, widens};
use crate::support::effects::{is_marked, is_replaceable};
use hlo_ir::{InstrId, Module, Op, Opcode};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Operations that can be computed in the sizes before the move.
pub(super) struct Region {
    pub(super) mover: Rc<Mover>,
    /// The reshapes or transposes above the region. All of their users are in the region.
    pub(super) entries: Vec<InstrId>,
    /// The operations, operands first.
    pub(super) members: Vec<InstrId>,
    /// The operations whose results are used below the region. Nothing in the region uses them.
    pub(super) exits: Vec<InstrId>,
}

/// Returns the regions of a computation. `order` contains its instructions, operands first. `shared` is
/// whether values with several users may move.
pub(super) fn regions(
    module: &Module,
    pinned: &HashSet<InstrId>,
    order: &[InstrId],
    shared: bool,
) -> Vec<Region> {
    let mut search = Search { module, pinned, shared, moved: HashMap::new() };
    for &id in order {
        if let Some(moved) = search.entry(id).or_else(|| search.member(id)) {
            search.moved.insert(id, moved);
        }
    }
    search.shrink(order);
    search.connected(order).into_iter().filter(|r| is_worth_it(module, r)).collect()
}

/// A value that is the result of its mover on another value.
struct Moved {
    mover: Rc<Mover>,
    is_entry: bool,
}

struct Search<'m> {
    module: &'m Module,
    pinned: &'m HashSet<InstrId>,
    shared: bool,
    moved: HashMap<InstrId, Moved>,
}

impl Search<'_> {
    /// Recognizes a reshape or transpose that may move.
    fn entry(&self, id: InstrId) -> Option<Moved> {
        let op = match &self.module[id].op {
            Op::Reshape(_) => Op::reshape(),
            op @ Op::Transpose(_) => op.clone(),
            _ => return None,
        };
        let to = plain(self.module, id)?;
        let from = plain(self.module, *self.module[id].operands.first()?)?;
        let moves = match &op {
            Op::Transpose(a) => !a.dimensions.is_sorted(),
            _ => from.dims != to.dims,
        };
        let from = from.dims.clone();
        let free = moves && is_replaceable(self.module, self.pinned, id);
        free.then(|| Moved { mover: Rc::new(Mover { op, from }), is_entry: true })
    }

    /// Recognizes an elementwise operation on values with the same mover.
    fn member(&self, id: InstrId) -> Option<Moved> {
        let instruction = &self.module[id];
        if !instruction.opcode().is_elementwise() || self.pinned.contains(&id) || !self.module.is_used(id) {
            return None;
        }
        let to = plain(self.module, id)?;
        let mut mover: Option<&Rc<Mover>> = None;
        for o in &instruction.operands {
            let Some(moved) = self.moved.get(o) else { continue };
            let alike = mover.is_none_or(|m| **m == *moved.mover);
            if !alike || self.module[*o].shape.as_array()?.dims != to.dims {
                return None;
            }
            mover = Some(&moved.mover);
        }
        let mover = mover?;
        let mut others = instruction.operands.iter().filter(|o| !self.moved.contains_key(o));
        others
            .all(|&o| Free::of(self.module, self.pinned, o, id, mover).is_some())
            .then(|| Moved { mover: mover.clone(), is_entry: false })
    }

    fn is_member(&self, id: InstrId) -> bool {
        self.moved.get(&id).is_some_and(|m| !m.is_entry)
    }

    /// Removes operations that cannot move. A region ends at a value that other instructions need in its
    /// current sizes, or that has a sharding in these sizes. Its users are not in the region.
    fn shrink(&mut self, order: &[InstrId]) {
        let module = self.module;
        let mut ended = HashSet::new();
        let mut work: Vec<InstrId> = order.iter().copied().filter(|i| self.moved.contains_key(i)).collect();
        while let Some(id) = work.pop() {
            let Some(moved) = self.moved.get(&id).filter(|_| !ended.contains(&id)) else { continue };
            let users = module.users(id);
            let inside = !users.is_empty()
                && !module.is_root(id)
                && !is_marked(module, id)
                && (self.shared || users.len() == 1)
                && users.iter().all(|&u| self.is_member(u));
            if inside {
                continue;
            }
            ended.insert(id);
            if moved.is_entry || widens(module, id) {
                self.moved.remove(&id);
                work.extend(&module[id].operands);
            }
            self.take_out(users, &mut work);
        }
    }

    /// Removes the members among some instructions, and the members that use them. Their operands are
    /// examined again.
    fn take_out(&mut self, ids: &[InstrId], work: &mut Vec<InstrId>) {
        let mut gone: Vec<InstrId> = ids.to_vec();
        while let Some(id) = gone.pop() {
            if self.is_member(id) {
                self.moved.remove(&id);
                gone.extend_from_slice(self.module.users(id));
                work.extend(&self.module[id].operands);
            }
        }
    }

    /// Returns the remaining connected regions, in the order of their first instructions.
    fn connected(&self, order: &[InstrId]) -> Vec<Region> {
        let left: Vec<InstrId> = order.iter().copied().filter(|i| self.moved.contains_key(i)).collect();
        let places: HashMap<InstrId, usize> = left.iter().enumerate().map(|(n, &i)| (i, n)).collect();
        let mut parts: Vec<usize> = (0..left.len()).collect();
        for (n, &id) in left.iter().enumerate().filter(|(_, i)| self.is_member(**i)) {
            for o in self.module[id].operands.iter().filter_map(|o| places.get(o)) {
                let (a, b) = (part_of(&mut parts, n), part_of(&mut parts, *o));
                parts[a.max(b)] = a.min(b);
            }
        }
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let mut found: Vec<Region> = Vec::new();
        for (n, &id) in left.iter().enumerate() {
            let moved = &self.moved[&id];
            let number = *numbers.entry(part_of(&mut parts, n)).or_insert(found.len());
            if number == found.len() {
                let mover = moved.mover.clone();
                found.push(Region { mover, entries: Vec::new(), members: Vec::new(), exits: Vec::new() });
            }
            let region = &mut found[number];
            if moved.is_entry {
                region.entries.push(id);
                continue;
            }
            region.members.push(id);
            if self.module.is_root(id) || !self.module.users(id).iter().any(|&u| self.is_member(u)) {
                region.exits.push(id);
            }
        }
        found
    }
}

/// Returns the region of the value at a position: the smallest position that is connected with it.
fn part_of(parts: &mut [usize], mut place: usize) -> usize {
    while parts[place] != place {
        parts[place] = parts[parts[place]];
        place = parts[place];
    }
    place
}

/// Returns whether no more is moved below the region than above it, and less if reshapes and transposes would
/// accumulate.
fn is_worth_it(module: &Module, region: &Region) -> bool {
    let opcode = region.mover.op.opcode();
    // Reshapes move no elements, but transposes do.
    let cost = |id: InstrId| match (opcode, module[id].shape.as_array()) {
        (Opcode::Transpose, Some(shape)) => u64::from(bits(shape.element_type)),
        _ => 1,
    };
    // A reshape or transpose whose users all have the same opcode does not count.
    let vanishes =
        |id: InstrId| !module.is_root(id) && module.users(id).iter().all(|&u| module[u].opcode() == opcode);
    let above: u64 = region.entries.iter().map(|&e| cost(e)).sum();
    let below: u64 = region.exits.iter().filter(|&&e| !vanishes(e)).map(|&e| cost(e)).sum();
    let piles = region.entries.iter().any(|&e| {
        let x = module[e].operands.first().map(|&x| module[x].opcode());
        matches!(
            x,
            Some(Opcode::Reshape | Opcode::Transpose | Opcode::Broadcast | Opcode::Iota | Opcode::Constant)
        )
    });
    !region.exits.is_empty() && (below < above || below == above && !piles)
}
