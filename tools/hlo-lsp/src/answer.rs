//! The answers to requests.

use lsp_server::{ErrorCode, ResponseError};

/// The result of a request.
pub type Answer<T> = Result<T, ResponseError>;

/// Returns the error for a request that cannot be performed. The user sees the message.
pub fn request_error(message: impl Into<String>) -> ResponseError {
    error(ErrorCode::RequestFailed, message)
}

/// Returns an error with a code of the protocol.
pub fn error(code: ErrorCode, message: impl Into<String>) -> ResponseError {
    ResponseError { code: code as i32, message: message.into(), data: None }
}
