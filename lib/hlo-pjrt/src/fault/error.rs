//! The object by which the caller receives the failure of a call.

use super::failure::{Code, Fault, Result};
use crate::sys::handle::Handle;

/// An error in the form that the caller receives. The header requires a table of its functions at the
/// beginning.
#[repr(C)]
#[derive(Debug)]
pub struct Error {
    functions: &'static Functions,
    fault: Fault,
}

type Visitor = Option<unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut std::ffi::c_void)>;

/// The functions of an error.
#[repr(C)]
#[derive(Debug)]
struct Functions {
    struct_size: usize,
    instance_size: usize,
    extensions: usize,
    destroy: extern "C" fn(Handle<Error>),
    message: unsafe extern "C" fn(Handle<Error>, *mut *const u8, *mut usize),
    code: extern "C" fn(Handle<Error>) -> i32,
    payloads: unsafe extern "C" fn(Handle<Error>, Visitor, *mut std::ffi::c_void),
}

static FUNCTIONS: Functions = Functions {
    struct_size: size_of::<Functions>(),
    // The struct in the header contains only the pointer to this table.
    instance_size: size_of::<usize>(),
    extensions: 0,
    destroy,
    message,
    code,
    payloads,
};

extern "C" fn destroy(error: Handle<Error>) {
    drop(error.take());
}

unsafe extern "C" fn message(error: Handle<Error>, text: *mut *const u8, size: *mut usize) {
    if let Ok(error) = error.get() {
        // SAFETY: the caller guarantees that both pointers may be written.
        unsafe {
            *text = error.fault.message.as_ptr();
            *size = error.fault.message.len();
        }
    }
}

extern "C" fn code(error: Handle<Error>) -> i32 {
    error.get().map_or(Code::Internal as i32, |error| error.fault.code as i32)
}

unsafe extern "C" fn payloads(error: Handle<Error>, visitor: Visitor, argument: *mut std::ffi::c_void) {
    if let (Ok(error), Some(visitor)) = (error.get(), visitor) {
        for (key, value) in &error.fault.payloads {
            // SAFETY: the caller guarantees that the visitor is such a function and accepts this argument.
            unsafe { visitor(key.as_ptr(), key.len(), value.as_ptr(), value.len(), argument) };
        }
    }
}

impl Error {
    /// Creates an error for the caller.
    pub fn new(fault: Fault) -> Self {
        Self { functions: &FUNCTIONS, fault }
    }

    /// Returns the cause of the error.
    pub fn fault(&self) -> &Fault {
        &self.fault
    }

    /// Calls a function of the caller for each payload.
    pub(crate) fn visit_payloads(&self, visitor: Visitor, argument: *mut std::ffi::c_void) {
        // SAFETY: the caller guarantees that the visitor is such a function and accepts this argument.
        unsafe { (self.functions.payloads)(Handle::to(self), visitor, argument) };
    }
}

/// Converts an outcome for the caller: null, or an error that the caller owns.
pub fn outcome(result: Result) -> Handle<Error> {
    match result {
        Ok(()) => Handle::NULL,
        Err(fault) => Handle::allocate(Error::new(fault)),
    }
}
