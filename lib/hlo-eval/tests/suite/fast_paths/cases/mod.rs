//! Random cases: modules with one instruction and the computations that it applies.

mod moves;
mod products;
mod reductions;

pub use moves::{gather, iota, moves, pad, scalar_while};
pub use products::{convolution, dot};
pub use reductions::{cumulative, map, reduce, reduce_of_pairs, reduce_window};

fn entry(computations: &str, instructions: &str) -> String {
    format!("HloModule m\n{computations}\nENTRY e {{\n{instructions}\n}}\n")
}
