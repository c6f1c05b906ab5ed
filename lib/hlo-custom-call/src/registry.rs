//! The targets that are known, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use crate::foreign::{self, Targets};
use crate::{ApiVersion, ArrayType, Attributes, Call, CallSite, lapack, moves, top_k};
use hlo_ir::attr::CustomCallAttrs;
use hlo_ir::suggest::nearest;
use hlo_runtime::{Context, CustomCalls, Error};

/// What computes a target.
pub(crate) type Function = dyn Fn(&mut Call<'_, '_>) -> Result<(), Error> + Send + Sync;
/// What says whether a target takes such operands and gives such a result.
pub(crate) type Check = dyn Fn(&CallSite) -> Result<(), Error> + Send + Sync;

/// A target written in Rust.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) check: Arc<Check>,
    pub(crate) run: Arc<Function>,
}

/// The targets of custom calls: those that a program registers, those of the libraries that it loads, and those
/// that are built in. One that comes first in this order hides others of its name.
#[derive(Clone, Default)]
pub struct Registry {
    own: BTreeMap<String, Target>,
    libraries: Vec<Arc<Targets>>,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let libraries: Vec<&Path> = self.libraries.iter().map(|l| l.path()).collect();
        f.debug_struct("Registry").field("own", &self.own.keys()).field("libraries", &libraries).finish()
    }
}

/// A target that was found.
enum Found {
    Rust(Target),
    C(Arc<Targets>, *const std::ffi::c_void),
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
        run: impl Fn(&mut Call<'_, '_>) -> Result<(), Error> + Send + Sync + 'static,
    ) {
        self.register_checked(name, |_| Ok(()), run);
    }

    /// As [`Registry::register`]; `check` says of a call, before anything runs, whether the target can be called
    /// like that.
    pub fn register_checked(
        &mut self,
        name: impl Into<String>,
        check: impl Fn(&CallSite) -> Result<(), Error> + Send + Sync + 'static,
        run: impl Fn(&mut Call<'_, '_>) -> Result<(), Error> + Send + Sync + 'static,
    ) {
        self.own.insert(name.into(), Target { check: Arc::new(check), run: Arc::new(run) });
    }

    /// Makes the functions of a shared library targets.
    ///
    /// # Safety
    /// Loading runs the library's own initialisation, and a function of it that a module names is called as the
    /// module says.
    pub unsafe fn load(&mut self, path: &Path) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let library = unsafe { Targets::load(path)? };
        self.libraries.push(Arc::new(library));
        Ok(())
    }

    /// Whether a call can be made: its target is known and takes such operands.
    pub fn check(&self, site: &CallSite) -> Result<(), Error> {
        match self.find(site)? {
            Found::Rust(target) => {
                if site.api == ApiVersion::TypedFfi {
                    Attributes::parse(&site.config).map_err(|e| named(site, e))?;
                }
                catch(|| (target.check)(site)).map_err(|e| named(site, e))
            }
            Found::C(..) => Ok(()),
        }
    }

    /// Makes a call. `operands` and `results` have the bytes of each array, laid out as its type says.
    pub fn call(
        &self,
        context: &Context,
        site: &CallSite,
        operands: &[&[u8]],
        results: &mut [&mut [u8]],
    ) -> Result<(), Error> {
        let sizes = |arrays: Vec<&ArrayType>| arrays.iter().map(|a| a.byte_size()).collect::<Vec<_>>();
        let fits = operands.iter().map(|o| o.len()).eq(sizes(site.operand_arrays()))
            && results.iter().map(|r| r.len()).eq(sizes(site.result_arrays()));
        if !fits {
            return Err(named(site, Error("the buffers do not have the sizes of the types".into())));
        }
        let done = match self.find(site)? {
            // SAFETY: whoever loaded the library promised that its functions may be called as the module says.
            Found::C(_library, address) => unsafe { foreign::call(address, site, operands, results) },
            Found::Rust(target) => catch(|| {
                (target.check)(site)?;
                let attributes = match site.api {
                    ApiVersion::TypedFfi => Attributes::parse(&site.config)?,
                    ApiVersion::Original
                    | ApiVersion::StatusReturning
                    | ApiVersion::StatusReturningUnified => Attributes::default(),
                };
                (target.run)(&mut Call { site, attributes, context, operands, results })
            }),
        };
        done.map_err(|e| named(site, e))
    }

    /// As [`Registry::call`], on the caller's thread.
    pub fn call_here(
        &self,
        site: &CallSite,
        operands: &[&[u8]],
        results: &mut [&mut [u8]],
    ) -> Result<(), Error> {
        self.call(&Context::new(1), site, operands, results)
    }

    fn find(&self, site: &CallSite) -> Result<Found, Error> {
        let name = site.target.as_str();
        if let Some(target) = self.own.get(name) {
            return Ok(Found::Rust(target.clone()));
        }
        for library in &self.libraries {
            if let Some(address) = library.find(name) {
                if site.api == ApiVersion::TypedFfi {
                    let path = library.path().display();
                    return Err(Error(format!(
                        "the custom call target `{name}` is a function of {path}, which can't be called by \
                         API_VERSION_TYPED_FFI"
                    )));
                }
                return Ok(Found::C(library.clone(), address));
            }
        }
        built_in(name).map(Found::Rust).ok_or_else(|| self.unknown(name))
    }

    /// The names that are known; a library's are not listed.
    fn names(&self) -> Vec<String> {
        let built_in = CustomCallAttrs::HAND_ON.iter().copied().chain([top_k::NAME]).map(String::from);
        let mut names: Vec<String> =
            self.own.keys().cloned().chain(built_in).chain(lapack::names()).collect();
        names.sort();
        names.dedup();
        names
    }

    fn unknown(&self, name: &str) -> Error {
        let names = self.names();
        let mut message = format!("unknown custom call target `{name}`");
        match nearest(name, names.iter().map(String::as_str)) {
            Some(nearest) => message.push_str(&format!("; did you mean `{nearest}`?")),
            None => {
                let short = names.iter().filter(|n| !n.starts_with(lapack::PREFIX)).map(String::as_str);
                let known: Vec<&str> = short.chain([lapack::PATTERN]).collect();
                message.push_str(&format!("; known: {}", known.join(", ")));
            }
        }
        if !self.libraries.is_empty() {
            let paths: Vec<String> = self.libraries.iter().map(|l| l.path().display().to_string()).collect();
            message.push_str(&format!("; no function of that name in {}", paths.join(", ")));
        }
        Error(message)
    }
}

