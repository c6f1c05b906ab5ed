//! Finds instructions that compute the same value in the programs of several partitions, which one module
//! contains.

use super::Chain;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use hlo_passes::parts::{Representatives, canonical_op, equal_computations};
use hlo_passes::support::effects::is_impure;
use std::collections::{HashMap, HashSet};

/// Compares values of a module.
pub(super) struct SameValue<'m> {
    module: &'m Module,
    callers: HashMap<ComputationId, Vec<InstrId>>,
    same: Representatives,
}

impl<'m> SameValue<'m> {
    pub(super) fn of(module: &'m Module) -> Self {
        Self { module, callers: module.callers(), same: equal_computations(module) }
    }

    /// Returns whether the instructions that follow the sums compute the same in all chains.
    pub(super) fn chains(&mut self, chains: &[Chain]) -> bool {
        let Some((first, rest)) = chains.split_first() else { return false };
        rest.iter().all(|other| {
            let pairs = first.links.iter().copied().zip(other.links.iter().copied());
            first.links.len() == other.links.len() && self.all(pairs.collect())
        })
    }

    /// Returns whether the instructions of each pair compute the same. A pair that depends on itself, as in a
    /// loop, is assumed to be equal unless something else differs.
    fn all(&self, pairs: Vec<(InstrId, InstrId)>) -> bool {
        let mut seen = HashSet::new();
        let mut work = pairs;
        while let Some((a, b)) = work.pop() {
            if a == b || !seen.insert((a.min(b), a.max(b))) {
                continue;
            }
            let (x, y) = (&self.module[a], &self.module[b]);
            let ops = canonical_op(&x.op, &self.same) == canonical_op(&y.op, &self.same);
            match (&x.op, &y.op) {
                (Op::AllReduce(s), Op::AllReduce(t))
                    if s.channel_id.is_some() && s.channel_id == t.channel_id =>
                {
                    if !ops || !x.shape.compatible(&y.shape) {
                        return false;
                    }
                    // Each partition contributes its own operand, and all receive the same sum.
                    continue;
                }
                (Op::Parameter(_), _) => return false,
                (Op::GetTupleElement(s), Op::GetTupleElement(t)) if s.index != t.index => {
                    let Some(pairs) = self.elements(a, s.index, t.index) else { return false };
                    work.extend(pairs);
                }
                _ if !ops => return false,
                _ => {}
            }
            let elided = matches!(&x.op, Op::Constant(c) if c.is_elided());
            // Sums of equal values over the same replicas are equal.
            let impure = is_impure(&x.op) && !matches!(x.op, Op::AllReduce(_));
            let same = x.operands.len() == y.operands.len() && x.shape.compatible(&y.shape);
            if elided || impure || !same {
                return false;
            }
            work.extend(x.operands.iter().copied().zip(y.operands.iter().copied()));
        }
        true
    }

    /// Returns the elements `a` and `b` of every tuple that the operand may be. Returns `None` if some tuples
    /// are not known.
    fn elements(&self, id: InstrId, a: i64, b: i64) -> Option<Vec<(InstrId, InstrId)>> {
        let &[tuple] = &self.module[id].operands[..] else { return None };
        let element =
            |tuple: InstrId, n: i64| self.module[tuple].operands.get(usize::try_from(n).ok()?).copied();
        self.tuples(tuple)?.into_iter().map(|t| Some((element(t, a)?, element(t, b)?))).collect()
    }

    /// Returns all `tuple` instructions that may define the value of an instruction. Returns `None` if some
    /// are not known.
    fn tuples(&self, id: InstrId) -> Option<Vec<InstrId>> {
        let mut out = Vec::new();
        let mut seen = HashSet::new();
        // Instructions, each with the indices of the elements to access, the outermost last.
        let mut work: Vec<(InstrId, Vec<i64>)> = vec![(id, Vec::new())];
        while let Some((id, mut path)) = work.pop() {
            if !seen.insert((id, path.clone())) {
                continue;
            }
            let instr = &self.module[id];
            let root = |c: ComputationId| self.module.has_root(c).then(|| self.module[c].root());
            match &instr.op {
                Op::Tuple => match path.pop() {
                    None => out.push(id),
                    Some(n) => work.push((*instr.operands.get(usize::try_from(n).ok()?)?, path)),
                },
                Op::GetTupleElement(a) => {
                    path.push(a.index);
                    work.push((*instr.operands.first()?, path));
                }
                Op::Domain(_) => work.push((*instr.operands.first()?, path)),
                Op::While(a) => {
                    work.push((*instr.operands.first()?, path.clone()));
                    work.push((root(a.body)?, path));
                }
                op @ Op::Conditional(_) => {
                    for branch in op.called_computations() {
                        work.push((root(branch)?, path.clone()));
                    }
                }
                Op::Parameter(_) => {
                    let &[caller] = &self.callers.get(&instr.parent)?[..] else { return None };
                    let operands = &self.module[caller].operands;
                    match &self.module[caller].op {
                        Op::While(a) => {
                            work.push((*operands.first()?, path.clone()));
                            work.push((root(a.body)?, path));
                        }
                        op @ Op::Conditional(_) => {
                            let branches = op.called_computations().into_iter().zip(operands.iter().skip(1));
                            let given = branches.filter(|(b, _)| *b == instr.parent);
                            work.extend(given.map(|(_, &o)| (o, path.clone())));
                        }
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
        Some(out)
    }
}
