//! HLO to MLIR to machine code.

pub mod builder;
pub mod jit;
