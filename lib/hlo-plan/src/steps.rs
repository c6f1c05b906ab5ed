//! The steps of a compiled program, and the buffers that they work on.

use hlo_ir::{ComputationId, ElementType, InstrId};

/// The location of a buffer at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BufferRef {
    /// A leaf of the flattened entry parameters, by number. Read-only.
    Param(usize),
    /// A leaf of the flattened result, by number.
    Output(usize),
    /// An offset in the arena of temporaries, in bytes.
    Arena(u64),
    /// A constant, by number. Read-only.
    Constant(usize),
}

/// The buffer of a value before buffer assignment: an index into [`Buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufId(pub u32);

impl BufId {
    /// Returns the index into [`Buffers`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a buffer must be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pin {
    /// Anywhere in the arena.
    Free,
    /// A leaf of the entry parameters.
    Param(usize),
    /// A leaf of the result.
    Output(usize),
    /// A constant.
    Constant(usize),
}

impl Pin {
    /// Whether the buffer must not be written.
    pub fn is_read_only(self) -> bool {
        matches!(self, Pin::Param(_) | Pin::Constant(_))
    }
}

/// One buffer before assignment.
#[derive(Clone, Debug)]
pub struct BufferInfo {
    /// The size in bytes.
    pub bytes: u64,
    /// Where the buffer must be placed.
    pub pin: Pin,
    /// The instruction whose value is stored there first, for messages.
    pub instruction: Option<InstrId>,
}

/// All buffers before assignment.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    list: Vec<BufferInfo>,
}

impl Buffers {
    /// Sets the size of a buffer that was unknown when the buffer was added.
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

    /// Returns the number of buffers.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Checks whether there are no buffers.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the buffers in the order of their ids.
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

/// A call of a generated kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelCall<B> {
    /// The instruction that the kernel computes.
    pub instruction: InstrId,
    /// The flattened operand leaves. `None` for tokens and for scalar constants, which the kernel contains.
    pub operands: Vec<Option<B>>,
    /// The flattened result leaves. A result that equals an operand is updated in place.
    pub results: Vec<B>,
    /// Operands (positions in `operands`) that are read only at the index that is written. A result of the
    /// same size may use their buffer if nothing reads them later.
    pub overwritable: Vec<usize>,
}

/// An argument of a runtime function. The context is always the first argument and is not listed.
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
    /// The address of a function that compares as the computation does (`hlo_runtime_core::Comparator`).
    Comparator(ComputationId),
    /// The address of a function that combines elements of this type as the computation does
    /// (`hlo_runtime_core::Combiner`).
    Combiner(ComputationId, ElementType),
    /// The address of a stream's draw counter, an `i64` that is 0 when the program starts.
    Draws(u64),
    /// The address of the function with this number in [`crate::Plan::functions`].
    Function(usize),
    /// The address of the list of all constants' addresses.
    Constants,
    /// The address of the draw counters of all streams.
    Counters,
    /// A number.
    Number(i64),
}

/// A loop around a runtime call that advances its buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuterLoop {
    /// Number of iterations.
    pub count: i64,
    /// For each buffer (operands, then results), the number of bytes that its address advances in each
    /// iteration.
    pub strides: Vec<i64>,
}

/// A call of a runtime function `(context, arguments…) -> status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeCall<B> {
    /// The instruction that the call computes.
    pub instruction: InstrId,
    /// The linker name of the function.
    pub symbol: &'static str,
    /// The arguments after the context.
    pub arguments: Vec<Argument>,
    /// The words of the descriptor.
    pub descriptor: Vec<i64>,
    /// The buffers that the call reads.
    pub operands: Vec<B>,
    /// The buffers that the call writes.
    pub results: Vec<B>,
    /// The loops around the call, outermost first.
    pub loops: Vec<OuterLoop>,
}

impl<B> RuntimeCall<B> {
    /// Creates a call that passes a descriptor, then all operands, then all results.
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

    /// Checks whether the call passes the addresses of its operands or results in a list.
    pub fn takes_lists(&self) -> bool {
        self.arguments.iter().any(|a| matches!(a, Argument::Operands | Argument::Results))
    }
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<B> {
    /// Calls a kernel.
    Kernel(KernelCall<B>),
    /// Copies a whole buffer.
    Copy {
        /// The source.
        from: B,
        /// The destination.
        to: B,
        /// The size of both buffers in bytes.
        bytes: u64,
    },
    /// Calls the runtime.
    Runtime(RuntimeCall<B>),
    /// Runs `loop { condition; if !predicate { break }; body }`.
    While {
        /// The loop instruction.
        instruction: InstrId,
        /// The steps that compute the predicate.
        condition: Vec<Step<B>>,
        /// The buffer of the predicate: one byte, which is nonzero to continue.
        predicate: B,
        /// The steps of the body.
        body: Vec<Step<B>>,
    },
    /// Runs one of the branches.
    Conditional {
        /// The buffer of the selector: a `pred` (one byte) or an `s32`.
        selector: B,
        /// Whether the selector is a `pred`. True selects branch 0, false selects branch 1.
        by_pred: bool,
        /// The steps of the branches. An index out of range selects the last branch.
        branches: Vec<Vec<Step<B>>>,
    },
}

impl<B: Copy + PartialEq> Step<B> {
    /// Replaces the buffers of all steps. Removes copies of a buffer to itself and copies of zero bytes.
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
    /// The elements in the order of its layout.
    pub bytes: Vec<u8>,
}
