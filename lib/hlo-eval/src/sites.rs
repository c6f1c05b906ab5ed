//! The collectives of a module, and a device's connection to the other devices.

use crate::error::EvalError;
use hlo_communicator::{Communicator, Reduction, Table};
use hlo_ir::devices::{Collective, DeviceCounts};
use hlo_ir::{InstrId, Module};
use std::collections::HashMap;

/// The collectives of a module, with their numbers in a [`Table`].
pub(crate) struct Sites {
    pub(crate) counts: DeviceCounts,
    numbers: HashMap<InstrId, usize>,
}

impl Sites {
    pub(crate) fn of(module: &Module, counts: DeviceCounts) -> Result<(Self, Table), EvalError> {
        let mut table = Table::new(counts.devices());
        let mut numbers = HashMap::new();
        for id in module.computations().flat_map(|c| module[c].instructions().iter().copied()) {
            let collective = Collective::of(module, id, counts).map_err(|e| EvalError::new(e).at(id))?;
            let Some(Collective { name, groups, pairs, reduction }) = collective else { continue };
            let number = table.add_permute(name, &groups, &pairs);
            let reduction = reduction.and_then(|(op, is_signed)| Reduction::of_name(op.name(), is_signed));
            table.set_reduction(number, reduction);
            numbers.insert(id, number);
        }
        Ok((Self { counts, numbers }, table))
    }

    /// Returns the number of a collective.
    pub(crate) fn number(&self, id: InstrId) -> Result<usize, EvalError> {
        self.numbers.get(&id).copied().ok_or_else(|| EvalError::internal("a collective without a number"))
    }
}

/// A device's connection to the other devices.
#[derive(Clone, Copy)]
pub(crate) struct Devices<'m> {
    pub(crate) communicator: &'m dyn Communicator,
    pub(crate) sites: &'m Sites,
}

impl Devices<'_> {
    /// Returns the number of this device.
    pub(crate) fn own(&self) -> usize {
        self.communicator.device()
    }
}
