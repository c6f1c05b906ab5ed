//! Cost analysis of instructions and modules.

mod cost;

pub use cost::{Cost, ModuleCost};
pub(crate) use cost::{sent, trips};
