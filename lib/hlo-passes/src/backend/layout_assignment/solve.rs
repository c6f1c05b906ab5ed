//! Decides the orders of places: required orders first, then the orders that avoid the most expensive copies,
//! and row-major for the rest.
//!
//! Places are joined to groups, and each group has one order. A wish that two places have the same order
//! joins their groups, unless the groups already have different orders. In that case the wish is rejected,
//! and a copy is needed between the two. Groups with the most expensive wishes between them are joined first,
//! to keep the copied data small. Links relate two different orders. They then decide groups that have no
//! order, again the most expensive links first.
//!
//! Solving a module that already contains the needed copies gives the same result. Each group is connected by
//! granted wishes, the rejected wishes no longer exist, and no copy joins two orders.

use super::orders::{Link, Order, row_major, same_in_memory};
use hlo_ir::Dims;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// The index of a place: an array that an instruction returns or takes as an operand.
pub type Slot = usize;

/// The places and the constraints on their orders.
#[derive(Default)]
pub struct Orders {
    /// The rank of each place's array, or 0 if the place has no array.
    ranks: Vec<usize>,
    /// The next place on the way to the representative of the group.
    parents: Vec<Slot>,
    /// For each representative, the order of its group if it is decided.
    decided: Vec<Option<Order>>,
    /// The order that the place itself must have, regardless of its group.
    kept: Vec<Option<Order>>,
    wishes: Vec<(u64, Slot, Slot)>,
    links: Vec<(u64, Link, Slot, Slot)>,
    /// Places that must have exactly the order of another place if both orders are the same in memory, with
    /// the sizes of their arrays.
    exact: Vec<(Slot, Slot, Dims)>,
}

impl Orders {
    /// Adds a place for an array of the given rank.
    pub fn add(&mut self, rank: usize) -> Slot {
        let slot = self.ranks.len();
        self.ranks.push(rank);
        self.parents.push(slot);
        self.decided.push(None);
        self.kept.push(None);
        slot
    }

    /// Returns the rank of a place's array. Returns 0 if there is no such place, which happens in modules
    /// with inconsistent tuples.
    fn rank(&self, slot: Slot) -> usize {
        self.ranks.get(slot).copied().unwrap_or(0)
    }

    fn group(&mut self, slot: Slot) -> Slot {
        let mut at = slot;
        while self.parents[at] != at {
            let next = self.parents[self.parents[at]];
            self.parents[at] = next;
            at = next;
        }
        at
    }

    /// Fixes the order of a place, unless it is already fixed. `asked` is the order of its group, which may
    /// differ from `order` in dimensions of size 1.
    pub fn keep(&mut self, slot: Slot, order: Order, asked: Order) {
        let fits = self.rank(slot) > 0 && self.rank(slot) == order.len() && self.rank(slot) == asked.len();
        if !fits || self.kept[slot].is_some() {
            return;
        }
        let group = self.group(slot);
        self.decided[group].get_or_insert(asked);
        self.kept[slot] = Some(order);
    }

    /// Gives two places the same order, unless they already have different ones.
    pub fn join(&mut self, a: Slot, b: Slot) {
        if self.rank(a) != self.rank(b) || self.rank(a) == 0 {
            return;
        }
        let (a, b) = (self.group(a), self.group(b));
        if a != b && self.may_join(a, b) {
            self.unite(a.min(b), a.max(b));
        }
    }

    fn may_join(&self, a: Slot, b: Slot) -> bool {
        let differ = matches!((&self.decided[a], &self.decided[b]), (Some(x), Some(y)) if x != y);
        self.ranks[a] == self.ranks[b] && !differ
    }

    /// Merges two groups. `first` becomes the representative.
    fn unite(&mut self, first: Slot, second: Slot) {
        let order = self.decided[second].take();
        self.parents[second] = first;
        self.decided[first] = self.decided[first].take().or(order);
    }

    /// Records the wish that two places have the same order. Otherwise a copy of `bytes` bytes is needed.
    pub fn prefer_same_order(&mut self, bytes: u64, a: Slot, b: Slot) {
        if self.rank(a) > 1 && self.rank(a) == self.rank(b) {
            self.wishes.push((bytes, a, b));
        }
    }

    /// Records that the orders of an operand and a result should be related by `link`.
    pub fn link(&mut self, bytes: u64, link: Link, operand: Slot, result: Slot) {
        if self.rank(operand) > 1 && self.rank(result) > 1 {
            self.links.push((bytes, link, operand, result));
        }
    }

    /// Gives a place exactly the order that another place keeps, if the order of its group differs only in
    /// dimensions of size 1.
    pub(super) fn follow_exactly(&mut self, slot: Slot, like: Slot, dims: &Dims) {
        if dims.len() > 1 && self.rank(slot) == dims.len() && self.rank(like) == dims.len() {
            self.exact.push((slot, like, dims.clone()));
        }
    }

    /// Decides the orders of all groups.
    pub fn solve(&mut self) {
        self.apply_preferences();
        let links = std::mem::take(&mut self.links);
        let mut of_group: Vec<Vec<usize>> = vec![Vec::new(); self.ranks.len()];
        for (n, (_, _, operand, result)) in links.iter().enumerate() {
            for slot in [*operand, *result] {
                let group = self.group(slot);
                of_group[group].push(n);
            }
        }
        // The most expensive link first. Among equals, the earliest first.
        let mut next: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
        for slot in 0..self.ranks.len() {
            let group = self.group(slot);
            if group == slot && self.decided[group].is_some() {
                next.extend(of_group[group].iter().map(|&n| (links[n].0, Reverse(n))));
            }
        }
        self.follow(&links, &of_group, &mut next);
        for slot in 0..self.ranks.len() {
            let group = self.group(slot);
            if self.decided[group].is_none() {
                self.decided[group] = Some(row_major(self.ranks[group]));
                next.extend(of_group[group].iter().map(|&n| (links[n].0, Reverse(n))));
                self.follow(&links, &of_group, &mut next);
            }
        }
        self.copy_followed_orders();
    }

