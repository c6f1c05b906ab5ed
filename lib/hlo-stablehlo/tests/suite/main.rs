//! Tests of StableHLO's conversion to HLO and back.

mod export;
mod import;
mod refine;
mod round_trip;
mod verify;
