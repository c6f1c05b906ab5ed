//! The text form of messages, as tools of protocol buffers read and write it: `name: "m" computations { … }`.
//!
//! Text and binary form are made from each other by the types of messages alone; structs come from the binary form. What a type
//! does not know is written by number, as `14 { 3: 1 }`, and read back.

mod lexer;
mod parse;
mod print;

pub use parse::{Parsed, outermost_fields, parse};
pub use print::print;
