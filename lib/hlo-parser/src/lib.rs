//! HLO text to IR.
