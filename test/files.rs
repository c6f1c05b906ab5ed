//! The files of a folder, for tests that check all of them.

use std::path::{Path, PathBuf};

/// Returns the files below a folder, in order. Folders with built files are skipped.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if !path.is_dir() {
                found.push(path);
            } else if !path.ends_with("target") && !path.ends_with("node_modules") {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Checks whether a path has the extension.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

/// Returns the pages of the project: those of its root and of some folders.
pub fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(|f| root.join(f)).into();
    for folder in ["docs", "editors", "examples", "python"] {
        all.extend(below(&root.join(folder)).into_iter().filter(|path| has_extension(path, "md")));
    }
    all
}
