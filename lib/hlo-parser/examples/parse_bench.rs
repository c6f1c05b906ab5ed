//! How fast text becomes a module: `cargo run --release -p hlo-parser --example parse_bench -- [--seconds S] FILE...`.
//!
//! Prints for each file its size, the mean of several times and the rate. Times are of the processor where Linux
//! tells them, so that other work on the machine does not count; with `--seconds` it keeps parsing for a profiler
//! to look at.

use std::time::{Duration, Instant};

fn main() {
    let mut seconds = 1.0;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--seconds" {
            seconds = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(seconds);
            continue;
        }
        match std::fs::read_to_string(&argument) {
            Ok(text) => measure(&argument, &text, Duration::from_secs_f64(seconds)),
            Err(e) => eprintln!("{argument}: {e}"),
        }
    }
}

fn measure(name: &str, text: &str, budget: Duration) {
    let (wall, processor) = (Instant::now(), on_processor());
    let mut times = 0u32;
    let mut outcome = String::new();
    while times == 0 || wall.elapsed() < budget {
        outcome = match hlo_parser::parse_module(text) {
            Ok(module) => format!("{} instructions", module.instruction_capacity()),
            Err(diags) => format!("{} errors, such as: {}", diags.len(), diags[0].message),
        };
        times += 1;
    }
    let total = match (processor, on_processor()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => wall.elapsed(),
    };
    let (megabytes, seconds) = (text.len() as f64 / 1e6, total.as_secs_f64() / f64::from(times));
    println!(
        "{megabytes:>10.3} MB {:>9.2} ms {:>8.1} MB/s  {name}: {outcome}",
        seconds * 1e3,
        megabytes / seconds
    );
}

/// How long this thread has run on a processor.
fn on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}
