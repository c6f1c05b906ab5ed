//! What the tools and both engines do, as their users see it. One program for all of it, as each one more is linked
//! anew with LLVM in it.

#[cfg(feature = "codegen")]
mod aot;
mod array_files;
mod builder;
mod cli;
mod contraction;
mod custom_calls;
mod devices;
mod dynamic;
mod examples;
mod fuzz;
mod invalid_modules;
mod opcodes;
mod picture;
mod random;
mod reduce;
mod tile;
mod types;
