//! The command line.

use clap::{Args, Parser, ValueEnum};
use hlo_remote::{Address, ConnectOptions, Tls};
use hlo_serve::{Config, Limits, ServerTls};
use hlo_tools_common::args::ShowArgs;
use hlo_tools_common::{Failure, read_text};
use std::time::Duration;

/// Server that compiles and runs programs in HLO, the tensor IR of XLA, for its clients.
#[derive(Parser, Debug)]
#[command(name = "hlo-serve", version, after_help = NOTES)]
pub struct Cli {
    /// Address to listen at: `unix:/path/of/socket` or `host:port`; port 0 selects a free port
    #[arg(value_name = "ADDR")]
    pub address: Address,
    /// Print the statistics of the server at ADDR and exit: a table, or json
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub stats: Option<StatsFormat>,
    #[command(flatten)]
    pub tls: TlsArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub work: WorkArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

const NOTES: &str = "\
Examples:
  hlo-serve unix:/run/user/1000/hlo.sock
  hlo-serve 127.0.0.1:7070 --client-memory 512MiB --run-time 60
  hlo-serve 0.0.0.0:7070 --tls-cert server.pem --tls-key server.key --client-ca clients.pem
  hlo-serve 127.0.0.1:7070 --stats=json
  hlo-serve server.example:7070 --stats --tls-cert me.pem --tls-key me.key --server-ca servers.pem

The server prints its address to standard output once it listens. After SIGTERM or SIGINT, it accepts no new work. Runs may
continue for --grace seconds, and are then stopped. A second signal stops them immediately. docs/server.md describes the
guarantees for clients.

Exit codes: 0 after a signal, 1 an error, 2 an error in the command line.";

/// The values of `--stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StatsFormat {
    /// A table for people.
    Table,
    /// JSON for programs.
    Json,
}

/// Certificates, as PEM files.
#[derive(Args, Clone, Debug)]
#[command(
    next_help_heading = "Certificates (PEM files), required except on a Unix socket or the loopback interface"
)]
pub struct TlsArgs {
    /// The certificate of the server, or with --stats your certificate
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<String>,
    /// The private key of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<String>,
    /// The authority that must have signed the certificates of clients
    #[arg(long, value_name = "FILE", requires = "tls_cert", conflicts_with = "stats")]
    pub client_ca: Option<String>,
    /// With --stats: the authority that must have signed the certificate of the server
    #[arg(long, value_name = "FILE", requires = "stats")]
    pub server_ca: Option<String>,
    /// With --stats: the name in the certificate of the server, if it differs from the host of ADDR
    #[arg(long, value_name = "NAME", requires = "server_ca")]
    pub server_name: Option<String>,
}

/// The limits of the server. Sizes are bytes, or have a unit such as 64MiB.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits (sizes such as 64MiB or 2GiB, times in seconds)")]
pub struct LimitArgs {
    /// Maximum size of a message; arrays and texts are sent in parts [default: 4MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_message: Option<u64>,
    /// Maximum size of the text of a module [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_module: Option<u64>,
    /// Maximum memory of a client's buffers, programs and runs together [default: 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    client_memory: Option<u64>,
    /// Maximum memory of all clients together [default: three quarters of the free memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Maximum number of buffers of a client [default: 10000]
    #[arg(long, value_name = "N")]
    client_buffers: Option<usize>,
    /// Maximum number of programs of a client [default: 1000]
    #[arg(long, value_name = "N")]
    client_programs: Option<usize>,
    /// Maximum number of concurrent calls of a client [default: 32]
    #[arg(long, value_name = "N", value_parser = positive)]
    client_requests: Option<usize>,
    /// Maximum number of clients at once [default: 256]
    #[arg(long, value_name = "N", value_parser = positive)]
    clients: Option<usize>,
    /// Maximum time of a compilation, from its start [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    compile_time: Option<Duration>,
    /// Maximum time of a run, from its start [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    run_time: Option<Duration>,
    /// Maximum time from opening a connection to its first call [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    handshake_time: Option<Duration>,
    /// Maximum time without data within a call, or on a connection without a session [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    idle_timeout: Option<Duration>,
}

/// The threads of the server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Execution")]
pub struct WorkArgs {
    /// Number of concurrent runs; one client can use at most one less
    /// [default: the number of cores, at least 4]
    #[arg(long, value_name = "N", value_parser = positive)]
    workers: Option<usize>,
    /// Number of concurrent compilations; one client can use at most one less
    /// [default: the number of cores, at least 2]
    #[arg(long, value_name = "N", value_parser = positive)]
    compilers: Option<usize>,
    /// Number of threads of each run and each compilation, for few clients with large programs
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    threads: usize,
    /// Memory for programs that no client uses any more [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    cache_memory: Option<u64>,
    /// Time that runs may continue after the server was asked to stop [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    grace: Option<Duration>,
}

