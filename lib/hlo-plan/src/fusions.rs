//! Selection of the fusions that a kernel can compute. In such a fusion, each element of an instruction is a
//! function of elements of its operands.
//!
//! Other fusions, such as those of sorts or of other fusions, become calls. So do fusions whose code would be
//! very large: an instruction that is read at several indices is computed once for each of them.

use hlo_analysis::cost_model::MAX_JOINED_OPERANDS;
use hlo_analysis::in_place::updated;
use hlo_ir::{ComputationId, InstrId, Module, Moves, Op, Role, Shape, Traits};
use std::collections::{BTreeSet, HashMap};

/// Maximum nesting depth of the elements that a kernel computes. Each level uses stack during code
/// generation. A level may also create a nested region, which uses stack in MLIR and LLVM.
pub const MAX_DEPTH: usize = 2_000;
/// Maximum number of elements that the code of one kernel computes. An instruction that is read at several
/// indices is computed for each of them, so the number can grow exponentially.
pub const MAX_ELEMENTS: usize = 50_000;

/// Checks whether a kernel can compute a fusion. `changes_layout` is whether an operand or result of the
/// fusion changes its layout there.
pub fn covers(module: &Module, fusion: InstrId, changes_layout: bool) -> bool {
    let Op::Fusion(f) = &module[fusion].op else { return true };
    let root = module[f.calls].root();
    module[f.calls].instructions().iter().all(|&i| match &module[i].op {
        Op::Parameter(_) => is_read(module, i, root),
        Op::GetTupleElement(_) => is_array(module, i) && has_results(module, i),
        Op::Tuple => i == root && module[i].operands.iter().all(|&o| is_result(module, o)),
        Op::Reduce(_) | Op::ReduceWindow(_) => is_result(module, i),
        // Scatters update the fusion's result in place.
        Op::Scatter(_) => {
            i == root && !changes_layout && updated(module, fusion).len() == module[i].operands.len() / 2
        }
        Op::SelectAndScatter(_) => i == root,
        Op::Bitcast => {
            is_array(module, i) && element_bytes(module, i) == element_bytes(module, module[i].operands[0])
        }
        Op::Concatenate(_) if module[i].operands.len() > MAX_JOINED_OPERANDS => false,
        op => is_array(module, i) && has_element(op),
    }) && is_small(module, f.calls)
}

/// The elements of an instruction that a kernel needs. `classes` are the indices at which they are needed;
/// equal indices are in one class. `depth` is the nesting depth of the uses.
#[derive(Default)]
struct NeededElements {
    classes: BTreeSet<usize>,
    depth: usize,
}

/// The class of the result's own index, and the class of a scalar's index.
const OWN_INDEX_CLASS: usize = 0;
const EMPTY_INDEX_CLASS: usize = 1;

/// Checks whether a kernel computes few elements per element of its result and does not nest too deeply. Both
/// are estimated from above.
fn is_small(module: &Module, computation: ComputationId) -> bool {
    let order = module.post_order(computation);
    let mut asked: HashMap<InstrId, NeededElements> = HashMap::with_capacity(order.len());
    let root = module[computation].root();
    let roots =
        if matches!(module[root].op, Op::Tuple) { module[root].operands.to_vec() } else { vec![root] };
    for r in roots {
        asked.entry(r).or_default().classes.insert(OWN_INDEX_CLASS);
    }
    let (mut elements, mut next) = (0, EMPTY_INDEX_CLASS + 1);
    for &i in order.iter().rev() {
        let Some(NeededElements { classes, depth }) = asked.remove(&i) else { continue };
        elements += classes.len();
        if elements.max(next) > MAX_ELEMENTS / 2 || depth > MAX_DEPTH / 4 * 3 {
            return false;
        }
        let rank = module[i].shape.as_array().map_or(0, |a| a.rank());
        for (n, &o) in module[i].operands.iter().enumerate() {
            let same = module.access(i, n).is_identity(rank);
            let at = asked.entry(o).or_default();
            // Elements at the result's own index are computed one after the other, without nesting.
            let spine = same && classes.len() == 1 && classes.contains(&OWN_INDEX_CLASS);
            at.depth = at.depth.max(if spine { 0 } else { depth + 1 });
            if same {
                at.classes.extend(&classes);
            } else if module[o].shape.is_scalar() {
                at.classes.insert(EMPTY_INDEX_CLASS);
            } else {
                let many = classes.len() * indices(module, i, o);
                at.classes.extend(next..next + many);
                next += many;
            }
        }
    }
    true
}

/// Returns the number of indices at which an operand is read for one element.
fn indices(module: &Module, id: InstrId, operand: InstrId) -> usize {
    let bits = |id: InstrId| module[id].shape.as_array().map_or(1, |a| a.element_type.bit_width() as usize);
    match &module[id].op {
        Op::BitcastConvert => (bits(id) / bits(operand)).max(1),
        Op::Gather(a) => a.start_index_map.len().max(1),
        Op::DynamicSlice(_) | Op::DynamicUpdateSlice => {
            module[operand].shape.as_array().map_or(1, |a| a.rank().max(1))
        }
        _ => 1,
    }
}

/// Checks whether an opcode has a single array as its result whose elements a kernel can compute. This
/// excludes `dot`: the runtime's product is many times faster than a loop for each element.
fn has_element(op: &Op) -> bool {
    match op {
        Op::Constant(_) | Op::Iota(_) | Op::Map(_) => true,
        op if op.opcode().is_pointwise() => true,
        op => {
            let Traits { moves, role, .. } = op.opcode().traits();
            role == Role::Kernel && matches!(moves, Moves::View | Moves::First | Moves::FirstTwo | Moves::All)
        }
    }
}

fn is_array(module: &Module, id: InstrId) -> bool {
    module[id].shape.as_array().is_some()
}

/// Returns the size of an element of an array in bytes.
fn element_bytes(module: &Module, id: InstrId) -> Option<usize> {
    module[id].shape.as_array().map(|a| a.element_type.byte_size())
}

/// Checks whether a parameter is an array, or a tuple of arrays that is only used by `get-tuple-element`.
fn is_read(module: &Module, parameter: InstrId, root: InstrId) -> bool {
    let taken = |&u: &InstrId| matches!(module[u].op, Op::GetTupleElement(_));
    is_result(module, parameter)
        && (is_array(module, parameter) || (parameter != root && module.users(parameter).iter().all(taken)))
}

/// Checks whether an instruction's shape is an array or a tuple of arrays.
fn is_result(module: &Module, id: InstrId) -> bool {
    match &module[id].shape {
        Shape::Array(_) => true,
        Shape::Tuple(parts) => parts.iter().all(|part| part.as_array().is_some()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
    }
}

/// Checks whether the operand of a `get-tuple-element` is a parameter or computes all its elements at once.
fn has_results(module: &Module, id: InstrId) -> bool {
    let whole = module[id].operands.first().map(|&o| &module[o].op);
    matches!(whole, Some(Op::Parameter(_) | Op::Reduce(_) | Op::ReduceWindow(_)))
}
