//! The steps of a compiled program, and the buffers that they work on.

use hlo_ir::{ComputationId, ElementType, InstrId};

/// Where a buffer lies when the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BufferRef {
    /// The leaf of that number of the flattened entry parameters: read only.
    Param(usize),
    /// The leaf of that number of the flattened result.
    Output(usize),
    /// The temporary arena, at this offset in bytes.
    Arena(u64),
    /// The constant of that number: read only.
    Constant(usize),
}

/// A value's buffer before buffer assignment: an index into [`Buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufId(pub u32);

impl BufId {
    /// The index into [`Buffers`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a buffer's place is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// It may be anywhere.
    Free,
    /// It is a leaf of the entry parameters.
    Param(usize),
    /// It is a leaf of the result.
    Output(usize),
    /// It is a constant.
    Constant(usize),
}

impl Pin {
    /// True if nothing may be written there.
    pub fn is_read_only(self) -> bool {
        matches!(self, Pin::Param(_) | Pin::Constant(_))
    }
}

/// One buffer before assignment.
#[derive(Clone, Debug)]
pub struct BufferInfo {
    /// Its size.
    pub bytes: u64,
    /// Whether its place is given.
    pub pin: Pin,
    /// The instruction whose value it holds first, for messages.
    pub instruction: Option<InstrId>,
}

/// All buffers before assignment.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    list: Vec<BufferInfo>,
}

impl Buffers {
    /// Sets the size of a buffer that was not known when it was added.
    pub(crate) fn set_bytes(&mut self, id: BufId, bytes: u64) {
        if let Some(info) = self.list.get_mut(id.index()) {
            info.bytes = bytes;
        }
    }

    /// Adds a buffer. The number of buffers is bounded by the number of steps, which expansion bounds.
    pub fn add(&mut self, bytes: u64, pin: Pin, instruction: Option<InstrId>) -> BufId {
        self.list.push(BufferInfo { bytes, pin, instruction });
        BufId((self.list.len() - 1) as u32)
    }

    /// The number of buffers.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The buffers in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &BufferInfo> {
        self.list.iter()
    }
}

impl std::ops::Index<BufId> for Buffers {
    type Output = BufferInfo;
    fn index(&self, id: BufId) -> &BufferInfo {
        &self.list[id.index()]
    }
}

/// The call of a generated loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCall<B> {
    /// What it computes.
    pub instruction: InstrId,
    /// The flattened operand leaves; `None` for a scalar constant, which the kernel contains, and for tokens.
    pub operands: Vec<Option<B>>,
    /// The flattened result leaves. One that equals an operand is updated in place.
    pub results: Vec<B>,
    /// Operands (positions in `operands`) that are read at the very index that is written, so that a result
    /// of the same size may lie in their buffer if nothing reads them later.
    pub overwritable: Vec<usize>,
}

/// An argument of a runtime function after the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The address of the descriptor's words.
    Descriptor,
    /// The address of the descriptor's word number `n`.
    DescriptorFrom(usize),
    /// The address of operand number `n`.
    Operand(usize),
    /// The address of result number `n`.
    Result(usize),
    /// The address of the list of all operands' addresses.
    Operands,
    /// The address of the list of all results' addresses.
    Results,
    /// The address of the function that compares as the computation does (`hlo_runtime_core::Comparator`).
    Comparator(ComputationId),
    /// The address of the function that combines elements of this type as the computation does
    /// (`hlo_runtime_core::Combiner`).
    Combiner(ComputationId, ElementType),
    /// The address of the counter of a stream's draws, an `i64` that is 0 when the program starts.
    Draws(u64),
    /// The address of the function of that number in [`crate::Plan::functions`].
    Function(usize),
    /// The address of the list of all constants' addresses.
    Constants,
    /// The address of the counters of all streams' draws.
    Counters,
    /// A number.
    Number(i64),
}

/// A loop around a runtime call that moves its buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuterLoop {
    /// The number of iterations.
    pub count: i64,
    /// For each buffer (operands, then results) the bytes that it moves by in each iteration.
    pub strides: Vec<i64>,
}

