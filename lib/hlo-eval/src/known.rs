//! What follows from a module alone, kept from evaluation to evaluation: of a small module it takes longer to find than the values.

use crate::devices::Sites;
use crate::plan::Plan;
use crate::program::Program;
use hlo_communicator::Table;
use hlo_custom_call::PlannedCall;
use hlo_ir::effects::Effects;
use hlo_ir::{ComputationId, InstrId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is known of a module and of the options that it is evaluated with: for evaluations of the same module with the same
/// options, at the same time or one after the other.
#[derive(Default)]
pub struct Known {
    /// Set once the module was found to be one that can be evaluated.
    sites: OnceLock<(Arc<Sites>, Arc<Table>)>,
    /// What nobody uses now.
    plans: Mutex<Vec<Plans>>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known").field("is_checked", &self.sites.get().is_some()).finish_non_exhaustive()
    }
}

/// How the computations of a module are evaluated.
#[derive(Default)]
pub(crate) struct Plans {
    pub(crate) plans: HashMap<ComputationId, Arc<Plan>>,
    pub(crate) programs: HashMap<ComputationId, Option<Arc<Program>>>,
    /// Of the computations that were planned.
    pub(crate) effects: Effects,
    /// Custom calls that were made before.
    pub(crate) custom_calls: HashMap<InstrId, Arc<PlannedCall>>,
}

impl Known {
    /// The module's collectives, if it was evaluated before.
    pub(crate) fn sites(&self) -> Option<(Arc<Sites>, Arc<Table>)> {
        self.sites.get().cloned()
    }

    /// Notes that the module can be evaluated, and its collectives.
    pub(crate) fn note(&self, sites: &Arc<Sites>, table: &Arc<Table>) {
        // Whoever was first found the same.
        let _ = self.sites.set((sites.clone(), table.clone()));
    }

    /// Plans that nobody else uses.
    pub(crate) fn take(&self) -> Plans {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Keeps plans for the next evaluation.
    pub(crate) fn keep(&self, plans: Plans) {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).push(plans);
    }
}
