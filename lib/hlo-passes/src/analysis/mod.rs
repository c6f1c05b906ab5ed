//! Cost analysis of instructions and modules.

pub(crate) mod cost;

pub use cost::{Cost, ModuleCost};
pub(crate) use cost::{sent, trips};
