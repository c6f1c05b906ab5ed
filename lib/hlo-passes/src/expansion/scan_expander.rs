//! `scan_expander`: converts each `scan` to a `while` that slices the inputs, calls the function and writes
//! the outputs.
//!
//! ```text
//! scan(x, c), to_apply=f  →  i = 0; out = 0
//!                            while i < n { y, c = f(x[i], c); out[i] = y; i = i + 1 }
//!                            (out, c)
//! ```
//!
//! Code generation requires this expansion. Loops are its native control flow, and it performs the updates in
//! place.
//!
//! With dynamic sizes, the number of steps is the number of elements. The first step determines the other
//! sizes of an output, and all other steps must return the same sizes.

use crate::pass_info::PassInfo;
use crate::support::expander::{Emitter, expansion_pass};
use crate::support::loops::{INDEX_TYPE, Steps};
use hlo_ir::attr::{ComparisonDirection, DimensionAttrs, ScanAttrs};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, ElementType, InstrId, Op, Shape};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "scan_expander",
    summary: "replace scans by loops",
    example: "\
HloModule scan_expander

step {
  c = f32[] parameter(0)
  x = f32[] parameter(1)
  s = f32[] add(c, x)
  ROOT r = (f32[], f32[]) tuple(s, s)
}

ENTRY e {
  x = f32[8] parameter(0)
  c = f32[] constant(0)
  ROOT r = (f32[8], f32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=step
}
",
    build: |_, _| expansion_pass("scan", |op| matches!(op, Op::Scan(_)), expand_static),
    ..PassInfo::PLAIN
};

/// A scan that is being expanded.
struct Scan {
    attrs: ScanAttrs,
    along: usize,
    /// The number of steps, or its bound.
    length: i64,
    /// The index of the first input in the loop's state. If the number of steps is known only at run time, it
    /// comes before the inputs.
    first_input: usize,
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
        let outputs = outputs.iter().map(|s| s.as_array().cloned());
        let dynamic = inputs.iter().any(|&i| e.array(i).is_some_and(|a| a.is_dynamic_dim(along)));
        Some(Self {
            attrs: attrs.clone(),
            along,
            length,
            first_input: usize::from(dynamic),
            inputs: inputs.to_vec(),
            outputs: outputs.collect::<Option<_>>()?,
            carries: carried.to_vec(),
        })
    }

    /// Returns the number of steps, if it is known only at run time.
    fn dynamic_length(&self, e: &mut Emitter<'_>) -> Option<InstrId> {
        let is_dynamic = |&&i: &&InstrId| e.array(i).is_some_and(|a| a.is_dynamic_dim(self.along));
        let length = e.size(*self.inputs.iter().find(is_dynamic)?, self.along);
        e.convert(length, INDEX_TYPE)
    }

    /// Returns an input extended to its bound. No step reads elements beyond its length.
    fn whole(&self, e: &mut Emitter<'_>, input: InstrId) -> Option<InstrId> {
        let shape = e.array(input)?;
        if !shape.is_dynamic_dim(self.along) {
            return Some(input);
        }
        let bound = i32::try_from(shape.dims[self.along]).ok()?;
        let bound = e.scalar(ElementType::S32, &bound.to_le_bytes())?;
        let flags: Vec<bool> =
            (0..shape.rank()).map(|d| d != self.along && shape.is_dynamic_dim(d)).collect();
        let attrs = DimensionAttrs { dimensions: [self.along as i64].into_iter().collect() };
        Some(e.add(shape.with_dynamic(flags), Op::SetDimensionSize(attrs), &[input, bound]))
    }

    /// Returns `position` for the scanned dimension, and zero for every other dimension.
    fn starts(&self, rank: usize, zero: InstrId, position: InstrId) -> Vec<InstrId> {
        (0..rank).map(|d| if d == self.along { position } else { zero }).collect()
    }
}

/// Returns the shape of an array with a single element along a dimension, with and without that dimension.
fn step_shapes(shape: &ArrayShape, along: usize) -> (ArrayShape, ArrayShape) {
    let sizes = shape.dims.iter().enumerate();
    let kept = sizes.clone().map(|(d, &size)| if d == along { 1 } else { size });
    let kept = ArrayShape::new(shape.element_type, kept)
        .with_dynamic((0..shape.rank()).map(|d| d != along && shape.is_dynamic_dim(d)));
    let dropped = ArrayShape::new(shape.element_type, sizes.filter(|&(d, _)| d != along).map(|(_, &s)| s));
    let others = (0..shape.rank()).filter(|&d| d != along);
    (kept, dropped.with_dynamic(others.map(|d| shape.is_dynamic_dim(d))))
}

/// Expands a scan of static arrays to a loop. Other scans are left to `dynamic_padder`, because their outputs
/// are declared with their bounds.
fn expand_static(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let is_static = |&o: &InstrId| e.module[o].shape.dynamic_dimensions().is_empty();
    if e.module[id].operands.iter().all(is_static) { expand(e, id) } else { None }
}

