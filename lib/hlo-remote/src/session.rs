//! A session with a server: the connection, the token that all calls have with them, and what it ends with.

use crate::error::{disconnected, from_status};
use crate::proto::hlo_client::HloClient;
use crate::proto::session_event::Event;
use crate::proto::{
    AttachRequest, Device, Limits, PROTOCOL, ReleaseRequest, SESSION_KEY, SessionEvent, Welcome,
};
use crate::{Address, ConnectOptions, Error, connect};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::AbortHandle;
use tonic::metadata::{Binary, MetadataValue};
use tonic::transport::Channel;
use tonic::{Request, Status, Streaming};

/// How often a client asks for a session. A server closes connections without one to make room for others.
const ATTEMPTS: u32 = 3;

/// The pause before the second attempt; those after it are longer.
const PAUSE: Duration = Duration::from_millis(50);

/// The most bytes of a message from the server: shapes of programs with very many parameters.
const MAX_MESSAGE: usize = 64 << 20;

/// Bytes that a message has besides what its sender counts.
const ENVELOPE: u64 = 1 << 10;

/// The most handles that are freed by a call.
const RELEASED_AT_ONCE: usize = 10_000;

/// A session with a server. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) server: Address,
    pub(crate) limits: Limits,
    pub(crate) devices: Vec<Device>,
    grpc: HloClient<Channel>,
    token: MetadataValue<Binary>,
    /// Why the session has ended, once it has.
    ended: Arc<OnceLock<String>>,
    /// Calls that the server takes at once.
    calls: Arc<Semaphore>,
    releases: mpsc::UnboundedSender<Handle>,
    runs: AtomicU64,
    /// What reads the events of the session, whose end is the session's.
    listener: AbortHandle,
}

/// Something that a session holds on its server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handle {
    Buffer(u64),
    Program(u64),
}

/// The client's side of the calls, without a session.
pub(crate) async fn grpc(server: &Address, options: &ConnectOptions) -> Result<HloClient<Channel>, Error> {
    Ok(HloClient::new(connect::open(server, options).await?).max_decoding_message_size(MAX_MESSAGE))
}

/// Returns whether the connection was closed before there was an answer.
fn is_closed(server: &Address, status: &Status) -> bool {
    std::error::Error::source(status).is_some()
        && matches!(from_status(server, status), Error::Disconnected { .. })
}

impl Session {
    pub(crate) async fn open(server: Address, options: ConnectOptions) -> Result<Arc<Self>, Error> {
        let has_certificate = options.tls.is_some();
        let refused = |status: Status| match from_status(&server, &status) {
            // With TLS 1.3 a client learns of that late, or not at all.
            Error::Disconnected { message, .. } if has_certificate => {
                disconnected(&server, format!("{message}; it may not accept the certificate"))
            }
            other => other,
        };
        let mut attempt = 1;
        let (grpc, mut events) = loop {
            let mut grpc = grpc(&server, &options).await?;
            let request = AttachRequest { protocol: PROTOCOL, name: options.name.clone() };
            match grpc.attach(request).await {
                Ok(events) => break (grpc, events.into_inner()),
                Err(status) if attempt < ATTEMPTS && is_closed(&server, &status) => {
                    tokio::time::sleep(PAUSE * attempt).await;
                    attempt += 1;
                }
                Err(status) => return Err(refused(status)),
            }
        };
        let welcome = match events.message().await.map_err(refused)? {
            Some(SessionEvent { event: Some(Event::Welcome(welcome)) }) => welcome,
            Some(SessionEvent { event: Some(Event::End(why)) }) => {
                return Err(disconnected(&server, why));
            }
            _ => return Err(disconnected(&server, "it does not speak the protocol of hlo-serve")),
        };
        let Welcome { token, limits, devices, .. } = welcome;
        let limits = limits.unwrap_or_default();
        let calls = usize::try_from(limits.requests).unwrap_or(1).clamp(1, Semaphore::MAX_PERMITS);
        let (releases, released) = mpsc::unbounded_channel();
        let ended = Arc::new(OnceLock::new());
        let listener = tokio::spawn(listen(events, ended.clone())).abort_handle();
        let session = Arc::new(Self {
            token: MetadataValue::from_bytes(&token),
            calls: Arc::new(Semaphore::new(calls)),
            runs: AtomicU64::new(1),
            server,
            limits,
            devices,
            grpc,
            ended,
            releases,
            listener,
        });
        tokio::spawn(release(session.grpc.clone(), session.token.clone(), released));
        Ok(session)
    }

