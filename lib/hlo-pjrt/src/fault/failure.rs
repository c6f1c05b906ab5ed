//! The failures of calls.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a function that can fail.
pub type Result<T = ()> = std::result::Result<T, Fault>;

/// Error codes, numbered as in absl's status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// The request is invalid.
    InvalidArgument = 3,
    /// The requested object does not exist.
    NotFound = 5,
    /// The object already exists.
    AlreadyExists = 6,
    /// There is not enough memory.
    ResourceExhausted = 8,
    /// The request is invalid in the current state.
    FailedPrecondition = 9,
    /// An index is out of range.
    OutOfRange = 11,
    /// This library does not support the request.
    Unimplemented = 12,
    /// A bug in this library, or an error of the program that ran.
    Internal = 13,
    /// Any other error.
    Unknown = 2,
    /// The operation was stopped.
    Cancelled = 1,
    /// The operation exceeded its time limit.
    DeadlineExceeded = 4,
    /// The caller lacks permission.
    PermissionDenied = 7,
    /// The operation was aborted.
    Aborted = 10,
    /// The service is unavailable now.
    Unavailable = 14,
    /// Data was lost.
    DataLoss = 15,
    /// The caller is not authenticated.
    Unauthenticated = 16,
}

impl Code {
    /// Returns the code with a number, or [`Code::Unknown`] if there is none.
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

/// The error of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The error code.
    pub code: Code,
    /// The message, which says what was expected and what was found.
    pub message: String,
    /// Additional data that the caller attached to the error.
    pub payloads: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Fault {
    /// Creates an error with a code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), payloads: Vec::new() }
    }

    /// Creates an error for an invalid request.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidArgument, message)
    }

    /// Creates an error for a request that this library does not support.
    pub fn unimplemented(message: impl Into<String>) -> Self {
        Self::new(Code::Unimplemented, message)
    }

    /// Creates an error for a bug in this library or an error of the program that ran.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// Prefixes the message with the name of the function in the table that failed.
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
        Self::new(code, diagnostics_text(&error.to_diags()))
    }
}

/// Returns the messages and notes of diagnostics, one per line.
pub fn diagnostics_text(diags: &[hlo_ir::diag::Diag]) -> String {
    let mut text = String::new();
    for diag in diags {
        for part in std::iter::once(&diag.message).chain(&diag.notes) {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(part);
        }
    }
    text
}

/// Returns the name in the header of a function of the table.
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

/// Calls `body` and converts a panic into an error, so that it does not unwind into the caller.
///
/// # Errors
/// The error of `body`, or `body` panicked.
pub fn catch<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Fault::internal(format!("internal error: {}", text.unwrap_or_else(|| "unknown cause".into()))))
    })
}
