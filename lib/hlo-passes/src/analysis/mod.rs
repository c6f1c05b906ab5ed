//! What instructions cost.

mod cost;

pub use cost::{Cost, ModuleCost};
pub(crate) use cost::{sent, trips};
