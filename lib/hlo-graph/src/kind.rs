//! The kinds of boxes, and their colors.

use hlo_ir::{Family, Op};

/// A kind of box with its own color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Parameters.
    Parameter,
    /// Constants and iotas.
    Constant,
    /// Elementwise operations.
    Elementwise,
    /// Data movement and tuples.
    Movement,
    /// Slices and updates at computed indices.
    Indexing,
    /// Reductions, sorts and scans.
    Reduction,
    /// Products, transforms, factorizations and normalizations.
    Product,
    /// Random numbers.
    Random,
    /// Fusions.
    Fusion,
    /// Calls, loops and branches.
    Control,
    /// Transfers, collectives and custom calls.
    Effect,
    /// Groups of instructions.
    Group,
}

impl Kind {
    /// All kinds, in the order of the legend.
    pub const ALL: &[Kind] = &[
        Kind::Parameter,
        Kind::Constant,
        Kind::Elementwise,
        Kind::Movement,
        Kind::Indexing,
        Kind::Reduction,
        Kind::Product,
        Kind::Random,
        Kind::Fusion,
        Kind::Control,
        Kind::Effect,
        Kind::Group,
    ];

    /// Returns the kind of an operation.
    pub fn of(op: &Op) -> Self {
        match op {
            Op::Parameter(_) => Kind::Parameter,
            Op::Constant(_) | Op::Iota(_) => Kind::Constant,
            Op::Fusion(_) => Kind::Fusion,
            _ => match op.opcode().family() {
                Family::Structural | Family::DataMovement => Kind::Movement,
                Family::Elementwise => Kind::Elementwise,
                Family::Indexing => Kind::Indexing,
                Family::Reduction => Kind::Reduction,
                Family::LinearAlgebra | Family::Normalization => Kind::Product,
                Family::Random => Kind::Random,
                Family::Control => Kind::Control,
                Family::Effects | Family::Collective => Kind::Effect,
            },
        }
    }

    /// Returns the name in the legend.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Parameter => "parameter",
            Kind::Constant => "constant",
            Kind::Elementwise => "elementwise",
            Kind::Movement => "data movement",
            Kind::Indexing => "indexing",
            Kind::Reduction => "reduction",
            Kind::Product => "product",
            Kind::Random => "random",
            Kind::Fusion => "fusion",
            Kind::Control => "control",
            Kind::Effect => "effect",
            Kind::Group => "group",
        }
    }

    /// Returns the fill color and the border color.
    pub fn colors(self) -> (&'static str, &'static str) {
        match self {
            Kind::Parameter => ("#fff3d6", "#c79a3a"),
            Kind::Constant => ("#eeeeee", "#9a9a9a"),
            Kind::Elementwise => ("#fffbe6", "#b8a94a"),
            Kind::Movement => ("#e3f1e3", "#6fa56f"),
            Kind::Indexing => ("#d8efee", "#4f9c98"),
            Kind::Reduction => ("#f0e2f5", "#9a68ad"),
            Kind::Product => ("#dbe7fb", "#4a77bd"),
            Kind::Random => ("#fbe3ee", "#c06a93"),
            Kind::Fusion => ("#e9e6fb", "#7a6cc4"),
            Kind::Control => ("#fde6d9", "#c77a4a"),
            Kind::Effect => ("#f7dcdc", "#b85c5c"),
            Kind::Group => ("#e8edf2", "#5d7186"),
        }
    }
}

/// The color of the critical path.
pub(crate) const CRITICAL_PATH_COLOR: &str = "#d4380d";
/// The color of edges.
pub(crate) const EDGE_COLOR: &str = "#7d8590";
