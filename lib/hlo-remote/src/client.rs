//! The client of a server.

use crate::connect::ConnectOptions;
use crate::error::from_status;
use crate::executable::RemoteExecutable;
use crate::proto::compile_reply::Outcome;
use crate::proto::{self, CompileRequest, StatisticsReply, StatisticsRequest};
use crate::session::{self, Session};
use crate::wire::{chunks, compile_options, read_failure};
use crate::{Address, CompileOptions, Error, RemoteBuffer, buffer, runtime};
use bytes::Bytes;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{Literal, Module, Shape};
use std::sync::Arc;

/// A device of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteDevice {
    /// The number of the device.
    pub id: u32,
    /// The kind of the device, such as `cpu`.
    pub platform: String,
    /// Number of runs that the device executes at once.
    pub workers: u32,
    /// Number of threads of each run.
    pub threads: u32,
}

/// A session with a server that runs programs. Cloning is cheap: both clones are the same session. The
/// session ends when the last of its clones, programs and buffers is dropped.
#[derive(Clone, Debug)]
pub struct RemoteClient(pub(crate) Arc<Session>);

impl RemoteClient {
    /// Opens a session with the server at an address, such as `unix:/run/hlo.sock` or `127.0.0.1:7070`.
    ///
    /// # Errors
    /// As [`RemoteClient::connect_with`], or the text is not an address.
    pub fn connect(address: &str) -> Result<Self, Error> {
        let address = address.parse().map_err(|e: String| Error::new(e))?;
        Self::connect_with(address, ConnectOptions::default())
    }

    /// Opens a session with the server at an address.
    ///
    /// # Errors
    /// There is no such server, the certificates are not accepted, or the server has reached its maximum
    /// number of clients.
    pub fn connect_with(address: Address, options: ConnectOptions) -> Result<Self, Error> {
        Ok(Self(runtime::wait(Session::open(address, options))?))
    }

    /// Returns the address of the server.
    pub fn address(&self) -> &Address {
        &self.0.server
    }

    /// Returns the limits of the server for this client.
    pub fn limits(&self) -> &proto::Limits {
        &self.0.limits
    }

    /// Returns the server's devices.
    pub fn devices(&self) -> Vec<RemoteDevice> {
        let device = |d: &proto::Device| RemoteDevice {
            id: d.id,
            platform: d.platform.clone(),
            workers: d.workers,
            threads: d.threads,
        };
        self.0.devices.iter().map(device).collect()
    }

    /// Compiles a text.
    ///
    /// # Errors
    /// The text does not parse or verify, a pass or the engine rejects it ([`Error::Diags`]), or the request
    /// exceeds a limit of the server.
    pub fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<RemoteExecutable, Error> {
        let session = self.0.clone();
        let options = compile_options(options);
        let text = Bytes::copy_from_slice(text.as_bytes());
        runtime::wait(async move {
            let _turn = session.acquire_call().await?;
            let mut options = Some(options);
            let parts = chunks(text, session.chunk());
            let messages: Vec<_> =
                parts.map(|text| CompileRequest { options: options.take(), text }).collect();
            let request = session.request(tokio_stream::iter(messages));
            let reply = session.grpc().compile(request).await.map_err(|s| session.error(&s))?;
            match reply.into_inner().outcome {
                Some(Outcome::Program(program)) => RemoteExecutable::new(session, program),
                Some(Outcome::Failure(why)) => Err(read_failure(why)),
                None => Err(Error::new("internal error: a reply without an outcome")),
            }
        })
    }

    /// Compiles a verified module. Diagnostics quote the affected instruction, because their positions would
    /// refer to the text that was sent to the server.
    ///
    /// # Errors
    /// As [`RemoteClient::compile_text`].
    pub fn compile(&self, module: &Module, options: &CompileOptions) -> Result<RemoteExecutable, Error> {
        let text = print_module(module, &PrintOptions::default());
        self.compile_text(&text, options).map_err(|error| match error {
            Error::Diags(diags) => {
                Error::Diags(diags.into_iter().map(|d| without_places(d, &text)).collect())
            }
            other => other,
        })
    }

    /// Transfers a value to the server, in the layout of `shape`, which is an array shape or a token. Where
    /// `shape` has bounds, the buffer has the sizes of the value.
    ///
    /// # Errors
    /// The value has another type or other sizes, or the request exceeds a limit of the server.
    pub fn buffer_from_literal(&self, literal: &Literal, shape: &Shape) -> Result<RemoteBuffer, Error> {
        let array = buffer::laid_out(literal, shape)?;
        runtime::wait(buffer::upload(self.0.clone(), array))
    }

    /// Returns the server's statistics.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn statistics(&self) -> Result<StatisticsReply, Error> {
        let session = self.0.clone();
        runtime::wait(async move {
            let reply = session.grpc().statistics(StatisticsRequest {}).await;
            reply.map(tonic::Response::into_inner).map_err(|s| session.error(&s))
        })
    }
}

/// Returns the statistics of a server, without opening a session.
///
/// # Errors
/// There is no such server, or the certificates are not accepted.
pub fn statistics(server: &Address, options: ConnectOptions) -> Result<StatisticsReply, Error> {
    let server = server.clone();
    runtime::wait(async move {
        let mut grpc = session::grpc(&server, &options).await?;
        let reply = grpc.statistics(StatisticsRequest {}).await;
        reply.map(tonic::Response::into_inner).map_err(|s| from_status(&server, &s))
    })
}

/// Replaces the positions in a diagnostic by quotations from the text.
fn without_places(mut diag: Diag, text: &str) -> Diag {
    for label in std::mem::take(&mut diag.labels) {
        let part = text.get(label.span.range()).unwrap_or_default();
        let colon = if label.message.is_empty() { "" } else { ": " };
        diag = diag.note(format!("at `{part}`{colon}{}", label.message));
    }
    diag.suggestions.clear();
    diag
}
