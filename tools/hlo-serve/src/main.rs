//! `hlo-serve`: a server that compiles and runs HLO programs.

mod args;

use args::{Cli, StatsFormat};
use hlo_serve::{Server, Stop, json, table};
use hlo_tools_common::{Failure, parse_arguments, print};
use std::process::ExitCode;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    let cli: Cli = match parse_arguments("hlo-serve") {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let reporter = cli.show.reporter("hlo-serve");
    reporter.finish(match cli.stats {
        Some(format) => show_statistics(&cli, format),
        None => serve(&cli),
    })
}

fn show_statistics(cli: &Cli, format: StatsFormat) -> Result<(), Failure> {
    let options = cli.connect_options()?;
    let statistics = hlo_remote::statistics(&cli.address, options);
    let statistics = statistics.map_err(|e| Failure::Message(e.to_string()))?;
    let text = match format {
        StatsFormat::Table => table(&statistics),
        StatsFormat::Json => json(&statistics),
    };
    print(text.as_bytes())
}

fn serve(cli: &Cli) -> Result<(), Failure> {
    let config = cli.config()?;
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let server = Server::bind(config).await?;
        let stopper = server.stopper();
        stop_at_signals(&stopper)?;
        // The parent process may not read the output.
        let _ = print(format!("hlo-serve: listening at {}\n", server.address()).as_bytes());
        server.serve().await
    });
    // Do not wait for runs that do not stop.
    runtime.shutdown_background();
    outcome
}

/// Starts the threads that handle calls.
fn runtime() -> Result<Runtime, Failure> {
    let failed = |why: &str| Failure::Message(format!("threads can't be started: {why}"));
    // Tokio panics if the system cannot start a thread.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let built = std::panic::catch_unwind(|| tokio::runtime::Builder::new_multi_thread().enable_all().build());
    std::panic::set_hook(hook);
    match built {
        Ok(runtime) => runtime.map_err(|e| failed(&e.to_string())),
        Err(panic) => {
            let why = panic.downcast_ref::<String>().map_or("the system starts no further thread", |why| why);
            Err(failed(why))
        }
    }
}

/// Stops the server on SIGTERM and SIGINT.
fn stop_at_signals(stopper: &Stop) -> Result<(), Failure> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let signals = signal(kind).map_err(|e| Failure::Message(format!("signals can't be heard: {e}")));
        let (mut signals, stopper) = (signals?, stopper.clone());
        tokio::spawn(async move {
            while signals.recv().await.is_some() {
                stopper.stop();
            }
        });
    }
    Ok(())
}
