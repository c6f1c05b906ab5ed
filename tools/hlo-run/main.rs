//! `hlo-run`.
fn main() {}
