//! The language server as editors see it. One program, as each one more is linked anew.

mod conversation;
mod editors;
mod neovim;
