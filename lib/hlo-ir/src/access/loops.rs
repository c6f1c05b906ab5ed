//! Which dimensions of operands are walked together.

use super::{Access, Axis, access};
use crate::{Op, Shape};

/// What a dimension of an operand runs along.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loop {
    /// A dimension of the result, index by index.
    Result(usize),
    /// What is combined.
    All(usize),
    /// A dimension of the window.
    Window(usize),
    /// A dimension of the result, from where run time says.
    Moved(usize),
}

/// The dimensions of operands, as pairs of an operand's number and a dimension's, that an operation walks in one loop, of
/// loops that several dimensions share: they must be as long as each other. Of operands of which it is said what is read.
pub fn shared_loops(op: &Op, operands: &[&Shape], result: &Shape) -> Vec<Vec<(usize, usize)>> {
    let mut loops: Vec<(Loop, Vec<(usize, usize)>)> = Vec::new();
    for n in 0..operands.len() {
        let Access::Axes(axes) = access(op, n, operands, result) else { continue };
        for (d, axis) in axes.iter().enumerate() {
            let runs = match *axis {
                Axis::All(k) => Loop::All(k),
                Axis::Window { window, .. } => Loop::Window(window),
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
    loops.into_iter().map(|(_, dims)| dims).filter(|dims| dims.len() > 1).collect()
}
