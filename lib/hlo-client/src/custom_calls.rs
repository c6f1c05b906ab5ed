//! The targets of custom calls.

use hlo_custom_call::Registry;

/// The targets of a client's custom calls for each engine: the same ones, but for LAPACK's routines, which each engine has of
/// its own, so that there is something to compare.
#[derive(Clone, Debug)]
pub(crate) struct CustomCalls {
    pub(crate) interpreted: Registry,
    #[cfg(feature = "codegen")]
    pub(crate) compiled: Registry,
}

impl CustomCalls {
    /// The targets of a registry, and LAPACK's routines after them.
    pub(crate) fn new(registry: Registry) -> Self {
        #[cfg(feature = "codegen")]
        let compiled = {
            let mut registry = registry.clone();
            registry.add(hlo_lapack::LAPACK);
            registry
        };
        let mut interpreted = registry;
        interpreted.add(hlo_eval::lapack::LAPACK);
        Self {
            interpreted,
            #[cfg(feature = "codegen")]
            compiled,
        }
    }
}
