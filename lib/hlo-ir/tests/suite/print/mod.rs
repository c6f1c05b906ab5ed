//! Tests of the printer.

mod float;
mod identity;
