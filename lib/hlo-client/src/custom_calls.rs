//! The targets of custom calls.

use hlo_custom_call::Registry;

/// The targets of a client's custom calls for each engine. Both engines have the same targets, except that
/// each has its own LAPACK routines. Their results can be compared.
#[derive(Clone, Debug)]
pub(crate) struct CustomCalls {
    pub(crate) interpreted: Registry,
    #[cfg(feature = "codegen")]
    pub(crate) compiled: Registry,
}

impl CustomCalls {
    /// Adds the LAPACK routines after the targets of a registry.
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
