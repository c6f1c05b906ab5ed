//! The HLO interpreter: the readable form of the operation semantics.
