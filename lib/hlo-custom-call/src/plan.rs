//! Calls that are planned: the target is found, attributes are read and types checked once, so that a call only passes
//! addresses.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::{ArrayType, Attributes, Call, CallSite};
use hlo_runtime_core::{Context, CustomCalls, Error};

/// What computes a target.
pub type Function = dyn Fn(&mut Call<'_>) -> Result<(), Error> + Send + Sync;

/// The types of all arrays, in order.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) operands: Vec<ArrayType>,
    pub(crate) results: Vec<ArrayType>,
}

/// A call whose target was found and takes such operands.
pub struct PlannedCall {
    site: CallSite,
    attributes: Attributes,
    types: Types,
    run: Arc<Function>,
}

impl fmt::Debug for PlannedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlannedCall").field("site", &self.site).finish_non_exhaustive()
    }
}

impl PlannedCall {
    /// A call of what `run` computes; the site must have been checked.
    pub(crate) fn new(site: CallSite, attributes: Attributes, run: Arc<Function>) -> PlannedCall {
        let own = |arrays: Vec<&ArrayType>| arrays.into_iter().cloned().collect();
        let types = Types { operands: own(site.operand_arrays()), results: own(site.result_arrays()) };
        PlannedCall { site, attributes, types, run }
    }

    /// Makes the call on arrays whose bytes lie as their types say.
    ///
    /// # Errors
    /// The buffers are not as many, or not of the sizes, that the types say; or the error or panic of the
    /// target. The message begins with the target's name.
    pub fn call(
        &self,
        context: &Context,
        operands: &[&[u8]],
        results: &mut [&mut [u8]],
    ) -> Result<(), Error> {
        let sizes = |arrays: &[ArrayType]| arrays.iter().map(ArrayType::byte_size).collect::<Vec<_>>();
        let fits = operands.iter().map(|o| o.len()).eq(sizes(&self.types.operands))
            && results.iter().map(|r| r.len()).eq(sizes(&self.types.results));
        if !fits {
            return Err(named(&self.site, Error("the buffers do not have the sizes of the types".into())));
        }
        let operands: Vec<*const u8> = operands.iter().map(|o| o.as_ptr()).collect();
        let results: Vec<*mut u8> = results.iter_mut().map(|r| r.as_mut_ptr()).collect();
        // SAFETY: these are slices of the sizes of the types, and what is borrowed mutably overlaps nothing.
        unsafe { self.call_at(context, &operands, &results) }
    }

    /// As [`PlannedCall::call`], on the caller's thread.
    ///
    /// # Errors
    /// As [`PlannedCall::call`].
    pub fn call_here(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), Error> {
        self.call(&Context::new(1), operands, results)
    }

    /// Makes the call on arrays at these addresses.
    ///
    /// # Safety
    /// There must be an address for each array, readable or writable in full, and results must not overlap anything.
    pub(crate) unsafe fn call_at(
        &self,
        context: &Context,
        operands: &[*const u8],
        results: &[*mut u8],
    ) -> Result<(), Error> {
        let PlannedCall { site, attributes, types, run } = self;
        let mut call = Call { site, attributes, types, context, operands, results };
        catch(|| run(&mut call)).map_err(|e| named(site, e))
    }
}

/// The calls of a program, by the numbers that its compiled code gives them.
#[derive(Debug, Default)]
pub struct PlannedCalls(pub Vec<PlannedCall>);

impl CustomCalls for PlannedCalls {
    unsafe fn call(
        &self,
        context: &Context,
        number: i64,
        operands: *const *const u8,
        results: *const *mut u8,
    ) -> Result<(), Error> {
        let call = usize::try_from(number).ok().and_then(|n| self.0.get(n));
        let call = call.ok_or_else(|| Error(format!("internal error: there is no custom call {number}")))?;
        // SAFETY: the caller's promise: there are as many addresses as arrays.
        unsafe {
            let operands = std::slice::from_raw_parts(operands, call.types.operands.len());
            let results = std::slice::from_raw_parts(results, call.types.results.len());
            call.call_at(context, operands, results)
        }
    }
}

/// The error of a call with its target's name.
pub(crate) fn named(site: &CallSite, error: Error) -> Error {
    Error(format!("`{}`: {error}", site.target))
}

/// A panic of a target is an error as well.
pub(crate) fn catch<T>(body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error(format!("internal error: {}", text.unwrap_or_else(|| "unknown cause".into()))))
    })
}