    /// The client of the calls.
    pub(crate) fn grpc(&self) -> HloClient<Channel> {
        self.grpc.clone()
    }

    /// A message of this session.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        with_token(message, &self.token)
    }

    /// Waits till the server takes a further call.
    ///
    /// # Errors
    /// The session has ended.
    pub(crate) async fn turn(&self) -> Result<OwnedSemaphorePermit, Error> {
        let turn = self.calls.clone().acquire_owned().await;
        let turn = turn.map_err(|_| disconnected(&self.server, "the session has ended"))?;
        match self.ended.get() {
            Some(why) => Err(disconnected(&self.server, why.clone())),
            None => Ok(turn),
        }
    }

    /// What a call came to that did not succeed.
    pub(crate) fn error(&self, status: &Status) -> Error {
        let error = from_status(&self.server, status);
        match (&error, self.ended.get()) {
            // What the session ended with says more than a broken connection.
            (Error::Disconnected { .. }, Some(why)) => disconnected(&self.server, why.clone()),
            (Error::Disconnected { message, .. }, None) if status.code() == tonic::Code::Unauthenticated => {
                let why = format!("{message}: what the session held is gone, connect again");
                disconnected(&self.server, self.ended.get_or_init(|| why).clone())
            }
            _ => error,
        }
    }

    /// Bytes of an array or a text that a message may have.
    pub(crate) fn chunk(&self) -> usize {
        let room = self.limits.message.saturating_sub(ENVELOPE).max(1);
        usize::try_from(room).unwrap_or(usize::MAX).min(crate::wire::CHUNK)
    }

    /// A number for a run.
    pub(crate) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    /// Frees something on the server, some time soon.
    pub(crate) fn release(&self, handle: Handle) {
        // If the session has ended, it is free already.
        let _ = self.releases.send(handle);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

fn with_token<T>(message: T, token: &MetadataValue<Binary>) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert_bin(SESSION_KEY, token.clone());
    request
}

/// Reads what the server tells the session, till it ends.
async fn listen(mut events: Streaming<SessionEvent>, ended: Arc<OnceLock<String>>) {
    let why = loop {
        match events.message().await {
            Ok(Some(SessionEvent { event: Some(Event::End(why)) })) => break why,
            Ok(Some(_)) => {}
            Ok(None) => break "the server has ended the session".to_string(),
            Err(status) => break format!("the connection broke: {}", status.message()),
        }
    };
    // It may be known already.
    let _ = ended.set(format!("{why}; what the session held is gone, connect again"));
}

/// Frees what nobody has any more, as much as there is with each call.
async fn release(
    mut grpc: HloClient<Channel>,
    token: MetadataValue<Binary>,
    mut released: mpsc::UnboundedReceiver<Handle>,
) {
    let mut handles = Vec::new();
    while released.recv_many(&mut handles, RELEASED_AT_ONCE).await > 0 {
        let mut request = ReleaseRequest::default();
        for handle in handles.drain(..) {
            match handle {
                Handle::Buffer(id) => request.buffers.push(id),
                Handle::Program(id) => request.programs.push(id),
            }
        }
        // If the session has ended, all is free already.
        let _ = grpc.release(with_token(request, &token)).await;
    }
}
