//! A long stress test with many clients on one server and many kinds of failures: clients that are killed or
//! that send oversized, invalid or incomplete data, endless runs, and servers that are killed or stopped and
//! restarted. It checks every result, and compares the server's memory before and after.
//!
//! `cargo run --release -p hlo-serve --example soak -- --clients 64 --seconds 600`
//!
//! The test has three phases with the same load. After the first phase, the memory of the warm server is
//! measured. After the second phase, it must be the same. In the third phase, the server is killed, stopped
//! and restarted under load. The exit code is 1 if a check fails.

mod hostile;
mod misbehaving;
mod report;
mod server;
mod work;

use clap::Parser;
use report::Report;
use server::ServerProcess;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Many clients on one server, with many kinds of failures
#[derive(Parser)]
struct Cli {
    /// Number of clients
    #[arg(long, default_value = "64")]
    clients: usize,
    /// Total time in seconds
    #[arg(long, default_value = "60")]
    seconds: u64,
    /// Seed of the random choices
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Run as the server (the program starts itself with this option)
    #[arg(long, hide = true)]
    server: Option<String>,
    /// Run as a client that will be killed (the program starts itself with this option)
    #[arg(long, hide = true)]
    victim: Option<String>,
}

/// Maximum difference, in bytes, of the memory of a server without clients: the allocator keeps some memory.
const MEMORY_SLACK_BYTES: u64 = 48 << 20;

/// The events that must occur if the test runs long enough.
const EVENTS: [&str; 14] = [
    "arrays beyond the limit, refused",
    "arrays there and back, the same",
    "chains of runs on buffers, right",
    "arrays of too many dimensions, refused",
    "clients killed in the middle of a run",
    "compilations without end, ended",
    "connections with nonsense",
    "endless runs, ended by their limit",
    "endless runs, stopped",
    "messages that are too large, refused",
    "runs on values, right",
    "sessions that ended with their server",
    "uploads that never end, ended",
    "wrong modules, told where",
];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match (&cli.server, &cli.victim) {
        (Some(address), _) => server::serve(address, cli.clients),
        (_, Some(address)) => misbehaving::run_until_killed(address),
        _ => soak(&cli),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn soak(cli: &Cli) -> Outcome<()> {
    let report = Arc::new(Report::default());
    let mut server = ServerProcess::start("127.0.0.1:0", cli.clients)?;
    let address = server.address.clone();
    println!("server at {address}, {} clients, {} seconds", cli.clients, cli.seconds);
    let phase = Duration::from_secs(cli.seconds) / 3;

    load(cli, &address, &report, phase, 1, |_| Ok(()))?;
    let warm = server.quiet()?;
    report.phase("warm", &warm);
    load(cli, &address, &report, phase, 2, |_| Ok(()))?;
    let after = server.quiet()?;
    report.phase("after", &after);
    report.check(after.defects == 0, || format!("{} defects of the server", after.defects));
    let grown = after.resident_bytes.saturating_sub(warm.resident_bytes);
    report.check(grown <= MEMORY_SLACK_BYTES, || format!("the server's memory has grown by {grown} bytes"));

    report.allow_disconnections(true);
    load(cli, &address, &report, phase, 3, |phase| {
        // Kill the server under load, and later stop it with a signal.
        std::thread::sleep(phase / 3);
        server.kill()?;
        server = ServerProcess::start(&address, cli.clients)?;
        std::thread::sleep(phase / 3);
        server.stop()?;
        server = ServerProcess::start(&address, cli.clients)?;
        std::thread::sleep(phase / 3);
        Ok(())
    })?;
    let last = server.quiet()?;
    report.phase("restarted", &last);
    report.check(last.defects == 0, || format!("{} defects of the server", last.defects));
    server.stop()?;
    // With fewer clients, some kinds of clients are missing. In a shorter time, some events may not occur.
    if cli.clients >= 16 && cli.seconds >= 30 {
        report.check_happened(&EVENTS);
    }
    report.print();
    if report.is_good() { Ok(()) } else { Err("something is wrong, see above".into()) }
}

/// Runs all clients at once for a while, and `meanwhile` at the same time.
fn load(
    cli: &Cli,
    address: &str,
    report: &Arc<Report>,
    phase: Duration,
    number: u64,
    meanwhile: impl FnOnce(Duration) -> Outcome<()>,
) -> Outcome<()> {
    let over = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    let threads: Vec<_> = (0..cli.clients)
        .map(|k| {
            let (address, report, over) = (address.to_string(), report.clone(), over.clone());
            let random = work::Random::new(cli.seed ^ (number << 32) ^ k as u64);
            // Some of the clients disturb the others.
            std::thread::spawn(move || match k % 16 {
                11 => hostile::compile_endlessly(&address, &report, &over, random),
                12 => hostile::hold_connections(&address, &over, random),
                13 => misbehaving::kill_clients(&address, &report, &over, random),
                14 => misbehaving::send_nonsense(&address, &report, &over, random),
                15 => misbehaving::send_slowly(&address, &report, &over, random),
                _ => work::client(&address, &report, &over, random),
            })
        })
        .collect();
    let outcome = meanwhile(phase);
    std::thread::sleep(phase.saturating_sub(began.elapsed()));
    over.store(true, Ordering::Relaxed);
    for thread in threads {
        let ended = thread.join().is_ok();
        report.check(ended, || "a client has panicked".to_string());
    }
    outcome
}