    /// Gives places exactly the orders of the places that they follow.
    fn copy_followed_orders(&mut self) {
        let mut followers: Vec<Vec<(Slot, Dims)>> = vec![Vec::new(); self.ranks.len()];
        for (slot, like, dims) in std::mem::take(&mut self.exact) {
            followers[like].push((slot, dims));
        }
        let mut next: VecDeque<Slot> = (0..self.ranks.len()).filter(|&s| self.kept[s].is_some()).collect();
        while let Some(like) = next.pop_front() {
            let Some(exact) = self.kept[like].clone() else { continue };
            for (slot, dims) in std::mem::take(&mut followers[like]) {
                if self.kept[slot].is_none() && same_in_memory(&dims, &exact, &self.group_order(slot)) {
                    self.kept[slot] = Some(exact.clone());
                    next.push_back(slot);
                }
            }
        }
    }

    /// Joins groups by their wishes, the most expensive first.
    fn apply_preferences(&mut self) {
        // Merge groups with the same order, so that their wishes are added up.
        let mut of_order: BTreeMap<Order, Slot> = BTreeMap::new();
        for slot in 0..self.ranks.len() {
            if let Some(order) = self.decided[slot].clone().filter(|_| self.parents[slot] == slot) {
                let first = *of_order.entry(order).or_insert(slot);
                self.join(first, slot);
            }
        }
        let mut near: Vec<BTreeMap<Slot, u64>> = vec![BTreeMap::new(); self.ranks.len()];
        for (bytes, a, b) in std::mem::take(&mut self.wishes) {
            let (a, b) = (self.group(a), self.group(b));
            if a != b {
                for (a, b) in [(a, b), (b, a)] {
                    let sum = near[a].entry(b).or_default();
                    *sum = sum.saturating_add(bytes);
                }
            }
        }
        let mut next = BinaryHeap::new();
        for (a, others) in near.iter().enumerate() {
            next.extend(others.range(a..).map(|(&b, &bytes)| self.entry(a, b, bytes)));
        }
        while let Some(wish) = next.pop() {
            let (bytes, _, Reverse((a, b))) = wish;
            // Skip outdated entries. A changed wish has another entry or none.
            if near[a].get(&b) != Some(&bytes) || !self.may_join(a, b) {
                continue;
            }
            let now = self.entry(a, b, bytes);
            if now < wish {
                next.push(now);
                continue;
            }
            let (first, second) = if near[a].len() < near[b].len() { (b, a) } else { (a, b) };
            self.unite(first, second);
            near[first].remove(&second);
            for (other, bytes) in std::mem::take(&mut near[second]) {
                near[other].remove(&second);
                if other != first {
                    let sum = near[first].entry(other).or_default();
                    *sum = sum.saturating_add(bytes);
                    let sum = *sum;
                    near[other].insert(first, sum);
                    next.push(self.entry(first, other, sum));
                }
            }
        }
    }

    /// Returns the priority of a wish. Among wishes of equal cost, those between undecided groups come first,
    /// because afterwards the wishes of both groups are added up.
    fn entry(&self, a: Slot, b: Slot, bytes: u64) -> (u64, bool, Reverse<(Slot, Slot)>) {
        let open = self.decided[a].is_none() && self.decided[b].is_none();
        (bytes, open, Reverse((a.min(b), a.max(b))))
    }

    /// Decides groups by links from decided groups.
    fn follow(
        &mut self,
        links: &[(u64, Link, Slot, Slot)],
        of_group: &[Vec<usize>],
        next: &mut BinaryHeap<(u64, Reverse<usize>)>,
    ) {
        while let Some((_, Reverse(n))) = next.pop() {
            let (_, link, operand, result) = &links[n];
            let (operand, result) = (self.group(*operand), self.group(*result));
            let (group, order) = match (&self.decided[operand], &self.decided[result]) {
                (Some(order), None) => (result, link.forward(order)),
                (None, Some(order)) => (operand, link.backward(order)),
                _ => continue,
            };
            if let Some(order) = order.filter(|o| o.len() == self.ranks[group]) {
                self.decided[group] = Some(order);
                next.extend(of_group[group].iter().map(|&n| (links[n].0, Reverse(n))));
            }
        }
    }

    /// Returns the order of a place. All groups must be decided.
    pub fn order(&mut self, slot: Slot) -> Order {
        match self.required_order(slot) {
            Some(order) => order.clone(),
            None => self.group_order(slot),
        }
    }

    /// Returns the order of the place's group, which is the same in memory as that of the place.
    pub(super) fn group_order(&mut self, slot: Slot) -> Order {
        if self.rank(slot) == 0 {
            return Order::new();
        }
        let group = self.group(slot);
        self.decided[group].clone().unwrap_or_else(|| row_major(self.rank(slot)))
    }

    /// Returns the order that the place must have, if any.
    pub(super) fn required_order(&self, slot: Slot) -> Option<&Order> {
        self.kept.get(slot)?.as_ref()
    }
}
