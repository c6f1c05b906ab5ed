//! Why a call failed.

use crate::Address;
use hlo_ir::InstrId;
use hlo_ir::diag::Diag;
use std::time::Duration;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// What is wrong with a module or with a run, and where in the text of the module; at least one diagnostic.
    #[error("{}", .0.first().map_or("an error that was not told", |d| &d.message))]
    Diags(Vec<Diag>),
    /// Sizes that are known at run time only do not fit each other. The interpreter says where.
    #[error("sizes known at run time only do not fit each other")]
    Sizes,
    /// Whoever watches the run here ended it.
    #[error("the run was stopped{}", at(.name))]
    Stopped {
        /// Where it was: an instruction of what [`crate::RemoteExecutable::lowered`] gives.
        instruction: Option<InstrId>,
        /// The name of the instruction; may be empty.
        name: String,
    },
    /// The run took longer than it might.
    #[error("the run was stopped after {after:?}, its limit{}", at(.name))]
    TimedOut {
        /// How long it might take.
        after: Duration,
        /// Where it was: an instruction of what [`crate::RemoteExecutable::lowered`] gives.
        instruction: Option<InstrId>,
        /// The name of the instruction; may be empty.
        name: String,
    },
    /// The server refused the call.
    #[error("the server at {server} refused the call: {message}")]
    Refused {
        /// The server.
        server: Address,
        /// Of what kind the reason is.
        code: Code,
        /// The reason: what was expected and what was found.
        message: String,
    },
    /// There is no connection, or no session any more. What the session held is gone.
    #[error("no session with the server at {server}: {message}")]
    Disconnected {
        /// The server.
        server: Address,
        /// Why.
        message: String,
    },
}

/// The kinds of reasons for which a server refuses calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A limit of the server: of memory, of numbers, of a message's size.
    Limit,
    /// The call took longer than it might.
    Time,
    /// A buffer or program that the server does not know.
    NotFound,
    /// What was sent makes no sense.
    Invalid,
    /// The two speak different versions of the protocol.
    Version,
    /// A defect of the server, which goes on all the same.
    Defect,
    /// Anything else.
    Other,
}

fn at(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(", at `{name}`") }
}

impl Error {
    /// An error that is about no place in a module.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Diags(vec![Diag::error(message)])
    }

    /// What a status says.
    pub(crate) fn from_status(server: &Address, status: &tonic::Status) -> Self {
        use tonic::Code as Grpc;
        let code = match status.code() {
            // A message that is too large to be read is out of range.
            Grpc::ResourceExhausted | Grpc::OutOfRange => Code::Limit,
            Grpc::DeadlineExceeded => Code::Time,
            Grpc::NotFound => Code::NotFound,
            Grpc::InvalidArgument => Code::Invalid,
            Grpc::FailedPrecondition | Grpc::Unimplemented => Code::Version,
            Grpc::Internal => Code::Defect,
            Grpc::Unavailable | Grpc::Unauthenticated | Grpc::Unknown | Grpc::Cancelled => {
                return Self::disconnected(server, reason(status));
            }
            _ => Code::Other,
        };
        Self::Refused { server: server.clone(), code, message: reason(status) }
    }

    pub(crate) fn disconnected(server: &Address, message: impl Into<String>) -> Self {
        Self::Disconnected { server: server.clone(), message: message.into() }
    }

    /// The error as diagnostics; at least one.
    pub fn to_diags(&self) -> Vec<Diag> {
        match self {
            Error::Diags(diags) if !diags.is_empty() => diags.clone(),
            other => vec![Diag::error(other.to_string())],
        }
    }
}

/// What a status says, with what lies below it: of a connection that broke, gRPC itself says little.
fn reason(status: &tonic::Status) -> String {
    let mut message = status.message().to_string();
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        let words = error.to_string();
        if !message.contains(&words) {
            let colon = if message.is_empty() { "" } else { ": " };
            message = format!("{message}{colon}{words}");
        }
        cause = error.source();
    }
    if message.is_empty() { format!("{:?}", status.code()) } else { message }
}
