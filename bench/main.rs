//! `make bench`: compiles and runs the modules of `bench/modules` with `hlo-run` and prints one table.
//!
//! `cargo run --release --example bench -- [--threads N] [NAME ...]`. A NAME is a substring of a module's name.
//!
//! Inputs are generated as `case.json` describes. The run time is the median of several executions on inputs in memory,
//! after one warm-up. The compile time covers everything from text to machine code. `hlo-run` measures the times, in a
//! separate process for each module.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Maximum total time of the runs of one module, in seconds.
const BUDGET: f64 = 1.5;

struct Options {
    threads: Vec<usize>,
    names: Vec<String>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(e) => {
            eprintln!("bench: {e}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("bench: {e}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut options = Options { threads: Vec::new(), names: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => {
                let number =
                    arguments.next().and_then(|n| n.parse().ok()).ok_or("--threads takes a number")?;
                options.threads.push(number);
            }
            name if name.starts_with('-') => return Err(format!("unknown option {name}")),
            name => options.names.push(name.to_string()),
        }
    }
    if options.threads.is_empty() {
        options.threads = if cores > 1 { vec![cores, 1] } else { vec![1] };
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), String> {
    let hlo_run = tool()?;
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/modules");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&modules)
        .map_err(|e| format!("{}: {e}", modules.display()))?
        .filter_map(|e| e.ok())
        .map(|e| e.path())
        .collect();
    folders.sort();
    let mut header = format!("{:<26}{:>11}", "module", "compile ms");
    for threads in &options.threads {
        header.push_str(&format!("{:>13}", format!("{threads} thr ms")));
    }
    println!("{header}{:>10}{:>10}{:>12}", "GF/s", "GB/s", "arena MiB");
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if options.names.is_empty() || options.names.iter().any(|n| name.contains(n.as_str())) {
            println!(
                "{name:<26}{}",
                row(&hlo_run, &folder, &options.threads).unwrap_or_else(|e| format!("  {e}"))
            );
        }
    }
    Ok(())
}

/// Returns the path of `hlo-run` of the same build, which is in the parent folder of this program's folder `examples/`.
fn tool() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let path = own.parent().and_then(Path::parent).map(|p| p.join("hlo-run"));
    path.filter(|p| p.exists()).ok_or_else(|| "hlo-run is not built: cargo build --release".to_string())
}

/// Returns the columns of one module, or the first line of the error.
fn row(hlo_run: &Path, folder: &Path, threads: &[usize]) -> Result<String, String> {
    let case = std::fs::read_to_string(folder.join("case.json")).map_err(|e| e.to_string())?;
    let case: Value = serde_json::from_str(&case).map_err(|e| e.to_string())?;
    let mut out = String::new();
    let mut best = f64::INFINITY;
    let mut arena = 0.0;
    for (i, &n) in threads.iter().enumerate() {
        let mut times = measure(hlo_run, folder, n, 3)?;
        let iterations = (BUDGET / median(&times).max(1e-6)).min(300.0) as usize;
        if iterations > 5 {
            times = measure(hlo_run, folder, n, iterations)?;
        }
        let seconds = |key: &str| times.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        if i == 0 {
            let compile = seconds("parse") + seconds("passes") + seconds("codegen") + seconds("jit");
            out.push_str(&format!("{:>11.1}", compile * 1e3));
            arena = seconds("arena_bytes") / (1 << 20) as f64;
        }
        best = best.min(median(&times));
        out.push_str(&format!("{:>13.3}", median(&times) * 1e3));
    }
    let rate = |key: &str| match case.get(key).and_then(Value::as_f64) {
        Some(n) if n > 0.0 => format!("{:>10.1}", n / best / 1e9),
        _ => format!("{:>10}", ""),
    };
    out.push_str(&format!("{}{}{arena:>12.1}", rate("flops"), rate("bytes")));
    Ok(out)
}

fn median(times: &Value) -> f64 {
    times.pointer("/run/median").and_then(Value::as_f64).unwrap_or(f64::INFINITY)
}

fn measure(hlo_run: &Path, folder: &Path, threads: usize, iterations: usize) -> Result<Value, String> {
    let output = Command::new(hlo_run)
        .args(["--engine=jit", "--quiet", "--time=json", "--warmup=1", "--case"])
        .arg(folder)
        .arg(format!("--threads={threads}"))
        .arg(format!("--iterations={iterations}"))
        .output()
        .map_err(|e| e.to_string())?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(message.lines().next().unwrap_or("hlo-run failed").to_string());
    }
    serde_json::from_slice(&output.stdout).map_err(|e| format!("hlo-run --time=json: {e}"))
}
