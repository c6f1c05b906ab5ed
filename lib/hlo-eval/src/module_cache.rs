//! Data that depends only on the module, cached between evaluations. For a small module, computing it takes
//! longer than the evaluation.

use crate::error::EvalError;
use crate::options::Options;
use crate::plan::Plan;
use crate::program::Program;
use crate::sites::Sites;
use hlo_communicator::Table;
use hlo_custom_call::PlannedCall;
use hlo_ir::effects::Effects;
use hlo_ir::verify::Verified;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Cached data of a module and the options that it is evaluated with. It serves evaluations of the same
/// module with the same options, also concurrent ones.
#[derive(Default)]
pub struct ModuleCache {
    /// Set after the module was found to be valid for evaluation.
    sites: OnceLock<(Arc<Sites>, Arc<Table>)>,
    /// Plans that are not in use.
    plans: Mutex<Vec<Plans>>,
}

impl fmt::Debug for ModuleCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleCache").field("is_checked", &self.sites.get().is_some()).finish_non_exhaustive()
    }
}

/// The plans and programs of a module's computations.
#[derive(Default)]
pub(crate) struct Plans {
    pub(crate) plans: HashMap<ComputationId, Arc<Plan>>,
    pub(crate) programs: HashMap<ComputationId, Option<Arc<Program>>>,
    /// The effects of the planned computations.
    pub(crate) effects: Effects,
    /// The custom calls that were planned.
    pub(crate) custom_calls: HashMap<InstrId, Arc<PlannedCall>>,
}

impl ModuleCache {
    /// Prepares the evaluation of a module: finds the targets of its custom calls and checks their types
    /// before any of them is called.
    ///
    /// # Errors
    /// Fails if the target of a custom call is unknown or does not accept the call. A call with values of
    /// unknown sizes is checked when it is made.
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

    /// Returns the module's collectives, if it was evaluated before.
    pub(crate) fn sites(&self) -> Option<(Arc<Sites>, Arc<Table>)> {
        self.sites.get().cloned()
    }

    /// Records that the module can be evaluated, and its collectives.
    pub(crate) fn note(&self, sites: &Arc<Sites>, table: &Arc<Table>) {
        // If another evaluation was first, it stored the same data.
        let _ = self.sites.set((sites.clone(), table.clone()));
    }

    /// Takes plans that no other evaluation uses.
    pub(crate) fn take(&self) -> Plans {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Stores plans for the next evaluation.
    pub(crate) fn keep(&self, plans: Plans) {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner).push(plans);
    }
}
