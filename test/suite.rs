//! Tests of the tools and of both engines, as users see them. They are one program, because each additional
//! test program must be linked with LLVM.

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
mod files;
mod fuzz;
mod invalid_modules;
mod links;
mod manual;
mod opcodes;
mod picture;
mod plain_english;
mod random;
mod reduce;
mod tile;
mod types;
