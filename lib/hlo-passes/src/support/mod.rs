//! Code that several passes share: arithmetic on arrays, the dimensions of reshapes, side effects, constants,
//! ranges of integers, combiners, copying, and the rewrite driver.

pub(crate) mod arrays;
pub mod clone;
pub mod combine_collectives;
pub mod combiner;
pub(crate) mod conditional;
pub mod constants;
pub(crate) mod control;
pub mod device_groups;
pub mod effects;
pub mod expander;
pub mod fusions;
pub(crate) mod growth;
pub(crate) mod index_vectors;
pub(crate) mod integer_range;
pub mod layouts;
pub(crate) mod loops;
pub(crate) mod matrices;
pub mod places;
pub(crate) mod provenance;
pub mod range;
pub(crate) mod reshapes;
pub mod retype;
pub mod rewrite;
pub mod trip_count;
pub mod while_loop;
