//! `slice-sinker`: replaces elementwise operations on slices of the same arrays by one operation on the whole
//! arrays, and slices of its result.
//!
//! ```text
//! a = f32[9] slice(p), slice={[0:9]}            m = f32[10] multiply(p, p)
//! x = f32[9] multiply(a, a)                     x = f32[9] slice(m), slice={[0:9]}
//! b = f32[8] slice(p), slice={[2:10]}      →    y = f32[8] slice(m), slice={[2:10]}
//! y = f32[8] multiply(b, b)
//! ```
//!
//! As in XLA, the operations of a group together must have at least as many elements as the whole array. The
//! pass therefore never increases the number of computed elements. The operands of each operation must be
//! equal slices of arrays of the same sizes. The operations of a group must have the same opcode, attributes,
//! type, accuracy and arrays.
//!
//! Instructions with control dependencies, a sharding or a `backend_config`, copies, dynamic sizes and
//! changes of layout stay unchanged.

use hlo_ir::attr::{ResultAccuracy, SliceDim};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Module, Op, Opcode};
use hlo_passes::support::effects::{Effects, control_dependent, is_replaceable, remove_taken, take_unused};
use hlo_passes::support::rewrite::{result_accuracy, same_layout};
use hlo_passes::{PassInfo, Rewrites};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "slice-sinker",
    summary: "replace operations on slices that cover their arrays by one operation on the whole arrays",
    example: "\
HloModule slice_sinker

ENTRY e {
  p = f32[10] parameter(0)
  a = f32[9] slice(p), slice={[0:9]}
  x = f32[9] multiply(a, a)
  b = f32[8] slice(p), slice={[2:10]}
  y = f32[8] multiply(b, b)
  ROOT t = (f32[9], f32[8]) tuple(x, y)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let mut sinker = Sinker { pinned: control_dependent(module), replaced: Vec::new() };
    for c in module.computations().collect::<Vec<_>>() {
        sinker.sink_all(module, c, rewrites);
    }
    let (effects, mut gone) = (Effects::of(module), BTreeSet::new());
    for &id in &sinker.replaced {
        take_unused(module, &effects, &sinker.pinned, id, &mut gone);
    }
    Ok(remove_taken(module, gone))
}

/// The common properties of a group: opcode, type, and the sliced arrays.
type Key = (Opcode, ElementType, SmallVec<[InstrId; 3]>);

struct Sinker {
    pinned: HashSet<InstrId>,
    /// The operations that slices replaced.
    replaced: Vec<InstrId>,
}

impl Sinker {
    /// Moves the operations of a computation before their slices until nothing changes.
    fn sink_all(&mut self, module: &mut Module, computation: ComputationId, rewrites: &mut Rewrites) {
        let mut candidates = module.post_order(computation);
        while !candidates.is_empty() {
            let mut users = Vec::new();
            for group in self.groups(module, &candidates) {
                if !rewrites.allowed() || !is_worth_it(module, &group) {
                    continue;
                }
                let Some(slices) = sink(module, &group) else { continue };
                rewrites.made("sink", &module[group[0]].name);
                users.extend(slices.iter().flat_map(|&slice| module.users(slice)));
                self.replaced.extend(group);
            }
            // These users include all operations on slices of the new arrays.
            candidates = users;
        }
    }

    /// Groups the candidates that are operations on slices.
    fn groups(&self, module: &Module, candidates: &[InstrId]) -> Vec<Vec<InstrId>> {
        let mut seen = HashSet::new();
        let mut groups: Vec<Vec<InstrId>> = Vec::new();
        let mut by_key: HashMap<Key, SmallVec<[usize; 1]>> = HashMap::new();
        for &id in candidates {
            let Some(key) = self.key(module, id).filter(|_| seen.insert(id)) else { continue };
            let alike = by_key.entry(key).or_default();
            match alike.iter().find(|&&n| is_same_operation(module, groups[n][0], id)) {
                Some(&n) => groups[n].push(id),
                None => {
                    alike.push(groups.len());
                    groups.push(vec![id]);
                }
            }
        }
        groups
    }

    /// Returns the key of an operation on slices, if it may be moved.
    fn key(&self, module: &Module, id: InstrId) -> Option<Key> {
        let opcode = module[id].opcode();
        // Copies exist for their layout.
        let moves = opcode.is_pointwise() && opcode != Opcode::Copy;
        if !moves || !is_replaceable(module, &self.pinned, id) {
            return None;
        }
        let (ranges, first) = slice_of(module, *module[id].operands.first()?)?;
        let mut sources = SmallVec::new();
        for &o in &module[id].operands {
            let (other, source) = slice_of(module, o)?;
            let layouts =
                [o, source, id].iter().all(|&i| same_layout(&module[i].shape, &module[first].shape));
            let sizes =
                dims(module, source)? == dims(module, first)? && dims(module, o)? == dims(module, id)?;
            if other != ranges || !layouts || !sizes {
                return None;
            }
            sources.push(source);
        }
        Some((opcode, module[id].shape.as_array()?.element_type, sources))
    }
}

/// Returns the ranges of a slice, and the sliced array.
fn slice_of(module: &Module, id: InstrId) -> Option<(&[SliceDim], InstrId)> {
    match &module[id].op {
        Op::Slice(a) => Some((&a.slice, *module[id].operands.first()?)),
        _ => None,
    }
}

/// Returns the sizes of a static array.
fn dims(module: &Module, id: InstrId) -> Option<&[i64]> {
    module[id].shape.as_array().filter(|a| a.is_static()).map(|a| &a.dims[..])
}

/// Returns whether both instructions apply the same operation.
fn is_same_operation(module: &Module, a: InstrId, b: InstrId) -> bool {
    module[a].op == module[b].op && result_accuracy(module, a) == result_accuracy(module, b)
}

/// Returns whether the operation on whole arrays has no more elements than the operations on slices together.
fn is_worth_it(module: &Module, group: &[InstrId]) -> bool {
    let count = |id: InstrId| module[id].shape.as_array().and_then(ArrayShape::checked_element_count);
    let whole = group.first().and_then(|&id| count(slice_of(module, *module[id].operands.first()?)?.1));
    let parts = group.iter().try_fold(0i64, |sum, &id| Some(sum.saturating_add(count(id)?)));
    matches!((whole, parts), (Some(whole), Some(parts)) if parts >= whole)
}

/// Replaces a group of operations by slices of one operation. Returns the slices.
fn sink(module: &mut Module, group: &[InstrId]) -> Option<Vec<InstrId>> {
    let &first = group.first()?;
    let (parent, base) = (module[first].parent, module[first].name.clone());
    // The result of an earlier group may be a source of this one.
    let sources: Vec<InstrId> =
        module[first].operands.iter().map(|&o| Some(slice_of(module, o)?.1)).collect::<Option<_>>()?;
    let ty = module[first].shape.as_array()?.element_type;
    let shape = module[*sources.first()?].shape.as_array()?.with_element_type(ty);
    let (name, op) = (module.unique_name(&base), module[first].op.clone());
    let whole = module.add(parent, &name, shape.into(), op, sources);
    module.copy_provenance(first, whole);
    let accuracy = result_accuracy(module, first);
    if accuracy != ResultAccuracy::Default {
        module.common_mut(whole).result_accuracy = accuracy;
    }
    let mut slices = Vec::with_capacity(group.len());
    for &id in group {
        let op = module[*module[id].operands.first()?].op.clone();
        let shape = module[id].shape.clone();
        let slice = module.add_like_in(parent, id, shape, op, [whole]);
        module.replace_all_uses_with(id, slice);
        slices.push(slice);
    }
    Some(slices)
}
