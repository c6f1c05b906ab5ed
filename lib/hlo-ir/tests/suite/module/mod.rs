//! Tests of modules.

mod asynchronous;
mod names;
mod uses;
