//! Why a call failed, and how the caller hears of it.

use crate::sys::Handle;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a function gives.
pub type Result<T = ()> = std::result::Result<T, Fault>;

/// The kinds of errors, by the numbers of absl's status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// What was asked for makes no sense.
    InvalidArgument = 3,
    /// There is no such thing.
    NotFound = 5,
    /// There is one already.
    AlreadyExists = 6,
    /// There is no memory for it.
    ResourceExhausted = 8,
    /// It makes no sense now.
    FailedPrecondition = 9,
    /// There is no such element.
    OutOfRange = 11,
    /// This library does not do that.
    Unimplemented = 12,
    /// A defect, or what a program ended with.
    Internal = 13,
    /// Anything else.
    Unknown = 2,
    /// It was stopped.
    Cancelled = 1,
    /// It took longer than it might.
    DeadlineExceeded = 4,
    /// The caller may not.
    PermissionDenied = 7,
    /// It was given up.
    Aborted = 10,
    /// It is not there now.
    Unavailable = 14,
    /// Data is lost.
    DataLoss = 15,
    /// Nobody knows the caller.
    Unauthenticated = 16,
}

impl Code {
    /// The code of a number; [`Code::Unknown`] if there is none.
    pub fn from_number(number: i32) -> Self {
        use Code::*;
        let all = [
            Cancelled,
            Unknown,
            InvalidArgument,
            DeadlineExceeded,
            NotFound,
            AlreadyExists,
            PermissionDenied,
            ResourceExhausted,
            FailedPrecondition,
            Aborted,
            OutOfRange,
            Unimplemented,
            Internal,
            Unavailable,
            DataLoss,
            Unauthenticated,
        ];
        all.into_iter().find(|&code| code as i32 == number).unwrap_or(Unknown)
    }
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Of what kind it is.
    pub code: Code,
    /// What was expected and what was found.
    pub message: String,
    /// What else the caller attached to it.
    pub payloads: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Fault {
    /// A fault of a kind.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), payloads: Vec::new() }
    }

    /// What was asked for makes no sense.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// This library does not do that.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// A defect, or what a program ended with.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// The same fault, of a function of the table.
    pub fn of(mut self, function: &str) -> Self {
        self.message = format!("{}: {}", header_name(function), self.message);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<hlo_client::Error> for Fault {
    fn from(error: hlo_client::Error) -> Self {
        use hlo_client::{Error, Refusal};
        let code = match &error {
            Error::Stopped { .. } => Code::Cancelled,
            Error::TimedOut { .. } => Code::DeadlineExceeded,
            Error::Disconnected { .. } => Code::Unavailable,
            Error::Refused { kind: Refusal::Limit, .. } => Code::ResourceExhausted,
            error if error.is_memory() => Code::ResourceExhausted,
            Error::Diags(_) | Error::Sizes | Error::Refused { .. } => Code::Internal,
        };
        Self::new(code, said(&error.to_diags()))
    }
}

/// What diagnostics say, one a line.
pub fn said(diags: &[hlo_ir::diag::Diag]) -> String {
    let mut text = String::new();
    for diag in diags {
        for part in std::iter::once(&diag.message).chain(&diag.notes) {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(part);
        }
    }
    text
}

/// The header's name of a function of the table.
fn header_name(function: &str) -> String {
    const OBJECTS: &[&str] = &[
        "AsyncHostToDeviceTransferManager",
        "AsyncTrackingEvent",
        "Buffer",
        "Client",
        "CopyToDeviceStream",
        "DeviceDescription",
        "Device",
        "Error",
        "Event",
        "ExecutableDeserialize",
        "Executable",
        "ExecuteContext",
        "LoadedExecutable",
        "Memory",
        "Plugin",
        "TopologyDescription",
    ];
    let split = OBJECTS.iter().find_map(|object| Some((object, function.strip_prefix(object)?)));
    match split {
        Some((_, "AndLoad")) => "PJRT_Executable_DeserializeAndLoad".into(),
        Some((object, "")) => format!("PJRT_{object}"),
        Some((object, rest)) => format!("PJRT_{object}_{rest}"),
        None => format!("PJRT_{function}"),
    }
}

/// Does something that must not unwind into the caller.
///
/// # Errors
/// What it gives, or that it panicked.
pub fn catch<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Fault::internal(format!("internal error: {}", text.unwrap_or_else(|| "unknown cause".into()))))
    })
}

/// An error as the caller has it: the header wants a table of its own functions at its beginning.
#[repr(C)]
#[derive(Debug)]
pub struct Error {
    functions: &'static Functions,
    fault: Fault,
}

type Visitor = Option<unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut std::ffi::c_void)>;

/// What can be asked of an error.
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
    // The header's struct is the pointer to this table only.
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
        // SAFETY: the caller's promise: places for the two.
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
            // SAFETY: the caller's promise: it is such a function, and takes this argument.
            unsafe { visitor(key.as_ptr(), key.len(), value.as_ptr(), value.len(), argument) };
        }
    }
}

impl Error {
    /// An error for the caller.
    pub fn new(fault: Fault) -> Self {
        Self { functions: &FUNCTIONS, fault }
    }

    /// Why.
    pub fn fault(&self) -> &Fault {
        &self.fault
    }

    /// Names all payloads to a function of the caller.
    pub(crate) fn visit_payloads(&self, visitor: Visitor, argument: *mut std::ffi::c_void) {
        // SAFETY: the caller's promise: it is such a function, and takes this argument.
        unsafe { (self.functions.payloads)(Handle::to(self), visitor, argument) };
    }
}

/// An outcome as the caller gets it: null, or an error that the caller owns.
pub fn outcome(result: Result) -> Handle<Error> {
    match result {
        Ok(()) => Handle::NULL,
        Err(fault) => Handle::give(Error::new(fault)),
    }
}
