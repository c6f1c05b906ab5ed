//! HloModuleProto and related messages: modules, snapshots and compile options as protocol buffers.
#![recursion_limit = "256"]

mod convert;
mod decode;
pub mod descriptor;
pub mod file;
pub mod messages;
pub mod text;
pub mod wire;

pub use convert::*;
pub use decode::{Decoded, decode};
