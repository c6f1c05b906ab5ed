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
    /// Its number.
    pub id: u32,
    /// What kind of device it is, such as `cpu`.
    pub platform: String,
    /// Runs that it does at once.
    pub workers: u32,
    /// Threads of each.
    pub threads: u32,
}

/// A session with a server that runs programs. Cloning is cheap: both are the same session, which ends with the last of its
/// clones, programs and buffers.
#[derive(Clone, Debug)]
pub struct RemoteClient(pub(crate) Arc<Session>);

impl RemoteClient {
    /// Opens a session with the server at an address, such as `unix:/run/hlo.sock` or `127.0.0.1:7070`.
    ///
    /// # Errors
    /// As [`RemoteClient::connect_with`]; or the text is no address.
    pub fn connect(address: &str) -> Result<Self, Error> {
        let address = address.parse().map_err(|e: String| Error::new(e))?;
        Self::connect_with(address, ConnectOptions::default())
    }

    /// Opens a session.
    ///
    /// # Errors
    /// There is no such server, the certificates are not accepted, or it has as many clients as it may.
    pub fn connect_with(address: Address, options: ConnectOptions) -> Result<Self, Error> {
        Ok(Self(runtime::wait(Session::open(address, options))?))
    }

    /// The server.
    pub fn address(&self) -> &Address {
        &self.0.server
    }

    /// What the server allows this client.
    pub fn limits(&self) -> &proto::Limits {
        &self.0.limits
    }

    /// The server's devices.
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
    /// The text does not parse or verify, a pass or the engine refuses it ([`Error::Diags`]); a limit of the server.
    pub fn compile_text(&self, text: &str, options: &CompileOptions) -> Result<RemoteExecutable, Error> {
        let session = self.0.clone();
        let options = compile_options(options);
        let text = Bytes::copy_from_slice(text.as_bytes());
        runtime::wait(async move {
            let _turn = session.turn().await?;
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

    /// Compiles a verified module. Diagnostics quote the instruction that they are about: their places would be in the text that
    /// was sent, which nobody has seen.
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

    /// A value on the server, in the layout of `shape`, an array or a token; it has the sizes of the value, where `shape` has
    /// bounds.
    ///
    /// # Errors
    /// The value is of another type, or of other sizes; a limit of the server.
    pub fn buffer_from_literal(&self, literal: &Literal, shape: &Shape) -> Result<RemoteBuffer, Error> {
        let array = buffer::laid_out(literal, shape)?;
        runtime::wait(buffer::upload(self.0.clone(), array))
    }

    /// What the server has done and holds.
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

/// What a server has done and holds, asked without a session.
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

/// A diagnostic that quotes the lines that it is about instead of pointing to them.
fn without_places(mut diag: Diag, text: &str) -> Diag {
    for label in std::mem::take(&mut diag.labels) {
        let part = text.get(label.span.range()).unwrap_or_default();
        let colon = if label.message.is_empty() { "" } else { ": " };
        diag = diag.note(format!("at `{part}`{colon}{}", label.message));
    }
    diag.suggestions.clear();
    diag
}
