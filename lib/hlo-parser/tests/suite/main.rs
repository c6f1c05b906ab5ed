//! What the parser reads and refuses, and that what is printed reads back. One program, as each one more is linked anew.

mod attributes;
mod depth;
mod errors;
mod good;
mod literals;
mod print;
mod round_trip;
mod rules;
mod shapes;
mod structure;
mod tokens;
