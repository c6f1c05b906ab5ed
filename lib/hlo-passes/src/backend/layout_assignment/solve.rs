//! Orders for places: those that must be, those that save the dearest copies, and row-major where nothing is asked.
//!
//! Places are joined to groups of one order each. A wish that two places have the same order joins their groups, unless
//! both have another order already: then it is not granted, and a copy goes in between. The groups with the dearest wishes
//! between them come first, so that what is copied is small. Links, across which an order becomes another one, then decide
//! groups without an order, again the dearest first.
//!
//! On a module with the copies that were needed everything comes out the same: each group hangs together by wishes that
//! were granted, those that were not are not there any more, and no copy brings two orders together.

use super::orders::{Link, Order, row_major, same_in_memory};
use hlo_ir::Dims;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// The number of a place: an array that an instruction makes, or takes as an operand.
pub(super) type Slot = usize;

/// The places, and what is known of their orders.
#[derive(Default)]
pub(super) struct Orders {
    /// The rank of the array; 0 if the place has none.
    ranks: Vec<usize>,
    /// The next place towards the one that stands for the group.
    parents: Vec<Slot>,
    /// Of the place that stands for a group: its order, if there is one.
    decided: Vec<Option<Order>>,
    /// The order that the place itself has, whatever the group's is.
    kept: Vec<Option<Order>>,
    wishes: Vec<(u64, Slot, Slot)>,
    links: Vec<(u64, Link, Slot, Slot)>,
    /// Places that have the order of another where both lie the same, with the sizes of their arrays.
    exact: Vec<(Slot, Slot, Dims)>,
}

impl Orders {
    /// A new place for an array of that rank.
    pub(super) fn add(&mut self, rank: usize) -> Slot {
        let slot = self.ranks.len();
        self.ranks.push(rank);
        self.parents.push(slot);
        self.decided.push(None);
        self.kept.push(None);
        slot
    }

    /// The rank of a place's array; 0 where there is no such place, as in modules whose tuples don't fit together.
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

    /// Gives a place an order that it must have, unless it has one that it must. `asked` is what its group gets: where
    /// sizes are 1, orders that differ may be the same in memory.
    pub(super) fn keep(&mut self, slot: Slot, order: Order, asked: Order) {
        let fits = self.rank(slot) > 0 && self.rank(slot) == order.len() && self.rank(slot) == asked.len();
        if !fits || self.kept[slot].is_some() {
            return;
        }
        let group = self.group(slot);
        self.decided[group].get_or_insert(asked);
        self.kept[slot] = Some(order);
    }

