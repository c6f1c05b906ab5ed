//! Prints the time of each stage, as a table or as JSON.

use hlo_client::Wait;
use hlo_ir::human_bytes;
use hlo_tools_common::table::{Align, Table};
use std::fmt::Write as _;
use std::time::Duration;

/// The times of one run of the tool. A stage that did not run is `None`.
#[derive(Clone, Debug, Default)]
pub struct Timings {
    /// The time to parse and verify the text.
    pub parse: Duration,
    /// The time of the passes before code generation.
    pub passes: Option<Duration>,
    /// The time of compiling HLO to machine code.
    pub codegen: Option<Codegen>,
    /// The time of each timed run.
    pub runs: Vec<Duration>,
    /// The time of each timed run of the interpreter, if both engines run.
    pub eval_runs: Vec<Duration>,
    /// The number of untimed runs before.
    pub warmup: u32,
    /// The waits of the devices in all runs of the first engine.
    pub waits: Vec<Wait>,
}

/// The statistics of a compilation.
#[derive(Clone, Debug)]
pub struct Codegen {
    /// Wall-clock time from HLO to machine code.
    pub total: Duration,
    /// The part of that time for the schedule and the buffer assignment.
    pub plan: Duration,
    /// Time to build and lower MLIR, summed over threads.
    pub mlir: Duration,
    /// Time of LLVM's optimizer and code generator, summed over threads.
    pub llvm: Duration,
    /// Time to link the machine code into the process.
    pub link: Duration,
    /// Whether the code was in a cache, so that nothing was compiled.
    pub was_kept: bool,
    /// The size of the arena for temporary values in bytes.
    pub arena: u64,
    /// The number of threads that the program uses.
    pub threads: usize,
}

/// Maximum number of waits shown.
const MAX_WAITS: usize = 20;

/// The minimum, median and mean of the times of runs.
struct Summary {
    min: Duration,
    median: Duration,
    mean: Duration,
}

