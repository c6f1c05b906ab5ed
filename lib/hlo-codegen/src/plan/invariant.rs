//! Which leaves of a loop's state the body hands on unchanged. They need no buffer of their own: condition,
//! body and the loop's users read the initial value where it is. Weights and other inputs that a model carries
//! through a loop are of this kind.

use super::{Role, role};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

/// The bound on the steps of one search; longer chains count as changed.
const MAX_STEPS: usize = 10_000;

/// Answers are kept for each loop.
#[derive(Default)]
pub struct Invariants {
    of: HashMap<InstrId, Vec<bool>>,
}

impl Invariants {
    /// For each leaf of the state of the loop `id`, whether the body returns it as it got it. False throughout
    /// if `id` is not a `while`.
    pub fn leaves(&mut self, module: &Module, id: InstrId) -> Vec<bool> {
        if let Some(known) = self.of.get(&id) {
            return known.clone();
        }
        let n = module[id].shape.leaf_count();
        let found = match &module[id].op {
            Op::While(w) => {
                let root = module[w.body].root();
                (0..n).map(|leaf| self.source(module, root, leaf) == Some((0, leaf))).collect()
            }
            _ => vec![false; n],
        };
        self.of.insert(id, found.clone());
        found
    }

    /// The parameter and its leaf that leaf number `leaf` of `id` is, if it is one as it stands.
    fn source(&mut self, module: &Module, id: InstrId, leaf: usize) -> Option<(usize, usize)> {
        let (mut at, mut leaf) = (id, leaf);
        for _ in 0..MAX_STEPS {
            let instr = &module[at];
            match role(module, at) {
                Role::Parameter => {
                    let Op::Parameter(p) = &instr.op else { return None };
                    return Some((usize::try_from(p.number).ok()?, leaf));
                }
                Role::Tuple => {
                    at = *instr.operands.iter().find(|&&o| {
                        let n = module[o].shape.leaf_count();
                        let here = leaf < n;
                        if !here {
                            leaf -= n;
                        }
                        here
                    })?;
                }
                Role::Element => {
                    let Op::GetTupleElement(g) = &instr.op else { return None };
                    at = *instr.operands.first()?;
                    leaf += element_offset(module, at, g.index)?;
                }
                Role::Alias => at = *instr.operands.first()?,
                Role::Call => {
                    let Op::Call(c) = &instr.op else { return None };
                    let (number, inner) = self.source_of_root(module, c.to_apply, leaf)?;
                    at = *instr.operands.get(number)?;
                    leaf = inner;
                }
                Role::While => {
                    if !*self.leaves(module, at).get(leaf)? {
                        return None;
                    }
                    at = *instr.operands.first()?;
                }
                Role::Constant | Role::Token | Role::Copy | Role::Conditional => return None,
                Role::Dot | Role::Convolution | Role::RandomBits | Role::Kernel | Role::Unsupported => {
                    return None;
                }
            }
        }
        None
    }

    fn source_of_root(&mut self, module: &Module, c: ComputationId, leaf: usize) -> Option<(usize, usize)> {
        self.source(module, module[c].root(), leaf)
    }
}

/// The number of leaves before element `index` of the tuple `id`.
pub fn element_offset(module: &Module, id: InstrId, index: i64) -> Option<usize> {
    let elements = module[id].shape.as_tuple()?;
    let index = usize::try_from(index).ok().filter(|&i| i < elements.len())?;
    Some(elements[..index].iter().map(hlo_ir::Shape::leaf_count).sum())
}
