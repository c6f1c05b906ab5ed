//! Generates the Rust code of the protocol with a protobuf compiler written in Rust, so that nothing has to
//! be installed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = protox::compile(["hlo_service.proto"], ["proto"])?;
    println!("cargo:rerun-if-changed=proto");
    tonic_prost_build::configure()
        .build_server(std::env::var_os("CARGO_FEATURE_SERVER").is_some())
        .bytes(".")
        .compile_fds(files)?;
    Ok(())
}
