//! The messages and calls of the protocol, generated from `proto/hlo_service.proto`, which documents them.
#![expect(
    missing_docs,
    clippy::allow_attributes_without_reason,
    clippy::missing_errors_doc,
    reason = "the generator of tonic writes them so"
)]

tonic::include_proto!("hlo.v1");

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// The key of the session's token in the metadata of calls.
pub const SESSION_KEY: &str = "hlo-session-bin";
