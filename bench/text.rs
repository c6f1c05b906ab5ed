//! Measures the speed of parsing, verifying and printing modules:
//! `cargo run --release -p hlo-parser --example text_bench -- [--seconds S] [--json] [--only STAGE] FILE...`.
//!
//! For each file, it prints the mean time of each stage, and the rate in bytes of parsed or printed text. With `--json` it
//! prints one object per file: `"stage": [bytes, seconds]`. On Linux the times are processor time, so that other work on
//! the machine does not count; divan and criterion only measure wall-clock time. `--only read`, `verify` or `print`
//! measures one stage, for profilers.

use hlo_ir::print::{PrintOptions, print_module};
use std::time::{Duration, Instant};

struct Options {
    budget: Duration,
    json: bool,
    only: Option<String>,
}

impl Options {
    fn wants(&self, stage: &str) -> bool {
        self.only.as_ref().is_none_or(|o| o == stage)
    }

    fn budget(&self, stage: &str) -> Duration {
        if self.wants(stage) { self.budget } else { Duration::ZERO }
    }
}

fn main() {
    let mut options = Options { budget: Duration::from_secs(1), json: false, only: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seconds" => {
                let seconds: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(1.0);
                options.budget = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            }
            "--json" => options.json = true,
            "--only" => options.only = arguments.next(),
            file => match std::fs::read_to_string(file) {
                Ok(text) => measure(file, &text, &options),
                Err(e) => eprintln!("{file}: {e}"),
            },
        }
    }
}

fn measure(name: &str, text: &str, options: &Options) {
    let (parsed, read) = mean_time(options.budget("read"), || hlo_parser::parse_module(text));
    let megabytes = text.len() as f64 / 1e6;
    let module = match parsed {
        Ok(module) => module,
        Err(diags) => {
            let first = diags.first().map_or("", |d| d.message.as_str());
            println!("{name}: {:.1} MB/s, {} errors, such as: {first}", megabytes / read, diags.len());
            return;
        }
    };
    let mut stages = vec![("read", text.len(), read)];
    if options.wants("verify") {
        let (violations, time) =
            mean_time(options.budget("verify"), || hlo_ir::verify::verify(&module).len());
        stages.push(("verify", text.len(), time));
        if violations > 0 {
            eprintln!("{name}: {violations} violations");
        }
    }
    if options.wants("print") {
        let form = PrintOptions::default();
        let (printed, time) = mean_time(options.budget("print"), || print_module(&module, &form).len());
        stages.push(("print", printed, time));
    }
    if options.json {
        let cells = stages.iter().map(|(stage, bytes, time)| format!("\"{stage}\": [{bytes}, {time}]"));
        println!("{{{}}}", cells.collect::<Vec<_>>().join(", "));
        return;
    }
    let cell = |&(stage, bytes, time): &(&str, usize, f64)| {
        format!("  {stage} {:>9.2} ms {:>6.1} MB/s", time * 1e3, bytes as f64 / 1e6 / time)
    };
    println!("{megabytes:>8.3} MB{}  {name}", stages.iter().map(cell).collect::<String>());
}

/// Runs `work` repeatedly until `budget` has passed. Returns the last result, and the mean time of a run in seconds.
fn mean_time<T>(budget: Duration, mut work: impl FnMut() -> T) -> (T, f64) {
    let wall = Instant::now();
    let (mut total, mut times) = (Duration::ZERO, 0u32);
    loop {
        let (start, before) = (Instant::now(), on_processor());
        let result = work();
        total += match (before, on_processor()) {
            (Some(before), Some(after)) => after.saturating_sub(before),
            _ => start.elapsed(),
        };
        times += 1;
        // The time does not include dropping the result.
        if wall.elapsed() >= budget {
            return (result, total.as_secs_f64() / f64::from(times));
        }
    }
}

/// Returns the processor time of this thread, if the system provides it.
fn on_processor() -> Option<Duration> {
    // The system updates the number when the thread yields.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}
