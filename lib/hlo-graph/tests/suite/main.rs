//! Tests of the pictures of modules. They are one program, because each further program takes time to link.

mod dot;
mod graph;
mod group;
mod layout;
mod memory;
mod svg;
mod timeline;
