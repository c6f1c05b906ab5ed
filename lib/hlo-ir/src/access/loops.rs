//! Groups of operand dimensions that are iterated together.

use super::{Access, Axis, access};
use crate::{Op, Shape};

/// The loop of a dimension of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// A dimension of the result, at the same index.
    Result(usize),
    /// The loop of this number over elements that are combined.
    All(usize),
    /// The positions of a window along a dimension of the result.
    Window {
        /// The dimension of the result.
        dim: usize,
        /// The number of the window's dimension.
        window: usize,
    },
    /// A dimension of the result, at an offset known only at run time.
    Moved(usize),
}

/// A dimension of an operand: the number of the operand, and of its dimension.
pub type OperandDim = (usize, usize);

/// Returns the loops of an operation, each with the operand dimensions that it iterates over. These
/// dimensions must have equal sizes. Operands with an unknown access are omitted.
pub fn loops(op: &Op, operands: &[&Shape], result: &Shape) -> Vec<(Loop, Vec<OperandDim>)> {
    let mut loops: Vec<(Loop, Vec<OperandDim>)> = Vec::new();
    for n in 0..operands.len() {
        let Access::Axes(axes) = access(op, n, operands, result) else { continue };
        for (d, axis) in axes.iter().enumerate() {
            let runs = match *axis {
                Axis::All(k) => Loop::All(k),
                Axis::Window { dim, window } => Loop::Window { dim, window },
                Axis::Moved { dim } => Loop::Moved(dim),
                _ => match axis.same() {
                    Some(dim) => Loop::Result(dim),
                    None => continue,
                },
            };
            match loops.iter_mut().find(|(l, _)| *l == runs) {
                Some((_, dims)) => dims.push((n, d)),
                None => loops.push((runs, vec![(n, d)])),
            }
        }
    }
    loops
}
