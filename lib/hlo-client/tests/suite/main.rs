//! Tests of programs that are compiled and run from Rust. They are one program, because each further program
//! takes time to link.

mod asynchronous;
mod cache;
mod client;
#[cfg(feature = "codegen")]
mod code_folder;
mod custom_partitioning;
mod devices;
mod donation;
mod transfers;
