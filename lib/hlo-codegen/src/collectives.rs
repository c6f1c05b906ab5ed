//! The collectives of a compiled program, and the devices that run it.

use hlo_communicator::{Communicator, Reduction, Table};
use hlo_ir::devices::{Collective, DeviceCounts};
use hlo_ir::diag::Diag;
use hlo_ir::{InstrId, Module};
use std::sync::Arc;

/// The devices and collectives of a program. The index of a collective is its number in the plan.
#[derive(Debug)]
pub(crate) struct Collectives {
    pub(crate) counts: DeviceCounts,
    pub(crate) table: Arc<Table>,
    instructions: Vec<InstrId>,
}

impl Collectives {
    /// Creates the collectives that a plan numbers.
    pub(crate) fn new(module: &Module, instructions: &[InstrId]) -> Result<Self, Diag> {
        let counts = DeviceCounts::of(module).unwrap_or(DeviceCounts { replicas: 1, partitions: 1 });
        let mut table = Table::new(counts.devices());
        for &id in instructions {
            let refused = |message: String| Diag::error(message).at(module.span(id), "this collective");
            let collective = Collective::of(module, id, counts).map_err(refused)?;
            let internal = || refused("internal error: the plan numbers what is no collective".to_string());
            let Collective { name, groups, pairs, reduction } = collective.ok_or_else(internal)?;
            let site = table.add_permute(name, &groups, &pairs);
            let reduction = reduction.and_then(|(op, is_signed)| Reduction::of_name(op.name(), is_signed));
            table.set_reduction(site, reduction);
        }
        Ok(Self { counts, table: Arc::new(table), instructions: instructions.to_vec() })
    }

    /// Returns the instruction of the collective with a number.
    pub(crate) fn instruction(&self, site: usize) -> Option<InstrId> {
        self.instructions.get(site).copied()
    }
}

/// The communicator of a run, or `None` if the run has no other devices.
pub(crate) type OtherDevices<'a> = Option<&'a dyn Communicator>;
