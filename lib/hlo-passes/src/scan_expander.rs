//! `scan_expander`: turns each `scan` into a `while` that slices the inputs, calls the function and puts the outputs in
//! their places.
//!
//! ```text
//! scan(x, c), to_apply=f  →  i = 0; out = 0
//!                            while i < n { y, c = f(x[i], c); out[i] = y; i = i + 1 }
//!                            (out, c)
//! ```
//!
//! Code generation relies on it: loops are its native control flow, and the updates are made in place.

use crate::PassInfo;
use crate::support::expander::{Emitter, expand_all};
use crate::support::loops::INDEX;
use crate::support::rewrite::reshape_op;
use hlo_ir::attr::{DynamicSliceAttrs, ScanAttrs};
use hlo_ir::{ArrayShape, InstrId, Module, Op, Shape};

/// The registry's entry.
pub static INFO: PassInfo = PassInfo {
    name: "scan_expander",
    summary: "turn scans into loops",
    options: &[],
    build: |_| Box::new(|module: &mut Module| Ok(expand_all(module, |op| matches!(op, Op::Scan(_)), expand))),
};

/// A scan that is being expanded.
struct Scan {
    attrs: ScanAttrs,
    along: usize,
    length: i64,
    /// The inputs, the outputs and the carries.
    inputs: Vec<InstrId>,
    outputs: Vec<ArrayShape>,
    carries: Vec<InstrId>,
}

impl Scan {
    fn new(e: &Emitter<'_>, id: InstrId) -> Option<Self> {
        let Op::Scan(attrs) = &e.module[id].op else { return None };
        let carries = usize::try_from(attrs.num_carries).ok()?;
        let operands = &e.module[id].operands;
        let (inputs, carried) = operands.split_at_checked(operands.len().checked_sub(carries)?)?;
        let along = usize::try_from(*attrs.dimensions.first()?).ok()?;
        let length = *e.array(*inputs.first()?)?.dims.get(along)?;
        let parts: Vec<&Shape> = match &e.module[id].shape {
            Shape::Tuple(parts) => parts.iter().collect(),
            one => vec![one],
        };
        let outputs = parts.get(..parts.len().checked_sub(carries)?)?;
        let outputs = outputs.iter().map(|s| s.as_array().filter(|a| a.is_static()).cloned());
        Some(Self {
            attrs: attrs.clone(),
            along,
            length,
            inputs: inputs.to_vec(),
            outputs: outputs.collect::<Option<_>>()?,
            carries: carried.to_vec(),
        })
    }

    /// Zero for every dimension but the one that is scanned, `position` for that.
    fn starts(&self, rank: usize, zero: InstrId, position: InstrId) -> Vec<InstrId> {
        (0..rank).map(|d| if d == self.along { position } else { zero }).collect()
    }
}

/// An array with one element along a dimension, and without that dimension.
fn step_shapes(shape: &ArrayShape, along: usize) -> (ArrayShape, ArrayShape) {
    let mut dims = shape.dims.clone();
    dims[along] = 1;
    let kept = ArrayShape::new(shape.element_type, dims.iter().copied());
    dims.remove(along);
    (kept, ArrayShape::new(shape.element_type, dims))
}

fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let scan = Scan::new(e, id)?;
    if scan.inputs.iter().any(|&i| e.array(i).is_none()) {
        return None;
    }
    let mut outputs = Vec::with_capacity(scan.outputs.len());
    for shape in &scan.outputs {
        let zero = e.zero(shape.element_type)?;
        outputs.push(e.broadcast(zero, shape, &[]));
    }
    // Of nothing there is no slice that a body could take.
    let results = if scan.length == 0 {
        outputs.extend(&scan.carries);
        outputs
    } else {
        let state: Vec<InstrId> = scan.inputs.iter().chain(&outputs).chain(&scan.carries).copied().collect();
        let last = e.counted_loop("scan", scan.length, &state, |e, i, state| step(e, &scan, i, state))?;
        last.get(scan.inputs.len()..)?.to_vec()
    };
    match (e.shape().is_tuple(), results.as_slice()) {
        (false, &[one]) => Some(one),
        _ => {
            let shape = e.shape();
            Some(e.add(shape, Op::Tuple, &results))
        }
    }
}

/// The next state of the loop.
fn step(e: &mut Emitter<'_>, scan: &Scan, i: InstrId, state: &[InstrId]) -> Option<Vec<InstrId>> {
    let mut next = state.to_vec();
    let zero = e.zero(INDEX)?;
    let position = match scan.attrs.is_reverse {
        true => {
            let last = e.index(scan.length - 1)?;
            e.same(Op::Subtract, &[last, i])
        }
        false => i,
    };
    let (first_output, first_carry) = (scan.inputs.len(), state.len() - scan.carries.len());
    let mut arguments = Vec::new();
    for &input in &next[..first_output] {
        let whole = e.array(input)?;
        let (kept, dropped) = step_shapes(&whole, scan.along);
        let operands: Vec<InstrId> =
            std::iter::once(input).chain(scan.starts(whole.rank(), zero, position)).collect();
        let slice = Op::DynamicSlice(DynamicSliceAttrs { dynamic_slice_sizes: kept.dims.clone() });
        let slice = e.add(kept, slice, &operands);
        arguments.push(e.add(dropped, reshape_op(), &[slice]));
    }
    arguments.extend(&next[first_carry..]);
    let values = e.call(scan.attrs.to_apply, &arguments)?;
    let (outputs, carries) = values.split_at_checked(scan.outputs.len())?;
    for (n, &value) in outputs.iter().enumerate() {
        let whole = next[first_output + n];
        let (kept, _) = step_shapes(&e.array(whole)?, scan.along);
        let update = e.add(kept, reshape_op(), &[value]);
        let rank = e.array(whole)?.rank();
        let operands: Vec<InstrId> =
            [whole, update].into_iter().chain(scan.starts(rank, zero, position)).collect();
        next[first_output + n] = e.same(Op::DynamicUpdateSlice, &operands);
    }
    next[first_carry..].copy_from_slice(carries.get(..scan.carries.len())?);
    Some(next)
}
