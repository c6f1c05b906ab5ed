//! Tests of the language server as editors use it. They are one program, because linking each test program
//! takes time.

mod conversation;
mod editors;
mod neovim;
