//! Tests of the language server: as editors use it, and of its parts. They are one program, because linking
//! each test program takes time.

mod command_line;
mod conversation;
mod editors;
mod hlo;
mod language;
mod neovim;
mod requests;
mod stablehlo;
mod text;
mod tile;
mod transport;
