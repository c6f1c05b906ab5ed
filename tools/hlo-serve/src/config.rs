//! What a server is told.

use hlo_remote::Address;
use std::time::Duration;

/// What a server allows.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a message.
    pub message: usize,
    /// Bytes of a module's text.
    pub module: usize,
    /// Bytes that what a client holds, and its runs, may take together.
    pub client_memory: u64,
    /// The same of all clients.
    pub memory: u64,
    /// Buffers of a client.
    pub buffers: usize,
    /// Programs of a client.
    pub programs: usize,
    /// Calls of a client at once.
    pub requests: usize,
    /// Clients at once.
    pub clients: usize,
    /// The longest time that a compilation may take, from its begin.
    pub compile_time: Duration,
    /// How long a run may take, from its begin.
    pub run_time: Duration,
    /// The longest time from the begin of a connection to its first call.
    pub handshake: Duration,
    /// How long a client may say nothing in a call with a stream, or on a connection without a session.
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
    /// The server's certificate, with those between it and its root.
    pub certificate: String,
    /// The server's private key.
    pub key: String,
    /// Those who may have signed a client's certificate.
    pub client_ca: String,
}

impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Keys are no business of logs.
        f.debug_struct("ServerTls").finish_non_exhaustive()
    }
}

/// What a server is told.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub address: Address,
    /// Certificates; without them only a Unix socket or the loopback is allowed.
    pub tls: Option<ServerTls>,
    /// What it allows.
    pub limits: Limits,
    /// Runs at once.
    pub workers: usize,
    /// Compilations at once.
    pub compilers: usize,
    /// Threads of each run, and of each compilation.
    pub threads: usize,
    /// Bytes of the programs that are kept although no client holds them.
    pub cache_memory: u64,
    /// How long runs may go on when the server is told to stop.
    pub grace: Duration,
}

impl Config {
    /// The defaults, at an address.
    pub fn new(address: Address) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            address,
            tls: None,
            limits: Limits::default(),
            // More than cores, so that short runs don't wait for long ones: the system shares the cores.
            workers: cores.max(4),
            compilers: cores.max(2),
            threads: 1,
            cache_memory: 256 << 20,
            grace: Duration::from_secs(10),
        }
    }
}
