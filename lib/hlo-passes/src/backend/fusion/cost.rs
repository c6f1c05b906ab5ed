//! The instructions that may be fused, and the cost of recomputing their elements.

use hlo_analysis::cost_model::MAX_JOINED_OPERANDS;
use hlo_ir::{ArrayShape, FusionRole, InstrId, Module, Op};

/// The cost of computing one element from the elements of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cost {
    /// Only index arithmetic.
    Free,
    /// One or a few simple machine instructions.
    Cheap,
    /// Divisions, roots, transcendental functions or indirect reads.
    Expensive,
}

impl Cost {
    /// Returns the amount of code in simple operations. A function such as sine takes about sixty machine
    /// instructions, and LLVM's compile time grows faster than the number of such functions in a loop.
    pub(super) fn weight(self) -> usize {
        match self {
            Cost::Free => 0,
            Cost::Cheap => 1,
            Cost::Expensive => 8,
        }
    }
}

/// The role that an instruction can have in a fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Computes an element from the elements of its operands at the same index.
    Elementwise(Cost),
    /// Computes an element from elements at other indices.
    Indexed(Cost),
    /// A reduction: the root of a fusion, or part of a fusion by rows.
    Reduce,
    /// An in-place update, which can only be the root of a fusion.
    Update,
    /// An instruction with its own kernel or runtime call, or without any computation.
    Never,
}

impl Role {
    /// Returns the cost as a producer in a loop, if it can be one.
    pub(super) fn producer_cost(self) -> Option<Cost> {
        match self {
            Role::Elementwise(c) | Role::Indexed(c) => Some(c),
            Role::Reduce | Role::Update | Role::Never => None,
        }
    }
}

/// Returns the role of an instruction, based on its operation and shapes.
pub(super) fn role(module: &Module, id: InstrId) -> Role {
    let instr = &module[id];
    let plain = |a: &ArrayShape| a.is_static() && a.is_row_major();
    let operands_plain = instr.operands.iter().all(|&o| module[o].shape.as_array().is_some_and(plain));
    // A reduction of several arrays returns a tuple of arrays.
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
            FusionRole::Reduce => Role::Reduce,
            FusionRole::Update => Update,
        },
    }
}

/// Checks for a constant of one element. Each fusion that uses one contains its own copy.
pub(super) fn is_scalar_constant(module: &Module, id: InstrId) -> bool {
    matches!(&module[id].op, Op::Constant(a) if !a.is_elided()) && module[id].shape.is_scalar()
}

/// Returns the number of elements of the first array.
pub(super) fn element_count(module: &Module, id: InstrId) -> u64 {
    module[id].shape.leaves().first().and_then(|s| s.as_array()).map_or(0, |a| a.element_count() as u64)
}

/// Maximum number of cheap operations in an expression that is recomputed in each fusion that uses it.
const MAX_DUPLICATED_OPERATIONS: usize = 4;

/// Checks whether every fusion that uses the value may recompute it. It must be a small expression of cheap
/// operations that reads at most one array.
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
            // `id` itself must be computable in a loop.
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
