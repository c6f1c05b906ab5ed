//! `layout-normalization`: makes every value inside the module row-major.
//!
//! ```text
//! ENTRY e { x = f32[2,3]{0,1} parameter(0)          ENTRY e { x = f32[2,3]{0,1} parameter(0)
//!           n = f32[2,3]{0,1} negate(x)        →              c = f32[2,3]{1,0} copy(x)
//!           ROOT t = f32[3,2]{0,1} transpose(n), …}           n = f32[2,3]{1,0} negate(c)
//!                                                             t = f32[3,2]{1,0} transpose(n), …
//!                                                             ROOT r = f32[3,2]{0,1} copy(t) }
//! ```
//!
//! The layouts of the entry's parameters and result, and those of custom-call results, are fixed by the
//! outside and stay. The pass inserts copies from and to these layouts. Bitcasts, whose meaning depends on
//! layouts, become transposes and reshapes. The pass does not change a module that contains a bitcast without
//! such a form, because its element type changes or its layouts are tiled.

use crate::pass_info::PassInfo;
use crate::rewrites::Rewrites;
use crate::support::layouts::relaid;
use crate::support::rewrite::same_layout;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, InstrId, Module, Op, Shape};
use std::collections::HashSet;

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "layout-normalization",
    summary: "make every value inside the module row-major",
    example: "\
HloModule layout_normalization

ENTRY e {
  x = f32[4,2]{0,1} parameter(0)
  n = f32[4,2]{0,1} negate(x)
  ROOT r = f32[4,2]{1,0} copy(n)
}
",
    build: |_, _| Box::new(run),
    ..PassInfo::PLAIN
};

fn run(module: &mut Module, _: &mut Rewrites) -> Result<bool, Diag> {
    let all: Vec<InstrId> = module.computations().flat_map(|c| module[c].instructions().to_vec()).collect();
    if is_normal(module, &all) || all.iter().any(|&i| is_opaque_bitcast(module, i)) {
        return Ok(false);
    }
    let mut changed = false;
    let entry = module.entry();
    let root = module[entry].root();
    let root_shape = module[root].shape.clone();
    for &i in &all {
        if matches!(module[i].op, Op::Bitcast) {
            changed |= expand_bitcast(module, i);
        }
    }
    let all: Vec<InstrId> = module.computations().flat_map(|c| module[c].instructions().to_vec()).collect();
    for &i in &all {
        let contract = has_given_layout(module, i);
        if is_row_major(&module[i].shape) {
            continue;
        }
        changed = true;
        if contract {
            let users = module.users(i).to_vec();
            let inside = relaid(module, i, &module[i].shape.without_layout());
            replace_uses(module, i, &users, inside);
        } else {
            let shape = module[i].shape.without_layout();
            module.set_shape(i, shape);
        }
    }
    let root = module[entry].root();
    if !same_layout(&module[root].shape, &root_shape) {
        let outside = relaid(module, root, &root_shape);
        module.set_root(entry, outside);
        changed = true;
    }
    Ok(changed)
}

/// Makes the given users of a value, and the result of its computation, use another value instead.
fn replace_uses(module: &mut Module, value: InstrId, users: &[InstrId], with: InstrId) {
    if module[with].operands[..] == [value] {
        module.replace_all_uses_with(value, with);
        return;
    }
    for &user in users {
        module.replace_operands(user, value, with);
    }
    let parent = module[value].parent;
    if module[parent].root() == value {
        module.set_root(parent, with);
    }
}

/// Checks whether an instruction's layout is fixed from outside: an entry parameter or the result of a custom
/// call.
fn has_given_layout(module: &Module, id: InstrId) -> bool {
    match module[id].op {
        Op::Parameter(_) => module[id].parent == module.entry(),
        Op::CustomCall(_) => true,
        _ => false,
    }
}

