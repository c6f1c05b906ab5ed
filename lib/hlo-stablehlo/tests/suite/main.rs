//! Tests of StableHLO in and out.

mod export;
mod import;
mod refine;
mod round_trip;
mod verify;
