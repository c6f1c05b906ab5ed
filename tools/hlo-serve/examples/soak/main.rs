//! Many clients on one server for a long time, with all that can go wrong: clients that are killed, that send too much, or
//! nonsense, or next to nothing, runs that never end, and servers that are killed or stopped and started anew. Every result is
//! checked, and the server's memory before and after.
//!
//! `cargo run --release -p hlo-serve --example soak -- --clients 64 --seconds 600`
//!
//! Three phases of the same load: after the first the server's memory is what it is when it is warm; after the second it must be
//! the same; in the third the server is killed, and stopped, and started anew under load. Exit code 1 if anything is wrong.

mod disturb;
mod hostile;
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

/// Many clients on one server, with all that can go wrong
#[derive(Parser)]
struct Cli {
    /// Clients at once
    #[arg(long, default_value = "64")]
    clients: usize,
    /// How long, in all
    #[arg(long, default_value = "60")]
    seconds: u64,
    /// What random choices follow from
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Be the server (the program starts itself so)
    #[arg(long, hide = true)]
    server: Option<String>,
    /// Be a client that is to be killed (the program starts itself so)
    #[arg(long, hide = true)]
    victim: Option<String>,
}

/// Bytes by which the memory of a server may differ that holds nothing: what the allocator keeps.
const SLACK: u64 = 48 << 20;

/// What must have happened if it was tried for long enough.
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
        (_, Some(address)) => disturb::victim(address),
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
    report.check(grown <= SLACK, || format!("the server's memory has grown by {grown} bytes"));

    report.allow_disconnections(true);
    load(cli, &address, &report, phase, 3, |phase| {
        // Killed in the middle of all, and after that stopped as one should.
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
    // With fewer clients some do not take part, and in a shorter time they don't come to it.
    if cli.clients >= 16 && cli.seconds >= 30 {
        report.check_happened(&EVENTS);
    }
    report.print();
    match report.is_good() {
        true => Ok(()),
        false => Err("something is wrong, see above".into()),
    }
}

/// All clients at once, for a while; meanwhile something else happens.
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
            // Some of the clients are there to disturb the others.
            std::thread::spawn(move || match k % 16 {
                11 => hostile::compile_endlessly(&address, &report, &over, random),
                12 => hostile::hold_connections(&address, &over, random),
                13 => disturb::kill_clients(&address, &report, &over, random),
                14 => disturb::send_nonsense(&address, &report, &over, random),
                15 => disturb::be_slow(&address, &report, &over, random),
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
