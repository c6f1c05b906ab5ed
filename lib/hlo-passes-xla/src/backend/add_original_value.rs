//! `add-original-value`: records in each value's `origin=` the instruction that computes it, so that later
//! passes can preserve it.
//!
//! ```text
//! n = f32[] negate(x)    →    n = f32[] negate(x), origin={{"n"}}
//! ```
//!
//! The origin of a tuple consists of the origins of its operands. The origin of a tuple element is that of
//! the element. Any other value gets its own instruction as origin, which replaces an existing one.

use hlo_ir::attr::{Origin, OriginTree, OriginalArray};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module, Op, Shape};
use hlo_passes::{PassInfo, Rewrites};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "add-original-value",
    summary: "record for each value the instruction that computes it",
    example: "\
HloModule add_original_value

ENTRY e {
  x = f32[] parameter(0)
  n = f32[] negate(x)
  t = (f32[], f32[]) tuple(x, n)
  ROOT g = f32[] get-tuple-element(t), index=1
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    let mut changed = false;
    for c in module.computations().collect::<Vec<_>>() {
        for id in module.post_order(c) {
            let origin = origin(module, id).map(Box::new);
            let before = module[id].common.as_deref().and_then(|c| c.origin.as_ref());
            if before != origin.as_ref() {
                module.common_mut(id).origin = origin;
                changed = true;
            }
        }
    }
    Ok(changed)
}

/// Returns the origin of an instruction's value. Its operands must have theirs.
fn origin(module: &Module, id: InstrId) -> Option<Origin> {
    let tree = match (&module[id].op, module[id].operands.first()) {
        (Op::GetTupleElement(a), Some(&tuple)) => {
            let OriginTree::Tuple(elements) = tree(module, tuple)? else { return None };
            elements.get(usize::try_from(a.index).ok()?)?.clone()
        }
        (Op::Tuple, _) => {
            let operands = &module[id].operands;
            let known = operands.iter().any(|&o| tree(module, o).is_some());
            let of = |&o: &InstrId| tree(module, o).cloned().unwrap_or_else(|| nothing(&module[o].shape));
            known.then(|| OriginTree::Tuple(operands.iter().map(of).collect()))?
        }
        _ => results(&module[id].name, &module[id].shape, &mut Vec::new()),
    };
    Some(Origin::Arrays(tree))
}

/// Returns the original arrays of a value, if it has any.
fn tree(module: &Module, id: InstrId) -> Option<&OriginTree> {
    match module[id].common.as_deref()?.origin.as_deref()? {
        Origin::Arrays(tree) => Some(tree),
        Origin::SyntheticCall => None,
    }
}

/// Returns the tree of the results of an instruction.
fn results(name: &str, shape: &Shape, index: &mut Vec<i64>) -> OriginTree {
    let Shape::Tuple(parts) = shape else {
        return OriginTree::Array(Some(OriginalArray { instruction: name.into(), index: index.clone() }));
    };
    let mut elements = Vec::with_capacity(parts.len());
    for (n, part) in (0..).zip(parts) {
        index.push(n);
        elements.push(results(name, part, index));
        index.pop();
    }
    OriginTree::Tuple(elements)
}

/// Returns the tree of a value whose origin is unknown.
fn nothing(shape: &Shape) -> OriginTree {
    match shape {
        Shape::Tuple(parts) => OriginTree::Tuple(parts.iter().map(nothing).collect()),
        _ => OriginTree::Array(None),
    }
}
