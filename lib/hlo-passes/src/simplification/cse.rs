//! `cse`: common subexpression elimination: merges instructions that compute the same value.
//!
//! ```text
//! a = f32[4] add(p, q)                       a = f32[4] add(p, q)
//! b = f32[4] add(p, q)                  →    ROOT m = f32[4] multiply(a, a)
//! ROOT m = f32[4] multiply(a, b)
//! ```
//!
//! Constants with the same bits are equal. So are calls of different computations with the same body, and
//! commutative operations with exchanged operands. Custom calls without side effects must be idempotent, and
//! are merged too. Random numbers, instructions with side effects, and instructions with different shardings
//! are never merged.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::effects::{Effects, Impure, control_dependent, may_differ};
use crate::support::rewrite::{accuracy, same_layout, same_sharding};
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The description in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "cse",
    summary: "merge instructions that compute the same value",
    example: "\
HloModule cse

ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  a = f32[4] add(p, q)
  b = f32[4] add(q, p)
  ROOT m = f32[4] multiply(a, b)
}
",
    build: |_, _| Box::new(eliminate_common_subexpressions),
    ..PassInfo::PLAIN
};

/// Maps each computation that repeats an earlier body to the first computation with that body.
pub type Representatives = HashMap<ComputationId, ComputationId>;

/// Replaces repeated instructions and computations by the first one. Returns whether the module changed.
///
/// # Errors
/// None: the type is that of a pass.
pub fn eliminate_common_subexpressions(module: &mut Module, rewrites: &mut Rewrites) -> Result<bool, Diag> {
    let same = equal_computations(module);
    let (effects, impure) = (Effects::of(module), Impure::of(module, may_differ));
    let pinned = control_dependent(module);
    let mut removed = Vec::new();
    for c in module.computations().collect::<Vec<_>>() {
        let mut seen: HashMap<u64, SmallVec<[(InstrId, Op); 1]>> = HashMap::new();
        for i in module.post_order(c) {
            let mergeable = !matches!(module[i].op, Op::Parameter(_))
                && !matches!(&module[i].op, Op::Constant(a) if a.is_elided())
                && !impure.has(&module[i].op)
                && !effects.has(module, i)
                && !pinned.contains(&i);
            if !mergeable || !rewrites.allowed() {
                continue;
            }
            let op = canonical_op(&module[i].op, &same);
            let operands = sorted_operands(module, i);
            let bucket = seen.entry(hash_of(&op, &module[i].shape, &operands)).or_default();
            let first = bucket.iter().find(|(other, other_op)| {
                *other_op == op
                    && same_shape(&module[*other].shape, &module[i].shape)
                    && sorted_operands(module, *other) == operands
                    && accuracy(module, *other) == accuracy(module, i)
                    && same_sharding(module, *other, i)
            });
            match first {
                Some(&(first, _)) => {
                    rewrites.made("merge", &module[i].name);
                    module.copy_annotations(i, first);
                    module.replace_all_uses_with(i, first);
                    removed.push(i);
                }
                None => bucket.push((i, op)),
            }
        }
    }
    module.remove_all(&removed);
    Ok(!removed.is_empty())
}

/// Returns the operation with each called computation replaced by the first one with the same body.
pub fn canonical_op(op: &Op, same: &Representatives) -> Op {
    let mut op = op.clone();
    if let Some(attrs) = op.attrs_mut() {
        attrs.for_each_computation_mut(&mut |c| *c = same.get(c).copied().unwrap_or(*c));
    }
    op
}

fn sorted_operands(module: &Module, id: InstrId) -> SmallVec<[InstrId; 3]> {
    let mut operands = module[id].operands.clone();
    let ty = module[id].shape.as_array().map(|array| array.element_type);
    if ty.is_some_and(|ty| module[id].opcode().is_commutative_on(ty)) {
        operands.sort_unstable();
    }
    operands
}

/// Returns whether both shapes have the same types, sizes and layouts. A missing layout is row-major.
fn same_shape(a: &Shape, b: &Shape) -> bool {
    a.compatible(b) && same_layout(a, b)
}

