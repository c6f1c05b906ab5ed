//! What may be fused, and what it costs to compute an element again.

use hlo_analysis::cost_model::MAX_JOINED_OPERANDS;
use hlo_ir::{ArrayShape, FusionRole, InstrId, Module, Op};

/// The cost of one element, its operands' elements at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cost {
    /// Index arithmetic only.
    Free,
    /// One or a few simple instructions.
    Cheap,
    /// Divisions, roots, transcendental functions, indirect reads.
    Expensive,
}

impl Cost {
    /// How much code it is, in simple operations. A function such as the sine is some sixty instructions, and loops of many of
    /// them take LLVM time that grows faster than they do.
    pub(super) fn weight(self) -> usize {
        match self {
            Cost::Free => 0,
            Cost::Cheap => 1,
            Cost::Expensive => 8,
        }
    }
}

/// What part an instruction can play in a fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// One element from the operands' elements at the same index.
    Elementwise(Cost),
    /// One element from elements at other indices.
    Indexed(Cost),
    /// A reduction: the root of a fusion, or part of a fusion by rows.
    Reduce,
    /// Only the root of a fusion: an update in place.
    Update,
    /// A kernel or runtime call of its own, or no computation at all.
    Never,
}

impl Role {
    /// The cost as a producer in a loop.
    pub(super) fn producer_cost(self) -> Option<Cost> {
        match self {
            Role::Elementwise(c) | Role::Indexed(c) => Some(c),
            Role::Reduce | Role::Update | Role::Never => None,
        }
    }
}

/// The role of an instruction by its operation and shapes.
pub(super) fn role(module: &Module, id: InstrId) -> Role {
    let instr = &module[id];
    let plain = |a: &ArrayShape| a.is_static() && a.is_row_major();
    let operands_plain = instr.operands.iter().all(|&o| module[o].shape.as_array().is_some_and(plain));
    // A reduction of several arrays gives a tuple of arrays.
    let result_plain = instr.shape.leaves().into_iter().all(|s| s.as_array().is_some_and(plain));
    let is_tuple_reduce = matches!(instr.op, Op::Reduce(_)) && instr.shape.is_tuple();
    if !operands_plain || !result_plain || (instr.shape.is_tuple() && !is_tuple_reduce) {
        return Role::Never;
    }
    operation_role(&instr.op, instr.operands.len())
}

fn operation_role(op: &Op, operands: usize) -> Role {
    use Cost::*;
    use Op::*;
    use Role::*;
    match op {
        StochasticConvert => Elementwise(Expensive),
        hlo_ir::elementwise_op!() => Elementwise(match op.opcode().work() {
            hlo_ir::Work::Simple => Cheap,
            _ => Expensive,
        }),
        Concatenate(_) if operands > MAX_JOINED_OPERANDS => Never,
        op => match op.opcode().traits().fusion {
            FusionRole::Never => Never,
            FusionRole::Free => Indexed(Free),
            FusionRole::Cheap => Indexed(Cheap),
            FusionRole::Expensive => Indexed(Expensive),
            FusionRole::Reduce => Reduce,
            FusionRole::Update => Update,
        },
    }
}

/// True for a constant of one element, which every fusion that uses it holds itself.
pub(super) fn is_scalar_constant(module: &Module, id: InstrId) -> bool {
    matches!(&module[id].op, Op::Constant(a) if !a.is_elided()) && module[id].shape.is_scalar()
}

/// The number of elements, as the first array has them.
pub(super) fn element_count(module: &Module, id: InstrId) -> u64 {
    module[id].shape.leaves().first().and_then(|s| s.as_array()).map_or(0, |a| a.element_count() as u64)
}

/// The largest expression that is computed again in each fusion that uses it.
const MAX_DUPLICATED_OPERATIONS: usize = 4;

/// True if the value may be computed again by every fusion that uses it: a small expression of cheap operations
/// that reads at most one array.
pub(super) fn is_duplicable(module: &Module, roles: &[Role], id: InstrId) -> bool {
    let mut operations = 0;
    let mut arrays: Option<InstrId> = None;
    let mut stack = vec![id];
    while let Some(i) = stack.pop() {
        match roles[i.index()].producer_cost() {
            Some(Cost::Free) if matches!(module[i].op, Op::Iota(_)) => {}
            Some(cost @ (Cost::Free | Cost::Cheap)) => {
                operations += usize::from(cost == Cost::Cheap);
                stack.extend(module[i].operands.iter().copied());
            }
            // The value at hand is one that is stored, or would be.
            _ if i == id => return false,
            _ if module[i].shape.is_scalar() => {}
            _ => {
                if arrays.is_some_and(|a| a != i) {
                    return false;
                }
                arrays = Some(i);
            }
        }
        if operations > MAX_DUPLICATED_OPERATIONS || stack.len() > 16 {
            return false;
        }
    }
    true
}
