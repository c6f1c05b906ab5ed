//! The text tests. Runs the `// RUN:` lines of every `.hlo` and `.mlir` file under `test/` and the `# RUN:`
//! lines of every `.tile` file, and compares the output with the file's `CHECK` lines. `docs/testing.md`
//! describes what a test may contain.
//!
//! No shell is involved: [`run_line`] splits a RUN line into commands, and [`check`] translates the CHECK
//! lines for the `filecheck` crate. If LLVM's own FileCheck is installed, it must agree on every file. A file
//! without checks, or with an unknown directive, fails.

#[path = "lit/check.rs"]
mod check;
#[path = "lit/command.rs"]
mod command;
#[path = "lit/directive.rs"]
mod directive;
#[path = "lit/run_line.rs"]
mod run_line;
#[path = "lit/self_test.rs"]
mod self_test;
mod tool;

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The folders under `test/` that contain text tests.
const FOLDERS: &[&str] = &["parse", "verify", "passes", "exec", "tools", "errors", "stablehlo", "tile"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("test");
    let mut trials = self_test::trials();
    for folder in FOLDERS {
        for file in test_files(&root.join(folder)) {
            trials.push(trial(&root, file));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns the trial of one file. It is ignored if the file requires a feature that this build lacks.
fn trial(root: &Path, file: PathBuf) -> Trial {
    let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
    let lacks = std::fs::read_to_string(&file)
        .is_ok_and(|text| !cfg!(feature = "codegen") && directive::requires(&text, "codegen"));
    Trial::test(name.clone(), move || {
        let work = work_folder(&name)?;
        run_line::run_test(&file, &work).map_err(Into::into)
    })
    .with_ignored_flag(lacks)
}

/// Creates an empty folder for a test.
fn work_folder(name: &str) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lit").join(name.replace('/', "."));
    // Files of an earlier run must not affect this one.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| format!("can't make {}: {e}", folder.display()))?;
    Ok(folder)
}

/// Returns the `.hlo`, `.mlir` and `.tile` files of a folder and its subfolders, by name. Skips folders
/// called `inputs` and `corpus`, which contain modules that other tests read.
fn test_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok()).map(|e| e.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            if path.file_name().is_some_and(|n| n != "inputs" && n != "corpus") {
                files.extend(test_files(&path));
            }
        } else if path.extension().is_some_and(|e| e == "hlo" || e == "mlir" || e == "tile") {
            files.push(path);
        }
    }
    files
}
