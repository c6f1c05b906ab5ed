//! Runs the modules of `test/corpus` (as JAX lowers them) against the results that XLA's CPU backend gave: by
//! the interpreter and by compiled code, and compiled code with one thread and with two, bit for bit.
//!
//! Everything goes through `hlo-run --case`, so that the test has no way of its own to a result.

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&corpus)
        .map(|entries| entries.filter_map(|e| e.ok()).map(|e| e.path()).collect())
        .unwrap_or_default();
    folders.retain(|f| f.join("case.json").is_file());
    folders.sort();
    let found = folders.len();
    let mut trials: Vec<Trial> = folders.into_iter().map(trial).collect();
    trials.push(Trial::test("the-corpus-is-there", move || match found {
        0 => Err("test/corpus has no cases".into()),
        _ => Ok(()),
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(folder: PathBuf) -> Trial {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Trial::test(name.clone(), move || run_case(&name, &folder).map_err(Into::into))
}

fn run_case(name: &str, folder: &Path) -> Result<(), String> {
    if !cfg!(feature = "codegen") {
        return hlo_run(folder, &["--engine=eval", "--quiet"]);
    }
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpus").join(name);
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let results = |threads: usize| work.join(format!("threads_{threads}.npz")).display().to_string();
    hlo_run(folder, &["--engine=both", "--threads=1", "--output", &results(1)])?;
    hlo_run(folder, &["--engine=jit", "--threads=2", "--output", &results(2)])?;
    let read = |threads| std::fs::read(results(threads)).map_err(|e| e.to_string());
    match read(1)? == read(2)? {
        true => Ok(()),
        false => Err("one thread and two give different bits".to_string()),
    }
}

fn hlo_run(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(env!("CARGO_BIN_EXE_hlo-run"))
        .arg("--case")
        .arg(folder)
        .args(arguments)
        .output()
        .map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "hlo-run {} ended with {}\n{}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}
