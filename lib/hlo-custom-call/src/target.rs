//! The targets of custom calls, and sets of targets.

use std::sync::Arc;

use crate::plan::Function;
use crate::{Attributes, CallSite};
use hlo_runtime_core::Error;

/// Checks whether a target accepts the operand and result types, and returns the function that computes the
/// results.
type Planner = dyn Fn(&CallSite, &Attributes) -> Result<Arc<Function>, Error> + Send + Sync;

/// A target of custom calls.
#[derive(Clone)]
pub struct Target(Arc<Planner>);

impl Target {
    /// Creates a target whose calls are planned separately. `plan` checks a call before the run. It returns
    /// the function that performs the call, or an error if the call is not possible.
    pub fn new(
        plan: impl Fn(&CallSite, &Attributes) -> Result<Arc<Function>, Error> + Send + Sync + 'static,
    ) -> Target {
        Target(Arc::new(plan))
    }

    /// Checks a call, and returns the function that performs it.
    pub(crate) fn plan(&self, site: &CallSite, attributes: &Attributes) -> Result<Arc<Function>, Error> {
        (self.0)(site, attributes)
    }
}

/// A set of targets outside a registry: a library of routines, or the targets of shared libraries.
pub trait Targets: Send + Sync {
    /// Returns the target of a call, if it belongs to this set. Returns an error if the target cannot be
    /// called this way.
    fn find(&self, site: &CallSite) -> Option<Result<Target, Error>>;

    /// Returns the target of a call that no other set contains.
    fn find_last(&self, _: &CallSite) -> Option<Result<Target, Error>> {
        None
    }

    /// Returns the names of all targets.
    fn names(&self) -> Vec<String>;

    /// Returns the names of the targets, or patterns of names, for a list of the known targets.
    fn listed(&self) -> Vec<String> {
        self.names()
    }

    /// Returns additional text for the end of the message about an unknown name.
    fn note(&self, _: &str) -> String {
        String::new()
    }
}