/// The call of a runtime function `(context, arguments…) -> status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeCall<B> {
    /// What it computes.
    pub instruction: InstrId,
    /// The function's linker name.
    pub symbol: &'static str,
    /// What is passed after the context.
    pub arguments: Vec<Argument>,
    /// The descriptor's words.
    pub descriptor: Vec<i64>,
    /// What it reads.
    pub operands: Vec<B>,
    /// What it writes.
    pub results: Vec<B>,
    /// Loops around it, the outermost first.
    pub loops: Vec<OuterLoop>,
}

impl<B> RuntimeCall<B> {
    /// A call that passes a descriptor, then all operands, then all results.
    pub fn with_descriptor(
        instruction: InstrId,
        symbol: &'static str,
        descriptor: Vec<i64>,
        operands: Vec<B>,
        results: Vec<B>,
    ) -> Self {
        let arguments = std::iter::once(Argument::Descriptor)
            .chain((0..operands.len()).map(Argument::Operand))
            .chain((0..results.len()).map(Argument::Result))
            .collect();
        Self { instruction, symbol, arguments, descriptor, operands, results, loops: Vec::new() }
    }

    /// True if it gets the addresses of its operands or results in a list.
    pub fn takes_lists(&self) -> bool {
        self.arguments.iter().any(|a| matches!(a, Argument::Operands | Argument::Results))
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<B> {
    /// Calls a kernel.
    Kernel(KernelCall<B>),
    /// Copies a whole buffer.
    Copy {
        /// Source.
        from: B,
        /// Destination.
        to: B,
        /// Size of both.
        bytes: u64,
    },
    /// Calls the runtime.
    Runtime(RuntimeCall<B>),
    /// `loop { condition; if !predicate { break }; body }`.
    While {
        /// The loop.
        instruction: InstrId,
        /// Computes the predicate.
        condition: Vec<Step<B>>,
        /// One byte: whether to go on.
        predicate: B,
        /// The body.
        body: Vec<Step<B>>,
    },
    /// Runs one of the branches.
    Conditional {
        /// A `pred` (one byte) or an `s32`.
        selector: B,
        /// True if the selector is a `pred`: branch 0 is taken if it is true, else branch 1.
        by_pred: bool,
        /// The branches; an index out of range takes the last.
        branches: Vec<Vec<Step<B>>>,
    },
}

impl<B: Copy + PartialEq> Step<B> {
    /// The same step over other buffers. Copies of a buffer to itself or of nothing are left out.
    pub fn map_all<C: Copy + PartialEq>(steps: &[Step<B>], f: &impl Fn(B) -> C) -> Vec<Step<C>> {
        steps.iter().filter_map(|s| s.map(f)).collect()
    }

    fn map<C: Copy + PartialEq>(&self, f: &impl Fn(B) -> C) -> Option<Step<C>> {
        Some(match self {
            Step::Kernel(k) => Step::Kernel(KernelCall {
                instruction: k.instruction,
                operands: k.operands.iter().map(|o| o.map(f)).collect(),
                results: k.results.iter().map(|&b| f(b)).collect(),
                overwritable: k.overwritable.clone(),
            }),
            Step::Copy { from, to, bytes } => {
                let (from, to) = (f(*from), f(*to));
                if from == to || *bytes == 0 {
                    return None;
                }
                Step::Copy { from, to, bytes: *bytes }
            }
            Step::Runtime(r) => Step::Runtime(RuntimeCall {
                instruction: r.instruction,
                symbol: r.symbol,
                arguments: r.arguments.clone(),
                descriptor: r.descriptor.clone(),
                operands: r.operands.iter().map(|&b| f(b)).collect(),
                results: r.results.iter().map(|&b| f(b)).collect(),
                loops: r.loops.clone(),
            }),
            Step::While { instruction, condition, predicate, body } => Step::While {
                instruction: *instruction,
                condition: Self::map_all(condition, f),
                predicate: f(*predicate),
                body: Self::map_all(body, f),
            },
            Step::Conditional { selector, by_pred, branches } => Step::Conditional {
                selector: f(*selector),
                by_pred: *by_pred,
                branches: branches.iter().map(|b| Self::map_all(b, f)).collect(),
            },
        })
    }
}

/// A constant that is too large to be part of a kernel's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The constant instruction.
    pub instruction: InstrId,
    /// Its elements in the order of its layout.
    pub bytes: Vec<u8>,
}
