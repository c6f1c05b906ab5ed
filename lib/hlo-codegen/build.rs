//! Gives the code generator's sources a number: compiled code that another version made must not be run by this one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// What object files depend on besides the module: who plans and emits them, and what they call.
const SOURCES: [&str; 6] = [
    "src",
    "../hlo-ir/src",
    "../hlo-analysis/src",
    "../hlo-plan/src",
    "../hlo-runtime/src",
    "../hlo-runtime-core/src",
];

fn main() {
    let mut files = Vec::new();
    // A published crate does not have the others beside it: its version, and those that it asks for, say which they are.
    for folder in SOURCES.into_iter().map(Path::new).filter(|folder| folder.exists()) {
        println!("cargo:rerun-if-changed={}", folder.display());
        collect(folder, &mut files);
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in &files {
        (file, std::fs::read(file).unwrap_or_default()).hash(&mut hasher);
    }
    println!("cargo:rustc-env=HLO_CODE_VERSION={}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish());
}

/// All files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}
