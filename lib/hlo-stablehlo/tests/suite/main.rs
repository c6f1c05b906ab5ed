//! Tests of StableHLO in and out.

mod export;
mod import;