fn hash_shape(shape: &Shape, h: &mut impl Hasher) {
    for leaf in shape.leaves() {
        if let Some(a) = leaf.as_array() {
            (a.element_type, &a.dims).hash(h);
        }
    }
}

/// Returns a hash of the parts that must be equal. The caller checks equality itself.
fn hash_of(op: &Op, shape: &Shape, operands: &impl Hash) -> u64 {
    let mut h = DefaultHasher::new();
    op.opcode().hash(&mut h);
    hash_shape(shape, &mut h);
    operands.hash(&mut h);
    op.called_computations().hash(&mut h);
    match op {
        Op::Constant(a) => a.literal.bytes().hash(&mut h),
        Op::GetTupleElement(a) => a.index.hash(&mut h),
        Op::Slice(a) => a.slice.hash(&mut h),
        Op::Broadcast(a) => a.dimensions.hash(&mut h),
        Op::Compare(a) => a.direction.hash(&mut h),
        Op::Parameter(a) => a.number.hash(&mut h),
        // Other operations nearly always differ in their operands.
        _ => {}
    }
    h.finish()
}

/// Finds computations with the same instructions in the same order, ignoring names.
pub fn equal_computations(module: &Module) -> Representatives {
    let mut same = Representatives::new();
    let mut by_hash: HashMap<u64, Vec<Body>> = HashMap::new();
    for c in module.computations_post_order() {
        let body = Body { computation: c, order: module.post_order(c) };
        let candidates = by_hash.entry(hash_of_body(module, &body.order, &same)).or_default();
        match candidates.iter().find(|other| same_body(module, other, &body, &same)) {
            Some(other) => {
                same.insert(c, other.computation);
            }
            None => candidates.push(body),
        }
    }
    same
}

/// A computation with its instructions, operands first.
struct Body {
    computation: ComputationId,
    order: Vec<InstrId>,
}

/// Returns a hash of the parts that [`same_body`] compares. Operands count by their positions in the order.
fn hash_of_body(module: &Module, order: &[InstrId], same: &Representatives) -> u64 {
    let places: HashMap<InstrId, usize> = order.iter().enumerate().map(|(n, &i)| (i, n)).collect();
    let mut h = DefaultHasher::new();
    for &i in order {
        let instr = &module[i];
        let operands: SmallVec<[Option<usize>; 3]> =
            instr.operands.iter().map(|o| places.get(o).copied()).collect();
        hash_of(&canonical_op(&instr.op, same), &instr.shape, &operands).hash(&mut h);
    }
    h.finish()
}

/// Returns whether both instructions have the same control predecessors.
fn same_predecessors(module: &Module, a: InstrId, b: InstrId, matching: &HashMap<InstrId, InstrId>) -> bool {
    let control = |i: InstrId| module[i].control_predecessors();
    let (a, b) = (control(a), control(b));
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| matching.get(x) == Some(y))
}

fn same_body(module: &Module, a: &Body, b: &Body, same: &Representatives) -> bool {
    let (x, y) = (&module[a.computation], &module[b.computation]);
    if a.order.len() != b.order.len() || x.execution_thread != y.execution_thread {
        return false;
    }
    let mut matching: HashMap<InstrId, InstrId> = HashMap::with_capacity(a.order.len());
    for (&x, &y) in a.order.iter().zip(&b.order) {
        let (ix, iy) = (&module[x], &module[y]);
        let equal = same_shape(&ix.shape, &iy.shape)
            && ix.operands.len() == iy.operands.len()
            && ix.operands.iter().zip(&iy.operands).all(|(ox, oy)| matching.get(ox) == Some(oy))
            && canonical_op(&ix.op, same) == canonical_op(&iy.op, same)
            && !matches!(&ix.op, Op::Constant(c) if c.is_elided())
            && accuracy(module, x) == accuracy(module, y)
            && same_predecessors(module, x, y, &matching);
        if !equal {
            return false;
        }
        matching.insert(x, y);
    }
    matching.get(&x.root()) == Some(&y.root())
}
