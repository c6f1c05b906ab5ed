//! What the code generator makes of each opcode.

use hlo_ir::{ArrayShape, InstrId, Module, Op};

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
    /// A collective of one device.
    Exchange,
    /// An infeed, an outfeed, or an end of a transfer within the program.
    Transfer,
    /// Zero: the number of the one device.
    Zero,
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
    let same_order = || match instr.operands.first() {
        Some(&o) => same_bytes(module, o, id),
        None => false,
    };
    match &instr.op {
        Op::Parameter(_) => Role::Parameter,
        Op::Constant(_) => Role::Constant,
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
        Op::PartitionId | Op::ReplicaId => Role::Zero,
        Op::Copy if same_order() => Role::Copy,
        Op::Copy if instr.shape.is_tuple() => Role::Alias,
        Op::Reshape(_) | Op::Transpose(_) | Op::BitcastConvert if same_order() => Role::Alias,
        Op::Call(_) => Role::Call,
        Op::While(_) => Role::While,
        Op::Conditional(_) => Role::Conditional,
        Op::Dot(_) => Role::Dot,
        Op::Copy | Op::Reshape(_) | Op::Transpose(_) | Op::BitcastConvert => Role::Kernel,
        hlo_ir::elementwise_op!() => Role::Kernel,
        Op::Concatenate(_) if instr.operands.len() > MAX_JOINED => Role::Runtime,
        Op::Broadcast(_) | Op::Concatenate(_) | Op::Iota(_) | Op::Pad(_) | Op::Reverse(_) => Role::Kernel,
        Op::Slice(_) | Op::DynamicSlice(_) | Op::DynamicUpdateSlice => Role::Kernel,
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

/// The element of its operand that an instruction is, if it is one.
pub(super) fn element_index(op: &Op) -> Option<i64> {
    match op {
        Op::GetTupleElement(g) => Some(g.index),
        Op::CopyDone => Some(0),
        Op::AsyncDone(_) | Op::AllGatherDone | Op::CollectivePermuteDone => Some(1),
        _ => None,
    }
}

/// True if the value of `to` (a copy, reshape, transpose or bitcast-convert of `from`) is the same bytes in the
/// same order.
fn same_bytes(module: &Module, from: InstrId, to: InstrId) -> bool {
    let (Some(a), Some(b)) = (module[from].shape.as_array(), module[to].shape.as_array()) else {
        return false;
    };
    if a.checked_element_count() != b.checked_element_count() {
        return false;
    }
    match &module[to].op {
        Op::Copy => same_strides(a, b, |d| d),
        Op::Transpose(t) => same_strides(a, b, |d| t.dimensions.get(d).map_or(d, |&p| p as usize)),
        // Sub-byte types are extended by sign or zeros to a byte, and a bool is one of two bytes.
        Op::BitcastConvert => {
            a.element_type.bit_width() == b.element_type.bit_width()
                && a.element_type.bit_width() >= 8
                && same_strides(a, b, |d| d)
        }
        // Both in the order of their elements' numbers.
        _ => is_dense_row_major(a) && is_dense_row_major(b),
    }
}

/// True if dimension `operand_dim(d)` of `a` has the size and stride of dimension `d` of `b` wherever that
/// matters.
fn same_strides(a: &ArrayShape, b: &ArrayShape, operand_dim: impl Fn(usize) -> usize) -> bool {
    let (sa, sb) = (a.strides(), b.strides());
    a.rank() == b.rank()
        && (0..b.rank()).all(|d| {
            let o = operand_dim(d);
            a.dims.get(o) == Some(&b.dims[d]) && (b.dims[d] <= 1 || sa[o] == sb[d])
        })
}

/// True if the elements lie in row-major order, dimensions of size 1 aside.
pub fn is_dense_row_major(a: &ArrayShape) -> bool {
    let (s, r) = (a.strides(), a.row_major_strides());
    (0..a.rank()).all(|d| a.dims[d] <= 1 || s[d] == r[d])
}

/// True if both lie in memory in the same way: same sizes and, where it matters, strides.
pub fn same_layout(a: &ArrayShape, b: &ArrayShape) -> bool {
    same_strides(a, b, |d| d)
}