impl CustomCalls for Registry {
    /// `site` has the words of a [`CallSite`].
    unsafe fn call(
        &self,
        context: &Context,
        site: *const i64,
        operands: *const *const u8,
        results: *const *mut u8,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let site = unsafe { CallSite::decode(site)? };
        let mut inputs = Vec::new();
        for (i, array) in site.operand_arrays().into_iter().enumerate() {
            // SAFETY: the caller's promise: the operand is readable in full.
            inputs.push(unsafe { std::slice::from_raw_parts(*operands.add(i), array.byte_size()) });
        }
        let mut outputs = Vec::new();
        for (i, array) in site.result_arrays().into_iter().enumerate() {
            // SAFETY: the caller's promise: the result is writable in full and overlaps nothing.
            outputs.push(unsafe { std::slice::from_raw_parts_mut(*results.add(i), array.byte_size()) });
        }
        Registry::call(self, context, &site, &inputs, &mut outputs)
    }
}

fn built_in(name: &str) -> Option<Target> {
    moves::target(name).or_else(|| top_k::target(name)).or_else(|| lapack::target(name))
}

/// The error of a call with its target's name.
fn named(site: &CallSite, error: Error) -> Error {
    Error(format!("`{}`: {error}", site.target))
}

/// A panic of a target is an error as well.
fn catch(body: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error(format!("internal error: {}", text.unwrap_or_else(|| "unknown cause".into()))))
    })
}
