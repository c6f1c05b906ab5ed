//! What the code generator makes of each opcode.

use hlo_analysis::{Alias, alias, keeps_bytes};
use hlo_ir::{InstrId, Module, Op};

/// What the code generator makes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A parameter of its computation.
    Parameter,
    /// A constant.
    Constant,
    /// Its leaves are those of all its operands.
    Tuple,
    /// Its leaves are a part of its operand's.
    Element,
    /// Its leaves are those of its first operand.
    Alias,
    /// It has no contents: a token.
    Token,
    /// The same bytes elsewhere, if anywhere.
    Copy,
    /// A `call`: its steps stand in its place.
    Call,
    /// The start of an asynchronous operation, which is done at once.
    Start,
    /// A collective.
    Exchange,
    /// An infeed, an outfeed, or an end of a transfer within the program.
    Transfer,
    /// The number of the replica or partition that the device is.
    DeviceId,
    /// A `while`.
    While,
    /// A `conditional`.
    Conditional,
    /// A general product: the runtime or a kernel, by its size.
    Dot,
    /// A convolution: the runtime.
    Convolution,
    /// Random bits: the runtime.
    RandomBits,
    /// Another call of the runtime, on row-major arrays.
    Runtime,
    /// A function from outside: the runtime's registry.
    CustomCall,
    /// A generated loop.
    Kernel,
    /// Passes put other instructions in its place.
    Expanded,
}

/// Concatenations of more operands are copies by the runtime: a kernel would have code for each operand.
pub(crate) const MAX_JOINED: usize = 32;

/// What an instruction is to the code generator.
pub fn role(module: &Module, id: InstrId) -> Role {
    let instr = &module[id];
    match &instr.op {
        Op::RecvDone(_) => Role::Transfer,
        Op::Copy if keeps_bytes(module, id) => Role::Copy,
        Op::Copy if instr.shape.is_tuple() => Role::Alias,
        op => match alias(module, id) {
            Some(Alias::Tuple) => Role::Tuple,
            Some(Alias::Element(_)) => Role::Element,
            Some(Alias::Whole) => Role::Alias,
            None => role_of(op, instr.operands.len()),
        },
    }
}

/// What an opcode is whose result is memory of its own.
fn role_of(op: &Op, operands: usize) -> Role {
    match op {
        Op::Parameter(_) => Role::Parameter,
        Op::Constant(_) => Role::Constant,
        // They are names always.
        Op::Tuple => Role::Tuple,
        Op::GetTupleElement(_) | Op::CopyDone | Op::AsyncDone(_) => Role::Element,
        Op::AllGatherDone | Op::CollectivePermuteDone => Role::Element,
        Op::OptBarrier | Op::AddDependency | Op::Domain(_) | Op::Bitcast => Role::Alias,
        Op::AsyncUpdate(_) | Op::AllReduceDone => Role::Alias,
        Op::AfterAll | Op::SendDone(_) => Role::Token,
        Op::AsyncStart(_) | Op::CopyStart(_) => Role::Start,
        Op::AllGatherStart(_) | Op::CollectivePermuteStart(_) => Role::Start,
        Op::AllGather(_) | Op::AllReduce(_) | Op::AllReduceStart(_) | Op::AllToAll(_) => Role::Exchange,
        Op::CollectiveBroadcast(_) | Op::CollectivePermute(_) | Op::ReduceScatter(_) => Role::Exchange,
        Op::RaggedAllToAll(_) => Role::Exchange,
        Op::Infeed(_) | Op::Outfeed(_) | Op::Recv(_) | Op::RecvDone(_) | Op::Send(_) => Role::Transfer,
        Op::PartitionId | Op::ReplicaId => Role::DeviceId,
        Op::Call(_) => Role::Call,
        Op::While(_) => Role::While,
        Op::Conditional(_) => Role::Conditional,
        Op::Dot(_) => Role::Dot,
        Op::Copy | Op::Reshape(_) | Op::Transpose(_) | Op::BitcastConvert => Role::Kernel,
        hlo_ir::elementwise_op!() => Role::Kernel,
        Op::Concatenate(_) if operands > MAX_JOINED => Role::Runtime,
        Op::Broadcast(_) | Op::Concatenate(_) | Op::Iota(_) | Op::Pad(_) | Op::Reverse(_) => Role::Kernel,
        Op::Slice(_) | Op::DynamicSlice(_) | Op::DynamicUpdateSlice => Role::Kernel,
        Op::Contraction(_) => Role::Kernel,
        Op::Gather(_) | Op::Scatter(_) | Op::SelectAndScatter(_) => Role::Kernel,
        Op::Map(_) | Op::Reduce(_) | Op::ReduceWindow(_) | Op::Fusion(_) => Role::Kernel,
        Op::Convolution(_) => Role::Convolution,
        Op::RngBitGenerator(_) => Role::RandomBits,
        Op::CustomCall(_) => Role::CustomCall,
        Op::DynamicReshape | Op::GetDimensionSize(_) | Op::SetDimensionSize(_) => Role::Expanded,
        Op::Sort(_) | Op::TopK(_) | Op::Rng(_) | Op::RngGetAndUpdateState(_) => Role::Runtime,
        Op::Cholesky(_) | Op::Fft(_) | Op::TriangularSolve(_) => Role::Runtime,
        // The passes of `LOWERING` put other instructions in place of these.
        Op::Scan(_) => Role::Expanded,
        Op::RaggedDot(_) | Op::ScaledDot(_) => Role::Expanded,
        Op::BatchNormGrad(_) | Op::BatchNormInference(_) | Op::BatchNormTraining(_) => Role::Expanded,
    }
}
