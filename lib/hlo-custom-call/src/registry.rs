//! The targets that are known, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::ffi::{Handlers, TypedCall};
use crate::library::{Foreign, Library, Symbol};
use crate::plan::{Function, catch, named};
use crate::{ApiVersion, Attributes, Call, CallSite, PlannedCall, csr, foreign, lapack, moves, stub, top_k};
use hlo_ir::attr::CustomCallAttrs;
use hlo_ir::suggest::nearest;
use hlo_runtime::{Context, Error};

/// What says whether a target takes such operands and gives such a result, and how it computes that.
pub(crate) type Planner = dyn Fn(&CallSite, &Attributes) -> Result<Arc<Function>, Error> + Send + Sync;

/// A target written in Rust.
#[derive(Clone)]
pub(crate) struct Target(Arc<Planner>);

impl Target {
    /// A target whose calls are planned one by one.
    pub(crate) fn new(
        plan: impl Fn(&CallSite, &Attributes) -> Result<Arc<Function>, Error> + Send + Sync + 'static,
    ) -> Target {
        Target(Arc::new(plan))
    }
}

/// The targets of custom calls: those that a program registers, those of the libraries that it loads, and those
/// that are built in. One that comes first in this order hides others of its name.
#[derive(Clone, Default)]
pub struct Registry {
    own: BTreeMap<String, Target>,
    /// Handlers of libraries by the names that a program gave them.
    handlers: BTreeMap<String, Handlers>,
    libraries: Vec<Arc<Library>>,
    by_name: bool,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let libraries: Vec<&Path> = self.libraries.iter().map(|l| l.path()).collect();
        f.debug_struct("Registry").field("own", &self.own.keys()).field("libraries", &libraries).finish()
    }
}

