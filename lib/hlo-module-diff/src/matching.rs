//! Matches the instructions of two modules.
//!
//! Matching starts at the entry computations and continues with the computations that matched instructions
//! call. The remaining computations are matched by fingerprint and then by name. The instructions of two
//! computations are matched in steps, from certain to likely:
//! 1. instructions with the same value and the same uses;
//! 2. instructions with the same value;
//! 3. instructions with the same uses;
//! 4. starting from matched instructions: operands at the same position, and users at the same position, with
//!    the same opcode;
//! 5. by name and opcode; by opcode, attributes and an operand; by name; and again by position, with any
//!    opcode.

use crate::Ignore;
use crate::fingerprint::Fingerprints;
use hlo_ir::{ComputationId, InstrId, Module};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// The matched pairs of two modules.
pub struct Matching {
    right_of: Vec<Option<InstrId>>,
    left_of: Vec<Option<InstrId>>,
    computation_right: HashMap<ComputationId, ComputationId>,
    computation_left: HashMap<ComputationId, ComputationId>,
}

impl Matching {
    /// Matches two valid modules.
    pub fn new(left: &Module, right: &Module, ignore: Ignore) -> Self {
        let mut matcher = Matcher {
            left,
            right,
            ignore,
            prints: (Fingerprints::of(left, ignore), Fingerprints::of(right, ignore)),
            places: (Places::of(left), Places::of(right)),
            found: Matching {
                right_of: vec![None; left.instruction_capacity()],
                left_of: vec![None; right.instruction_capacity()],
                computation_right: HashMap::new(),
                computation_left: HashMap::new(),
            },
            open: VecDeque::new(),
        };
        matcher.run();
        matcher.found
    }

    /// Returns the counterpart on the right side of an instruction of the left side.
    pub fn right_of(&self, id: InstrId) -> Option<InstrId> {
        self.right_of.get(id.index()).copied().flatten()
    }

    /// Returns the counterpart on the left side of an instruction of the right side.
    pub fn left_of(&self, id: InstrId) -> Option<InstrId> {
        self.left_of.get(id.index()).copied().flatten()
    }

    /// Returns the counterpart on the right side of a computation of the left side.
    pub fn computation_right_of(&self, id: ComputationId) -> Option<ComputationId> {
        self.computation_right.get(&id).copied()
    }

    /// Returns the counterpart on the left side of a computation of the right side.
    pub fn computation_left_of(&self, id: ComputationId) -> Option<ComputationId> {
        self.computation_left.get(&id).copied()
    }
}

struct Matcher<'m> {
    left: &'m Module,
    right: &'m Module,
    ignore: Ignore,
    prints: (Fingerprints, Fingerprints),
    places: (Places, Places),
    found: Matching,
    /// The pairs of computations whose instructions are not matched yet.
    open: VecDeque<(ComputationId, ComputationId)>,
}

