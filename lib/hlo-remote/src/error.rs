//! Errors of calls: requests that the server rejects, and broken connections.

use crate::{Address, Error, Refusal};

/// Converts a status into an error.
pub(crate) fn from_status(server: &Address, status: &tonic::Status) -> Error {
    use tonic::Code;
    // A status from the server has no cause. A status with a cause is from this side and reports a broken
    // connection, whatever its code is.
    let is_local = std::error::Error::source(status).is_some();
    let kind = match status.code() {
        // gRPC reports a message that is too large to read as out of range.
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

/// Returns the error of a session that does not exist any more, with the reason.
pub(crate) fn disconnected(server: &Address, message: impl Into<String>) -> Error {
    Error::Disconnected { server: server.to_string(), message: message.into() }
}

/// Returns the message of a status and its causes. The message alone says little about a broken connection.
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
