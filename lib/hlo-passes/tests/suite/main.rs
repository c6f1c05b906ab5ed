//! Tests of the properties of passes: they preserve the meaning of modules, their time grows with the module,
//! and they are documented. All tests are one program, because linking each additional one takes time.

mod bisect;
mod communication_volume;
mod contraction_raising;
mod cost;
mod damaged;
mod dense_dependencies;
mod docs;
mod dynamic_padder;
mod elementary_functions;
mod examples;
mod layout_assignment;
mod layout_orders;
mod layout_solver;
mod literal_canonicalizer;
mod partitioning;
mod range;
mod reaches;
mod registry;
mod rewrites;
mod rewriting;
mod scale;
mod semantics;
mod sharding_rule;
mod tile_assignment;
mod trip_count;
mod wrong;

use std::path::{Path, PathBuf};

/// Returns the pipeline of a text, which may name passes of `hlo-passes-xla`.
fn pipeline(text: &str) -> hlo_passes::Pipeline {
    hlo_passes_xla::register();
    hlo_passes::Pipeline::parse(text).expect("a pipeline")
}

/// Returns all passes, those of `hlo-passes-xla` included, and registers these.
fn passes() -> Vec<&'static hlo_passes::PassInfo> {
    hlo_passes_xla::register();
    hlo_passes::passes()
}

/// Adds the `.hlo` files below a folder, in order.
fn hlo_files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            hlo_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "hlo") {
            out.push(path);
        }
    }
}
