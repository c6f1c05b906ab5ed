//! Tests of the IR: its types, the rules of the opcodes, the verifier and the printer. They are one program,
//! because each further program takes time to link.

mod access;
mod contraction;
mod covered;
mod cursor;
mod diag;
mod docs;
mod effects;
mod execution;
mod module;
mod opcode;
mod ops;
mod print;
mod rules;
mod types;
mod verify;
