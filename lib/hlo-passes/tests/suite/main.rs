//! What holds of the passes: that they keep meaning, grow with the module, and are documented. One program, as each one more is linked anew.

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
