//! Pictures of HLO modules.
//!
//! [`Graph::of`] builds the graph of a computation and of the computations that it calls: the boxes and their
//! text, the edges between boxes, and the critical path. [`dot`], [`svg`] and [`html`] draw the graph. The
//! last two use the layout in this crate, and their output needs only a viewer.
//!
//! The crate does not run programs, print, or write files. The caller provides the costs, because the crate
//! depends only on the IR.
//!
//! # Example
//! ```
//! use hlo_graph::{Graph, Request, dot};
//!
//! let module = hlo_parser::parse_module("HloModule m
//! ENTRY main {
//!   x = f32[8] parameter(0)
//!   one = f32[] constant(1)
//!   ones = f32[8] broadcast(one), dimensions={}
//!   ROOT y = f32[8] add(x, ones)
//! }").expect("a module");
//! let graph = Graph::of(&module, &Request {
//!     computation: module.entry(),
//!     around: None,
//!     limit: 100,
//!     weight: &|_| 1.0,
//!     note: &|_| String::new(),
//! });
//! // The box of the sum shows the constant.
//! let [x, y] = &graph.pages[0].nodes[..] else { panic!("{:?}", graph.pages[0].nodes) };
//! assert!(!x.root && y.root);
//! assert_eq!(graph.pages[0].edges[0].label, "f32[8]");
//! assert!(dot(&graph, false).starts_with("digraph"));
//! ```

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
mod page;
mod svg;
mod timeline;

pub use dot::dot;
pub use graph::{Graph, Request};
pub use html::html;
pub use kind::Kind;
pub use memory::{MemoryPlot, Piece, memory_svg, memory_text, spans};
pub use page::{Edge, Inner, Node, Page};
pub use svg::{escaped, svg};
pub use timeline::{Timeline, WaitSpan, timeline_svg, timeline_trace};

/// Internals that the tests of this crate call.
#[doc(hidden)]
pub mod internals {
    pub use crate::group::{groups, split as split_scope};
    pub use crate::layout::order::{crossings, order as order_layers, places};
    pub use crate::layout::rank::ranks;
    pub use crate::layout::{Item, Layers, Layout, Place, lay_out};
    pub use crate::svg::curve;
}
