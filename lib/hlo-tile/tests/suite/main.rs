//! Tests of Tile: the evaluation of functions, the library, and Tile in Rust. They are one program, because
//! each further program takes time to link.

mod argument;
mod arithmetic;
mod docs;
mod edsl;
mod einsum;
#[cfg(feature = "macros")]
mod embedded;
mod known;
mod library;
mod limits;
mod poly;
mod python;
mod rules;
mod types;
