//! Planned calls. Planning finds the target, reads the attributes and checks the types once, so that each
//! call only passes addresses.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::{ArrayType, Attributes, Call, CallSite};
use hlo_runtime_core::{Context, CustomCalls, Error};

/// A function that computes the results of a target.
pub type Function = dyn Fn(&mut Call<'_>) -> Result<(), Error> + Send + Sync;

/// The types of all operand and result arrays, in order.
#[derive(Debug)]
pub(crate) struct Types {
    pub(crate) operands: Vec<ArrayType>,
    pub(crate) results: Vec<ArrayType>,
}

/// A call whose target is known and accepts the operand and result types.
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
    /// Creates a call that `run` computes. The site must have been checked.
    pub(crate) fn new(site: CallSite, attributes: Attributes, run: Arc<Function>) -> PlannedCall {
        let own = |arrays: Vec<&ArrayType>| arrays.into_iter().cloned().collect();
        let types = Types { operands: own(site.operand_arrays()), results: own(site.result_arrays()) };
        PlannedCall { site, attributes, types, run }
    }

    /// Performs the call. The bytes of the arrays must be laid out as their types specify.
    ///
    /// # Errors
    /// Returns an error if the number or the sizes of the buffers do not match the types, or the error or
    /// panic of the target. The message begins with the name of the target.
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
        // SAFETY: the slices have the sizes of the types, and mutable borrows do not overlap anything.
        unsafe { self.call_at(context, &operands, &results) }
    }

    /// As [`PlannedCall::call`], on the calling thread.
    ///
    /// # Errors
    /// As [`PlannedCall::call`].
    pub fn call_here(&self, operands: &[&[u8]], results: &mut [&mut [u8]]) -> Result<(), Error> {
        self.call(&Context::new(1), operands, results)
    }

    /// Performs the call on arrays at these addresses.
    ///
    /// # Safety
    /// There must be an address for each array. Each operand must be fully readable and each result fully
    /// writable. Results must not overlap anything.
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

/// The calls of a program, indexed by the numbers that the compiled code uses.
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
        // SAFETY: the caller guarantees that there is an address for each array.
        unsafe {
            let operands = std::slice::from_raw_parts(operands, call.types.operands.len());
            let results = std::slice::from_raw_parts(results, call.types.results.len());
            call.call_at(context, operands, results)
        }
    }
}

/// Adds the name of the target to an error of a call.
pub(crate) fn named(site: &CallSite, error: Error) -> Error {
    Error(format!("`{}`: {error}", site.target))
}

/// Calls `body` and converts a panic to an error.
pub(crate) fn catch<T>(body: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error(format!("internal error: {}", text.unwrap_or_else(|| "unknown cause".into()))))
    })
}
