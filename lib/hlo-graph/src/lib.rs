//! Pictures of HLO modules.
//!
//! [`Graph::of`] makes the graph of a computation and of those that it calls: what is a box, what stands in it, what is
//! drawn between boxes, and which boxes are the critical path. [`dot`], [`svg`] and [`html`] draw it; the last two place
//! the boxes by the layout in this crate, and their results need nothing but a viewer.
//!
//! Nothing here runs, prints or writes files. Costs are the caller's: the crate knows the IR only.

mod critical;
mod dot;
mod draw;
mod graph;
mod group;
mod html;
mod kind;
mod label;
mod layout;
mod memory;
mod svg;

pub use dot::dot;
pub use graph::{Edge, Graph, Inner, Node, Page, Request};
pub use html::html;
pub use kind::Kind;
pub use memory::{MemoryPlot, Piece, memory_svg, memory_text, spans};
pub use svg::{escaped, svg};
