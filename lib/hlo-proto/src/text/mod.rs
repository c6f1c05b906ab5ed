//! The text form of messages, as the tools of protocol buffers read and write it: `name: "m" computations { …
//! }`.
//!
//! Text form and binary form convert to each other by means of message types alone, without structs. A field
//! that a type does not contain is written by its number, as `14 { 3: 1 }`, and can be read back.

mod lexer;
mod parse;
mod print;

pub use parse::{Parsed, outermost_fields, parse};
pub use print::print;
