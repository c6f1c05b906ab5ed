//! Tests of what the execution of a module needs.

mod devices;
mod host;
