//! Tests of the parser: accepted and rejected texts, and printed texts that read back. They are one program,
//! because each further program takes time to link.

mod attributes;
mod depth;
mod errors;
mod foreign;
mod hints;
mod literals;
mod outline;
mod print;
mod round_trip;
mod rules;
mod shapes;
mod structure;
mod syntax;
mod test_files;
mod tokens;
mod valid_modules;
mod value_grammar;
