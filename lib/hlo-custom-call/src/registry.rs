//! The registry of custom call targets by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::plan::{Function, catch, named};
use crate::target::{Target, Targets};
use crate::{
    ApiVersion, Attributes, Call, CallSite, PlannedCall, check, csr, moves, python_callbacks, top_k, trace,
};
use hlo_ir::Literal;
use hlo_ir::attr::CustomCallAttrs;
use hlo_ir::suggest::nearest;
use hlo_runtime_core::{Context, Error};

/// The targets of custom calls: those that a program registers, the added sets, and the built-in targets. A
/// target hides targets of the same name that come later in this order.
#[derive(Clone, Default)]
pub struct Registry {
    own: BTreeMap<String, Target>,
    added: Vec<Arc<dyn Targets>>,
    tracer: Option<Arc<trace::Tracer>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("own", &self.own.keys()).finish_non_exhaustive()
    }
}

/// Returns whether a target is a library's routine that a backend of XLA calls, such as `__cublas$gemm`.
fn is_of_backend(target: &str) -> bool {
    target.starts_with("__") && target.contains('$')
}

impl Registry {
    /// Creates a registry with only the built-in targets.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Registers a target. It replaces a registered target of the same name. Several threads may call it at
    /// once.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        run: impl Fn(&mut Call<'_>) -> Result<(), Error> + Send + Sync + 'static,
    ) {
        self.register_checked(name, |_| Ok(()), run);
    }

    /// As [`Registry::register`]. `check` decides before the run whether the target can be called from this
    /// site.
    pub fn register_checked(
        &mut self,
        name: impl Into<String>,
        check: impl Fn(&CallSite) -> Result<(), Error> + Send + Sync + 'static,
        run: impl Fn(&mut Call<'_>) -> Result<(), Error> + Send + Sync + 'static,
    ) {
        let run: Arc<Function> = Arc::new(run);
        self.own.insert(name.into(), Target::new(move |site, _| check(site).map(|()| run.clone())));
    }

    /// Replaces calls of Python functions ([`crate::CALLBACKS`]) by functions that return zeros, or nothing
    /// if there is no result.
    pub fn stub_callbacks(&mut self) {
        for name in python_callbacks::CALLBACKS {
            self.register(*name, |call| {
                (0..call.site.result_arrays().len()).try_for_each(|i| {
                    call.result_bytes(i)?.fill(0);
                    Ok(())
                })
            });
        }
    }

    /// Passes the operands of each call of the target [`trace`](crate::TRACE), with the tag of the call, to
    /// `tracer` instead of printing them to standard error. Several threads may call `tracer` at once.
    pub fn set_tracer(&mut self, tracer: impl Fn(&str, &Literal) + Send + Sync + 'static) {
        self.tracer = Some(Arc::new(tracer));
    }

    /// Adds a set of targets after the sets that were added before.
    pub fn add(&mut self, targets: impl Targets + 'static) {
        self.added.push(Arc::new(targets));
    }

    /// Finds the target of a call, reads its attributes and checks its types. Performing the planned call
    /// only passes addresses.
    ///
    /// # Errors
    /// Returns an error if an array type has an invalid element type, layout or size. Also returns an error
    /// if the target is unknown or cannot be called this way, or if the attributes of a typed call are
    /// invalid.
    pub fn plan(&self, site: CallSite) -> Result<PlannedCall, Error> {
        site.check().map_err(|e| named(&site, e))?;
        let target = self.find(&site)?;
        let attributes = match site.api {
            ApiVersion::TypedFfi => Attributes::parse(&site.config).map_err(|e| named(&site, e))?,
            ApiVersion::Original | ApiVersion::StatusReturning | ApiVersion::StatusReturningUnified => {
                Attributes::default()
            }
        };
        let run = catch(|| target.plan(&site, &attributes)).map_err(|e| named(&site, e))?;
        Ok(PlannedCall::new(site, attributes, run))
    }

    /// Checks that a call is possible: the target is known and accepts the types.
    ///
    /// # Errors
    /// As [`Registry::plan`].
    pub fn check(&self, site: &CallSite) -> Result<(), Error> {
        self.plan(site.clone()).map(|_| ())
    }

    /// Plans and performs a call. `operands` and `results` are the bytes of each array, laid out as its type
    /// specifies.
    ///
    /// # Errors
    /// As [`Registry::plan`] and [`PlannedCall::call`].
    pub fn call(
        &self,
        context: &Context,
        site: &CallSite,
        operands: &[&[u8]],
        results: &mut [&mut [u8]],
    ) -> Result<(), Error> {
        self.plan(site.clone())?.call(context, operands, results)
    }

    fn find(&self, site: &CallSite) -> Result<Target, Error> {
        let name = site.target.as_str();
        if let Some(target) = self.own.get(name) {
            return Ok(target.clone());
        }
        let added = self.added.iter().find_map(|t| t.find(site));
        added
            .or_else(|| self.built_in(name).map(Ok))
            .or_else(|| self.added.iter().find_map(|t| t.find_last(site)))
            .unwrap_or_else(|| Err(self.unknown(name)))
    }

    fn unknown(&self, name: &str) -> Error {
        let mut message = format!("unknown custom call target `{name}`");
        if python_callbacks::CALLBACKS.contains(&name) {
            message.push_str(
                ": it calls a Python function, which is not there outside of Python (`hlo-run --stub-callbacks` \
                 gives zeros instead)",
            );
            return Error(message);
        }
        if is_of_backend(name) {
            message.push_str(
                ": a backend of XLA calls its library so in place of an operation when it optimizes a module; run the \
                 module from before optimization, which `XLA_FLAGS=--xla_dump_to=DIR` writes as \
                 `*.before_optimizations.txt`",
            );
            return Error(message);
        }
        let several = [CustomCallAttrs::FORWARDING_TARGETS, moves::SINKS, check::NAMES].concat();
        let built_in = several.into_iter().chain([top_k::NAME, csr::NAME, moves::ALLOCATE, trace::TRACE]);
        let here: Vec<String> = built_in.map(String::from).chain(self.own.keys().cloned()).collect();
        let names = sorted(here.iter().cloned().chain(self.added.iter().flat_map(|t| t.names())));
        match nearest(name, names.iter().map(String::as_str)) {
            Some(nearest) => message.push_str(&format!("; did you mean `{nearest}`?")),
            None => {
                let listed = sorted(here.into_iter().chain(self.added.iter().flat_map(|t| t.listed())));
                message.push_str(&format!("; known: {}", listed.join(", ")));
            }
        }
        message.extend(self.added.iter().map(|t| t.note(name)));
        Error(message)
    }

    fn built_in(&self, name: &str) -> Option<Target> {
        if name == trace::TRACE {
            let tracer = self.tracer.clone();
            return Some(trace::target(tracer.unwrap_or_else(|| Arc::new(trace::to_standard_error))));
        }
        [moves::target, top_k::target, csr::target, check::target].iter().find_map(|target| target(name))
    }
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}
