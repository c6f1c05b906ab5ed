//! HLO to MLIR to machine code.

pub mod builder;
pub mod elem;
pub mod jit;
pub mod kernels;
pub mod math;
pub mod ops;
