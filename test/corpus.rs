//! Runs the modules of `test/corpus` (as JAX lowers them) and compares the results with those of XLA's CPU
//! backend. They run in the interpreter and as compiled code. Compiled code with one thread and with two must
//! produce the same bits. Modules of several devices run on as many devices.
//!
//! `HLO_THREADS=2,3,8` compares one thread with other numbers of threads. `HLO_CORPUS=DIR` runs the cases of
//! another folder.
//!
//! All runs use `hlo-run --case`, so that the test itself computes nothing.

mod tool;

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tool::tool;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let corpus = match std::env::var_os("HLO_CORPUS") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus"),
    };
    let threads = match numbers_of_threads() {
        Ok(threads) => threads,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::from(2);
        }
    };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&corpus)
        .map(|entries| entries.filter_map(|e| e.ok()).map(|e| e.path()).collect())
        .unwrap_or_default();
    folders.retain(|f| f.join("case.json").is_file());
    folders.sort();
    let found = folders.len();
    let mut trials: Vec<Trial> = folders.into_iter().map(|f| trial(f, threads.clone())).collect();
    trials.push(Trial::test("the-corpus-is-there", move || match found {
        0 => Err("there are no cases".into()),
        _ => Ok(()),
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns the numbers of threads that are compared with one thread.
fn numbers_of_threads() -> Result<Vec<usize>, String> {
    let text = std::env::var("HLO_THREADS").unwrap_or_else(|_| "2".into());
    let number =
        |n: &str| n.trim().parse().map_err(|_| format!("HLO_THREADS: {n:?} is no number of threads"));
    text.split(',').map(number).collect()
}

fn trial(folder: PathBuf, threads: Vec<usize>) -> Trial {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(name.clone(), move || run_case(&name, &folder, &threads).map_err(Into::into))
}

fn run_case(name: &str, folder: &Path, threads: &[usize]) -> Result<(), String> {
    if !cfg!(feature = "codegen") {
        return hlo_run(folder, &["--engine=eval", "--quiet"]);
    }
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus").join(name);
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let devices = devices(folder)?;
    let device = if devices == 1 { "" } else { ".dev{d}" };
    let results = |threads: usize| work.join(format!("threads_{threads}{device}.npz")).display().to_string();
    hlo_run(folder, &["--engine=both", "--threads=1", "--output", &results(1)])?;
    let read = |threads| -> Result<Vec<Vec<u8>>, String> {
        let path = |device: usize| results(threads).replace("{d}", &device.to_string());
        (0..devices).map(|device| std::fs::read(path(device)).map_err(|e| e.to_string())).collect()
    };
    let want = read(1)?;
    for &threads in threads {
        hlo_run(folder, &["--engine=jit", &format!("--threads={threads}"), "--output", &results(threads)])?;
        if read(threads)? != want {
            return Err(format!("one thread and {threads} give different bits"));
        }
    }
    Ok(())
}

/// Returns the number of devices of a case.
fn devices(folder: &Path) -> Result<usize, String> {
    let text = std::fs::read_to_string(folder.join("case.json")).map_err(|e| e.to_string())?;
    let json: serde_json::Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let count = |key: &str| json.get(key).and_then(serde_json::Value::as_u64).unwrap_or(1) as usize;
    Ok(count("num_replicas") * count("num_partitions"))
}

fn hlo_run(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = tool(env!("CARGO_BIN_EXE_hlo-run"))
        .arg("--case")
        .arg(folder)
        .args(arguments)
        .output()
        .map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!(
            "hlo-run {} ended with {}\n{}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ))
    }
}
