//! Listening sockets.

use crate::connection::Socket;
use hlo_remote::Address;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{TcpListener, UnixListener};

/// A listening socket. Dropping it removes the file of a Unix socket.
#[derive(Debug)]
pub struct Listener {
    socket: Listening,
    address: Address,
}

#[derive(Debug)]
enum Listening {
    Tcp(TcpListener),
    Unix { socket: UnixListener, _file: SocketFile },
}

/// The file of a Unix socket. It is removed only if it is still the file that this server created.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    /// The device and inode number of the file.
    identity: (u64, u64),
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = std::fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Another server may have created a socket with the same path.
        if identity(&self.path).is_ok_and(|id| id == self.identity) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Listener {
    /// Starts to listen. Port 0 selects a free port. Only the same user can connect to a Unix socket.
    ///
    /// # Errors
    /// Another server listens at the address, or the address is invalid.
    pub async fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Unix(path) => {
                remove_stale(path).await?;
                let socket = UnixListener::bind(path)?;
                let file = SocketFile { path: path.clone(), identity: identity(path)? };
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
                Ok(Self { socket: Listening::Unix { socket, _file: file }, address: address.clone() })
            }
            Address::Tcp { host, port } => {
                let socket = TcpListener::bind((host.as_str(), *port)).await?;
                let port = socket.local_addr()?.port();
                let address = Address::Tcp { host: host.clone(), port };
                Ok(Self { socket: Listening::Tcp(socket), address })
            }
        }
    }

    /// Returns the address of the socket.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Accepts the next connection.
    ///
    /// # Errors
    /// The connection broke while it was being established, or the process has reached its maximum number of
    /// open files.
    pub async fn accept(&self) -> io::Result<Socket> {
        match &self.socket {
            Listening::Tcp(socket) => {
                let (stream, _) = socket.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
            Listening::Unix { socket, .. } => Ok(Socket::Unix(socket.accept().await?.0)),
        }
    }
}

/// Removes the socket file of a server that was killed.
async fn remove_stale(path: &Path) -> io::Result<()> {
    let exists = |what: &str| io::Error::new(io::ErrorKind::AlreadyExists, what);
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e),
        Ok(file) if !file.file_type().is_socket() => {
            Err(exists("a file of this name is there, which is no socket"))
        }
        Ok(_) => match tokio::net::UnixStream::connect(path).await {
            Ok(_) => Err(exists("another server listens there")),
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
            Err(e) => Err(e),
        },
    }
}
