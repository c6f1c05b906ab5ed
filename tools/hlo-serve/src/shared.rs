//! State that all calls share: the sessions, and the checks that admit a call.

use crate::account::Account;
use crate::cache::{Cache, Compiler};
use crate::config::Config;
use crate::connection::{Attached, ConnectionInfo, Connections};
use crate::counters::Counters;
use crate::queue::Queue;
use crate::run::Runner;
use crate::session::{Session, Token};
use bytes::Bytes;
use hlo_remote::proto::session_event::Event;
use hlo_remote::proto::{AttachRequest, Device, Limits, PROTOCOL, SESSION_KEY, SessionEvent, Welcome};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::Stream;
use tonic::metadata::MetadataMap;
use tonic::{Request, Response, Status};

/// Maximum number of connections without a session. Their clients are doing the handshake, opening a session,
/// being rejected because there are too many clients, or requesting statistics.
const SPARE_CONNECTIONS: usize = 64;

/// Maximum length of a client's name in bytes. Longer names are cut.
const MAX_NAME: usize = 100;

/// A session, and the channel for events to its client.
type Open = (Arc<Session>, mpsc::Sender<Result<SessionEvent, Status>>);

/// The state that all calls share.
#[derive(Debug)]
pub struct Shared {
    pub config: Config,
    pub account: Arc<Account>,
    pub counters: Arc<Counters>,
    pub cache: Arc<Cache>,
    pub compiler: Compiler,
    pub runner: Runner,
    pub since: Instant,
    pub connections: Arc<Connections>,
    sessions: Mutex<HashMap<Token, Open>>,
    numbers: AtomicU64,
    stopping: AtomicBool,
}

/// An admitted call: its session, and the permit for the call.
pub type Admitted = (Arc<Session>, OwnedSemaphorePermit);

