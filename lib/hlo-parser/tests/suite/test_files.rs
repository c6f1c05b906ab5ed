//! The files that tests of this crate read.

use std::path::{Path, PathBuf};

/// Returns the files below a folder of the repository, in order.
pub fn below(folder: &str) -> Vec<PathBuf> {
    fn add(folder: &Path, out: &mut Vec<PathBuf>) {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() { add(&path, out) } else { out.push(path) }
        }
    }
    let mut out = Vec::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder), &mut out);
    out
}