impl Matcher<'_> {
    fn run(&mut self) {
        self.pair_computations(self.left.entry(), self.right.entry());
        self.work();
        // The computations that no matched instruction calls are matched by fingerprint, then by name.
        let fingerprint = |prints: &Fingerprints, c: ComputationId| prints.computations.get(&c).copied();
        let keys = |m: &Module, prints: &Fingerprints| -> Vec<(Option<u64>, ComputationId)> {
            m.computations_post_order().into_iter().rev().map(|c| (fingerprint(prints, c), c)).collect()
        };
        self.pair_unmatched(keys(self.left, &self.prints.0), keys(self.right, &self.prints.1));
        let keys = |m: &Module| -> Vec<(String, ComputationId)> {
            let all = m.computations_post_order().into_iter().rev();
            all.map(|c| (m[c].name.to_string(), c)).collect()
        };
        self.pair_unmatched(keys(self.left), keys(self.right));
    }

    /// Pairs unmatched computations with equal keys, in order.
    fn pair_unmatched<K: Eq + Hash>(
        &mut self,
        left: Vec<(K, ComputationId)>,
        right: Vec<(K, ComputationId)>,
    ) {
        let mut by_key: HashMap<K, VecDeque<ComputationId>> = HashMap::new();
        for (key, c) in right {
            by_key.entry(key).or_default().push_back(c);
        }
        for (key, a) in left {
            let candidates = by_key.get_mut(&key);
            // Computations that were matched meanwhile are no longer candidates.
            let b = candidates.and_then(|queue| {
                while queue.front().is_some_and(|b| self.found.computation_left.contains_key(b)) {
                    queue.pop_front();
                }
                queue.front().copied()
            });
            if let Some(b) = b.filter(|_| !self.found.computation_right.contains_key(&a)) {
                self.pair_computations(a, b);
                self.work();
            }
        }
    }

    fn pair_computations(&mut self, a: ComputationId, b: ComputationId) {
        let found = &mut self.found;
        if !found.computation_right.contains_key(&a) && !found.computation_left.contains_key(&b) {
            found.computation_right.insert(a, b);
            found.computation_left.insert(b, a);
            self.open.push_back((a, b));
        }
    }

    fn work(&mut self) {
        while let Some((a, b)) = self.open.pop_front() {
            self.instructions(a, b);
        }
    }

    fn instructions(&mut self, a: ComputationId, b: ComputationId) {
        let (left, right) = (self.left.dependency_order(a), self.right.dependency_order(b));
        self.by_fingerprint(&left, &right, |p, i| (p.value.get(i).copied(), p.uses.get(i).copied()));
        self.by_fingerprint(&left, &right, |p, i| p.value.get(i).copied());
        self.by_fingerprint(&left, &right, |p, i| p.uses.get(i).copied());
        let (x, y) = (self.left[a].root(), self.right[b].root());
        if self.left[x].opcode() == self.right[y].opcode() {
            self.pair(x, y);
        }
        self.propagate_pairs(&left, true);
        if !self.ignore.names {
            self.by_name(&left, &right, true);
            self.propagate_pairs(&left, true);
        }
        self.by_operand(&left, &right);
        self.propagate_pairs(&left, true);
        if !self.ignore.names {
            self.by_name(&left, &right, false);
        }
        self.pair(x, y);
        self.propagate_pairs(&left, false);
        for &x in &left {
            let Some(y) = self.found.right_of(x) else { continue };
            let callees = self.left[x].op.called_computations();
            for (p, q) in callees.into_iter().zip(self.right[y].op.called_computations()) {
                self.pair_computations(p, q);
            }
        }
    }

    /// Returns whether neither instruction has a counterpart.
    fn both_free(&self, x: InstrId, y: InstrId) -> bool {
        self.found.right_of(x).is_none() && self.found.left_of(y).is_none()
    }

    fn pair(&mut self, x: InstrId, y: InstrId) {
        if self.both_free(x, y)
            && let (Some(a), Some(b)) =
                (self.found.right_of.get_mut(x.index()), self.found.left_of.get_mut(y.index()))
        {
            *a = Some(y);
            *b = Some(x);
        }
    }

    /// Pairs unmatched instructions with the same fingerprint.
    fn by_fingerprint<K: Eq + Hash>(
        &mut self,
        left: &[InstrId],
        right: &[InstrId],
        key: impl Fn(&Fingerprints, usize) -> K,
    ) {
        let xs = left.iter().filter(|x| self.found.right_of(**x).is_none());
        let xs: Vec<(K, InstrId)> = xs.map(|&x| (key(&self.prints.0, x.index()), x)).collect();
        let ys = right.iter().filter(|y| self.found.left_of(**y).is_none());
        let ys: Vec<(K, InstrId)> = ys.map(|&y| (key(&self.prints.1, y.index()), y)).collect();
        self.group(xs, ys);
    }

    /// Pairs unmatched instructions with the same opcode, shape and attributes that have a matched operand in
    /// common, or no operands.
    fn by_operand(&mut self, left: &[InstrId], right: &[InstrId]) {
        let local = |prints: &Fingerprints, i: InstrId| prints.local.get(i.index()).copied();
        let mut xs = Vec::new();
        for &x in left.iter().filter(|x| self.found.right_of(**x).is_none()) {
            let operands = &self.left[x].operands;
            let known = operands.iter().enumerate().find_map(|(n, &o)| Some((n, self.found.right_of(o)?)));
            if known.is_some() || operands.is_empty() {
                xs.push(((local(&self.prints.0, x), known), x));
            }
        }
        let mut ys = Vec::new();
        for &y in right.iter().filter(|y| self.found.left_of(**y).is_none()) {
            let operands = &self.right[y].operands;
            let mut known = operands.iter().copied().enumerate();
            let known = known.find(|&(_, o)| self.found.left_of(o).is_some());
            if known.is_some() || operands.is_empty() {
                ys.push(((local(&self.prints.1, y), known), y));
            }
        }
        self.group(xs, ys);
    }

    /// Pairs instructions with equal keys, first those with equal names, then the others in order.
    fn group<K: Eq + Hash>(&mut self, left: Vec<(K, InstrId)>, right: Vec<(K, InstrId)>) {
        // Groups are numbered by their first instruction on the left side, so that the order does not depend
        // on hashes.
        let mut numbers: HashMap<K, usize> = HashMap::new();
        let mut groups: Vec<(Vec<InstrId>, Vec<InstrId>)> = Vec::new();
        for (key, x) in left {
            let number = *numbers.entry(key).or_insert(groups.len());
            if number == groups.len() {
                groups.push((Vec::new(), Vec::new()));
            }
            groups.get_mut(number).into_iter().for_each(|g| g.0.push(x));
        }
        for (key, y) in right {
            let group = numbers.get(&key).and_then(|&n| groups.get_mut(n));
            group.into_iter().for_each(|g| g.1.push(y));
        }
        for (xs, ys) in groups {
            if xs.len() > 1 || ys.len() > 1 {
                let names: HashMap<&str, InstrId> = ys.iter().map(|&y| (&*self.right[y].name, y)).collect();
                let same: Vec<(InstrId, InstrId)> =
                    xs.iter().filter_map(|&x| Some((x, *names.get(&*self.left[x].name)?))).collect();
                same.into_iter().for_each(|(x, y)| self.pair(x, y));
            }
            let free_x: Vec<InstrId> = xs.into_iter().filter(|&x| self.found.right_of(x).is_none()).collect();
            let free_y: Vec<InstrId> = ys.into_iter().filter(|&y| self.found.left_of(y).is_none()).collect();
            free_x.into_iter().zip(free_y).for_each(|(x, y)| self.pair(x, y));
        }
    }

    /// Pairs instructions with equal names. They must have equal opcodes if `strict`; otherwise compatible
    /// shapes are enough.
    fn by_name(&mut self, left: &[InstrId], right: &[InstrId], strict: bool) {
        let names: HashMap<&str, InstrId> = right
            .iter()
            .filter(|y| self.found.left_of(**y).is_none())
            .map(|&y| (&*self.right[y].name, y))
            .collect();
        let pairs: Vec<(InstrId, InstrId)> =
            left.iter().filter_map(|&x| Some((x, *names.get(&*self.left[x].name)?))).collect();
        for (x, y) in pairs {
            let (a, b) = (&self.left[x], &self.right[y]);
            let alike = a.opcode() == b.opcode() || !strict && a.shape.compatible(&b.shape);
            if alike {
                self.pair(x, y);
            }
        }
    }

    /// Starting from each pair, pairs the operands at the same position, and the users that use the pair at
    /// the same position. They must have the same opcode if `strict`; otherwise compatible shapes are enough.
    fn propagate_pairs(&mut self, left: &[InstrId], strict: bool) {
        let mut work: VecDeque<(InstrId, InstrId)> =
            left.iter().rev().filter_map(|&x| Some((x, self.found.right_of(x)?))).collect();
        while let Some((x, y)) = work.pop_front() {
            let (a, b) = (&self.left[x], &self.right[y]);
            let mut next: Vec<(InstrId, InstrId)> = Vec::new();
            // If the numbers of operands differ, the positions of operands carry no information.
            if a.operands.len() == b.operands.len() {
                next.extend(a.operands.iter().copied().zip(b.operands.iter().copied()));
            }
            next.extend(self.only_users(x, y));
            for (x, y) in next {
                let (a, b) = (&self.left[x], &self.right[y]);
                let same_opcode = a.opcode() == b.opcode();
                let alike = if strict { same_opcode } else { same_opcode || a.shape.compatible(&b.shape) };
                if alike && self.both_free(x, y) {
                    self.pair(x, y);
                    work.push_back((x, y));
                }
            }
        }
    }

    /// Returns the unmatched users of both instructions, if each has exactly one and it uses them at the same
    /// position.
    fn only_users(&self, x: InstrId, y: InstrId) -> Option<(InstrId, InstrId)> {
        /// The maximum number of users to examine. More users carry no information and would take time.
        const MAX_USERS: usize = 16;
        let (xs, ys) = (self.left.users(x), self.right.users(y));
        if xs.len() > MAX_USERS || ys.len() > MAX_USERS {
            return None;
        }
        let mut free_x = xs.iter().copied().filter(|&u| self.found.right_of(u).is_none());
        let mut free_y = ys.iter().copied().filter(|&u| self.found.left_of(u).is_none());
        let (u, v) = (free_x.next()?, free_y.next()?);
        if free_x.next().is_some() || free_y.next().is_some() {
            return None;
        }
        let places = (self.places.0.first(self.left, u, x), self.places.1.first(self.right, v, y));
        (places.0 == places.1).then_some((u, v))
    }
}

/// The operand positions of instructions with many operands, for which a search would be slow.
struct Places(HashMap<(InstrId, InstrId), usize>);

impl Places {
    /// The minimum number of operands for which positions are stored.
    const MIN_INDEXED_OPERANDS: usize = 32;

    fn of(module: &Module) -> Self {
        let mut places = HashMap::new();
        let all = module.computations().flat_map(|c| module[c].instructions());
        for &user in all.filter(|&&i| module[i].operands.len() >= Self::MIN_INDEXED_OPERANDS) {
            for (n, &o) in module[user].operands.iter().enumerate() {
                places.entry((user, o)).or_insert(n);
            }
        }
        Self(places)
    }

    /// Returns the first position at which an instruction uses another one as an operand.
    fn first(&self, module: &Module, user: InstrId, operand: InstrId) -> Option<usize> {
        let operands = &module[user].operands;
        if operands.len() >= Self::MIN_INDEXED_OPERANDS {
            self.0.get(&(user, operand)).copied()
        } else {
            operands.iter().position(|&o| o == operand)
        }
    }
}
