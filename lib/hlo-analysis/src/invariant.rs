//! Which leaves of a loop's state the body hands on unchanged. They need no buffer of their own: condition,
//! body and the loop's users read the initial value where it is. Weights and other inputs that a model carries
//! through a loop are of this kind.

use super::classify::element_index;
use super::{Role, role};
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
    offsets: HashMap<InstrId, Rc<[usize]>>,
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

    /// The number of leaves before each element of a tuple, and of all of them.
    pub fn element_offsets(&mut self, module: &Module, tuple: InstrId) -> Option<Rc<[usize]>> {
        if let Some(known) = self.offsets.get(&tuple) {
            return Some(known.clone());
        }
        let mut sum = 0;
        let after = module[tuple].shape.as_tuple()?.iter().map(|element| {
            sum += element.leaf_count();
            sum
        });
        let offsets: Rc<[usize]> = std::iter::once(0).chain(after).collect();
        self.offsets.insert(tuple, offsets.clone());
        Some(offsets)
    }

    fn leaves_within(&mut self, module: &Module, id: InstrId, depth: usize) -> Rc<[bool]> {
        if let Some(known) = self.of.get(&id) {
            return known.clone();
        }
        let n = module[id].shape.leaf_count();
        let found: Rc<[bool]> = match &module[id].op {
            Op::While(w) if !self.changes.contains(&id) => {
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
            match role(module, at) {
                Role::Parameter => {
                    let Op::Parameter(p) = &instr.op else { return None };
                    return Some((usize::try_from(p.number).ok()?, leaf));
                }
                Role::Tuple => {
                    let offsets = self.element_offsets(module, at)?;
                    let element = offsets.partition_point(|&first| first <= leaf).checked_sub(1)?;
                    leaf -= offsets[element];
                    at = *instr.operands.get(element)?;
                }
                Role::Element => {
                    at = *instr.operands.first()?;
                    let element = usize::try_from(element_index(&instr.op)?).ok()?;
                    leaf += self.element_offsets(module, at)?.get(element)?;
                }
                Role::Alias => at = *instr.operands.first()?,
                Role::Call => {
                    let Op::Call(c) = &instr.op else { return None };
                    budget.depth = budget.depth.checked_sub(1)?;
                    let inner = self.source(module, module[c.to_apply].root(), leaf, budget);
                    budget.depth += 1;
                    let (number, inner) = inner?;
                    at = *instr.operands.get(number)?;
                    leaf = inner;
                }
                Role::While => {
                    if !*self.leaves_within(module, at, budget.depth.checked_sub(1)?).get(leaf)? {
                        return None;
                    }
                    at = *instr.operands.first()?;
                }
                Role::Constant | Role::Token | Role::Copy | Role::Conditional => return None,
                Role::Start | Role::Exchange | Role::Transfer | Role::Zero => return None,
                Role::Dot | Role::Convolution | Role::RandomBits | Role::Runtime => return None,
                Role::CustomCall | Role::Kernel | Role::Expanded => return None,
            }
        }
    }
}

/// The number of leaves before element `index` of the tuple `id`.
pub fn element_offset(module: &Module, id: InstrId, index: i64) -> Option<usize> {
    let elements = module[id].shape.as_tuple()?;
    let index = usize::try_from(index).ok().filter(|&i| i < elements.len())?;
    Some(elements[..index].iter().map(hlo_ir::Shape::leaf_count).sum())
}
