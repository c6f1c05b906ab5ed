//! What follows from a module alone, kept from evaluation to evaluation: of a small module it takes longer to find than the values.

use crate::Options;
use crate::devices::Sites;
use crate::error::EvalError;
use crate::plan::Plan;
use crate::program::Program;
use hlo_communicator::Table;
use hlo_custom_call::PlannedCall;
use hlo_ir::effects::Effects;
use hlo_ir::verify::Verified;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};
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
    /// What is found before a module is evaluated: the targets of its custom calls, which are looked up and their types
    /// checked now, not when they are made.
    ///
    /// # Errors
    /// A custom call whose target is unknown or can't be called like that. One with values of unknown sizes is looked at when it is
    /// made.
    pub fn new(module: Verified<&Module>, options: &Options) -> Result<Self, EvalError> {
        let mut plans = Plans::default();
        let (mut reached, mut next) = (HashSet::from([module.entry()]), vec![module.entry()]);
        while let Some(computation) = next.pop() {
            next.extend(module.callees(computation).into_iter().filter(|&c| reached.insert(c)));
        }
        let every = module.computations().filter(|c| reached.contains(c));
        for id in every.flat_map(|c| module[c].instructions().iter().copied()) {
            let Op::CustomCall(_) = module[id].op else { continue };
            let Ok(site) = hlo_custom_call::site(&module, id) else { continue };
            let planned = options.custom_calls.plan(site).map_err(|e| EvalError::new(e.0).at(id))?;
            plans.custom_calls.insert(id, Arc::new(planned));
        }
        let known = Self::default();
        known.keep(plans);
        Ok(known)
    }

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
