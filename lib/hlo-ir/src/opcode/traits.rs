//! The columns of the table that passes and engines use: properties that all instructions of an opcode share.

use super::Family;

/// The operands whose elements the result of an opcode contains unchanged, with the same value in the same element type. A
/// `bitcast` reinterprets bits, so it moves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// None: the opcode computes values.
    Nothing,
    /// The first operand. The attributes and shapes alone determine the operand element of each element of
    /// the result. The consumer can therefore read the operand in place of the result.
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
    /// The operands of several devices, and zeros where no device sends data.
    Devices,
}

impl Moves {
    /// Returns whether the result contains elements of operand `operand` at positions that do not depend on
    /// values, on a single device.
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

/// How the run-time sizes of a result are computed from the operands' run-time sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeRule {
    /// The result has the sizes of the values that the instruction forwards or computes.
    Forwarded,
    /// The bounds of the result, whatever the sizes of the operands.
    Bounds,
    /// The sizes of the first operand, array by array.
    FirstOperand,
    /// The common sizes of the operands that are not scalars.
    Elementwise,
    /// By shape inference on the operands' run-time sizes.
    Inferred,
    /// As [`SizeRule::Inferred`]; operand dimensions that one loop iterates over must have the same size.
    Paired,
    /// By a rule specific to the opcode.
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
    /// The start of an asynchronous operation, which runs to completion immediately.
    Start,
    /// A collective.
    Exchange,
    /// An infeed, an outfeed, or one end of a transfer within the program.
    Transfer,
    /// The number of the device's replica or partition.
    DeviceId,
    /// A `while`.
    While,
    /// A `conditional`.
    Conditional,
    /// A general product: a runtime call or a kernel, depending on its size.
    Dot,
    /// A convolution: a runtime call.
    Convolution,
    /// Random bits: a runtime call.
    RandomBits,
    /// Another runtime call, on row-major arrays.
    Runtime,
    /// A function from the runtime's registry of custom calls.
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

/// The columns of an opcode. A row of the table lists those that differ from the family's default. By
/// default, an elementwise opcode computes values in a kernel. Other opcodes are expanded by a pass, are not
/// fused, and have inferred sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// The operands whose elements the result contains unchanged.
    pub moves: Moves,
    /// How the result's run-time sizes are computed from the operands' run-time sizes.
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
    /// Returns the columns of a row that lists none.
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