fn summary(runs: &[Duration]) -> Option<Summary> {
    let mut sorted = runs.to_vec();
    sorted.sort_unstable();
    let total: Duration = sorted.iter().sum();
    Some(Summary {
        min: *sorted.first()?,
        median: (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2,
        mean: total.div_f64(sorted.len() as f64),
    })
}

impl Timings {
    /// Returns an aligned table.
    pub fn table(&self) -> String {
        let mut rows = vec![("parse", format_time(self.parse))];
        rows.extend(self.passes.map(|t| ("passes", format_time(t))));
        if let Some(c) = &self.codegen {
            let part = |t: Duration| format_time(t).trim_start().to_string();
            let rest = if c.was_kept {
                "the code was in the cache".to_string()
            } else {
                format!("over all threads MLIR {}, LLVM {}", part(c.mlir), part(c.llvm))
            };
            let parts = format!("{} (plan {}; {rest})", format_time(c.total), part(c.plan));
            rows.extend([("codegen", parts), ("JIT", format_time(c.link))]);
        }
        for (name, runs) in [("run", &self.runs), ("run (eval)", &self.eval_runs)] {
            if let Some(s) = summary(runs) {
                let mut text = format_time(s.min);
                if runs.len() > 1 {
                    let (median, mean) = (format_time(s.median), format_time(s.mean));
                    let _ = write!(
                        text,
                        " min, {} median, {} mean of {}",
                        median.trim_start(),
                        mean.trim_start(),
                        runs.len()
                    );
                }
                if self.warmup > 0 {
                    let _ = write!(text, " after {} untimed", self.warmup);
                }
                rows.push((name, text));
            }
        }
        if let Some(c) = &self.codegen {
            rows.push(("arena peak", format!("{:>10}", human_bytes(c.arena))));
            rows.push(("threads", format!("{:>7}", c.threads)));
        }
        let mut out = rows.iter().fold(String::new(), |mut out, (name, value)| {
            let _ = writeln!(out, "{name:<12}{value}");
            out
        });
        out.push_str(&self.waits_table());
        out
    }

    /// Returns the waits of devices, the longest first, or an empty string if there are none.
    fn waits_table(&self) -> String {
        if self.waits.is_empty() {
            return String::new();
        }
        let mut waits: Vec<&Wait> = self.waits.iter().collect();
        waits.sort_by_key(|w| std::cmp::Reverse(w.time));
        let right = Align::Right;
        let mut table =
            Table::new(&[("device", right), ("waits in", Align::Left), ("runs", right), ("for", right)]);
        for wait in waits.iter().take(MAX_WAITS) {
            table.row([
                wait.device.to_string(),
                wait.name.clone(),
                wait.count.to_string(),
                format_time(wait.time).trim_start().to_string(),
            ]);
        }
        let more = waits.len().saturating_sub(MAX_WAITS);
        let more = if more > 0 { format!("and {more} shorter ones\n") } else { String::new() };
        format!("\n{}{more}", table.text())
    }

    /// Returns one line of JSON with seconds and bytes. Stages that did not run are `null`.
    pub fn json(&self) -> String {
        let seconds = |t: Duration| t.as_secs_f64();
        let codegen = self.codegen.as_ref();
        let runs = |runs: &[Duration]| match summary(runs) {
            Some(s) => serde_json::json!({
                "min": s.min.as_secs_f64(), "median": s.median.as_secs_f64(), "mean": s.mean.as_secs_f64(),
                "count": runs.len(),
            }),
            None => serde_json::Value::Null,
        };
        let mut value = serde_json::json!({
            "parse": self.parse.as_secs_f64(),
            "passes": self.passes.map(seconds),
            "codegen": codegen.map(|c| seconds(c.total)),
            "plan": codegen.map(|c| seconds(c.plan)),
            "mlir_all_threads": codegen.map(|c| seconds(c.mlir)),
            "llvm_all_threads": codegen.map(|c| seconds(c.llvm)),
            "jit": codegen.map(|c| seconds(c.link)),
            "cached": codegen.map(|c| c.was_kept),
            "run": runs(&self.runs),
            "eval_run": runs(&self.eval_runs),
            "arena_bytes": codegen.map(|c| c.arena),
            "threads": codegen.map(|c| c.threads),
        });
        if !self.waits.is_empty() {
            let wait = |w: &Wait| {
                serde_json::json!({
                    "device": w.device, "name": w.name, "count": w.count, "seconds": seconds(w.time),
                })
            };
            value["waits"] = self.waits.iter().map(wait).collect();
        }
        format!("{value}\n")
    }
}

/// Formats a time in a unit that suits three decimals.
fn format_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match time.as_nanos() {
        0..1_000 => format!("{:>7} ns", time.as_nanos()),
        1_000..1_000_000 => format!("{:>7.3} µs", seconds * 1e6),
        1_000_000..100_000_000_000 => format!("{:>7.3} ms", seconds * 1e3),
        _ => format!("{seconds:>7.3} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        let runs: Vec<Duration> = [4, 1, 3, 2].iter().map(|&m| Duration::from_millis(m)).collect();
        let s = summary(&runs).unwrap();
        assert_eq!(s.min, Duration::from_millis(1));
        assert_eq!(s.median, Duration::from_micros(2500));
        assert_eq!(s.mean, Duration::from_micros(2500));
        assert!(summary(&[]).is_none());
    }

    #[test]
    fn short_times_are_not_zero() {
        assert_eq!(format_time(Duration::from_nanos(7)), "      7 ns");
        assert_eq!(format_time(Duration::from_nanos(70_500)), " 70.500 µs");
        assert_eq!(format_time(Duration::from_millis(2)), "  2.000 ms");
    }

    #[test]
    fn the_table_leaves_out_what_did_not_happen() {
        let timings = Timings {
            parse: Duration::from_micros(1500),
            runs: vec![Duration::from_millis(2)],
            ..Timings::default()
        };
        assert_eq!(timings.table(), "parse         1.500 ms\nrun           2.000 ms\n");
    }
}
