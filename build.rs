//! Lets the libraries that `hlo-run --custom-calls` loads call back what reports a status or registers handlers.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        for name in ["XlaCustomCallStatusSetSuccess", "XlaCustomCallStatusSetFailure", "XLA_FFI_GetApi"] {
            println!("cargo:rustc-link-arg-bin=hlo-run=-Wl,--export-dynamic-symbol={name}");
        }
    }
}
