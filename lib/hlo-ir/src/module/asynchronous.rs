//! Asynchronous operations: the names of their short forms, and the attributes of the operation that a chain
//! of asynchronous instructions runs.
//!
//! An `async-start` calls a computation. Updates and an end follow it. If the computation consists of one
//! operation, the text may use the name of that operation: `negate-start`, `negate-update`, `negate-done`.

use crate::{CommonAttrs, CommonField, ComputationId, InstrId, Module, Op, Opcode};
use std::collections::HashMap;

/// The asynchronous opcodes, with the suffixes of their short forms.
const SUFFIXES: [(Opcode, &str); 3] =
    [(Opcode::AsyncStart, "-start"), (Opcode::AsyncUpdate, "-update"), (Opcode::AsyncDone, "-done")];

impl Opcode {
    /// Returns the asynchronous opcode and the opcode that it runs, for a name in short form.
    pub fn from_short_form(name: &str) -> Option<(Self, Self)> {
        SUFFIXES.iter().find_map(|&(asynchronous, suffix)| {
            let wrapped = Opcode::from_name(name.strip_suffix(suffix)?)?;
            wrapped.has_short_form().then_some((asynchronous, wrapped))
        })
    }

    /// Returns the suffix of this opcode's short form, such as `-start`, if it is an asynchronous opcode.
    pub fn short_form_suffix(self) -> Option<&'static str> {
        SUFFIXES.iter().find(|&&(asynchronous, _)| asynchronous == self).map(|&(_, suffix)| suffix)
    }

    /// Returns whether operations of this opcode have a short form. Opcodes with their own asynchronous
    /// opcodes have none, because those use the names. Opcodes that cannot run asynchronously have none
    /// either.
    pub fn has_short_form(self) -> bool {
        !matches!(
            self,
            Opcode::AllGather
                | Opcode::AllReduce
                | Opcode::CollectivePermute
                | Opcode::Copy
                | Opcode::Send
                | Opcode::Recv
                | Opcode::AsyncStart
                | Opcode::AsyncUpdate
                | Opcode::AsyncDone
                | Opcode::Parameter
                | Opcode::Constant
        )
    }
}

impl Op {
    /// Returns the computation that an `async-start` calls.
    pub(crate) fn started(&self) -> Option<ComputationId> {
        match self {
            Op::AsyncStart(a) => a.calls,
            _ => None,
        }
    }
}

/// An asynchronous start with the updates and ends that follow it, operands before users.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The computation that the start calls.
    pub calls: ComputationId,
    /// The instructions, starting with the start.
    pub instructions: Vec<InstrId>,
}

impl Chain {
    /// Returns the chains of a module. Takes linear time. A module without asynchronous starts costs one
    /// check per instruction.
    pub fn all(module: &Module) -> Vec<Self> {
        let mut out: Vec<Self> = Vec::new();
        for c in module.computations() {
            let starts = |&i: &InstrId| module[i].op.started().is_some();
            if !module[c].instructions().iter().any(starts) {
                continue;
            }
            let mut chain_of: HashMap<InstrId, usize> = HashMap::new();
            for i in module.post_order(c) {
                let before = module[i].operands.first().and_then(|o| chain_of.get(o)).copied();
                match (&module[i].op, before) {
                    (Op::AsyncStart(a), _) => {
                        let Some(calls) = a.calls else { continue };
                        chain_of.insert(i, out.len());
                        out.push(Self { calls, instructions: vec![i] });
                    }
                    (Op::AsyncUpdate(_) | Op::AsyncDone(_), Some(chain)) => {
                        chain_of.insert(i, chain);
                        out[chain].instructions.push(i);
                    }
                    _ => {}
                }
            }
        }
        out
    }

    /// Returns the attributes that the chain sets for the operation that it runs.
    pub fn of_operation(&self, module: &Module) -> CommonAttrs {
        let mut out = CommonAttrs::default();
        for said in self.instructions.iter().filter_map(|&i| module[i].common.as_deref()) {
            out.take_over(said);
        }
        out
    }
}

impl CommonAttrs {
    /// The attributes that an asynchronous instruction sets both for itself and for the operation that it
    /// runs.
    const SHARED_ATTRIBUTES: [CommonField; 5] = [
        CommonField::FrontendAttributes,
        CommonField::Statistics,
        CommonField::Origin,
        CommonField::Metadata,
        CommonField::BackendConfig,
    ];

    /// Replaces the attributes that the asynchronous instruction with the attributes `said` sets for its
    /// operation.
    fn take_over(&mut self, said: &CommonAttrs) {
        for field in Self::SHARED_ATTRIBUTES {
            if !said.is_default(field) {
                self.copy_field(field, said);
            }
        }
    }
}

impl Module {
    /// Copies attributes from asynchronous chains to the operations that they run, as XLA does when it reads
    /// a module. If several instructions of a chain set an attribute, the last one counts.
    pub fn spread_async_attributes(&mut self) {
        for chain in Chain::all(self) {
            let said = chain.of_operation(self);
            if said != CommonAttrs::default() && self.has_root(chain.calls) {
                let root = self[chain.calls].root();
                self.common_mut(root).take_over(&said);
            }
        }
    }
}
