//! Computes a version number from the sources of the code generator. Cached object files that another version
//! compiled must not run with this one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Folders whose sources determine the object files besides the module: the planner, the code generator and
/// the runtime.
const SOURCES: [&str; 7] = [
    "src",
    "../hlo-ir/src",
    "../hlo-analysis/src",
    "../hlo-plan/src",
    "../hlo-kernel/src",
    "../hlo-runtime/src",
    "../hlo-runtime-core/src",
];

fn main() {
    let mut files = Vec::new();
    // A published crate does not have the other crates next to it. Its version and its dependencies' versions
    // then identify the sources.
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

/// Adds all files below a folder to `files`.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}
