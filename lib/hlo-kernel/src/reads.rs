//! The elements of its buffers that a kernel reads.

use crate::Body;
use crate::reshape;
use crate::walk::{Step, Walk, walk};
use hlo_ir::access::{Access, Along, Axis};
use hlo_ir::{InstrId, Op};
use hlo_plan::array;
use std::collections::HashMap;

/// Maximum number of reads that are listed.
const MAX_READS: usize = 1000;

/// Elements of a buffer that a kernel reads for an element of its results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// The number of the buffer.
    pub slot: usize,
    /// The operand whose elements the buffer contains.
    pub operand: InstrId,
    /// The index of the elements.
    pub index: Vec<Place>,
}

/// An index in one dimension of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// `stride · variable + offset`.
    Along {
        /// The loop variable.
        variable: Variable,
        /// The factor of the variable.
        stride: i64,
        /// The number that is added.
        offset: i64,
    },
    /// A constant, such as 0 in a dimension of size 1.
    Constant(i64),
    /// An index that the kernel computes in another way, such as the start of a slice, a quotient, or all
    /// indices of a window.
    Computed,
}

/// A loop variable of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Variable {
    /// The index in a dimension of the results.
    Result(usize),
    /// The index in the loop with this number over the operands of an instruction: a reduced dimension, or a
    /// contracting one.
    Operands(InstrId, usize),
}

impl Place {
    /// Returns the index as text, with the names of loops over operands. A loop without a name is a `?`.
    pub fn text(self, loops: &HashMap<(InstrId, usize), String>) -> String {
        let (variable, stride, offset) = match self {
            Place::Constant(index) => return index.to_string(),
            Place::Computed => return "?".to_string(),
            Place::Along { variable, stride, offset } => (variable, stride, offset),
        };
        let name = match variable {
            Variable::Result(d) => format!("i{d}"),
            Variable::Operands(id, n) => match loops.get(&(id, n)) {
                Some(name) => name.clone(),
                None => return "?".to_string(),
            },
        };
        let product = if stride.abs() == 1 { name } else { format!("{}*{name}", stride.unsigned_abs()) };
        match (stride < 0, offset) {
            (true, offset) => format!("{offset} - {product}"),
            (false, 0) => product,
            (false, offset) if offset < 0 => format!("{product} - {}", offset.unsigned_abs()),
            (false, offset) => format!("{product} + {offset}"),
        }
    }
}

/// Returns the elements that a kernel reads, ordered by buffer. Returns `None` if there are too many.
pub(crate) fn reads(body: &Body<'_>) -> Option<Vec<Read>> {
    let mut search = Search { reads: Vec::new() };
    let sizes = body.roots.first().and_then(|root| body.root_shape(root).ok()).map(|shape| &shape.dims);
    let result = |d: usize| match sizes.and_then(|sizes| sizes.get(d)) {
        Some(1) => Place::Constant(0),
        _ => Place::Along { variable: Variable::Result(d), stride: 1, offset: 0 },
    };
    walk(body, &mut search, result)?;
    search.reads.sort_by_key(|read| read.slot);
    (search.reads.len() <= MAX_READS).then_some(search.reads)
}

struct Search {
    reads: Vec<Read>,
}

impl Walk for Search {
    type Place = Place;

    fn visit(&mut self, body: &Body<'_>, id: InstrId, index: &[Place]) -> bool {
        if let Some(slot) = body.slot(id) {
            self.reads.push(Read { slot, operand: id, index: index.to_vec() });
        }
        true
    }

    fn operand(&mut self, body: &Body<'_>, step: &Step<'_, Place>) -> Option<Vec<Place>> {
        let (module, Step { id, operand, access, index }) = (body.module, step);
        let Ok(from) = array(module, *operand) else {
            // A tuple's element has the index of the tuple's arrays.
            return matches!(module[*id].op, Op::GetTupleElement(_)).then(|| index.to_vec());
        };
        let unknown = || vec![Place::Computed; from.rank()];
        Some(match access {
            Access::Axes(axes) => axes.iter().map(|axis| along(*id, axis, index)).collect(),
            Access::SamePosition => array(module, *id)
                .ok()
                .and_then(|to| reshape::same_order(&from.dims, &to.dims, index, Place::Constant(0)))
                .unwrap_or_else(unknown),
            Access::Any => unknown(),
        })
    }
}

/// Returns the index in a dimension of an operand, given the index of the instruction's result.
fn along(id: InstrId, axis: &Axis, index: &[Place]) -> Place {
    match *axis {
        Axis::Along(Along { dim, stride, offset, step: 1 }) => match index.get(dim) {
            Some(&Place::Along { variable, stride: inner, offset: before }) => Place::Along {
                variable,
                stride: inner.saturating_mul(stride),
                offset: before.saturating_mul(stride).saturating_add(offset),
            },
            Some(&Place::Constant(i)) => Place::Constant(i.saturating_mul(stride).saturating_add(offset)),
            _ => Place::Computed,
        },
        Axis::All(number) => Place::Along { variable: Variable::Operands(id, number), stride: 1, offset: 0 },
        _ => Place::Computed,
    }
}
