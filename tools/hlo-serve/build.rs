//! Links archives where `make dist` names a folder with them, as the tools of the root package do (see its build.rs).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HLO_STATIC_LIBRARIES");
    if let Ok(folder) = std::env::var("HLO_STATIC_LIBRARIES") {
        println!("cargo:rustc-link-search=native={folder}");
    }
}
