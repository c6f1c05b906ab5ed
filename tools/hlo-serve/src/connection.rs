//! Connections: how many there are, and that those without a session end.

use crate::counters::Counter;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::{Instant, Sleep, sleep};
use tonic::Request;
use tonic::transport::server::{Connected, TlsConnectInfo};

/// A connection.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    info: ConnectionInfo,
    /// When it is looked at whether a session is there.
    deadline: Pin<Box<Sleep>>,
    idle: Duration,
    _counted: Counted,
}

#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// What calls know of their connection.
#[derive(Clone, Debug, Default)]
pub struct ConnectionInfo {
    sessions: Arc<AtomicU64>,
}

/// A session of a connection.
#[derive(Debug)]
pub struct Attached(ConnectionInfo);

impl ConnectionInfo {
    /// The connection of a call.
    pub fn of<T>(request: &Request<T>) -> Option<Self> {
        let extensions = request.extensions();
        let plain = extensions.get::<ConnectionInfo>();
        let info =
            plain.or_else(|| extensions.get::<TlsConnectInfo<ConnectionInfo>>().map(TlsConnectInfo::get_ref));
        info.cloned()
    }

    /// Notes a session, till what this gives is dropped.
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

/// Counts a connection while it lives.
#[derive(Debug)]
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    /// A connection, unless there are `limit` already, and it is to be closed.
    pub fn new(
        socket: Socket,
        idle: Duration,
        count: &Arc<AtomicU64>,
        limit: u64,
        refused: &Counter,
    ) -> Option<Self> {
        let counted = Counted(count.clone());
        if count.fetch_add(1, Ordering::Relaxed) >= limit {
            refused.add(1);
            return None;
        }
        let deadline = Box::pin(sleep(idle));
        Some(Self { socket, info: ConnectionInfo::default(), deadline, idle, _counted: counted })
    }

    /// An error once there has been no session for too long.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        while self.deadline.as_mut().poll(context).is_ready() {
            if self.info.sessions.load(Ordering::Relaxed) == 0 {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "a connection without a session"));
            }
            let next = Instant::now() + self.idle;
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
