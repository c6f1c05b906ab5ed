//! Exports functions of `hlo-run` to the libraries that `--custom-calls` loads: those that report a status and register handlers.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The variable names a folder that contains only static archives. The linker searches it before folders that also contain
    // shared libraries. A change of the variable relinks only the binaries.
    println!("cargo:rerun-if-env-changed=HLO_STATIC_LIBRARIES");
    if let Ok(folder) = std::env::var("HLO_STATIC_LIBRARIES") {
        println!("cargo:rustc-link-search=native={folder}");
    }
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        for name in ["XlaCustomCallStatusSetSuccess", "XlaCustomCallStatusSetFailure", "XLA_FFI_GetApi"] {
            println!("cargo:rustc-link-arg-bin=hlo-run=-Wl,--export-dynamic-symbol={name}");
        }
    }
}