/// Checks whether the module is already in the form that the pass produces. The only values that are not
/// row-major must be those with a fixed layout that are copied immediately, and copies made for the entry's
/// result.
fn is_normal(module: &Module, all: &[InstrId]) -> bool {
    let mut results = HashSet::new();
    let mut stack = vec![module[module.entry()].root()];
    while let Some(id) = stack.pop() {
        let operands = &module[id].operands;
        match module[id].op {
            Op::Tuple if !results.contains(&id) => stack.extend(operands.iter().copied()),
            Op::Copy if operands.iter().all(|&o| is_row_major(&module[o].shape)) => {}
            _ => continue,
        }
        results.insert(id);
    }
    all.iter().all(|&i| {
        is_row_major(&module[i].shape) || results.contains(&i) || {
            let source = match module[i].op {
                Op::GetTupleElement(_) => module[i].operands.first().copied(),
                _ => Some(i),
            };
            source.is_some_and(|s| has_given_layout(module, s)) && is_copied_at_once(module, i)
        }
    })
}

/// Checks whether all users of the value, or of its elements, are copies to row-major arrays.
fn is_copied_at_once(module: &Module, id: InstrId) -> bool {
    !module.is_root(id)
        && module.users(id).iter().all(|&user| match module[user].op {
            Op::Copy => is_row_major(&module[user].shape),
            Op::GetTupleElement(ref a) => {
                let parts = module[id].shape.as_tuple().unwrap_or_default();
                let part = usize::try_from(a.index).ok().and_then(|n| parts.get(n));
                part.is_some_and(|part| same_layout(part, &module[user].shape))
                    && (is_row_major(&module[user].shape) || is_copied_at_once(module, user))
            }
            _ => false,
        })
}

fn is_plain(a: &ArrayShape) -> bool {
    a.layout_items().is_none()
}

fn is_row_major(shape: &Shape) -> bool {
    shape.leaves().into_iter().all(|s| s.as_array().is_none_or(ArrayShape::is_row_major))
}

/// Checks for a bitcast between layouts that cannot be expressed by transposes and reshapes.
fn is_opaque_bitcast(module: &Module, id: InstrId) -> bool {
    if !matches!(module[id].op, Op::Bitcast) {
        return false;
    }
    let operand = module[id].operands.first().and_then(|&o| module[o].shape.as_array());
    match (operand, module[id].shape.as_array()) {
        (Some(from), Some(to)) => {
            let simple = from.element_type == to.element_type
                && is_plain(from)
                && is_plain(to)
                && from.is_static()
                && to.is_static()
                && from.checked_element_count() == to.checked_element_count();
            let plain_bytes = from.is_row_major() && to.is_row_major();
            !(simple || plain_bytes)
        }
        _ => true,
    }
}

/// Returns the dimension numbers from the slowest to the fastest varying.
fn major_to_minor(a: &ArrayShape) -> Vec<usize> {
    let mut order = a.minor_to_major().to_vec();
    order.reverse();
    order
}

/// Replaces a bitcast by its effect on row-major arrays. The shapes keep their original layouts at this
/// point, because the next bitcast depends on them.
fn expand_bitcast(module: &mut Module, id: InstrId) -> bool {
    let Some(&x) = module[id].operands.first() else { return false };
    let (Some(from), Some(to)) = (module[x].shape.as_array().cloned(), module[id].shape.as_array().cloned())
    else {
        return false;
    };
    if from.element_type != to.element_type {
        return false; // nothing to do between row-major arrays
    }
    let (first, last) = (major_to_minor(&from), major_to_minor(&to));
    let add = |module: &mut Module, dims: Vec<i64>, op: Op, operand: InstrId| {
        module.add_like(id, Shape::array(from.element_type, dims), op, [operand])
    };
    let bytes_order =
        |a: &ArrayShape, order: &[usize]| order.iter().map(|&d| a.dims[d]).collect::<Vec<i64>>();
    let as_dims = |order: &[usize]| order.iter().map(|&d| d as i64).collect::<Vec<i64>>();
    let mut value = add(module, bytes_order(&from, &first), Op::transpose(as_dims(&first)), x);
    value = add(module, bytes_order(&to, &last), Op::reshape(), value);
    let mut inverse = vec![0i64; last.len()];
    for (place, &d) in last.iter().enumerate() {
        inverse[d] = place as i64;
    }
    // The instruction itself stays, to keep its control dependencies and annotations.
    module.set_operands(id, [value]);
    module.set_op(id, Op::transpose(inverse));
    true
}