/// Reads a number of bytes, with an optional unit.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err(format!("expected a size such as 64MiB, found `{text}`")),
    };
    let number: u64 = number.parse().map_err(|_| format!("expected a size such as 64MiB, found `{text}`"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("{text} is more than there can be"))
}

fn positive(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|&n| n > 0);
    number.ok_or_else(|| format!("expected a number from 1 on, found `{text}`"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n).ok());
    // The clock cannot represent longer times.
    let number = number.filter(|t| t.as_secs() < u64::from(u32::MAX));
    number.ok_or_else(|| format!("expected a number of seconds, found `{text}`"))
}

fn read_pem(path: &str) -> Result<String, Failure> {
    Ok(read_text(path, "a PEM file")?.text)
}

fn length(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Cli {
    /// Returns the configuration of the server.
    ///
    /// # Errors
    /// A certificate file cannot be read, or one is missing.
    pub fn config(&self) -> Result<Config, Failure> {
        let (given, defaults) = (&self.limits, Limits::default());
        let limits = Limits {
            message: given.max_message.map_or(defaults.message, length),
            module: given.max_module.map_or(defaults.module, length),
            client_memory: given.client_memory.unwrap_or(defaults.client_memory),
            memory: given.memory.unwrap_or(defaults.memory),
            buffers: given.client_buffers.unwrap_or(defaults.buffers),
            programs: given.client_programs.unwrap_or(defaults.programs),
            requests: given.client_requests.unwrap_or(defaults.requests),
            clients: given.clients.unwrap_or(defaults.clients),
            compile_time: given.compile_time.unwrap_or(defaults.compile_time),
            run_time: given.run_time.unwrap_or(defaults.run_time),
            handshake: given.handshake_time.unwrap_or(defaults.handshake),
            idle: given.idle_timeout.unwrap_or(defaults.idle),
        };
        let defaults = Config::new(self.address.clone());
        let work = &self.work;
        Ok(Config {
            tls: self.server_tls()?,
            limits,
            workers: work.workers.unwrap_or(defaults.workers),
            compilers: work.compilers.unwrap_or(defaults.compilers),
            threads: work.threads,
            cache_memory: work.cache_memory.unwrap_or(defaults.cache_memory),
            grace: work.grace.unwrap_or(defaults.grace),
            ..defaults
        })
    }

    fn server_tls(&self) -> Result<Option<ServerTls>, Failure> {
        let TlsArgs { tls_cert, tls_key, client_ca, .. } = &self.tls;
        let (Some(certificate), Some(key)) = (tls_cert, tls_key) else { return Ok(None) };
        let Some(client_ca) = client_ca else {
            return Err(Failure::Usage(
                "--tls-cert needs --client-ca: who must have signed the certificates of clients".to_string(),
            ));
        };
        Ok(Some(ServerTls {
            certificate: read_pem(certificate)?,
            key: read_pem(key)?,
            client_ca: read_pem(client_ca)?,
        }))
    }

    /// Returns the options of the connection that requests the statistics.
    ///
    /// # Errors
    /// A certificate file cannot be read, or one is missing.
    pub fn connect_options(&self) -> Result<ConnectOptions, Failure> {
        let TlsArgs { tls_cert, tls_key, server_ca, server_name, .. } = &self.tls;
        let tls = match (tls_cert, tls_key, server_ca) {
            (Some(certificate), Some(key), Some(server_ca)) => Some(Tls {
                server_ca: read_pem(server_ca)?,
                certificate: read_pem(certificate)?,
                key: read_pem(key)?,
                server_name: server_name.clone(),
            }),
            (None, None, None) => None,
            _ => {
                let message = "--stats needs --tls-cert, --tls-key and --server-ca, or none of them";
                return Err(Failure::Usage(message.to_string()));
            }
        };
        Ok(ConnectOptions { tls, ..ConnectOptions::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_and_times_are_read() {
        assert_eq!(size("64MiB"), Ok(64 << 20));
        assert_eq!(size("2 g"), Ok(2 << 30));
        assert_eq!(size("17"), Ok(17));
        for wrong in ["", "MiB", "-1", "1x", "99999999999T", "1.5G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["-1", "nan", "inf", "1e30", ""] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
        assert!(positive("0").is_err());
    }
}
