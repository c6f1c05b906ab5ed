//! Buffers: decides which values of a computation have memory of their own, and which are other names of the
//! same memory.
//!
//! A buffer is the memory of one leaf (one array of a result, which may be a tuple). Tuples, tuple elements,
//! bitcasts, barriers, the ends of asynchronous operations and results that are aliased to operands create no
//! buffers: their leaves are the buffers of their operands. The same holds for an element of a loop's state
//! that the body does not change.
//!
//! State that a loop changes, and results aliased to an operand, are written in place where possible
//! (`sharing.rs`). Otherwise they get a new buffer. Other updates that a compiler may do in place get a new
//! buffer too, because whether they run in place depends on the order.

use crate::{Alias, Invariants, Roles, alias};
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;
use std::rc::Rc;

/// Memory that belongs to one leaf of an instruction's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// The instruction that computes the value.
    pub instruction: InstrId,
    /// The number of the leaf in the instruction's shape, depth first.
    pub leaf: usize,
    /// The size of the array in bytes. Dynamic dimensions count with their bounds. The size of tokens and
    /// other non-arrays is 0.
    pub bytes: u64,
    /// The owner of the memory.
    pub kind: BufferKind,
}

/// The owner of a buffer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// The caller. The buffer is live before and after the computation runs.
    Parameter,
    /// The program. The buffer is always live.
    Constant,
    /// The computation. The buffer is live from the instruction that computes the value to the last one that
    /// reads it.
    Temporary,
}

/// The buffers of a computation.
#[derive(Clone, Debug)]
pub struct Buffers {
    pub(crate) list: Vec<Buffer>,
    pub(crate) of: HashMap<InstrId, Rc<[usize]>>,
}

impl Buffers {
    /// Finds the buffers of a computation that runs in post-order. The time is nearly linear in the number of
    /// leaves of its instructions and in the size of the module.
    pub fn of(module: &Module, computation: ComputationId) -> Self {
        Self::in_order(module, computation, &module.post_order(computation), &Roles::of(module))
    }

    /// Finds the values of a computation's instructions. The order must list operands before users. Unlike in
    /// the list of buffers, the state that a loop changes and a result aliased to an operand are separate
    /// values.
    pub fn values(module: &Module, order: &[InstrId]) -> Self {
        let mut out = Self { list: Vec::new(), of: HashMap::new() };
        out.add(module, order);
        out
    }

    /// Adds the values of new instructions. Operands must come before users.
    pub fn add(&mut self, module: &Module, added: &[InstrId]) {
        let mut known = Invariants::default();
        for &id in added {
            let leaves = self.leaves_of(module, id, &mut known);
            self.of.insert(id, leaves);
        }
    }

    /// The buffers, in the order in which they are written.
    pub fn list(&self) -> &[Buffer] {
        &self.list
    }

    /// Returns the buffers of the leaves of an instruction's result, depth first, as positions in
    /// [`Buffers::list`].
    pub fn leaves(&self, id: InstrId) -> &[usize] {
        self.of.get(&id).map_or(&[], |leaves| leaves)
    }

    fn leaves_of(&mut self, module: &Module, id: InstrId, known: &mut Invariants) -> Rc<[usize]> {
        let instr = &module[id];
        let first = instr.operands.first().copied();
        let count = instr.shape.leaf_count();
        let other = match alias(module, id) {
            Some(Alias::Whole) => first.and_then(|o| self.of.get(&o).cloned()),
            Some(Alias::Element(n)) => first.and_then(|o| self.element(module, o, n, known)),
            Some(Alias::Tuple) => {
                Some(instr.operands.iter().flat_map(|&o| self.leaves(o)).copied().collect())
            }
            None => None,
        };
        if let Some(leaves) = other.filter(|leaves| leaves.len() == count) {
            return leaves;
        }
        let shared = self.shared_leaves(module, id, known);
        let shapes = instr.shape.leaves();
        let kind = match instr.op {
            Op::Parameter(_) => BufferKind::Parameter,
            Op::Constant(_) => BufferKind::Constant,
            _ => BufferKind::Temporary,
        };
        let mut leaves = Vec::with_capacity(count);
        for (leaf, shape) in shapes.into_iter().enumerate() {
            leaves.push(shared.get(&leaf).copied().unwrap_or(self.list.len()));
            if !shared.contains_key(&leaf) {
                self.list.push(Buffer { instruction: id, leaf, bytes: shape.byte_size() as u64, kind });
            }
        }
        leaves.into()
    }

    /// Returns the leaves of a result that are memory of its operands, for results that also have memory of
    /// their own.
    fn shared_leaves(&self, module: &Module, id: InstrId, known: &mut Invariants) -> HashMap<usize, usize> {
        let instr = &module[id];
        match &instr.op {
            Op::While(_) => {
                let initial = instr.operands.first().map_or(&[][..], |&init| self.leaves(init));
                let unchanged = known.leaves(module, id);
                let same = unchanged.iter().zip(initial).enumerate().filter(|(_, (same, _))| **same);
                same.map(|(leaf, (_, &b))| (leaf, b)).collect()
            }
            Op::AsyncStart(_) | Op::AllGatherStart(_) => {
                // The first element of the result contains the operands.
                instr.operands.iter().flat_map(|&o| self.leaves(o)).copied().enumerate().collect()
            }
            Op::CollectivePermuteStart(_) | Op::Send(_) => {
                instr.operands.iter().take(1).flat_map(|&o| self.leaves(o)).copied().enumerate().collect()
            }
            Op::CopyStart(_) => {
                let after = known.elements.first_leaf(module, id, 1).unwrap_or(1);
                let operand = instr.operands.iter().flat_map(|&o| self.leaves(o)).copied();
                operand.enumerate().map(|(n, b)| (after + n, b)).collect()
            }
            // The token that follows the received data is a value of its own.
            _ => HashMap::new(),
        }
    }

    /// Returns the buffers of the leaves of a tuple element.
    fn element(
        &self,
        module: &Module,
        tuple: InstrId,
        index: i64,
        known: &mut Invariants,
    ) -> Option<Rc<[usize]>> {
        let index = usize::try_from(index).ok()?;
        let (first, end) = (
            known.elements.first_leaf(module, tuple, index)?,
            known.elements.first_leaf(module, tuple, index + 1)?,
        );
        self.leaves(tuple).get(first..end).map(Rc::from)
    }
}
