//! The parts of a graph: pages, their boxes, and the edges between boxes.

use crate::kind::Kind;
use hlo_ir::InstrId;

/// The graph of one computation, or of a group of its instructions.
#[derive(Clone, Debug)]
pub struct Page {
    /// The name of the computation, followed by the name of the group if the page is a group.
    pub title: String,
    /// The boxes, with operands before users.
    pub nodes: Vec<Node>,
    /// The edges between boxes.
    pub edges: Vec<Edge>,
}

/// A box: an instruction or a group of instructions.
#[derive(Clone, Debug)]
pub struct Node {
    /// The instruction, or all instructions of the group.
    pub instructions: Vec<InstrId>,
    /// The opcode and its most distinctive attribute, such as the direction of a comparison.
    pub head: String,
    /// Further lines: the name, important attributes, and operands that are shown in the box.
    pub lines: Vec<String>,
    /// The shape, if no edge shows it.
    pub shape: Option<String>,
    /// The kind of the box.
    pub kind: Kind,
    /// The full description: the instruction's text and the note.
    pub text: String,
    /// The computations inside the box.
    pub inner: Vec<Inner>,
    /// Whether the box is the result.
    pub root: bool,
    /// Whether the box is on the critical path.
    pub critical: bool,
    /// Whether operands or users of the box are not drawn.
    pub cut: bool,
}

/// A computation inside a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inner {
    /// The role of the computation for the instruction, such as `body`. It is empty if there is only one
    /// computation.
    pub role: String,
    /// The index in [`Graph::pages`](crate::Graph::pages).
    pub page: usize,
}

/// A value that one box passes to another, or a control dependency between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The index of the box that produces the value.
    pub from: usize,
    /// The index of the box that uses the value.
    pub to: usize,
    /// The shape of the value, after `#1` for an element of a tuple. It is empty for a control dependency.
    pub label: String,
    /// Whether the edge is a control dependency.
    pub control: bool,
    /// Whether the edge is on the critical path.
    pub critical: bool,
}
