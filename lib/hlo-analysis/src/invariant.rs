//! Which leaves of a loop's state the body hands on unchanged. They need no buffer of their own: condition,
//! body and the loop's users read the initial value where it is. Weights and other inputs that a model carries
//! through a loop are of this kind.

use crate::leaves::Elements;
use crate::{Alias, alias};
use hlo_ir::{InstrId, Module, Op};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The bound on the steps of one search; longer chains count as changed.
const MAX_STEPS: usize = 10_000;
/// The bound on the nesting of the calls and loops that a search follows.
const MAX_DEPTH: usize = 200;

/// Answers are kept for each loop.
#[derive(Default)]
pub struct Invariants {
    of: HashMap<InstrId, Rc<[bool]>>,
    /// Of tuples that were looked into.
    pub elements: Elements,
    /// Where leaves change their layout: what comes from there is another value.
    changes: HashSet<InstrId>,
}

/// What is left of a search.
struct Budget {
    steps: usize,
    depth: usize,
}

impl Invariants {
    /// Of a module with changes of layout at the given instructions.
    pub fn new(changes: HashSet<InstrId>) -> Self {
        Self { changes, ..Self::default() }
    }

    /// True if some leaf changes its layout at this instruction.
    pub fn changes_layout(&self, id: InstrId) -> bool {
        self.changes.contains(&id)
    }

    /// For each leaf of the state of the loop `id`, whether the body returns it as it got it. False throughout
    /// if `id` is not a `while`.
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

    /// The parameter and its leaf that leaf number `leaf` of `id` is, if it is one as it stands.
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
