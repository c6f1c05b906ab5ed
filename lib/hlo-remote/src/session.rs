//! Sessions with a server: the connection, the token that identifies the session in all calls, and the reason
//! why the session ended.

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

/// Maximum number of attempts to open a session. A server closes connections without a session to make room
/// for others.
const MAX_ATTEMPTS: u32 = 3;

/// Pause before the second attempt. Later pauses are longer.
const INITIAL_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Maximum size of a message from the server, in bytes. Programs with very many parameters have large shapes.
const MAX_MESSAGE: usize = 64 << 20;

/// Number of bytes in a message in addition to its data.
const MESSAGE_OVERHEAD_BYTES: u64 = 1 << 10;

/// Maximum number of handles that one call releases.
const MAX_RELEASED_HANDLES: usize = 10_000;

/// A session with a server. It ends when this value is dropped.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) server: Address,
    pub(crate) limits: Limits,
    pub(crate) devices: Vec<Device>,
    grpc: HloClient<Channel>,
    token: MetadataValue<Binary>,
    /// The reason why the session has ended. Empty until then.
    ended: Arc<OnceLock<String>>,
    /// Permits for the calls that the server accepts at once.
    calls: Arc<Semaphore>,
    releases: mpsc::UnboundedSender<Handle>,
    runs: AtomicU64,
    /// The task that reads the events of the session. The session ends with it.
    listener: AbortHandle,
}

/// An object that a session holds on its server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Handle {
    Buffer(u64),
    Program(u64),
}

/// Connects to a server and returns the client of its calls, without a session.
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
            // With TLS 1.3, a client may learn late or never that its certificate was rejected.
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
                Err(status) if attempt < MAX_ATTEMPTS && is_closed(&server, &status) => {
                    tokio::time::sleep(INITIAL_RETRY_DELAY * attempt).await;
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

    /// Returns the client of the calls.
    pub(crate) fn grpc(&self) -> HloClient<Channel> {
        self.grpc.clone()
    }

    /// Returns a request that identifies this session.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        with_token(message, &self.token)
    }

    /// Waits until the server accepts another call.
    ///
    /// # Errors
    /// The session has ended.
    pub(crate) async fn acquire_call(&self) -> Result<OwnedSemaphorePermit, Error> {
        let turn = self.calls.clone().acquire_owned().await;
        let turn = turn.map_err(|_| disconnected(&self.server, "the session has ended"))?;
        match self.ended.get() {
            Some(why) => Err(disconnected(&self.server, why.clone())),
            None => Ok(turn),
        }
    }

    /// Converts the status of a failed call into an error.
    pub(crate) fn error(&self, status: &Status) -> Error {
        let error = from_status(&self.server, status);
        match (&error, self.ended.get()) {
            // The reason why the session ended is more specific than a broken connection.
            (Error::Disconnected { .. }, Some(why)) => disconnected(&self.server, why.clone()),
            (Error::Disconnected { message, .. }, None) if status.code() == tonic::Code::Unauthenticated => {
                let why = format!("{message}: what the session held is gone, connect again");
                disconnected(&self.server, self.ended.get_or_init(|| why).clone())
            }
            _ => error,
        }
    }

    /// Maximum number of bytes of an array or a text in a message.
    pub(crate) fn chunk(&self) -> usize {
        let room = self.limits.message.saturating_sub(MESSAGE_OVERHEAD_BYTES).max(1);
        usize::try_from(room).unwrap_or(usize::MAX).min(crate::wire::CHUNK_BYTES)
    }

    /// Returns a new number for a run.
    pub(crate) fn next_run(&self) -> u64 {
        self.runs.fetch_add(1, Ordering::Relaxed)
    }

    /// Queues an object to be freed on the server.
    pub(crate) fn release(&self, handle: Handle) {
        // If the session has ended, the object is already free.
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

/// Reads the events that the server sends, until the session ends.
async fn listen(mut events: Streaming<SessionEvent>, ended: Arc<OnceLock<String>>) {
    let why = loop {
        match events.message().await {
            Ok(Some(SessionEvent { event: Some(Event::End(why)) })) => break why,
            Ok(Some(_)) => {}
            Ok(None) => break "the server has ended the session".to_string(),
            Err(status) => break format!("the connection broke: {}", status.message()),
        }
    };
    // Another task may have set the reason already.
    let _ = ended.set(format!("{why}; what the session held is gone, connect again"));
}

/// Frees released objects on the server, as many as possible with each call.
async fn release(
    mut grpc: HloClient<Channel>,
    token: MetadataValue<Binary>,
    mut released: mpsc::UnboundedReceiver<Handle>,
) {
    let mut handles = Vec::new();
    while released.recv_many(&mut handles, MAX_RELEASED_HANDLES).await > 0 {
        let mut request = ReleaseRequest::default();
        for handle in handles.drain(..) {
            match handle {
                Handle::Buffer(id) => request.buffers.push(id),
                Handle::Program(id) => request.programs.push(id),
            }
        }
        // If the session has ended, all objects are already free.
        let _ = grpc.release(with_token(request, &token)).await;
    }
}
