//! Connecting to a server.

use crate::error::disconnected;
use crate::{Address, Error};
use std::time::Duration;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

/// Options of a connection.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// The name of the client in the server's statistics.
    pub name: String,
    /// Certificates, for a server that requires them.
    pub tls: Option<Tls>,
    /// Maximum time to wait for the connection.
    pub timeout: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        let program = std::env::args_os().next().unwrap_or_default();
        let program = std::path::Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{program} {}", std::process::id());
        Self { name, tls: None, timeout: Duration::from_secs(10) }
    }
}

/// Certificates for a connection, each as the text of a PEM file.
#[derive(Clone)]
pub struct Tls {
    /// The authorities that may have signed the server's certificate.
    pub server_ca: String,
    /// The client's certificate, followed by the intermediate certificates up to the root that the server
    /// knows.
    pub certificate: String,
    /// The client's private key.
    pub key: String,
    /// The name in the server's certificate, if it differs from the host of the address.
    pub server_name: Option<String>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Logs must not contain keys.
        f.debug_struct("Tls").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

/// The interval between pings on an idle connection, and the time that the server has to answer.
const KEEPALIVE_INTERVAL: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(20));

/// Flow-control windows of HTTP/2 in bytes: of a call, and of the whole connection.
const FLOW_CONTROL_WINDOWS: (u32, u32) = (4 << 20, 8 << 20);

/// Opens a connection.
pub(crate) async fn open(server: &Address, options: &ConnectOptions) -> Result<Channel, Error> {
    let uri = match (server, &options.tls) {
        (Address::Unix(path), _) => format!("unix:{}", path.display()),
        (other, Some(_)) => format!("https://{other}"),
        (other, None) => format!("http://{other}"),
    };
    let failed = |e: tonic::transport::Error| disconnected(server, causes(&e));
    let mut endpoint = Endpoint::from_shared(uri)
        .map_err(failed)?
        .connect_timeout(options.timeout)
        .tcp_nodelay(true)
        .http2_keep_alive_interval(KEEPALIVE_INTERVAL.0)
        .keep_alive_timeout(KEEPALIVE_INTERVAL.1)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(FLOW_CONTROL_WINDOWS.0)
        .initial_connection_window_size(FLOW_CONTROL_WINDOWS.1);
    if let Some(tls) = &options.tls {
        let mut config = ClientTlsConfig::new()
            .ca_certificate(Certificate::from_pem(&tls.server_ca))
            .identity(Identity::from_pem(&tls.certificate, &tls.key));
        let host = match server {
            Address::Tcp { host, .. } => Some(host),
            Address::Unix(_) => None,
        };
        if let Some(name) = tls.server_name.as_ref().or(host) {
            config = config.domain_name(name);
        }
        endpoint = endpoint.tls_config(config).map_err(failed)?;
    }
    match tokio::time::timeout(options.timeout, endpoint.connect()).await {
        Ok(channel) => channel.map_err(failed),
        Err(_) => Err(disconnected(server, format!("no answer within {:?}", options.timeout))),
    }
}

/// Returns the messages of an error and its causes, each once.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let words = error.to_string();
        // gRPC uses this message for every failed connection, so it carries no information.
        if words != "transport error" && !text.contains(&words) {
            text.push_str(if text.is_empty() { "" } else { ": " });
            text.push_str(&words);
        }
        next = error.source();
    }
    text
}
