//! Tests of the properties of passes: they preserve the meaning of modules, their time grows with the module,
//! and they are documented. All tests are one program, because linking each additional one takes time.

mod contraction_raising;
mod damaged;
mod docs;
mod dynamic_padder;
mod elementary_functions;
mod examples;
mod layout_assignment;
mod partitioning;
mod scale;
mod semantics;
mod tangled;
mod tile_assignment;
mod volume;
