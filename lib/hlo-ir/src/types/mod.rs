//! Element types, shapes, layouts and literals.

pub mod accumulation;
pub(crate) mod bytes;
pub(crate) mod element_type;
pub(crate) mod float_format;
pub(crate) mod indices;
pub mod laid_out;
pub(crate) mod layout;
pub(crate) mod literal;
pub(crate) mod memory;
pub mod narrow;
pub(crate) mod native;
#[cfg(feature = "ndarray")]
pub mod ndarray;
pub(crate) mod number;
pub(crate) mod packing;
pub(crate) mod padded;
pub(crate) mod precision;
pub(crate) mod reshape;
pub(crate) mod reuse;
pub(crate) mod shape;
