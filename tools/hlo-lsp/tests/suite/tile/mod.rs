//! Tests of the language support for Tile.

mod builtins;
mod scan;
mod structure;
