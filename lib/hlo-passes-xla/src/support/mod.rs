//! Code that several passes of this crate share.

pub(crate) mod host_memory;
