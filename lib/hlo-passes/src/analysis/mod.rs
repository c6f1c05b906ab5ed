//! What instructions cost.

mod cost;

pub(crate) use cost::trips;
pub use cost::{Cost, ModuleCost};
