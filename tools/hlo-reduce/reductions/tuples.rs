//! Removes elements of tuples: of the result, of parameters, of loop-carried values and of results of calls.

use super::{Reduction, at_sites};
use crate::edit::{add, owns_callees, part_of, run_passes, zeros};
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// Removes elements of the entry's result.
pub const RESULTS: Reduction = Reduction {
    name: "results",
    changes_interface: true,
    grows: false,
    apply: |module, range| {
        let entry = module.entry();
        let root = module[entry].root();
        let sites: Vec<usize> = (0..elements(module, root)).collect();
        at_sites(module, range, sites, |module, chosen| {
            let kept = without(elements(module, root), &chosen.iter().copied().collect());
            narrow_root(module, entry, &kept);
        })
    },
};

/// Removes elements of tuple parameters of the entry. Zeros replace their uses.
pub const PARAMETERS: Reduction = Reduction {
    name: "elements of parameters",
    changes_interface: true,
    grows: false,
    apply: |module, range| {
        let parameters = module.parameters(module.entry());
        let sites = element_sites(module, parameters.into_iter());
        at_sites(module, range, sites, |module, chosen| {
            for (id, gone) in by_instruction(chosen) {
                narrow(module, id, &gone);
            }
        })
    },
};

/// Removes elements of the state of loops and of the results of calls, fusions and conditionals.
pub const STATE: Reduction = Reduction {
    name: "state of loops, results of calls",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        let callers = module.callers();
        let all: Vec<InstrId> =
            module.computations_post_order().into_iter().rev().flat_map(|c| module.post_order(c)).collect();
        let calls = all.into_iter().filter(|&i| {
            matches!(module[i].op, Op::While(_) | Op::Call(_) | Op::Fusion(_) | Op::Conditional(_))
                && owns_callees(module, &callers, i)
        });
        let sites = element_sites(module, calls);
        at_sites(module, range, sites, |module, chosen| {
            for (id, gone) in by_instruction(chosen) {
                narrow_call(module, id, &gone);
            }
        })
    },
};

/// Replaces elements of tuples with the values that the tuples were created from.
pub const SIMPLIFY: Reduction = Reduction {
    name: "tuples",
    changes_interface: false,
    grows: false,
    apply: |module, range| {
        at_sites(module, range, vec![()], |module, _| run_passes(module, "tuple-simplifier"))
    },
};

/// Returns the number of elements of a tuple, or 0 for other values.
fn elements(module: &Module, id: InstrId) -> usize {
    module[id].shape.as_tuple().map_or(0, <[Shape]>::len)
}

fn element_sites(module: &Module, ids: impl Iterator<Item = InstrId>) -> Vec<(InstrId, usize)> {
    ids.flat_map(|i| (0..elements(module, i)).map(move |n| (i, n))).collect()
}

fn by_instruction(sites: &[(InstrId, usize)]) -> BTreeMap<InstrId, BTreeSet<usize>> {
    let mut out: BTreeMap<InstrId, BTreeSet<usize>> = BTreeMap::new();
    for &(id, n) in sites {
        out.entry(id).or_default().insert(n);
    }
    out
}

fn without(count: usize, gone: &BTreeSet<usize>) -> Vec<usize> {
    (0..count).filter(|n| !gone.contains(n)).collect()
}

/// Makes a computation return only some elements of its result.
pub fn narrow_root(module: &mut Module, computation: ComputationId, kept: &[usize]) {
    let root = module[computation].root();
    if let Some(new) = part_of(module, root, kept) {
        module.set_root(computation, new);
    }
}

/// Removes elements from the result of a call or from the state of a loop.
fn narrow_call(module: &mut Module, id: InstrId, gone: &BTreeSet<usize>) {
    if !module.is_live(id) {
        return;
    }
    let kept = without(elements(module, id), gone);
    let callees = module[id].op.called_computations();
    if let Op::While(a) = &module[id].op {
        let (condition, body) = (a.condition, a.body);
        for c in [condition, body] {
            for p in module.parameters(c) {
                narrow(module, p, gone);
            }
        }
        narrow_root(module, body, &kept);
        if let Some(&init) = module[id].operands.first()
            && let Some(init) = part_of(module, init, &kept)
        {
            module.replace_operand(id, 0, init);
        }
    } else {
        for c in callees {
            narrow_root(module, c, &kept);
        }
        if let Op::Fusion(a) = module.op_mut(id) {
            a.output_to_operand_aliasing.clear();
        }
    }
    narrow(module, id, gone);
}

/// Removes elements from the shape of a tuple value. Zeros replace uses of a removed element, and a rebuilt
/// tuple replaces uses of the whole value.
pub fn narrow(module: &mut Module, id: InstrId, gone: &BTreeSet<usize>) {
    let Some(old) = module[id].shape.as_tuple().map(<[Shape]>::to_vec) else { return };
    let kept = without(old.len(), gone);
    let part = |n: &usize| old.get(*n).cloned();
    let shape: Option<Vec<Shape>> = kept.iter().map(part).collect();
    let Some(shape) = shape else { return };
    let (parent, users) = (module[id].parent, module.users(id).to_vec());
    let was_root = module[parent].root() == id;
    module.set_shape(id, Shape::tuple(shape));
    let mut others = Vec::new();
    for user in users {
        let Op::GetTupleElement(a) = &module[user].op else {
            others.push(user);
            continue;
        };
        let index = usize::try_from(a.index).unwrap_or(usize::MAX);
        if let Ok(new) = kept.binary_search(&index) {
            module.set_op(user, Op::get_tuple_element(new as i64));
        } else if let Some(zero) = old.get(index).and_then(|shape| zeros(module, parent, shape)) {
            module.replace_all_uses_with(user, zero);
            module.remove(user);
        }
    }
    if others.is_empty() && !was_root {
        return;
    }
    if let Some(whole) = rebuilt(module, id, &kept, &old) {
        for user in others {
            let operands: Vec<InstrId> =
                module[user].operands.iter().map(|&o| if o == id { whole } else { o }).collect();
            module.set_operands(user, operands);
        }
        if was_root {
            module.set_root(parent, whole);
        }
    }
}

/// Rebuilds the tuple of the old shape from the remaining elements and zeros.
fn rebuilt(module: &mut Module, id: InstrId, kept: &[usize], old: &[Shape]) -> Option<InstrId> {
    let parent = module[id].parent;
    let mut parts = Vec::with_capacity(old.len());
    for (n, shape) in old.iter().enumerate() {
        parts.push(match kept.binary_search(&n) {
            Ok(new) => {
                let op = Op::get_tuple_element(new as i64);
                add(module, parent, "element", shape.clone(), op, [id])
            }
            Err(_) => zeros(module, parent, shape)?,
        });
    }
    Some(add(module, parent, "tuple", Shape::tuple(old.to_vec()), Op::Tuple, parts))
}
