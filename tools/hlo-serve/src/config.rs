//! The configuration of a server.

use hlo_remote::Address;
use std::time::Duration;

/// The limits of a server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Maximum size of a message in bytes.
    pub message: usize,
    /// Maximum size of a module's text in bytes.
    pub module: usize,
    /// Maximum memory of a client's buffers, programs and runs together, in bytes.
    pub client_memory: u64,
    /// Maximum memory of all clients together, in bytes.
    pub memory: u64,
    /// Maximum number of buffers of a client.
    pub buffers: usize,
    /// Maximum number of programs of a client.
    pub programs: usize,
    /// Maximum number of concurrent calls of a client.
    pub requests: usize,
    /// Maximum number of clients at once.
    pub clients: usize,
    /// Maximum time of a compilation, from its start.
    pub compile_time: Duration,
    /// Maximum time of a run, from its start.
    pub run_time: Duration,
    /// Maximum time from opening a connection to its first call.
    pub handshake: Duration,
    /// Maximum time without data in a call with a stream, or on a connection without a session.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let available = hlo_tools_common::memory::available_bytes() as u64;
        Self {
            message: 4 << 20,
            module: 64 << 20,
            client_memory: 2 << 30,
            memory: available / 4 * 3,
            buffers: 10_000,
            programs: 1_000,
            requests: 32,
            clients: 256,
            compile_time: Duration::from_secs(60),
            run_time: Duration::from_secs(300),
            handshake: Duration::from_secs(5),
            idle: Duration::from_secs(60),
        }
    }
}

/// Certificates of a server, each as the text of a PEM file.
#[derive(Clone)]
pub struct ServerTls {
    /// The server's certificate, followed by the intermediate certificates up to its root.
    pub certificate: String,
    /// The server's private key.
    pub key: String,
    /// The authorities that may have signed a client's certificate.
    pub client_ca: String,
}

impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Logs must not contain keys.
        f.debug_struct("ServerTls").finish_non_exhaustive()
    }
}

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen at.
    pub address: Address,
    /// The certificates. Without them, only a Unix socket or a loopback address is allowed.
    pub tls: Option<ServerTls>,
    /// The limits of the server.
    pub limits: Limits,
    /// Number of concurrent runs.
    pub workers: usize,
    /// Number of concurrent compilations.
    pub compilers: usize,
    /// Number of threads of each run and of each compilation.
    pub threads: usize,
    /// Maximum memory of programs that no client uses, in bytes.
    pub cache_memory: u64,
    /// Time that runs may continue after the server was asked to stop.
    pub grace: Duration,
}

impl Config {
    /// Creates the default configuration for an address.
    pub fn new(address: Address) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            address,
            tls: None,
            limits: Limits::default(),
            // More workers than cores, so that short runs do not wait for long ones. The system divides the
            // cores among them.
            workers: cores.max(4),
            compilers: cores.max(2),
            threads: 1,
            cache_memory: 256 << 20,
            grace: Duration::from_secs(10),
        }
    }
}
