//! Which dimensions of operands are walked together.

use super::{Access, Axis, access};
use crate::{Op, Shape};

/// What a dimension of an operand runs along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// A dimension of the result, index by index.
    Result(usize),
    /// What is combined: the loop of that number.
    All(usize),
    /// The places of a window along a dimension of the result.
    Window {
        /// The result's dimension.
        dim: usize,
        /// The number of the window's dimension.
        window: usize,
    },
    /// A dimension of the result, from where run time says.
    Moved(usize),
}

/// A dimension of an operand: the operand's number, and the dimension's.
pub type OperandDim = (usize, usize);

/// The loops that an operation is made of, each with the dimensions of operands that it walks, which must be as long as
/// each other. Of operands of which it is said what is read.
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