impl Shared {
    /// Creates the initial state.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub fn new(config: Config) -> std::io::Result<Self> {
        let counters = Arc::new(Counters::default());
        Ok(Self {
            account: Account::of_all(config.limits.memory),
            cache: Cache::new(config.cache_memory, config.threads, config.workers),
            compiler: Compiler {
                queue: Arc::new(Queue::new("compile", config.compilers)?),
                counters: counters.clone(),
                limit: config.limits.compile_time,
            },
            runner: Runner {
                queue: Arc::new(Queue::new("run", config.workers)?),
                counters: counters.clone(),
                limit: config.limits.run_time,
            },
            counters,
            since: Instant::now(),
            connections: Connections::new(SPARE_CONNECTIONS),
            sessions: Mutex::default(),
            numbers: AtomicU64::new(1),
            stopping: AtomicBool::new(false),
            config,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Token, Open>> {
        // No code panics while it holds the lock.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open sessions, the oldest first.
    pub fn sessions(&self) -> Vec<Arc<Session>> {
        let mut all: Vec<_> = self.lock().values().map(|(session, _)| session.clone()).collect();
        all.sort_unstable_by_key(|s| s.number);
        all
    }

    /// Stops accepting new work.
    pub fn stop_accepting(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Returns the number of running and waiting pieces of work.
    pub fn load(&self) -> usize {
        let ((running, waiting, _), (compiling, before, _)) =
            (self.runner.queue.load(), self.compiler.queue.load());
        running + waiting + compiling + before
    }

    /// Ends all sessions.
    pub fn end_sessions(&self, why: &str) {
        let all: Vec<Open> = self.lock().drain().map(|(_, open)| open).collect();
        for (session, events) in all {
            let event = SessionEvent { event: Some(Event::End(why.to_string())) };
            // The channel is full if the client does not read its events.
            let _ = events.try_send(Ok(event));
            self.end(&session);
        }
    }

    fn end(&self, session: &Session) {
        session.end();
        self.runner.queue.forget(session.number);
        self.compiler.queue.forget(session.number);
    }

    fn close(&self, token: &Token) {
        let open = self.lock().remove(token);
        if let Some((session, _)) = open {
            self.end(&session);
        }
    }

    /// Checks that the server accepts new work.
    ///
    /// # Errors
    /// The server is stopping.
    pub fn check_running(&self) -> Result<(), Status> {
        if self.stopping.load(Ordering::Relaxed) {
            Err(Status::unavailable("the server is stopping: it takes no new work"))
        } else {
            Ok(())
        }
    }

    /// Returns the session of a call.
    ///
    /// # Errors
    /// The call has no session, or the session has ended.
    pub fn session<T>(&self, request: &Request<T>) -> Result<Arc<Session>, Status> {
        self.session_of(request.metadata())
    }

    /// Returns the session of a call with this metadata.
    ///
    /// # Errors
    /// As [`Shared::session`].
    pub fn session_of(&self, metadata: &MetadataMap) -> Result<Arc<Session>, Status> {
        let token = metadata.get_bin(SESSION_KEY);
        let token = token
            .ok_or_else(|| Status::unauthenticated(format!("expected a session, as `{SESSION_KEY}`")))?;
        let token = token.to_bytes().ok().and_then(|bytes| Token::try_from(bytes.as_ref()).ok());
        let session = token.and_then(|token| self.lock().get(&token).map(|(session, _)| session.clone()));
        session.ok_or_else(|| {
            Status::unauthenticated(
                "the server does not know the session: it has ended, or the server was started anew",
            )
        })
    }

    /// Returns the session of a call and a permit for the call.
    ///
    /// # Errors
    /// The call has no session, or the client has reached its maximum number of concurrent calls.
    pub fn admit<T>(&self, request: &Request<T>) -> Result<Admitted, Status> {
        let session = self.session(request)?;
        let limit = self.config.limits.requests;
        let full = |_| {
            Status::resource_exhausted(format!("a client may make {limit} calls at once (--client-requests)"))
        };
        let right = session.calls.clone().try_acquire_owned().map_err(full)?;
        Ok((session, right))
    }

    /// Counts the call if it is rejected.
    ///
    /// # Errors
    /// The error of the call.
    pub fn counted<T>(&self, result: Result<T, Status>) -> Result<Response<T>, Status> {
        if result.is_err() {
            self.counters.refused.add(1);
        }
        result.map(Response::new)
    }

    /// Returns the maximum time without data in a call.
    pub fn idle(&self) -> Duration {
        self.config.limits.idle
    }

    /// Opens a session.
    ///
    /// # Errors
    /// The server has reached its maximum number of clients, is stopping, or uses another version of the
    /// protocol.
    pub fn attach(self: &Arc<Self>, request: Request<AttachRequest>) -> Result<Events, Status> {
        self.check_running()?;
        let connection = ConnectionInfo::of(request.extensions());
        let AttachRequest { protocol, mut name } = request.into_inner();
        if protocol != PROTOCOL {
            let why = format!(
                "the server speaks version {PROTOCOL} of the protocol, the client version {protocol}"
            );
            return Err(Status::failed_precondition(why));
        }
        name.truncate(hlo_ir::floor_char_boundary(&name, MAX_NAME));
        // Statistics are printed on terminals.
        let name = name.replace(char::is_control, "?");
        let mut token = Token::default();
        getrandom::fill(&mut token).map_err(|e| Status::internal(format!("no random numbers: {e}")))?;
        let (sender, events) = mpsc::channel(2);
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let session = Arc::new(Session::new(number, name, &self.config.limits, &self.account));
        {
            let mut sessions = self.lock();
            let limit = self.config.limits.clients;
            if sessions.len() >= limit {
                return Err(Status::resource_exhausted(format!(
                    "the server has {limit} clients, as many as it may (--clients)"
                )));
            }
            sessions.insert(token, (session, sender.clone()));
        }
        self.counters.clients.add(1);
        let welcome = SessionEvent { event: Some(Event::Welcome(self.welcome(&token))) };
        let _ = sender.try_send(Ok(welcome));
        Ok(Events { events, shared: self.clone(), token, _attached: connection.map(|c| c.attach()) })
    }

    fn welcome(&self, token: &Token) -> Welcome {
        let (config, limits) = (&self.config, &self.config.limits);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Welcome {
            token: Bytes::copy_from_slice(token),
            limits: Some(Limits {
                message: limits.message as u64,
                module: limits.module as u64,
                memory: limits.client_memory,
                buffers: limits.buffers as u64,
                programs: limits.programs as u64,
                requests: limits.requests as u64,
                run_millis: millis(limits.run_time),
                idle_millis: millis(limits.idle),
            }),
            devices: vec![Device {
                id: 0,
                platform: "cpu".to_string(),
                workers: number(config.workers),
                threads: number(config.threads),
            }],
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }
}

/// The event stream of a session. The session ends when the stream is dropped.
#[derive(Debug)]
pub struct Events {
    events: mpsc::Receiver<Result<SessionEvent, Status>>,
    shared: Arc<Shared>,
    token: Token,
    _attached: Option<Attached>,
}

impl Stream for Events {
    type Item = Result<SessionEvent, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.events.poll_recv(context)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.shared.close(&self.token);
    }
}