    /// Gives two places one order, if they have not got different ones.
    pub(super) fn join(&mut self, a: Slot, b: Slot) {
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

    /// Makes one group of two, for which `first` then stands.
    fn unite(&mut self, first: Slot, second: Slot) {
        let order = self.decided[second].take();
        self.parents[second] = first;
        self.decided[first] = self.decided[first].take().or(order);
    }

    /// Asks for one order of two places; a copy of so many bytes is needed if they get different ones.
    pub(super) fn wish(&mut self, bytes: u64, a: Slot, b: Slot) {
        if self.rank(a) > 1 && self.rank(a) == self.rank(b) {
            self.wishes.push((bytes, a, b));
        }
    }

    /// Asks for orders of an operand and a result that go together.
    pub(super) fn link(&mut self, bytes: u64, link: Link, operand: Slot, result: Slot) {
        if self.rank(operand) > 1 && self.rank(result) > 1 {
            self.links.push((bytes, link, operand, result));
        }
    }

    /// Lets a place have exactly the order that another one keeps, if its group's differs in sizes of 1 only.
    pub(super) fn follow_exactly(&mut self, slot: Slot, like: Slot, dims: &Dims) {
        if dims.len() > 1 && self.rank(slot) == dims.len() && self.rank(like) == dims.len() {
            self.exact.push((slot, like, dims.clone()));
        }
    }

    /// Decides all groups.
    pub(super) fn solve(&mut self) {
        self.grant_wishes();
        let links = std::mem::take(&mut self.links);
        let mut of_group: Vec<Vec<usize>> = vec![Vec::new(); self.ranks.len()];
        for (n, (_, _, operand, result)) in links.iter().enumerate() {
            for slot in [*operand, *result] {
                let group = self.group(slot);
                of_group[group].push(n);
            }
        }
        // The dearest first, and of those the first.
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
        self.spell();
    }

    /// Lets places have the orders exactly that others keep.
    fn spell(&mut self) {
        let mut followers: Vec<Vec<(Slot, Dims)>> = vec![Vec::new(); self.ranks.len()];
        for (slot, like, dims) in std::mem::take(&mut self.exact) {
            followers[like].push((slot, dims));
        }
        let mut next: VecDeque<Slot> = (0..self.ranks.len()).filter(|&s| self.kept[s].is_some()).collect();
        while let Some(like) = next.pop_front() {
            let Some(exact) = self.kept[like].clone() else { continue };
            for (slot, dims) in std::mem::take(&mut followers[like]) {
                if self.kept[slot].is_none() && same_in_memory(&dims, &exact, &self.asked(slot)) {
                    self.kept[slot] = Some(exact.clone());
                    next.push_back(slot);
                }
            }
        }
    }

    /// Joins the groups that wish it, those with the dearest wishes between them first.
    fn grant_wishes(&mut self) {
        // Those of one order are one group, so that what they wish together counts.
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
            // What changed since has another entry, or none.
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

    /// The place of a wish among others. Of equally dear ones those between groups without an order come first: what both
    /// wish of others is known then.
    fn entry(&self, a: Slot, b: Slot, bytes: u64) -> (u64, bool, Reverse<(Slot, Slot)>) {
        let open = self.decided[a].is_none() && self.decided[b].is_none();
        (bytes, open, Reverse((a.min(b), a.max(b))))
    }

    /// Decides groups by links from groups that are decided.
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

    /// The order of a place, once all are decided.
    pub(super) fn order(&mut self, slot: Slot) -> Order {
        match self.kept(slot) {
            Some(order) => order.clone(),
            None => self.asked(slot),
        }
    }

    /// The order of the place's group: the same in memory as that of the place.
    pub(super) fn asked(&mut self, slot: Slot) -> Order {
        if self.rank(slot) == 0 {
            return Order::new();
        }
        let group = self.group(slot);
        self.decided[group].clone().unwrap_or_else(|| row_major(self.rank(slot)))
    }

    /// The order that the place must have, if there is one.
    pub(super) fn kept(&self, slot: Slot) -> Option<&Order> {
        self.kept.get(slot)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(o: &[u32]) -> Order {
        o.iter().copied().collect()
    }

    #[test]
    fn the_dearest_wish_is_granted() {
        let mut o = Orders::default();
        let slots: Vec<Slot> = (0..4).map(|_| o.add(2)).collect();
        o.keep(slots[0], order(&[0, 1]), order(&[0, 1]));
        o.keep(slots[3], order(&[1, 0]), order(&[1, 0]));
        o.wish(10, slots[0], slots[1]);
        o.wish(20, slots[1], slots[2]);
        o.wish(30, slots[2], slots[3]);
        o.solve();
        let got: Vec<_> = slots.iter().map(|&s| o.order(s).to_vec()).collect();
        assert_eq!(got, [vec![0, 1], vec![1, 0], vec![1, 0], vec![1, 0]]);
    }

    /// One copy, where the first wishes first would make two.
    #[test]
    fn wishes_for_one_order_count_together() {
        let mut o = Orders::default();
        let slots: Vec<Slot> = (0..5).map(|_| o.add(2)).collect();
        o.keep(slots[0], order(&[0, 1]), order(&[0, 1]));
        for n in [3, 4] {
            o.keep(slots[n], order(&[1, 0]), order(&[1, 0]));
        }
        for (a, b) in [(0, 1), (1, 2), (2, 3), (2, 4)] {
            o.wish(10, slots[a], slots[b]);
        }
        o.solve();
        assert_eq!([o.order(slots[1]).to_vec(), o.order(slots[2]).to_vec()], [vec![0, 1], vec![1, 0]]);
    }

    /// Of wishes equally dear those between groups without an order come first: one copy instead of two.
    #[test]
    fn open_groups_join_first() {
        let mut o = Orders::default();
        let slots: Vec<Slot> = (0..5).map(|_| o.add(2)).collect();
        o.keep(slots[0], order(&[0, 1]), order(&[0, 1]));
        for n in [3, 4] {
            o.keep(slots[n], order(&[1, 0]), order(&[1, 0]));
        }
        for (a, b) in [(0, 1), (1, 3), (1, 2), (2, 4)] {
            o.wish(10, slots[a], slots[b]);
        }
        o.solve();
        assert_eq!([o.order(slots[1]).to_vec(), o.order(slots[2]).to_vec()], [vec![1, 0], vec![1, 0]]);
    }

    #[test]
    fn links_decide_what_is_free_and_row_major_the_rest() {
        let mut o = Orders::default();
        let (a, b, c, d) = (o.add(2), o.add(2), o.add(2), o.add(3));
        let transpose = || Link::Axes { map: [Some(1), Some(0)].into_iter().collect(), rank: 2 };
        o.keep(a, order(&[1, 0]), order(&[1, 0]));
        o.link(8, transpose(), a, b);
        o.link(8, transpose(), b, c);
        o.solve();
        assert_eq!([o.order(b).to_vec(), o.order(c).to_vec()], [vec![0, 1], vec![1, 0]]);
        assert_eq!(o.order(d).to_vec(), [2, 1, 0]);
    }

    #[test]
    fn ranks_are_not_mixed() {
        let mut o = Orders::default();
        let (a, b) = (o.add(2), o.add(3));
        o.join(a, b);
        o.keep(a, order(&[0, 1]), order(&[0, 1]));
        o.keep(b, order(&[0, 1]), order(&[0, 1]));
        o.solve();
        assert_eq!(o.order(b).to_vec(), [2, 1, 0]);
    }
}
