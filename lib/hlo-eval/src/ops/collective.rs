//! Collectives (semantics, "AllGather" to "ReduceScatter"): operations of several devices together. The
//! communicator moves the bytes between devices. This module defines the meaning of the operations.
//!
//! A device that is in no group of a collective receives zeros.

use super::combine::Combiner;
use super::effects;
use super::moved::copy;
use super::structural::relabel;
use super::support::{Result, array, dimension, take};
use crate::context::Context;
use crate::error::EvalError;
use crate::index::count;
use crate::sites::Devices;
use hlo_communicator::collective::{self, Rows};
use hlo_communicator::{Communicator, Failure, Reduced};
use hlo_ir::attr::{AllGatherAttrs, AllToAllAttrs, CollectiveBroadcastAttrs, CollectivePermuteAttrs};
use hlo_ir::devices::{ends, pairs_of_slice};
use hlo_ir::{ArrayShape, ComputationId, ElementType, InstrId, Instruction, Literal, Shape};

/// One device's part of a collective.
#[derive(Clone, Copy)]
struct Site<'m> {
    devices: Devices<'m>,
    number: usize,
    /// Number of members of the group, including this device. 0 if the device is in no group.
    members: usize,
}

impl<'m> Site<'m> {
    fn of(cx: &Context<'m>, id: InstrId) -> Result<Self> {
        let alone = || EvalError::new("devices exchange data in a run of the whole program only");
        let devices = cx.devices.ok_or_else(alone)?;
        let number = devices.sites.number(id)?;
        let group = devices.communicator.table().group(number, devices.own());
        Ok(Self { devices, number, members: group.map_or(0, <[usize]>::len) })
    }

    fn communicator(&self) -> &'m dyn Communicator {
        self.devices.communicator
    }
}

/// Returns the results of a collective: a single result as it is, several as a tuple.
fn collate(results: Vec<Literal>, shape: &Shape) -> Result<Literal> {
    match &results[..] {
        [one] if shape.as_array().is_some() || one.shape().compatible(shape) => relabel(one.clone(), shape),
        _ => relabel(Literal::tuple(results), shape),
    }
}

/// Allocates results with the shapes of the operands, filled with zeros.
fn zeros_like(cx: &mut Context<'_>, operands: &[Literal]) -> Result<Vec<Literal>> {
    operands.iter().map(|operand| cx.allocate(array(operand)?)).collect()
}

/// Frees values that are no longer needed.
fn release(cx: &mut Context<'_>, values: impl IntoIterator<Item = Literal>) {
    values.into_iter().for_each(|value| cx.release(value));
}

/// `replica-id` and `partition-id`.
pub(super) fn own_id(cx: &Context<'_>, is_replica: bool) -> Result<Literal> {
    let alone = || EvalError::new("an instruction by itself is on no device");
    let devices = cx.devices.ok_or_else(alone)?;
    let id = if is_replica {
        devices.sites.counts.replica(devices.own())
    } else {
        devices.sites.counts.partition(devices.own())
    };
    Ok(Literal::scalar(ElementType::U32, id as u32))
}

/// `all-reduce` (semantics, "AllReduce"): combines the elements of all members at each index, in the order of
/// the group.
pub(super) fn all_reduce(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    to_apply: ComputationId,
) -> Result<Literal> {
    let site = Site::of(cx, id)?;
    let mut results = zeros_like(cx, &operands)?;
    if site.members == 0 {
        return collate(results, &instr.shape);
    }
    let combiners = combiners(cx, to_apply, &operands)?;
    let mut arrays = Vec::with_capacity(operands.len());
    for (operand, result) in operands.iter().zip(&mut results) {
        let element_bytes = array(operand)?.element_type.byte_size();
        arrays.push(Reduced { operand: operand.bytes(), result: result.bytes_mut(), element_bytes });
    }
    let mut error = None;
    let outcome = site.communicator().all_reduce(site.number, &mut arrays, &mut |n, members, result| {
        noted(combiners[n].combine(cx, members, result), &mut error)
    });
    finished(cx, outcome, error)?;
    release(cx, operands);
    collate(results, &instr.shape)
}

