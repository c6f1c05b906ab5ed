//! What the server refuses, and connections that break, as errors.

use crate::{Address, Error, Refusal};

/// What a status says.
pub(crate) fn from_status(server: &Address, status: &tonic::Status) -> Error {
    use tonic::Code;
    // What the server says has no cause here: what has one is this end's word that the connection broke, whatever its code.
    let is_local = std::error::Error::source(status).is_some();
    let kind = match status.code() {
        // A message that is too large to be read is out of range.
        Code::ResourceExhausted | Code::OutOfRange => Refusal::Limit,
        Code::DeadlineExceeded => Refusal::Time,
        Code::NotFound => Refusal::NotFound,
        Code::InvalidArgument => Refusal::Invalid,
        Code::FailedPrecondition | Code::Unimplemented => Refusal::Version,
        Code::Internal if !is_local => Refusal::Defect,
        Code::Internal | Code::Unavailable | Code::Unauthenticated | Code::Unknown | Code::Cancelled => {
            return disconnected(server, reason(status));
        }
        _ => Refusal::Other,
    };
    Error::Refused { server: server.to_string(), kind, message: reason(status) }
}

/// There is no session, and why.
pub(crate) fn disconnected(server: &Address, message: impl Into<String>) -> Error {
    Error::Disconnected { server: server.to_string(), message: message.into() }
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
