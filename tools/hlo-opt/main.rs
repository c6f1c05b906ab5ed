//! `hlo-opt`.
fn main() {}
