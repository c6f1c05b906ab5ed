//! A walk from the results of a kernel to its operands, with the index at which each value is needed.

use crate::Body;
use hlo_ir::InstrId;
use hlo_ir::access::Access;
use std::collections::HashSet;
use std::hash::Hash;

/// Maximum number of pairs of an instruction and an index that a walk visits.
const MAX_VISITS: usize = 10_000;

/// A visitor of a walk, and its knowledge about indices. Each dimension has a `Place`.
pub(crate) trait Walk {
    /// The knowledge about the index in one dimension.
    type Place: Clone + Eq + Hash;

    /// Visits an instruction at an index. Returns whether the walk continues with its operands.
    fn visit(&mut self, body: &Body<'_>, id: InstrId, index: &[Self::Place]) -> bool;

    /// Returns the index at which an operand is read, or `None` if the walk does not continue there.
    fn operand(&mut self, body: &Body<'_>, step: &Step<'_, Self::Place>) -> Option<Vec<Self::Place>>;
}

/// A step of a walk from an instruction to one of its operands.
pub(crate) struct Step<'a, P> {
    /// The instruction.
    pub id: InstrId,
    /// The operand.
    pub operand: InstrId,
    /// The elements of the operand that an element of the instruction's result depends on.
    pub access: Access,
    /// The index of the instruction's result.
    pub index: &'a [P],
}

/// Walks from the roots, of which `place` returns the index in a dimension, to the operands. Returns `None` if
/// there are too many visits.
pub(crate) fn walk<W: Walk>(
    body: &Body<'_>,
    visitor: &mut W,
    place: impl Fn(usize) -> W::Place,
) -> Option<()> {
    let module = body.module;
    let mut seen = HashSet::new();
    let mut stack: Vec<(InstrId, Vec<W::Place>)> = Vec::new();
    for root in &body.roots {
        let rank = body.root_shape(root).map_or(0, |shape| shape.rank());
        stack.push((root.id, (0..rank).map(&place).collect()));
    }
    while let Some(at) = stack.pop() {
        if seen.contains(&at) {
            continue;
        }
        if seen.len() >= MAX_VISITS {
            return None;
        }
        let (id, index) = &at;
        if visitor.visit(body, *id, index) && !body.sources.contains_key(id) {
            for (n, &operand) in module[*id].operands.iter().enumerate() {
                let step = Step { id: *id, operand, access: module.access(*id, n), index };
                stack.extend(visitor.operand(body, &step).map(|inner| (operand, inner)));
            }
        }
        seen.insert(at);
    }
    Some(())
}