/// Expands a scan to a loop.
pub(crate) fn expand(e: &mut Emitter<'_>, id: InstrId) -> Option<InstrId> {
    let scan = Scan::new(e, id)?;
    if scan.inputs.iter().any(|&i| e.array(i).is_none()) {
        return None;
    }
    let mut outputs = Vec::with_capacity(scan.outputs.len());
    for shape in &scan.outputs {
        let zero = e.zero(shape.element_type)?;
        let whole = e.broadcast(zero, shape, &[]);
        outputs.push(declared_as(e, whole, shape)?);
    }
    // An empty input has no slice for the body to read.
    let results = if scan.length == 0 {
        outputs.extend(&scan.carries);
        outputs
    } else {
        let length = scan.dynamic_length(e);
        let mut state: Vec<InstrId> = length.into_iter().collect();
        for &input in &scan.inputs {
            state.push(scan.whole(e, input)?);
        }
        state.extend(outputs.iter().chain(&scan.carries));
        let steps = if length.is_some() { Steps::InState(0) } else { Steps::Known(scan.length) };
        let last = e.counted_loop("scan", steps, &state, |e, i, state| step(e, &scan, i, state))?;
        let mut results = last.get(scan.first_input + scan.inputs.len()..)?.to_vec();
        if let Some(length) = length {
            let length = e.convert(length, ElementType::S32)?;
            for result in results.iter_mut().take(scan.outputs.len()) {
                *result = e.set_size(*result, scan.along, length)?;
            }
        }
        results
    };
    match (e.shape().is_tuple(), results.as_slice()) {
        (false, &[one]) => Some(one),
        _ => {
            let shape = e.shape();
            Some(e.add(shape, Op::Tuple, &results))
        }
    }
}

/// Returns an array whose shape declares the dynamic dimensions of `shape`, with sizes equal to the bounds.
fn declared_as(e: &mut Emitter<'_>, array: InstrId, shape: &ArrayShape) -> Option<InstrId> {
    let mut value = array;
    for d in (0..shape.rank()).filter(|&d| shape.is_dynamic_dim(d)) {
        let bound = e.scalar(ElementType::S32, &i32::try_from(shape.dims[d]).ok()?.to_le_bytes())?;
        value = e.set_size(value, d, bound)?;
    }
    Some(value)
}

/// Returns the next state of the loop.
fn step(e: &mut Emitter<'_>, scan: &Scan, i: InstrId, state: &[InstrId]) -> Option<Vec<InstrId>> {
    let mut next = state.to_vec();
    let zero = e.zero(INDEX_TYPE)?;
    let position = if scan.attrs.is_reverse {
        let last = match scan.first_input {
            0 => e.index(scan.length - 1)?,
            _ => {
                let one = e.index(1)?;
                e.same(Op::Subtract, &[state[0], one])
            }
        };
        e.same(Op::Subtract, &[last, i])
    } else {
        i
    };
    let first_output = scan.first_input + scan.inputs.len();
    let first_carry = state.len() - scan.carries.len();
    let mut arguments = Vec::new();
    for &input in &next[scan.first_input..first_output] {
        let whole = e.array(input)?;
        let (kept, dropped) = step_shapes(&whole, scan.along);
        let operands: Vec<InstrId> =
            std::iter::once(input).chain(scan.starts(whole.rank(), zero, position)).collect();
        let slice = Op::dynamic_slice(kept.dims.clone());
        let mut slice = e.add(kept.clone().with_dynamic([]), slice, &operands);
        for d in (0..kept.rank()).filter(|&d| kept.is_dynamic_dim(d)) {
            let size = e.size(input, d);
            slice = e.set_size(slice, d, size)?;
        }
        arguments.push(e.add(dropped, Op::reshape(), &[slice]));
    }
    arguments.extend(&next[first_carry..]);
    let values = e.call(scan.attrs.to_apply, &arguments)?;
    let (outputs, carries) = values.split_at_checked(scan.outputs.len())?;
    for (n, &value) in outputs.iter().enumerate() {
        let whole = resize_output(e, scan, next[first_output + n], value, i)?;
        let (kept, _) = step_shapes(&e.array(whole)?, scan.along);
        let update = e.add(kept, Op::reshape(), &[value]);
        let rank = e.array(whole)?.rank();
        let operands: Vec<InstrId> =
            [whole, update].into_iter().chain(scan.starts(rank, zero, position)).collect();
        next[first_output + n] = e.same(Op::DynamicUpdateSlice, &operands);
    }
    next[first_carry..].copy_from_slice(carries.get(..scan.carries.len())?);
    Some(next)
}

/// Gives an output's array the sizes of the value that step `i` returns. The first step determines the sizes.
/// If a later step returns another size, the size becomes -1, which is out of bounds and causes an error.
fn resize_output(
    e: &mut Emitter<'_>,
    scan: &Scan,
    whole: InstrId,
    given: InstrId,
    i: InstrId,
) -> Option<InstrId> {
    let shape = e.array(whole)?;
    let mut room = whole;
    for d in (0..shape.rank()).filter(|&d| d != scan.along && shape.is_dynamic_dim(d)) {
        let (has, size) = (e.size(whole, d), e.size(given, if d < scan.along { d } else { d - 1 }));
        let zero = e.index(0)?;
        let is_first = e.compare(i, ComparisonDirection::Eq, zero);
        let alike = e.compare(has, ComparisonDirection::Eq, size);
        let fits = e.same(Op::Or, &[is_first, alike]);
        let none = e.scalar(ElementType::S32, &(-1i32).to_le_bytes())?;
        let wanted = e.select(fits, size, none);
        room = e.set_size(room, d, wanted)?;
    }
    Some(room)
}
