//! Tests of diagnostics.

mod excerpt;
mod part;
mod shorten;