/// Converts an error to the failure that is sent to other devices. Stores the error itself in `slot`.
fn noted(outcome: Result<()>, slot: &mut Option<EvalError>) -> std::result::Result<(), Failure> {
    outcome.map_err(|e| {
        let failure = if e.is_stopped { Failure::Stopped } else { Failure::Local(e.message.clone()) };
        slot.get_or_insert(e);
        failure
    })
}

/// Returns the outcome of a communication. If this device itself failed, returns its error.
fn finished<T>(
    cx: &mut Context<'_>,
    outcome: std::result::Result<T, Failure>,
    own: Option<EvalError>,
) -> Result<T> {
    match own {
        Some(error) => Err(error),
        None => cx.communicated(outcome),
    }
}

/// Returns the combiners of the elements of each operand.
fn combiners(cx: &mut Context<'_>, to_apply: ComputationId, operands: &[Literal]) -> Result<Vec<Combiner>> {
    operands.iter().map(|o| Combiner::new(cx, to_apply, array(o)?.element_type)).collect()
}

/// An array as `outer × cut × inner` bytes, where `cut` is the dimension that is split into pieces or
/// concatenated from them.
#[derive(Clone, Copy)]
struct Pieces {
    outer: usize,
    /// The size in bytes of one piece for one index of the outer dimensions.
    bytes: usize,
}

impl Pieces {
    /// Returns the pieces of one member, with shape `shape`, along dimension `d`.
    fn of(shape: &ArrayShape, d: usize) -> Self {
        let bytes = count(&shape.dims[d..]) * shape.element_type.byte_size();
        Self { outer: count(&shape.dims[..d]), bytes }
    }

    /// Splits an array into the pieces of `members`, stored one after the other.
    fn split_for_members(self, whole: &[u8], members: usize, pieces: &mut [u8]) {
        for (at, member) in (0..self.outer).flat_map(|o| (0..members).map(move |m| (o, m))) {
            let from = (at * members + member) * self.bytes;
            let to = (member * self.outer + at) * self.bytes;
            pieces[to..to + self.bytes].copy_from_slice(&whole[from..from + self.bytes]);
        }
    }

    /// Concatenates the pieces of `members`.
    fn joined(self, pieces: &[u8], members: usize, whole: &mut [u8]) {
        for (at, member) in (0..self.outer).flat_map(|o| (0..members).map(move |m| (o, m))) {
            let to = (at * members + member) * self.bytes;
            let from = (member * self.outer + at) * self.bytes;
            whole[to..to + self.bytes].copy_from_slice(&pieces[from..from + self.bytes]);
        }
    }
}

/// Returns the shape of an array with another size along a dimension.
fn resized(shape: &ArrayShape, d: usize, size: i64) -> ArrayShape {
    let dims = shape.dims.iter().enumerate().map(|(k, &n)| if k == d { size } else { n });
    ArrayShape::new(shape.element_type, dims)
}

/// Returns the dimension of a collective.
fn along(dimensions: &[i64], shape: &ArrayShape) -> Result<usize> {
    let d = dimensions.first().ok_or_else(|| EvalError::internal("a collective along no dimension"))?;
    dimension(*d, shape.rank())
}

fn slices(literals: &[Literal]) -> Vec<&[u8]> {
    literals.iter().map(Literal::bytes).collect()
}

fn slices_mut(literals: &mut [Literal]) -> Vec<&mut [u8]> {
    literals.iter_mut().map(Literal::bytes_mut).collect()
}

/// `all-gather` (semantics, "AllGather"): concatenates the operands of all members along a dimension, in the
/// order of the group.
pub(super) fn all_gather(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &AllGatherAttrs,
) -> Result<Literal> {
    let results = gathered(cx, id, &operands, attrs)?;
    release(cx, operands);
    collate(results, &instr.shape)
}

/// `all-gather-start`: operands, results and contexts.
pub(super) fn all_gather_start(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &AllGatherAttrs,
) -> Result<Literal> {
    let results = gathered(cx, id, &operands, attrs)?;
    started(cx, instr, operands, |shape| collate(results, shape))
}

