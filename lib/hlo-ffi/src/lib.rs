//! Custom calls of functions in shared libraries, with C calling conventions ([`ApiVersion`]) or XLA's typed
//! convention. Libraries register typed handlers with XLA's header.

mod c;
mod library;
mod typed;

pub use c::{XlaCustomCallStatus, XlaCustomCallStatusSetFailure, XlaCustomCallStatusSetSuccess};
pub use typed::XLA_FFI_GetApi;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hlo_custom_call::{ApiVersion, Call, CallSite, Target, Targets};
use hlo_runtime_core::Error;
use library::{Foreign, Library, Symbol};
use typed::{Handlers, TypedCall};

/// A set of loaded shared libraries and the functions in them that are targets.
#[derive(Clone, Default)]
pub struct Libraries {
    loaded: Vec<Arc<Library>>,
    /// The handlers by the names that the program declared.
    handlers: BTreeMap<String, Handlers>,
    by_name: bool,
}

impl fmt::Debug for Libraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.loaded.iter().map(|l| l.path())).finish()
    }
}

impl Libraries {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads a shared library and adds the targets that it declares: the handlers that it registers while it
    /// loads, and the functions in its table `hlo_custom_calls`.
    ///
    /// # Errors
    /// Returns an error if the library cannot be loaded, or if its declarations are invalid.
    ///
    /// # Safety
    /// Loading runs the library's own initialization, and its declarations must be correct. For the
    /// conventions that pass only addresses, each call in a module that runs must have the operands and
    /// results that the function expects.
    pub unsafe fn load(&mut self, path: &Path) -> Result<(), Error> {
        // SAFETY: guaranteed by the caller.
        let library = unsafe { Library::load(path)? };
        self.loaded.push(library);
        Ok(())
    }

    /// Declares an exported function of a loaded library as the target of typed calls named `name`, as JAX's
    /// `register_ffi_target` does.
    ///
    /// # Errors
    /// Returns an error if no library exports this function.
    ///
    /// # Safety
    /// The function must be a handler: `XLA_FFI_Error* symbol(XLA_FFI_CallFrame*)`.
    pub unsafe fn declare(&mut self, name: &str, symbol: &str) -> Result<(), Error> {
        for library in &self.loaded {
            if let Symbol::Function(address) = library.symbol(symbol) {
                // SAFETY: guaranteed by the caller.
                self.handlers.insert(name.into(), unsafe { Handlers::new(address) });
                return Ok(());
            }
        }
        Err(match &self.loaded[..] {
            [] => Error(format!("there is no library that could have a handler `{symbol}`")),
            libraries => Error(format!("`{symbol}` is no function of {}", paths(libraries))),
        })
    }

    /// Makes every function that the loaded libraries define a target under its own name, with the convention
    /// of the call.
    ///
    /// # Safety
    /// A module can then call any such function with arbitrary operands and results. Each call in a module
    /// that runs must match the convention, the operands and the results of its function.
    pub unsafe fn call_by_name(&mut self) {
        self.by_name = true;
    }
}

impl Targets for Libraries {
    fn find(&self, site: &CallSite) -> Option<Result<Target, Error>> {
        let name = site.target.as_str();
        let declared = || self.loaded.iter().find_map(|l| l.declared(name));
        let found = self.handlers.get(name).copied().map(Foreign::Typed).or_else(declared)?;
        Some(target(found, site))
    }

    fn find_last(&self, site: &CallSite) -> Option<Result<Target, Error>> {
        let mut libraries = self.loaded.iter().filter(|_| self.by_name);
        libraries.find_map(|library| match library.symbol(&site.target) {
            Symbol::Function(address) => Some(target(by_convention(site.api, address), site)),
            _ => None,
        })
    }

    fn names(&self) -> Vec<String> {
        let declared = self.loaded.iter().flat_map(|l| l.names()).map(String::from);
        declared.chain(self.handlers.keys().cloned()).collect()
    }

    fn note(&self, name: &str) -> String {
        let note = |library: &Arc<Library>| {
            let path = library.path().display();
            match library.symbol(name) {
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
            }
        };
        self.loaded.iter().map(note).collect()
    }
}

fn paths(libraries: &[Arc<Library>]) -> String {
    libraries.iter().map(|l| l.path().display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns a handler of XLA's typed custom calls as the target of a call, for programs that know its address.
///
/// # Errors
/// Returns an error if the call has another convention.
///
/// # Safety
/// The address must be that of a handler, `XLA_FFI_Error* handler(XLA_FFI_CallFrame*)`. The handler must
/// remain valid as long as the target is used, and must access only the buffers that it receives.
pub unsafe fn typed_target(handler: *const std::ffi::c_void, site: &CallSite) -> Result<Target, Error> {
    // SAFETY: guaranteed by the caller.
    target(Foreign::Typed(unsafe { Handlers::new(handler) }), site)
}

/// Returns a function as the target of calls with the convention `api`.
fn by_convention(api: ApiVersion, address: *const std::ffi::c_void) -> Foreign {
    match api {
        // SAFETY: the caller of `call_by_name` guarantees that the function has this convention.
        ApiVersion::TypedFfi => Foreign::Typed(unsafe { Handlers::new(address) }),
        ApiVersion::Original | ApiVersion::StatusReturning | ApiVersion::StatusReturningUnified => {
            Foreign::C(api, address)
        }
    }
}

/// Returns the target for a library function.
fn target(function: Foreign, site: &CallSite) -> Result<Target, Error> {
    let (declared, asked) = match function {
        Foreign::C(api, _) => (api, site.api),
        Foreign::Typed(_) => (ApiVersion::TypedFfi, site.api),
    };
    if declared != asked {
        let name = &site.target;
        return Err(Error(format!(
            "`{name}`: is declared with api_version={declared}, and called by {asked}"
        )));
    }
    Ok(Target::new(move |site, attributes| match function {
        Foreign::C(..) => Ok(Arc::new(move |call: &mut Call<'_>| {
            let Foreign::C(_, address) = function else { return Ok(()) };
            // SAFETY: the code that loaded the library guarantees that its declarations are correct and that
            // calls match.
            unsafe { c::call(address, call) }
        })),
        Foreign::Typed(handlers) => {
            // SAFETY: as above.
            let planned = unsafe { TypedCall::plan(handlers, site, attributes)? };
            // SAFETY: as above.
            Ok(Arc::new(move |call: &mut Call<'_>| unsafe { planned.run(call) }))
        }
    }))
}
