//! The contexts in which attributes are read and written.

use super::Result;
use super::metadata::Payloads;
use super::text::{read_text, write_text};
use crate::messages::{HloInstructionProto, TextAttribute};
use foldhash::fast::RandomState;
use hlo_ir::attr::{AsyncStartAttrs, AttrValue};
use hlo_ir::{ComputationId, ElementType, InstrId, Module, Shape};
use std::collections::HashMap;

/// A map with a fast hash function.
pub type Map<K, V> = HashMap<K, V, RandomState>;

/// The context for reading attributes.
pub struct Reading<'a> {
    /// The byte strings that messages refer to by number.
    pub payloads: Payloads<'a>,
    /// The attributes of the start of the asynchronous operation that the first operand belongs to.
    pub start: Option<&'a AsyncStartAttrs>,
    /// The module that is being read.
    pub module: &'a Module,
    /// The complete computations by id.
    pub computations: &'a Map<i64, ComputationId>,
    /// The operands of the instruction.
    pub operands: &'a [InstrId],
}

impl Reading<'_> {
    /// Returns the shape of an operand.
    pub fn operand_shape(&self, index: usize) -> Option<&Shape> {
        self.operands.get(index).map(|&o| &self.module[o].shape)
    }

    /// Reads an attribute that is stored as HLO text. Returns the default value if it is absent.
    pub fn text<A: AttrValue>(&self, attributes: &[TextAttribute], name: &str) -> Result<A> {
        read_text(attributes, name)
    }

    /// Takes the next called computation, or all remaining ones, from a list of ids.
    pub fn called<C: Called>(&self, ids: &mut std::slice::Iter<'_, i64>) -> Result<C> {
        C::take(&mut ids.map(|id| {
            let known = self.computations.get(id).copied();
            known.ok_or_else(|| format!("it calls computation {id}, which is not there before it"))
        }))
    }
}

/// The called computations of an attribute: one, an optional one, or a list.
pub trait Called: Sized {
    /// Takes the next computations.
    fn take(computations: &mut dyn Iterator<Item = Result<ComputationId>>) -> Result<Self>;
}

impl Called for ComputationId {
    fn take(computations: &mut dyn Iterator<Item = Result<ComputationId>>) -> Result<Self> {
        computations.next().unwrap_or_else(|| Err("a computation that it calls is not named".into()))
    }
}

impl Called for Option<ComputationId> {
    fn take(computations: &mut dyn Iterator<Item = Result<ComputationId>>) -> Result<Self> {
        computations.next().transpose()
    }
}

impl Called for Vec<ComputationId> {
    fn take(computations: &mut dyn Iterator<Item = Result<ComputationId>>) -> Result<Self> {
        computations.collect()
    }
}

/// The message ids of a module's computations and instructions, by their arena indices.
pub struct Ids {
    computations: Vec<i64>,
    instructions: Vec<i64>,
}

impl Ids {
    /// Returns the ids of a module.
    pub fn of(module: &Module) -> Self {
        let mut ids = Self { computations: Vec::new(), instructions: vec![0; module.instruction_capacity()] };
        for (c, id) in module.completion_order().into_iter().zip(0i64..) {
            if ids.computations.len() <= c.index() {
                ids.computations.resize(c.index() + 1, 0);
            }
            ids.computations[c.index()] = id;
            for (i, n) in module[c].instructions().iter().zip(0i64..) {
                ids.instructions[i.index()] = id << 32 | n;
            }
        }
        ids
    }

    /// Returns the id of a computation.
    pub fn computation(&self, id: ComputationId) -> i64 {
        self.computations.get(id.index()).copied().unwrap_or_default()
    }

    /// Returns the id of an instruction.
    pub fn instruction(&self, id: InstrId) -> i64 {
        self.instructions.get(id.index()).copied().unwrap_or_default()
    }
}

/// The context for writing attributes.
pub struct Writing<'a> {
    /// The byte strings that messages refer to by number.
    pub payloads: Vec<Vec<u8>>,
    /// The number of operands of the instruction that have a precision.
    pub precisions: usize,
    /// The element type of the first operand.
    pub operand_element_type: Option<ElementType>,
    /// The ids of computations and instructions.
    pub ids: Ids,
    /// The module that is being written.
    pub module: &'a Module,
}

impl Writing<'_> {
    /// Appends the ids of called computations to an instruction's message.
    pub fn call<A: AttrValue>(&self, called: &A, proto: &mut HloInstructionProto) {
        called.for_each_computation(&mut |c| proto.called_computation_ids.push(self.ids.computation(c)));
    }

    /// Returns an attribute as HLO text, or `None` if it has its default value.
    pub fn text<A: AttrValue>(&self, name: &str, value: &A) -> Option<TextAttribute> {
        write_text(name, value)
    }
}
