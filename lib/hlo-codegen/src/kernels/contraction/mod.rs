//! Emission of contractions: see [`hlo_kernel::contraction`].

mod emit;
mod emit_blocks;
mod value;
mod writer;

pub use emit::emit;
