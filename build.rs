//! Lets the libraries that `hlo-run --custom-calls` loads call back what reports a status or registers handlers.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // A folder with archives of them and nothing else: it is searched before those that have the shared ones too. Only the
    // binaries are linked anew.
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
