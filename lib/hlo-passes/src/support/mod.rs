//! Code that several passes share: arithmetic on arrays, the dimensions of reshapes, side effects, constants,
//! ranges of integers, combiners, copying, and the rewrite driver.

pub(crate) mod arrays;
pub(crate) mod clone;
pub(crate) mod combiner;
pub(crate) mod conditional;
pub(crate) mod constants;
pub(crate) mod control;
pub(crate) mod effects;
pub(crate) mod expander;
pub(crate) mod fusions;
pub(crate) mod growth;
pub(crate) mod host_memory;
pub(crate) mod index_vectors;
pub(crate) mod layouts;
pub(crate) mod loops;
pub(crate) mod matrices;
pub(crate) mod places;
pub(crate) mod provenance;
pub(crate) mod range;
pub(crate) mod reshapes;
pub(crate) mod retype;
pub(crate) mod rewrite;
pub(crate) mod trip_count;
pub(crate) mod while_loop;
