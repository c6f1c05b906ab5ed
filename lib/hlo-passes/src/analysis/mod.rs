//! What passes and tools ask about a module without changing it: which values share memory, when memory is in use,
//! and what instructions cost.

mod buffers;
mod cost;
mod in_place;
mod liveness;

pub(crate) use buffers::Elements;
pub use buffers::{Buffer, BufferKind, Buffers};
pub(crate) use cost::trips;
pub use cost::{Cost, ModuleCost};
pub use in_place::Updates;
pub(crate) use in_place::{Written, is_name, written_leaves};
pub use liveness::{Lifetime, Liveness, ModuleLiveness};
