//! What may write its result where it reads an operand.

use super::values::Values;
use crate::support::constants::scalar_integer;
use hlo_ir::attr::FusionKind;
use hlo_ir::{InstrId, Module, Op};
use std::collections::HashSet;

/// True if the instruction that makes `result` may write it where it reads `value`: a loop that changes it in place, what
/// reads an array of the size of its result element by element, an update of parts of it, or a fusion of such.
pub(super) fn is_made_in_place(module: &Module, result: usize, value: usize, values: &Values) -> bool {
    let (maker, leaf) = (values.maker(result), values.leaf(result));
    let instr = &module[maker];
    // The operands that have the value, and whether they are arrays of the result's shape.
    let operands = instr.operands.iter().enumerate();
    let readers: Vec<(usize, InstrId)> =
        operands.filter(|(_, o)| values.leaves(**o).contains(&value)).map(|(n, &o)| (n, o)).collect();
    let made = instr.shape.leaves().get(leaf).copied();
    let alike = readers.iter().all(|&(_, o)| Some(&module[o].shape) == made);
    let only = |operand: usize| matches!(readers[..], [(n, _)] if n == operand);
    match &instr.op {
        Op::While(_) => {
            let initial = instr.operands.first().map_or(&[][..], |&init| values.leaves(init));
            initial.get(leaf) == Some(&value)
        }
        Op::DynamicUpdateSlice => alike && only(0),
        Op::Scatter(_) => alike && only(leaf),
        Op::Fusion(a) if a.kind == FusionKind::Loop => {
            let parameters = module.parameters(a.calls);
            let read: Option<Vec<InstrId>> =
                readers.iter().map(|&(n, _)| parameters.get(n).copied()).collect();
            let root = module[a.calls].root();
            let roots = match module[root].op {
                Op::Tuple => module[root].operands.to_vec(),
                _ => vec![root],
            };
            // Elements of tuples that are tuples are not looked into.
            let flat = roots.iter().all(|&r| module[r].shape.as_tuple().is_none());
            match (read, roots.get(leaf)) {
                (Some(read), Some(&made)) if flat && alike => {
                    let fused = Fused { module, read, root, roots: &roots };
                    fused.is_read_element_by_element() || fused.is_updated_by(made)
                }
                _ => false,
            }
        }
        _ => instr.opcode().is_pointwise() && alike,
    }
}

/// A fused computation and those of its parameters that are one value.
struct Fused<'m> {
    module: &'m Module,
    read: Vec<InstrId>,
    root: InstrId,
    /// The results, which the root may be the tuple of.
    roots: &'m [InstrId],
}

impl Fused<'_> {
    /// True if an element of any result needs no other element of the parameters than the one in its place.
    fn is_read_element_by_element(&self) -> bool {
        let shape = |i: InstrId| self.module[i].shape.as_array().map(|a| &a.dims);
        let Some(dims) = self.read.first().and_then(|&p| shape(p)) else { return false };
        self.roots.iter().all(|&r| shape(r) == Some(dims))
            && self.follow(&self.read, |user, used| {
                let result_tuple = user == self.root && matches!(self.module[user].op, Op::Tuple);
                result_tuple || self.is_elementwise(user, used)
            })
    }

    /// True if `made` is the parameters' value with a part of it replaced, and nothing else of them is read than that
    /// part, element by element for its replacement. Other results may be computed before or after this one.
    fn is_updated_by(&self, made: InstrId) -> bool {
        let module = self.module;
        let is_result_once = self.roots.iter().filter(|&&r| r == made).count() == 1
            && module.users(made).iter().all(|&u| u == self.root);
        let Some(dus) = self.behind_bitcasts(made).filter(|_| is_result_once) else { return false };
        let (Op::DynamicUpdateSlice, Some((&target, rest))) =
            (&module[dus].op, module[dus].operands.split_first())
        else {
            return false;
        };
        let (Some((&update, start)), Some(parameter)) = (rest.split_first(), self.behind_bitcasts(target))
        else {
            return false;
        };
        if !self.read.contains(&parameter) || rest.contains(&target) {
            return false;
        }
        // What has the value as it was, by names that the update gives it or by others.
        let others = self.read.iter().copied().filter(|&p| p != parameter);
        let mut parts = Vec::new();
        for source in others.chain([target]) {
            if self.roots.contains(&source) || module[source].shape != module[target].shape {
                return false;
            }
            for &user in module.users(source) {
                match user == dus && source == target {
                    true => {}
                    false if self.takes_part(user, source, start, update) => parts.push(user),
                    false => return false,
                }
            }
        }
        self.follow(&parts, |user, used| match user == dus {
            true => used == update && !start.contains(&used),
            false => self.is_elementwise(user, used),
        })
    }

    /// What is a value before bitcasts that nothing else uses give it another name; `None` if something does.
    fn behind_bitcasts(&self, id: InstrId) -> Option<InstrId> {
        let mut at = id;
        while let (Op::Bitcast, &[of]) = (&self.module[at].op, &self.module[at].operands[..]) {
            if self.module.users(of) != [at] || self.roots.contains(&of) {
                return None;
            }
            at = of;
        }
        Some(at)
    }

    /// True for what takes the part of `of` that an update from `start` replaces.
    fn takes_part(&self, id: InstrId, of: InstrId, start: &[InstrId], update: InstrId) -> bool {
        let instr = &self.module[id];
        let (Some(whole), Some(part), Some(new)) =
            (self.module[of].shape.as_array(), instr.shape.as_array(), self.module[update].shape.as_array())
        else {
            return false;
        };
        if part.dims != new.dims || instr.operands.first() != Some(&of) {
            return false;
        }
        match &instr.op {
            Op::DynamicSlice(_) => instr.operands.get(1..) == Some(start),
            Op::Slice(a) => {
                let sizes = whole.dims.iter().zip(&part.dims);
                a.slice.len() == start.len()
                    && a.slice.iter().zip(start).zip(sizes).all(|((range, &at), (&all, &taken))| {
                        // What reaches beyond the end begins earlier.
                        let last = i128::from(all) - i128::from(taken);
                        let first = scalar_integer(self.module, at).map(|n| n.clamp(0, last.max(0)));
                        range.stride == 1 && first == Some(i128::from(range.start))
                    })
            }
            _ => false,
        }
    }

    /// True if an element of `user` needs the element of `used` in its place only.
    fn is_elementwise(&self, user: InstrId, used: InstrId) -> bool {
        let dims = |i: InstrId| self.module[i].shape.as_array().map(|a| &a.dims);
        self.module[user].opcode().is_pointwise() && dims(user).is_some() && dims(user) == dims(used)
    }

    /// True if `fits` holds for whatever uses the values, directly or through others, up to an update or the results.
    fn follow(&self, values: &[InstrId], fits: impl Fn(InstrId, InstrId) -> bool) -> bool {
        let mut seen: HashSet<InstrId> = values.iter().copied().collect();
        let mut work = values.to_vec();
        while let Some(at) = work.pop() {
            for &user in self.module.users(at) {
                if !fits(user, at) {
                    return false;
                }
                let ends = matches!(self.module[user].op, Op::Tuple | Op::DynamicUpdateSlice);
                if !ends && seen.insert(user) {
                    work.push(user);
                }
            }
        }
        true
    }
}
