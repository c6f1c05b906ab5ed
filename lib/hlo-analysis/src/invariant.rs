//! Loop invariants: the leaves of a loop's state that the body returns unchanged. Such a leaf needs no buffer
//! of its own: the condition, the body and the users of the loop read the initial value in place. Weights and
//! other inputs that a model passes through a loop are examples.

use crate::leaves::Elements;
use crate::{Alias, alias};
use hlo_ir::{InstrId, Module, Op};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Maximum number of steps of one search. Leaves with a longer chain count as changed.
const MAX_STEPS: usize = 10_000;
/// Maximum nesting depth of the calls and loops that a search follows.
const MAX_DEPTH: usize = 200;

/// The invariant leaves of each loop. Results are cached.
#[derive(Default)]
pub struct Invariants {
    of: HashMap<InstrId, Rc<[bool]>>,
    /// The leaf numbers of the tuples that the searches visited.
    pub elements: Elements,
    /// Instructions at which leaves change their layout. Their results count as different values.
    changes: HashSet<InstrId>,
}

/// The remaining budget of a search.
struct Budget {
    steps: usize,
    depth: usize,
}

impl Invariants {
    /// Creates an empty cache for a module in which the given instructions change layouts.
    pub fn new(changes: HashSet<InstrId>) -> Self {
        Self { changes, ..Self::default() }
    }

    /// Checks whether a leaf changes its layout at this instruction.
    pub fn changes_layout(&self, id: InstrId) -> bool {
        self.changes.contains(&id)
    }

    /// Returns for each leaf of the state of the loop `id` whether the body returns it unchanged. All entries
    /// are false if `id` is not a `while`.
    pub fn leaves(&mut self, module: &Module, id: InstrId) -> Rc<[bool]> {
        self.leaves_within(module, id, MAX_DEPTH)
    }

    fn leaves_within(&mut self, module: &Module, id: InstrId, depth: usize) -> Rc<[bool]> {
        if let Some(known) = self.of.get(&id) {
            return known.clone();
        }
        let n = module[id].shape.leaf_count();
        let found: Rc<[bool]> = match &module[id].op {
            Op::While(w) if !self.changes.contains(&id) && module.has_root(w.body) => {
                let root = module[w.body].root();
                let mut same = |leaf| {
                    let mut budget = Budget { steps: MAX_STEPS, depth };
                    self.source(module, root, leaf, &mut budget) == Some((0, leaf))
                };
                (0..n).map(&mut same).collect()
            }
            _ => vec![false; n].into(),
        };
        self.of.insert(id, found.clone());
        found
    }

    /// Returns the number of the parameter and of its leaf that leaf `leaf` of `id` is an unchanged copy of.
    /// Returns `None` if there is none.
    fn source(
        &mut self,
        module: &Module,
        id: InstrId,
        leaf: usize,
        budget: &mut Budget,
    ) -> Option<(usize, usize)> {
        let (mut at, mut leaf) = (id, leaf);
        loop {
            budget.steps = budget.steps.checked_sub(1)?;
            if self.changes.contains(&at) {
                return None;
            }
            let instr = &module[at];
            match (alias(module, at), &instr.op) {
                (Some(Alias::Tuple), _) => {
                    let offsets = self.elements.offsets(module, at)?;
                    let element = offsets.partition_point(|&first| first <= leaf).checked_sub(1)?;
                    leaf -= offsets[element];
                    at = *instr.operands.get(element)?;
                }
                (Some(Alias::Element(element)), _) => {
                    at = *instr.operands.first()?;
                    leaf += self.elements.first_leaf(module, at, usize::try_from(element).ok()?)?;
                }
                (Some(Alias::Whole), _) => at = *instr.operands.first()?,
                (None, Op::Parameter(p)) => return Some((usize::try_from(p.number).ok()?, leaf)),
                (None, Op::Call(c)) if module.has_root(c.to_apply) => {
                    budget.depth = budget.depth.checked_sub(1)?;
                    let inner = self.source(module, module[c.to_apply].root(), leaf, budget);
                    budget.depth += 1;
                    let (number, inner) = inner?;
                    at = *instr.operands.get(number)?;
                    leaf = inner;
                }
                (None, Op::While(_)) => {
                    if !*self.leaves_within(module, at, budget.depth.checked_sub(1)?).get(leaf)? {
                        return None;
                    }
                    at = *instr.operands.first()?;
                }
                _ => return None,
            }
        }
    }
}