fn gathered(
    cx: &mut Context<'_>,
    id: InstrId,
    operands: &[Literal],
    attrs: &AllGatherAttrs,
) -> Result<Vec<Literal>> {
    let site = Site::of(cx, id)?;
    let (mut results, mut pieces, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for operand in operands {
        let shape = array(operand)?;
        let d = along(&attrs.dimensions, shape)?;
        let whole = resized(shape, d, shape.dims[d].saturating_mul(site.members as i64));
        results.push(cx.allocate(&whole)?);
        pieces.push(Pieces::of(shape, d));
        parts.push(cx.allocate(&whole)?);
    }
    let outcome = collective::all_gather(
        site.communicator(),
        site.number,
        &slices(operands),
        &mut slices_mut(&mut parts),
    );
    cx.communicated(outcome)?;
    for ((result, pieces), part) in results.iter_mut().zip(pieces).zip(parts) {
        pieces.joined(part.bytes(), site.members, result.bytes_mut());
        cx.release(part);
    }
    Ok(results)
}

/// `all-to-all` (semantics, "AllToAll"): along a dimension, or with one operand for each member.
pub(super) fn all_to_all(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &AllToAllAttrs,
) -> Result<Literal> {
    let site = Site::of(cx, id)?;
    let mut results = zeros_like(cx, &operands)?;
    let (Some(_), [operand], [result]) = (attrs.dimensions.first(), &operands[..], &mut results[..]) else {
        let outcome = collective::all_to_all_tuple(
            site.communicator(),
            site.number,
            &slices(&operands),
            &mut slices_mut(&mut results),
        );
        cx.communicated(outcome)?;
        return collate(results, &instr.shape);
    };
    if site.members > 0 {
        let shape = array(operand)?;
        let d = along(&attrs.dimensions, shape)?;
        let pieces = Pieces::of(&resized(shape, d, shape.dims[d] / site.members as i64), d);
        let (mut sent, mut received) = (cx.allocate(shape)?, cx.allocate(shape)?);
        pieces.split_for_members(operand.bytes(), site.members, sent.bytes_mut());
        let outcome =
            collective::all_to_all(site.communicator(), site.number, sent.bytes(), received.bytes_mut());
        cx.communicated(outcome)?;
        pieces.joined(received.bytes(), site.members, result.bytes_mut());
        release(cx, [sent, received]);
    }
    release(cx, operands);
    collate(results, &instr.shape)
}

/// `reduce-scatter` (semantics, "ReduceScatter"): the piece of an `all-reduce` at the position of this device
/// in its group.
pub(super) fn reduce_scatter(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &hlo_ir::attr::ReduceScatterAttrs,
) -> Result<Literal> {
    let site = Site::of(cx, id)?;
    let combiners = combiners(cx, attrs.to_apply, &operands)?;
    let (mut results, mut sent) = (Vec::new(), Vec::new());
    for (n, operand) in operands.iter().enumerate() {
        let shape = array(operand)?;
        let d = along(&attrs.dimensions, shape)?;
        if site.members == 0 {
            let part = instr.shape.leaves().get(n).and_then(|s| s.as_array()).cloned();
            results.push(cx.allocate(part.as_ref().unwrap_or(shape))?);
            continue;
        }
        let part = resized(shape, d, shape.dims[d] / site.members as i64);
        let mut dealt = cx.allocate(shape)?;
        Pieces::of(&part, d).split_for_members(operand.bytes(), site.members, dealt.bytes_mut());
        sent.push(dealt);
        results.push(cx.allocate(&part)?);
    }
    let mut error = None;
    let outcome = collective::reduce_scatter(
        site.communicator(),
        site.number,
        &slices(&sent),
        &mut slices_mut(&mut results),
        &mut |n, members, result| noted(combiners[n].combine(cx, members, result), &mut error),
    );
    finished(cx, outcome, error)?;
    release(cx, sent);
    release(cx, operands);
    collate(results, &instr.shape)
}

/// Returns the state of a start: the operands, the results for a given shape, and the contexts.
fn started(
    cx: &mut Context<'_>,
    instr: &Instruction,
    operands: Vec<Literal>,
    result: impl FnOnce(&Shape) -> Result<Literal>,
) -> Result<Literal> {
    let Some([given, made, ..]) = instr.shape.as_tuple() else {
        return Err(EvalError::new(format!("{} gives operands and results", instr.op.name())));
    };
    let parts = vec![collate(operands, given)?, result(made)?];
    effects::state(cx, instr, parts)
}

/// `collective-broadcast` (semantics, "CollectiveBroadcast"): the values of the first member of the group.
/// With a dynamic root, the last operand contains the positions of the senders: one for each value, or one
/// for all.
pub(super) fn broadcast(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    mut operands: Vec<Literal>,
    attrs: &CollectiveBroadcastAttrs,
) -> Result<Literal> {
    let site = Site::of(cx, id)?;
    let dynamic = attrs.has_dynamic_root.then(|| operands.pop()).flatten();
    let place = |root: i128| i64::try_from(root).unwrap_or(-1);
    let roots: Vec<i64> = match &dynamic {
        Some(roots) => (0..).map_while(|n| roots.integer_at(n)).map(place).collect(),
        None => vec![0],
    };
    let mut results = zeros_like(cx, &operands)?;
    let outcome = collective::broadcast(
        site.communicator(),
        site.number,
        &roots,
        &slices(&operands),
        &mut slices_mut(&mut results),
    );
    cx.communicated(outcome)?;
    release(cx, operands);
    collate(results, &instr.shape)
}

/// `collective-permute` (semantics, "CollectivePermute"): the value that another device sends to this one, or
/// zeros.
pub(super) fn permute(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
) -> Result<Literal> {
    permuted(cx, id, operands, attrs, &instr.shape)
}

/// `collective-permute-start`: operands, results and contexts.
pub(super) fn permute_start(
    cx: &mut Context<'_>,
    id: InstrId,
    instr: &Instruction,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
) -> Result<Literal> {
    let Some([given, made, ..]) = instr.shape.as_tuple() else {
        return Err(EvalError::new("collective-permute-start gives operands and results"));
    };
    let result = permuted(cx, id, operands.clone(), attrs, made)?;
    // With slices, the state contains only the input, or all operands.
    let operands = match (attrs.slice_sizes.0.is_empty(), matches!(given, Shape::Tuple(_))) {
        (false, false) => operands.into_iter().take(1).collect(),
        _ => operands,
    };
    started(cx, instr, operands, |_| Ok(result))
}

fn permuted(
    cx: &mut Context<'_>,
    id: InstrId,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
    shape: &Shape,
) -> Result<Literal> {
    let site = Site::of(cx, id)?;
    if !attrs.slice_sizes.0.is_empty() {
        return permute_slices(cx, site, operands, attrs);
    }
    let mut results = zeros_like(cx, &operands)?;
    let outcome = collective::permute(
        site.communicator(),
        site.number,
        site.communicator().table().ends(site.number, site.devices.own()),
        &slices(&operands),
        &mut slices_mut(&mut results),
    );
    cx.communicated(outcome)?;
    release(cx, operands);
    collate(results, shape)
}

/// Permutes slices. Each slice of the input, at its start index, is copied to the target's output, at the
/// start index that the target specifies. Parts of the output that no device sends to are unchanged.
fn permute_slices(
    cx: &mut Context<'_>,
    site: Site<'_>,
    operands: Vec<Literal>,
    attrs: &CollectivePermuteAttrs,
) -> Result<Literal> {
    let [input, output, from, to] = take(operands)?;
    let (source, target) = (array(&input)?.clone(), array(&output)?.clone());
    let mut output = cx.make_unique(output)?;
    let pairs = site.communicator().table().pairs(site.number);
    for (n, sizes) in attrs.slice_sizes.0.iter().enumerate() {
        let from = start_of(&from, n, &source, sizes)?;
        let to = start_of(&to, n, &target, sizes)?;
        let part = ArrayShape::new(source.element_type, sizes.iter().copied());
        let (mut sent, mut received) = (cx.allocate(&part)?, cx.allocate(&part)?);
        copy(cx, sizes, (&input, from_start(&from)), (&mut sent, super::moved::same))?;
        let ends = ends(&pairs_of_slice(pairs, n), site.devices.own());
        let outcome = collective::permute(
            site.communicator(),
            site.number,
            ends,
            &[sent.bytes()],
            &mut [received.bytes_mut()],
        );
        if cx.communicated(outcome)? {
            copy(cx, sizes, (&received, super::moved::same), (&mut output, from_start(&to)))?;
        }
        release(cx, [sent, received]);
    }
    Ok(output)
}

/// Returns the map from an index in a slice that starts at `start` to the index in the array.
fn from_start(start: &[i64]) -> impl Fn(&[i64], &mut [i64]) {
    move |slice, index| (0..start.len()).for_each(|d| index[d] = start[d] + slice[d])
}

/// Returns the start of slice number `n`. `starts` contains one scalar per dimension for each slice, one
/// slice after the other. As in `dynamic-slice`, a start is clamped so that the slice is in bounds.
fn start_of(starts: &Literal, n: usize, shape: &ArrayShape, sizes: &[i64]) -> Result<Vec<i64>> {
    if sizes.len() != shape.rank() || sizes.iter().zip(&shape.dims).any(|(&s, &d)| s < 0 || s > d) {
        return Err(EvalError::new(format!("slice sizes {sizes:?} do not fit {shape}")));
    }
    let leaves = starts.leaves();
    (0..sizes.len())
        .map(|d| {
            let leaf = leaves.get(n * sizes.len() + d);
            let start = leaf.and_then(|l| l.integer_at(0)).ok_or_else(|| {
                EvalError::new(format!(
                    "slice {n} has no start in dimension {d}: {} is given",
                    starts.shape()
                ))
            })?;
            Ok(start.clamp(0, i128::from(shape.dims[d] - sizes[d])) as i64)
        })
        .collect()
}

/// `ragged-all-to-all(input, output, input offsets, send sizes, output offsets, receive sizes)` (semantics,
/// "RaggedAllToAll"): rows of the members' inputs replace rows of this device's output, piece by piece.
pub(super) fn ragged_all_to_all(
    cx: &mut Context<'_>,
    id: InstrId,
    operands: Vec<Literal>,
) -> Result<Literal> {
    let site = Site::of(cx, id)?;
    let [input, output, from, sizes, to, received] = take(operands)?;
    let shape = array(&input)?;
    let row = shape.dims.get(1..).ok_or_else(|| EvalError::internal(format!("the rows of {shape}")))?;
    let row_bytes = count(row) * shape.element_type.byte_size();
    let numbers = |list: &Literal| -> Result<Vec<i64>> {
        let number = |n| list.integer_at(n).and_then(|n| i64::try_from(n).ok());
        let missing = || EvalError::internal(format!("numbers of rows in {}", list.shape()));
        (0..array(list)?.element_count()).map(|n| number(n).ok_or_else(missing)).collect()
    };
    let (from, sizes, to, received) = (numbers(&from)?, numbers(&sizes)?, numbers(&to)?, numbers(&received)?);
    let mut output = cx.make_unique(output)?;
    cx.charge(output.bytes().len().checked_div(row_bytes).unwrap_or(0))?;
    let row_count = |value: &Literal| Ok::<_, EvalError>(array(value)?.dims.first().copied().unwrap_or(0));
    let counts = [row_count(&input)?.max(0) as usize, row_count(&output)?.max(0) as usize];
    let rows = Rows {
        input: input.bytes(),
        counts,
        row_bytes,
        input_offsets: &from,
        send_sizes: &sizes,
        output_offsets: &to,
        receive_sizes: &received,
    };
    let outcome = collective::ragged_all_to_all(site.communicator(), site.number, rows, output.bytes_mut());
    cx.communicated(outcome)?;
    Ok(output)
}
