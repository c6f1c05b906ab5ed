//! The columns of the table that passes and engines go by: properties that all instructions of an opcode share.

use super::Family;

/// The operands whose elements the result of an opcode contains unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// None: the opcode computes values.
    Nothing,
    /// The first operand. The attributes and shapes alone say which of its elements each element of the result is, so that
    /// the consumer can read the operand in place of the result.
    View,
    /// The first operand.
    First,
    /// The first two operands.
    FirstTwo,
    /// The second and the third operand.
    Branches,
    /// All operands.
    All,
    /// All operands, in an order that depends on the values.
    Sorted,
    /// The operands of several devices; zeros where no device sends any.
    Devices,
}

impl Moves {
    /// Returns whether the result contains elements of operand `operand` at places that do not depend on their values, on a
    /// single device.
    pub const fn contains(self, operand: usize) -> bool {
        match self {
            Moves::Nothing | Moves::Sorted | Moves::Devices => false,
            Moves::View | Moves::First => operand == 0,
            Moves::FirstTwo => operand < 2,
            Moves::Branches => operand == 1 || operand == 2,
            Moves::All => true,
        }
    }
}

/// How the run-time sizes of a result follow from the operands' run-time sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeRule {
    /// The result has the sizes of the values that the instruction forwards or computes.
    Forwarded,
    /// The result's bounds, whatever sizes the operands have.
    Bounds,
    /// The sizes of the first operand, array by array.
    FirstOperand,
    /// The sizes that the operands share, except scalars.
    Elementwise,
    /// By shape inference on the operands' run-time sizes.
    Inferred,
    /// As [`SizeRule::Inferred`]; operand dimensions that one loop iterates over must have the same size.
    Paired,
    /// By a rule of the opcode's own.
    Own,
}

/// How compiled code computes an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter of its computation.
    Parameter,
    /// A constant.
    Constant,
    /// The result's leaves are those of all operands.
    Tuple,
    /// The result's leaves are a part of the operand's leaves.
    Element,
    /// The result's leaves are those of the first operand.
    Alias,
    /// A token, which has no contents.
    Token,
    /// A copy of the operand's bytes, or no code at all.
    Copy,
    /// A `call`: the steps of the callee replace it.
    Call,
    /// The start of an asynchronous operation, which runs to its end at once.
    Start,
    /// A collective.
    Exchange,
    /// An infeed, an outfeed, or an end of a transfer within the program.
    Transfer,
    /// The number of the device's replica or partition.
    DeviceId,
    /// A `while`.
    While,
    /// A `conditional`.
    Conditional,
    /// A general product: a call of the runtime or a kernel, by its size.
    Dot,
    /// A convolution: a call of the runtime.
    Convolution,
    /// Random bits: a call of the runtime.
    RandomBits,
    /// Another call of the runtime, on row-major arrays.
    Runtime,
    /// A function of the runtime's registry of custom calls.
    CustomCall,
    /// A generated loop.
    Kernel,
    /// Passes replace the instruction by others before code generation.
    Expanded,
}

/// How an instruction that is not elementwise takes part in a fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusionRole {
    /// It is never fused, but may be computed before or after a fusion.
    Never,
    /// Each element is an element of an operand at an index that costs next to nothing to compute.
    Free,
    /// As [`FusionRole::Free`]; computing the index or choosing the operand takes a few instructions.
    Cheap,
    /// As [`FusionRole::Free`]; the index is read from memory.
    Expensive,
    /// It combines the elements of its operand.
    Reduce,
    /// It overwrites a part of its first operand.
    Update,
}

/// The columns of an opcode. A row of the table lists those that differ from the family's default: an
/// elementwise opcode computes values in a kernel; another one is expanded by a pass, is not fused, and
/// its sizes are inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// The operands whose elements the result contains unchanged.
    pub moves: Moves,
    /// How the result's run-time sizes follow from the operands'.
    pub sizes: SizeRule,
    /// How compiled code computes an instruction.
    pub role: Role,
    /// How an instruction that is not elementwise takes part in a fusion.
    pub fusion: FusionRole,
    /// Whether a part of the result is the result of the same opcode on parts of the operands, as far as
    /// [`Module::access`](crate::Module::access) describes which parts. Partitioning cuts such instructions.
    pub by_parts: bool,
}

impl Traits {
    /// The columns of a row that lists none.
    pub(super) const fn of_family(family: Family) -> Traits {
        match family {
            Family::Elementwise => Traits {
                moves: Moves::Nothing,
                sizes: SizeRule::Elementwise,
                role: Role::Kernel,
                fusion: FusionRole::Never,
                by_parts: true,
            },
            _ => Traits {
                moves: Moves::Nothing,
                sizes: SizeRule::Inferred,
                role: Role::Expanded,
                fusion: FusionRole::Never,
                by_parts: false,
            },
        }
    }
}
