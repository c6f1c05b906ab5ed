//! Links archives if `make dist` sets their folder, like the tools of the root package (see its build.rs).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=HLO_STATIC_LIBRARIES");
    if let Ok(folder) = std::env::var("HLO_STATIC_LIBRARIES") {
        println!("cargo:rustc-link-search=native={folder}");
    }
}
