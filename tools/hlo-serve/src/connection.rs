//! Open connections, and the time limits of connections without a session.

use crate::counters::Counter;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep};
use tonic::codegen::http;
use tonic::transport::server::{Connected, TlsConnectInfo};

/// The connections of a server. Connections without a session cannot displace connections with one.
#[derive(Debug)]
pub struct Connections {
    open: Mutex<Vec<Open>>,
    /// Maximum number of connections without a session.
    spare: usize,
    numbers: AtomicU64,
    evicted: Counter,
}

/// An open connection. Connections are sorted by age, the newest last.
#[derive(Debug)]
struct Open {
    number: u64,
    peer: Peer,
    info: ConnectionInfo,
    /// Dropping this closes the connection.
    _close: oneshot::Sender<Infallible>,
}

/// The origin of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Peer {
    /// A computer.
    Address(IpAddr),
    /// A process of this computer, or `None` if the system does not identify the process.
    Process(Option<i32>),
}

impl Connections {
    /// Creates an empty list, which allows at most `spare` connections without a session.
    pub fn new(spare: usize) -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::default(),
            spare,
            numbers: AtomicU64::new(0),
            evicted: Counter::default(),
        })
    }

    /// Returns the number of open connections.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns the number of connections that were closed to make room for others.
    pub fn evicted(&self) -> u64 {
        self.evicted.get()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Open>> {
        // No code panics while it holds the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection. If there are too many without a session, closes the oldest of these from the peer
    /// that has the most of them. A peer that opens many connections therefore closes its own.
    fn add(self: &Arc<Self>, peer: Peer, info: ConnectionInfo) -> Entry {
        let (close, closed) = oneshot::channel();
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let mut open = self.lock();
        let idle = || open.iter().filter(|o| o.info.sessions.load(Ordering::Relaxed) == 0);
        if idle().count() >= self.spare {
            let mut counts: HashMap<Peer, usize> = HashMap::new();
            idle().for_each(|o| *counts.entry(o.peer).or_default() += 1);
            let most = idle().map(|o| counts[&o.peer]).max();
            let oldest = idle().find(|o| Some(counts[&o.peer]) == most).map(|o| o.number);
            open.retain(|o| Some(o.number) != oldest);
            self.evicted.add(1);
        }
        open.push(Open { number, peer, info, _close: close });
        Entry { connections: self.clone(), number, closed }
    }
}

/// An entry in the list of open connections.
#[derive(Debug)]
struct Entry {
    connections: Arc<Connections>,
    number: u64,
    closed: oneshot::Receiver<Infallible>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.connections.lock().retain(|o| o.number != self.number);
    }
}

/// The time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Maximum time until the first call.
    pub handshake: Duration,
    /// Maximum time without a session.
    pub idle: Duration,
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    info: ConnectionInfo,
    /// The time of the next check for a call or a session.
    deadline: Pin<Box<Sleep>>,
    times: Times,
    has_called: bool,
    entry: Entry,
}

#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    fn peer(&self) -> Peer {
        match self {
            Self::Tcp(s) => s.peer_addr().map_or(Peer::Process(None), |a| Peer::Address(a.ip())),
            Self::Unix(s) => Peer::Process(s.peer_cred().ok().and_then(|c| c.pid())),
        }
    }
}

/// The part of a connection's state that calls access.
#[derive(Clone, Debug, Default)]
pub struct ConnectionInfo {
    sessions: Arc<AtomicU64>,
    has_called: Arc<AtomicBool>,
}

/// A session that uses a connection.
#[derive(Debug)]
pub struct Attached(ConnectionInfo);

impl ConnectionInfo {
    /// Returns the connection of a call with these extensions.
    pub fn of(extensions: &http::Extensions) -> Option<Self> {
        let plain = extensions.get::<ConnectionInfo>();
        let info =
            plain.or_else(|| extensions.get::<TlsConnectInfo<ConnectionInfo>>().map(TlsConnectInfo::get_ref));
        info.cloned()
    }

    /// Records that a call has arrived, so the handshakes are over.
    pub fn note_call(&self) {
        self.has_called.store(true, Ordering::Relaxed);
    }

    /// Records a session, until the returned value is dropped.
    pub fn attach(self) -> Attached {
        self.sessions.fetch_add(1, Ordering::Relaxed);
        Attached(self)
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    /// Creates a connection. It is in the list of open connections until it is dropped.
    pub fn new(socket: Socket, times: Times, connections: &Arc<Connections>) -> Self {
        let info = ConnectionInfo::default();
        let entry = connections.add(socket.peer(), info.clone());
        let deadline = Box::pin(sleep(times.handshake));
        Self { socket, info, deadline, times, has_called: false, entry }
    }

    /// Returns an error if the connection had no call or no session for too long, or was closed to make room
    /// for another one.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if Pin::new(&mut self.entry.closed).poll(context).is_ready() {
            return Err(io::Error::new(
                io::ErrorKind::ConnectionAborted,
                "too many connections without a session",
            ));
        }
        while self.deadline.as_mut().poll(context).is_ready() {
            let is_first =
                !std::mem::replace(&mut self.has_called, self.info.has_called.load(Ordering::Relaxed));
            let has_session = self.info.sessions.load(Ordering::Relaxed) > 0;
            // A client whose first call arrived since the last check gets more time.
            if !(has_session || is_first && self.has_called) {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "a connection without a session"));
            }
            let next = Instant::now() + self.times.idle;
            self.deadline.as_mut().reset(next);
        }
        Ok(())
    }
}

impl Connected for Connection {
    type ConnectInfo = ConnectionInfo;

    fn connect_info(&self) -> ConnectionInfo {
        self.info.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        match &mut self.socket {
            Socket::Tcp(s) => Pin::new(s).poll_read(context, buffer),
            Socket::Unix(s) => Pin::new(s).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Tcp(s) => Pin::new(s).poll_write(context, bytes),
            Socket::Unix(s) => Pin::new(s).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(s) => Pin::new(s).poll_flush(context),
            Socket::Unix(s) => Pin::new(s).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.socket {
            Socket::Tcp(s) => Pin::new(s).poll_shutdown(context),
            Socket::Unix(s) => Pin::new(s).poll_shutdown(context),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match &mut self.socket {
            Socket::Tcp(s) => Pin::new(s).poll_write_vectored(context, parts),
            Socket::Unix(s) => Pin::new(s).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match &self.socket {
            Socket::Tcp(s) => s.is_write_vectored(),
            Socket::Unix(s) => s.is_write_vectored(),
        }
    }
}
