//! The lifetime of a server, from listening to shutdown.

use crate::config::{Config, ServerTls};
use crate::connection::{Connection, Times};
use crate::listen::Listener;
use crate::meter::Metered;
use crate::service::Service;
use crate::shared::Shared;
use hlo_remote::Address;
use hlo_remote::proto::hlo_server::HloServer;
use hlo_tools_common::Failure;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// Number of additional concurrent calls of a connection, for sessions, releases and stops.
const SPARE_CALLS: usize = 32;

/// The interval between pings on an idle connection, and the time that the client has to answer.
const KEEPALIVE_INTERVAL: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(20));

/// Flow-control windows of HTTP/2 in bytes: of a call, and of the whole connection.
const FLOW_CONTROL_WINDOWS: (u32, u32) = (2 << 20, 4 << 20);

/// Interval at which a stopping server checks whether work is over.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Time that runs have to stop and connections have to end during shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// A server that is listening.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    transport: tonic::transport::Server,
    shared: Arc<Shared>,
    stop: watch::Receiver<u32>,
    stopper: Stop,
}

/// A handle that stops a server. Cloning is cheap: both clones stop the same server.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<u32>);

impl Stop {
    /// Asks the server to stop. After the first call, runs may continue for the grace time. The second call
    /// stops them at once.
    pub fn stop(&self) {
        self.0.send_modify(|times| *times = times.saturating_add(1));
    }
}

impl Server {
    /// Starts to listen.
    ///
    /// # Errors
    /// The address is reachable over a network and there are no certificates, the certificates are invalid,
    /// another server listens at the address, or no threads can be started.
    pub async fn bind(config: Config) -> Result<Self, Failure> {
        let address = config.address.clone();
        if config.tls.is_none() && !address.is_local() {
            return Err(Failure::Usage(format!(
                "{address} is not on this computer only: without --tls-cert, --tls-key and --client-ca, expected a \
                 Unix socket (unix:/path) or an address of the loopback (127.0.0.1:PORT)"
            )));
        }
        if config.tls.is_some() && matches!(address, Address::Unix(_)) {
            return Err(Failure::Usage(
                "certificates are for addresses with a port: a Unix socket is for the same user only"
                    .to_string(),
            ));
        }
        let transport = transport(&config)?;
        let failed = |e: io::Error| Failure::Message(format!("{address}: {e}"));
        let listener = Listener::bind(&config.address).await.map_err(failed)?;
        let threads = |e: io::Error| Failure::Message(format!("threads can't be started: {e}"));
        let shared = Arc::new(Shared::new(config).map_err(threads)?);
        let (sender, stop) = watch::channel(0);
        Ok(Self { listener, transport, shared, stop, stopper: Stop(sender) })
    }

    /// Returns the address that the server listens at, with the actual port.
    pub fn address(&self) -> &Address {
        self.listener.address()
    }

    /// Returns a handle that stops the server.
    pub fn stopper(&self) -> Stop {
        self.stopper.clone()
    }

    /// Serves until the server is asked to stop and the runs are over.
    ///
    /// # Errors
    /// The server ended by itself.
    pub async fn serve(self) -> Result<(), Failure> {
        let Self { listener, transport, shared, stop, stopper: _stopper } = self;
        let limits = &shared.config.limits;
        let service = HloServer::new(Service(shared.clone()))
            .max_decoding_message_size(limits.message)
            .max_encoding_message_size(usize::MAX);
        let service = Metered { service, shared: shared.clone() };
        let (sender, connections) = mpsc::channel(1);
        let accepting = tokio::spawn(accept(listener, shared.clone(), sender));
        let (over, mut is_over) = watch::channel(false);
        let ended = async move {
            let _ = is_over.wait_for(|over| *over).await;
        };
        let serving =
            transport.serve_with_incoming_shutdown(service, ReceiverStream::new(connections), ended);
        let mut serving = tokio::spawn(serving);
        let failed = tokio::select! {
            // The server ends by itself only after an error.
            outcome = &mut serving => Some(outcome.map_or_else(|e| e.to_string(), |o| o.map_or_else(|e| causes(&e), |()| "it ended by itself".to_string()))),
            () = drain(&shared, stop) => None,
        };
        // Closes the listener and removes the file of its socket.
        accepting.abort();
        let _ = accepting.await;
        let _ = over.send(true);
        shared.runner.queue.close();
        shared.compiler.queue.close();
        match failed {
            Some(why) => Err(Failure::Message(format!("the server broke off: {why}"))),
            None => {
                let _ = timeout(SHUTDOWN_TIMEOUT, &mut serving).await;
                serving.abort();
                Ok(())
            }
        }
    }
}

/// Creates the HTTP/2 transport, with or without certificates.
fn transport(config: &Config) -> Result<tonic::transport::Server, Failure> {
    let limits = &config.limits;
    let calls = u32::try_from(limits.requests.saturating_add(SPARE_CALLS)).unwrap_or(u32::MAX);
    let server = tonic::transport::Server::builder()
        .max_concurrent_streams(calls)
        .initial_stream_window_size(FLOW_CONTROL_WINDOWS.0)
        .initial_connection_window_size(FLOW_CONTROL_WINDOWS.1)
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL.0))
        .http2_keepalive_timeout(Some(KEEPALIVE_INTERVAL.1));
    let Some(tls) = &config.tls else { return Ok(server) };
    let failed = |e: tonic::transport::Error| Failure::Message(format!("certificates: {}", causes(&e)));
    server.tls_config(tls_config(tls, limits.handshake)).map_err(failed)
}

/// Waits until the server is asked to stop, and then for running work.
async fn drain(shared: &Shared, mut stop: watch::Receiver<u32>) {
    let _ = stop.wait_for(|&times| times > 0).await;
    shared.stop_accepting();
    let until = Instant::now() + shared.config.grace;
    while shared.load() > 0 && Instant::now() < until && *stop.borrow() < 2 {
        sleep(STOP_POLL_INTERVAL).await;
    }
    for session in shared.sessions() {
        session.stop_all();
    }
    let until = Instant::now() + SHUTDOWN_TIMEOUT;
    while shared.load() > 0 && Instant::now() < until {
        sleep(STOP_POLL_INTERVAL).await;
    }
    // Lets replies be sent before their sessions end.
    sleep(STOP_POLL_INTERVAL).await;
    shared.end_sessions("the server was stopped");
}

/// Accepts connections.
async fn accept(
    listener: Listener,
    shared: Arc<Shared>,
    connections: mpsc::Sender<Result<Connection, io::Error>>,
) {
    let limits = &shared.config.limits;
    let times = Times { handshake: limits.handshake, idle: limits.idle };
    loop {
        let socket = match listener.accept().await {
            Ok(socket) => socket,
            Err(_) => {
                // The usual cause is too many open files. Some will be closed soon.
                sleep(STOP_POLL_INTERVAL).await;
                continue;
            }
        };
        let connection = Connection::new(socket, times, &shared.connections);
        if connections.send(Ok(connection)).await.is_err() {
            return;
        }
    }
}

fn tls_config(tls: &ServerTls, handshake: Duration) -> ServerTlsConfig {
    ServerTlsConfig::new()
        .identity(Identity::from_pem(&tls.certificate, &tls.key))
        .client_ca_root(Certificate::from_pem(&tls.client_ca))
        .timeout(handshake)
}

/// Returns the messages of an error and its causes.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}