impl Registry {
    /// Those that are built in.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a target, in place of the one of that name. It may be called on several threads at once.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        run: impl Fn(&mut Call<'_>) -> Result<(), Error> + Send + Sync + 'static,
    ) {
        self.register_checked(name, |_| Ok(()), run);
    }

    /// As [`Registry::register`]; `check` says of a call, before anything runs, whether the target can be called
    /// like that.
    pub fn register_checked(
        &mut self,
        name: impl Into<String>,
        check: impl Fn(&CallSite) -> Result<(), Error> + Send + Sync + 'static,
        run: impl Fn(&mut Call<'_>) -> Result<(), Error> + Send + Sync + 'static,
    ) {
        let run: Arc<Function> = Arc::new(run);
        self.own.insert(name.into(), Target::new(move |site, _| check(site).map(|()| run.clone())));
    }

    /// Makes calls of Python functions ([`crate::CALLBACKS`]) give zeros, and nothing where they have no result.
    pub fn stub_callbacks(&mut self) {
        for name in stub::CALLBACKS {
            self.register(*name, |call| {
                (0..call.site.result_arrays().len()).try_for_each(|i| {
                    call.result_bytes(i)?.fill(0);
                    Ok(())
                })
            });
        }
    }

    /// Makes the targets that a shared library declares known: handlers that it registers when it is loaded, and the
    /// functions in its table `hlo_custom_calls`.
    ///
    /// # Safety
    /// Loading runs the library's own initialisation; its declarations must be true; and for the conventions that pass
    /// addresses alone, each call of a module that is run must have the operands and results that the function takes.
    pub unsafe fn load(&mut self, path: &Path) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let library = unsafe { Library::load(path)? };
        self.libraries.push(library);
        Ok(())
    }

    /// Makes a function that one of the loaded libraries exports the target of typed calls of a name, as JAX's
    /// `register_ffi_target` does.
    ///
    /// # Safety
    /// It must be a handler: `XLA_FFI_Error* symbol(XLA_FFI_CallFrame*)`.
    pub unsafe fn declare(&mut self, name: &str, symbol: &str) -> Result<(), Error> {
        for library in &self.libraries {
            if let Symbol::Function(address) = library.symbol(symbol) {
                // SAFETY: the caller's promise.
                self.handlers.insert(name.into(), unsafe { Handlers::new(address) });
                return Ok(());
            }
        }
        Err(match &self.libraries[..] {
            [] => Error(format!("there is no library that could have a handler `{symbol}`")),
            libraries => Error(format!("`{symbol}` is no function of {}", paths(libraries))),
        })
    }

    /// Makes every function that the loaded libraries themselves define a target of its name, by the convention of the
    /// call.
    ///
    /// # Safety
    /// A module can then call any such function, with the operands and results of its choice: each call of a module that
    /// is run must be of a function of its convention that takes them.
    pub unsafe fn call_by_name(&mut self) {
        self.by_name = true;
    }

    /// Finds the target of a call, reads its attributes and checks its types: what is left then is to pass addresses.
    pub fn plan(&self, site: CallSite) -> Result<PlannedCall, Error> {
        site.check().map_err(|e| named(&site, e))?;
        let target = self.find(&site)?;
        let attributes = match site.api {
            ApiVersion::TypedFfi => Attributes::parse(&site.config).map_err(|e| named(&site, e))?,
            ApiVersion::Original | ApiVersion::StatusReturning | ApiVersion::StatusReturningUnified => {
                Attributes::default()
            }
        };
        let run = catch(|| (target.0)(&site, &attributes)).map_err(|e| named(&site, e))?;
        Ok(PlannedCall::new(site, attributes, run))
    }

    /// Whether a call can be made: its target is known and takes such operands.
    pub fn check(&self, site: &CallSite) -> Result<(), Error> {
        self.plan(site.clone()).map(|_| ())
    }

    /// Plans a call and makes it. `operands` and `results` have the bytes of each array, laid out as its type says.
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
        if let Some(&handlers) = self.handlers.get(name) {
            return foreign_target(Foreign::Typed(handlers), site);
        }
        for library in &self.libraries {
            if let Some(declared) = library.declared(name) {
                return foreign_target(declared, site);
            }
        }
        if let Some(target) = built_in(name) {
            return Ok(target);
        }
        for library in self.libraries.iter().filter(|_| self.by_name) {
            if let Symbol::Function(address) = library.symbol(name) {
                return foreign_target(by_convention(site.api, address), site);
            }
        }
        Err(self.unknown(name))
    }

    /// The names that are known, but for functions that are called by their names.
    fn names(&self) -> Vec<String> {
        let built_in = CustomCallAttrs::HAND_ON.iter().chain(lapack::OTHERS).copied();
        let built_in = built_in.chain([top_k::NAME, csr::NAME, moves::ALLOCATE]).map(String::from);
        let declared = self.libraries.iter().flat_map(|l| l.names()).map(String::from);
        let own = self.own.keys().chain(self.handlers.keys()).cloned();
        let mut names: Vec<String> = own.chain(declared).chain(built_in).chain(lapack::names()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn unknown(&self, name: &str) -> Error {
        let names = self.names();
        let mut message = format!("unknown custom call target `{name}`");
        if stub::CALLBACKS.contains(&name) {
            message.push_str(
                ": it calls a Python function, which is not there outside of Python (`hlo-run --stub-callbacks` \
                 gives zeros instead)",
            );
            return Error(message);
        }
        match nearest(name, names.iter().map(String::as_str)) {
            Some(nearest) => message.push_str(&format!("; did you mean `{nearest}`?")),
            None => {
                let short = names.iter().filter(|n| !n.starts_with(lapack::PREFIX)).map(String::as_str);
                let known: Vec<&str> = short.chain([lapack::PATTERN]).collect();
                message.push_str(&format!("; known: {}", known.join(", ")));
            }
        }
        for library in &self.libraries {
            let path = library.path().display();
            message.push_str(&match library.symbol(name) {
                _ if !library.platforms(name).is_empty() => {
                    format!("; {path} registers it for {} only", library.platforms(name).join(", "))
                }
                Symbol::Missing => format!("; {path} does not declare it"),
                Symbol::Data(..) => format!("; what {path} has under this name is no function"),
                Symbol::NotItsOwn => format!("; {path} does not define it, what it needs has it"),
                Symbol::Function(_) => format!(
                    "; {path} has a function of this name that it does not declare as a target (`hlo-run \
                     --ffi-target` does so for a typed handler, `--custom-calls-by-name` takes any function)"
                ),
            });
        }
        Error(message)
    }
}

fn paths(libraries: &[Arc<Library>]) -> String {
    libraries.iter().map(|l| l.path().display().to_string()).collect::<Vec<_>>().join(", ")
}

/// A function as the target of a call of a convention.
fn by_convention(api: ApiVersion, address: *const std::ffi::c_void) -> Foreign {
    match api {
        // SAFETY: whoever calls by name promises that the convention is the function's.
        ApiVersion::TypedFfi => Foreign::Typed(unsafe { Handlers::new(address) }),
        ApiVersion::Original | ApiVersion::StatusReturning | ApiVersion::StatusReturningUnified => {
            Foreign::C(api, address)
        }
    }
}

/// The target that a library's function is.
fn foreign_target(function: Foreign, site: &CallSite) -> Result<Target, Error> {
    let (declared, asked) = match function {
        Foreign::C(api, _) => (api, site.api),
        Foreign::Typed(_) => (ApiVersion::TypedFfi, site.api),
    };
    if declared != asked {
        let e = format!("is declared with api_version={declared}, and called by {asked}");
        return Err(named(site, Error(e)));
    }
    Ok(Target::new(move |site, attributes| match function {
        Foreign::C(..) => Ok(Arc::new(move |call: &mut Call<'_>| {
            let Foreign::C(_, address) = function else { return Ok(()) };
            // SAFETY: whoever loaded the library promised that its declarations are true and calls fit.
            unsafe { foreign::call(address, call) }
        })),
        Foreign::Typed(handlers) => {
            // SAFETY: as above.
            let planned = unsafe { TypedCall::plan(handlers, site, attributes)? };
            // SAFETY: as above.
            Ok(Arc::new(move |call: &mut Call<'_>| unsafe { planned.run(call) }))
        }
    }))
}

fn built_in(name: &str) -> Option<Target> {
    moves::target(name)
        .or_else(|| top_k::target(name))
        .or_else(|| csr::target(name))
        .or_else(|| lapack::target(name))
}
