//! What passes and tools ask about a module without changing it: which values share memory, and when memory is in
//! use.

mod buffers;
mod liveness;

pub use buffers::{Buffer, BufferKind, Buffers};
pub use liveness::{Lifetime, Liveness, ModuleLiveness};
