//! HLO to MLIR to machine code.
