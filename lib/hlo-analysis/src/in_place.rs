//! In-place results: finds the operands whose memory an instruction may overwrite with its result.
//!
//! A result can use an operand's memory for one of three reasons:
//!
//! - It must: the state of a loop, and results that are aliased to operands ([`aliased`]).
//! - It is the operand with a part replaced ([`updated`]).
//! - It is computed element by element ([`overwritten`]).
//!
//! In the last two cases sharing is optional. A compiler shares the memory if nothing reads the operand
//! later. Copy insertion uses all three cases, because it decides what may share memory. The scheduler uses
//! the second case, for which it changes the order. Code generation uses the two optional cases.

use crate::Invariants;
use crate::leaves::first_leaf_at;
use hlo_ir::{ArrayShape, Family, InstrId, Module, Op};
use std::collections::HashSet;

/// A leaf of an operand whose memory a leaf of the result may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlace {
    /// The number of the operand.
    pub operand: usize,
    /// The leaf of the operand, depth first.
    pub leaf: usize,
    /// The leaf of the result, depth first.
    pub result: usize,
}

/// Returns the results that must be written to the memory of an operand: the state that a loop changes, and
/// the results in `output_to_operand_aliasing`.
pub fn aliased(module: &Module, id: InstrId, invariants: &mut Invariants) -> Vec<InPlace> {
    let instr = &module[id];
    let aliases = match &instr.op {
        Op::While(_) => {
            let unchanged = invariants.leaves(module, id);
            let leaves = instr.shape.leaves().into_iter().enumerate();
            let written =
                leaves.filter(|(n, s)| s.as_array().is_some() && unchanged.get(*n).copied() != Some(true));
            return written.map(|(leaf, _)| InPlace { operand: 0, leaf, result: leaf }).collect();
        }
        Op::Fusion(a) => &a.output_to_operand_aliasing,
        Op::CustomCall(a) => &a.output_to_operand_aliasing,
        _ => return Vec::new(),
    };
    let places = aliases.iter().filter_map(|alias| {
        let operand = usize::try_from(alias.operand).ok()?;
        let shape = &module[*instr.operands.get(operand)?].shape;
        let leaf = first_leaf_at(shape, &alias.operand_index)?;
        Some(InPlace { operand, leaf, result: first_leaf_at(&instr.shape, &alias.output)? })
    });
    places.collect()
}

/// Returns the results that are an operand with a part replaced, if nothing else of that operand is read.
/// These are results of `dynamic-update-slice`, of `scatter`, of contractions with a default, and of fusions
/// that end in one of them. If the result shares the operand's memory, only the replaced part is written.
pub fn updated(module: &Module, id: InstrId) -> Vec<InPlace> {
    let instr = &module[id];
    let Op::Fusion(f) = &instr.op else {
        let fits = |u: &InPlace| match &instr.op {
            // These run in place whatever the layout of their result. A different layout needs one more copy.
            Op::Scatter(_) | Op::Contraction(_) => true,
            _ => same_place(module, id, u),
        };
        return updated_directly(module, id).into_iter().filter(fits).collect();
    };
    let fused = Fused::new(module, id, f.calls);
    let mut out = Vec::new();
    let mut first = 0;
    for &made in &fused.roots {
        for InPlace { operand: target, result, .. } in updated_directly(module, made) {
            let parameter = module[made].operands[target];
            let Op::Parameter(p) = &module[parameter].op else { continue };
            let uses = module[made].operands.iter().filter(|&&o| o == parameter).count();
            let only_use = module.users(parameter) == [made] && uses == 1 && parameter != fused.root;
            let Some(operand) = usize::try_from(p.number).ok().filter(|&n| n < instr.operands.len()) else {
                continue;
            };
            let place = InPlace { operand, leaf: 0, result: first + result };
            if only_use && same_place(module, id, &place) {
                out.push(place);
            }
        }
        first += module[made].shape.leaf_count();
    }
    out
}

