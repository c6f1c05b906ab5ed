//! Says which packages to install when LLVM and MLIR 22 are missing. This runs before the build scripts of the
//! crates that bind them, whose own messages don't tell.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=scripts/deps.sh");
    for variable in ["MLIR_SYS_220_PREFIX", "LIBCLANG_PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    if std::env::var_os("CARGO_FEATURE_CODEGEN").is_none() {
        return;
    }
    let folder =
        |variable, usual: &str| std::env::var_os(variable).map_or(PathBuf::from(usual), PathBuf::from);
    let llvm = folder("MLIR_SYS_220_PREFIX", "/usr/lib/llvm-22");
    let clang = folder("LIBCLANG_PATH", "/usr/lib/llvm-22/lib");
    let needed =
        [llvm.join("bin/llvm-config"), llvm.join("include/mlir-c/IR.h"), llvm.join("lib/libMLIRIR.a")];
    let missing = needed.iter().find(|p| !p.exists()).map(|p| p.display().to_string());
    let missing =
        missing.or_else(|| (!has_libclang(&clang)).then(|| format!("{}/libclang*.so*", clang.display())));
    // Looked at again when it appears: a file that does not exist counts as changed.
    needed.iter().for_each(|p| println!("cargo::rerun-if-changed={}", p.display()));
    if let Some(missing) = missing {
        eprintln!("LLVM and MLIR 22 are needed for compiled execution: {missing} is missing.");
        eprintln!("On Debian `make deps` installs what is missing, or:");
        eprintln!("    apt-get install {}", packages());
        eprintln!(
            "Elsewhere set MLIR_SYS_220_PREFIX, TABLEGEN_220_PREFIX, LLVM_SYS_221_PREFIX and LIBCLANG_PATH."
        );
        eprintln!("Without LLVM: cargo build --no-default-features (hlo-opt, and hlo-run --engine=eval).");
        std::process::exit(1);
    }
}

fn has_libclang(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            name.starts_with("libclang") && name.contains(".so")
        })
    })
}

/// The list that scripts/deps.sh installs, so that there is one list only.
fn packages() -> String {
    let script = std::fs::read_to_string("scripts/deps.sh").unwrap_or_default();
    let list = script.split_once("packages=\"").and_then(|(_, rest)| rest.split_once('"'));
    list.map_or_else(String::new, |(list, _)| list.split_whitespace().collect::<Vec<_>>().join(" "))
}
