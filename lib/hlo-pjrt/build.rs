//! Lets the shared library link archives in place of libraries that are not installed on every computer
//! (`scripts/wheel.sh`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HLO_STATIC_LIBRARIES");
    if let Ok(folder) = std::env::var("HLO_STATIC_LIBRARIES") {
        println!("cargo:rustc-link-search=native={folder}");
    }
}
