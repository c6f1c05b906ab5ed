//! Tests of StableHLO's forms, its rules, and its conversion to HLO and back. All tests are one program, because linking each
//! additional one takes time.

mod bytecode;
mod dialect;
mod export;
mod import;
mod refine;
mod round_trip;
mod text;
mod verify;