/// Returns the pairs of an instruction that is not a fusion. All its operands must be arrays.
fn updated_directly(module: &Module, id: InstrId) -> Vec<InPlace> {
    let place = |n| InPlace { operand: n, leaf: 0, result: n };
    match &module[id].op {
        Op::DynamicUpdateSlice => vec![place(0)],
        Op::Scatter(_) => (0..module[id].operands.len() / 2).map(place).collect(),
        // The result is the default operand, except for the elements that have values.
        Op::Contraction(a) => {
            let default = a.access.operands.len();
            let places = (default..module[id].operands.len()).take(1);
            places.map(|operand| InPlace { operand, leaf: 0, result: 0 }).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the results that are computed element by element: each element of the operand is read only for the
/// result elements at the same index. Each of the results may thus overwrite the operand, if the elements of
/// all results at an index are computed before any of them is written.
pub fn overwritten(module: &Module, id: InstrId) -> Vec<InPlace> {
    let instr = &module[id];
    let results: Option<Vec<&ArrayShape>> = instr.shape.leaves().into_iter().map(|s| s.as_array()).collect();
    let results = results.unwrap_or_default();
    let Some(&first) = results.first() else { return Vec::new() };
    if !results.iter().all(|r| r.same_strides(first)) {
        return Vec::new();
    }
    let operands: Vec<usize> = match &instr.op {
        Op::Fusion(f) => {
            let fused = Fused::new(module, id, f.calls);
            let own = fused.read_in_place();
            fused.parameters().filter(|(_, p)| own.contains(p)).map(|(n, _)| n).collect()
        }
        _ => (0..instr.operands.len()).filter(|&n| reads_own_element(module, id, n)).collect(),
    };
    // All results have the same sizes and strides. Only their element types differ.
    let mut out = Vec::new();
    for operand in operands {
        let Some(from) = module[instr.operands[operand]].shape.as_array().filter(|o| o.same_strides(first))
        else {
            continue;
        };
        let fits = |r: &&ArrayShape| r.element_type.byte_size() == from.element_type.byte_size();
        let fitting = results.iter().enumerate().filter(|(_, r)| fits(r));
        out.extend(fitting.map(|(result, _)| InPlace { operand, leaf: 0, result }));
    }
    out
}

/// Checks whether the result may overwrite a value that is passed as all of the operands `operands`. This is
/// so if the result is computed from the value element by element. It is also so if the result replaces a
/// part of the value, and nothing else of the value is read than that part, element by element.
pub fn may_replace(module: &Module, id: InstrId, operands: &[usize], result: usize) -> bool {
    let has = |places: &[InPlace], n: usize| places.iter().any(|p| p.operand == n && p.result == result);
    let overwritten = overwritten(module, id);
    if operands.iter().all(|&n| has(&overwritten, n)) {
        return true;
    }
    match (&module[id].op, operands) {
        (Op::Fusion(f), _) => {
            let fused = Fused::new(module, id, f.calls);
            let flat = fused.roots.iter().all(|&r| module[r].shape.as_tuple().is_none());
            let fits = |&operand: &usize| same_place(module, id, &InPlace { operand, leaf: 0, result });
            let made = fused.roots.get(result);
            flat && operands.iter().all(fits) && made.is_some_and(|&made| fused.is_updated(operands, made))
        }
        (_, &[n]) => has(&updated(module, id), n),
        _ => false,
    }
}

/// Checks whether an element of the result needs only the element of operand `n` at the same index.
fn reads_own_element(module: &Module, id: InstrId, n: usize) -> bool {
    let instr = &module[id];
    let (Some(from), Some(to)) =
        (instr.operands.get(n).and_then(|&o| module[o].shape.as_array()), instr.shape.as_array())
    else {
        return false;
    };
    matches!(instr.opcode().family(), Family::Elementwise | Family::DataMovement)
        && from.dims == to.dims
        && module.access(id, n).is_identity(to.rank())
}

/// Checks whether both leaves have the same sizes, strides and element size.
fn same_place(module: &Module, id: InstrId, place: &InPlace) -> bool {
    let results = module[id].shape.leaves();
    let operands = module[id].operands.get(place.operand).map(|&o| module[o].shape.leaves());
    let result = results.get(place.result).and_then(|s| s.as_array());
    match (operands.and_then(|o| o.get(place.leaf).and_then(|s| s.as_array())), result) {
        (Some(o), Some(r)) => o.element_type.byte_size() == r.element_type.byte_size() && o.same_strides(r),
        _ => false,
    }
}

/// A fused computation.
struct Fused<'m> {
    module: &'m Module,
    fusion: InstrId,
    root: InstrId,
    /// The results. If there are several, the root is a tuple of them.
    roots: Vec<InstrId>,
    parameters: Vec<InstrId>,
}

impl<'m> Fused<'m> {
    fn new(module: &'m Module, fusion: InstrId, computation: hlo_ir::ComputationId) -> Self {
        if !module.has_root(computation) {
            return Self { module, fusion, root: fusion, roots: Vec::new(), parameters: Vec::new() };
        }
        let root = module[computation].root();
        let roots = match &module[root].op {
            Op::Tuple => module[root].operands.to_vec(),
            _ => vec![root],
        };
        Self { module, fusion, root, roots, parameters: module.parameters(computation) }
    }

    /// The operands that are arrays, by number, with their parameters.
    fn parameters(&self) -> impl Iterator<Item = (usize, InstrId)> {
        let given = &self.module[self.fusion].operands;
        let is_array = |n: usize| given.get(n).is_some_and(|&o| self.module[o].shape.as_array().is_some());
        self.parameters.iter().copied().enumerate().filter(move |(n, _)| is_array(*n))
    }

    /// Returns the instructions of the results' sizes whose elements are read only for the result elements at
    /// the same index, directly or through other instructions.
    fn read_in_place(&self) -> HashSet<InstrId> {
        let module = self.module;
        let dims = |i: InstrId| module[i].shape.as_array().map(|a| &a.dims);
        let mut out = HashSet::new();
        let sizes = self.roots.first().and_then(|&r| dims(r));
        if sizes.is_none() || self.roots.iter().any(|&r| dims(r) != sizes) {
            return out;
        }
        for i in module.post_order(module[self.root].parent).into_iter().rev() {
            let in_place = |&user: &InstrId| {
                self.is_tuple_of_results(user) || out.contains(&user) && self.is_own(user, i)
            };
            if dims(i) == sizes && module.users(i).iter().all(in_place) {
                out.insert(i);
            }
        }
        out
    }

    /// Checks whether `made` is the value of the operands with a part replaced, and nothing else of the
    /// operands is read than that part, element by element for its replacement. Other results may be computed
    /// before or after this one.
    fn is_updated(&self, operands: &[usize], made: InstrId) -> bool {
        let module = self.module;
        let Some(read): Option<Vec<InstrId>> =
            operands.iter().map(|&n| self.parameters.get(n).copied()).collect()
        else {
            return false;
        };
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
        if !read.contains(&parameter) || rest.contains(&target) {
            return false;
        }
        // All names of the original value: the one that the update reads, and the other operands.
        let others = read.iter().copied().filter(|&p| p != parameter);
        let mut parts = Vec::new();
        for source in others.chain([target]) {
            if self.roots.contains(&source) || module[source].shape != module[target].shape {
                return false;
            }
            for &user in module.users(source) {
                if user == dus && source == target {
                    continue;
                }
                if !self.reads_updated_part(user, source, start, update) {
                    return false;
                }
                parts.push(user);
            }
        }
        self.only_feeds(dus, &parts, |used| used == update && !start.contains(&used))
    }

    /// Checks whether all direct and indirect users of the values read them element by element, up to the
    /// update `dus`. `fits` checks a use by `dus` itself.
    fn only_feeds(&self, dus: InstrId, values: &[InstrId], fits: impl Fn(InstrId) -> bool) -> bool {
        let mut seen: HashSet<InstrId> = values.iter().copied().collect();
        let mut work = values.to_vec();
        while let Some(at) = work.pop() {
            for &user in self.module.users(at) {
                let is_allowed = if user == dus { fits(at) } else { self.is_own(user, at) };
                if !is_allowed {
                    return false;
                }
                if user != dus && seen.insert(user) {
                    work.push(user);
                }
            }
        }
        true
    }

    /// Follows a chain of bitcasts back to the value that they rename. Returns `None` if the value or a
    /// bitcast has another use.
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

    /// Checks whether an instruction reads exactly the part of `of` that an update at `start` replaces.
    fn reads_updated_part(&self, id: InstrId, of: InstrId, start: &[InstrId], update: InstrId) -> bool {
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
                        // A start index that would exceed the bounds is clamped.
                        let last = i128::from(all) - i128::from(taken);
                        let first = scalar_integer(self.module, at).map(|n| n.clamp(0, last.max(0)));
                        range.stride == 1 && first == Some(i128::from(range.start))
                    })
            }
            _ => false,
        }
    }

    fn is_tuple_of_results(&self, id: InstrId) -> bool {
        id == self.root && matches!(self.module[id].op, Op::Tuple)
    }

    /// Checks whether an element of `user` needs only the element of `used` at the same index.
    fn is_own(&self, user: InstrId, used: InstrId) -> bool {
        let operands = self.module[user].operands.iter().enumerate();
        operands.filter(|(_, o)| **o == used).all(|(n, _)| reads_own_element(self.module, user, n))
    }
}

/// Returns the value of an integer scalar constant.
fn scalar_integer(module: &Module, id: InstrId) -> Option<i128> {
    match &module[id].op {
        Op::Constant(c) if module[id].shape.is_scalar() && !c.is_elided() => c.literal.integer_at(0),
        _ => None,
    }
}
