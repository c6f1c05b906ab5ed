//! The collectives of the operation semantics, based on [`Communicator::exchange`]. All work on bytes. Arrays
//! are row-major, or have another layout in which the dimension that is joined or split is the outermost.
//!
//! A device that is in no group neither sends nor receives. Its results are not changed.

use crate::{Combine, Communicator, Failure, Parts, Reduced};
use std::ops::Range;

/// Maximum size in bytes of an array that each device combines completely. For such an array, exchanging
/// partial results would take longer.
pub(crate) const MAX_FULL_REDUCE_BYTES: usize = 4096;
/// Number of bytes that are combined and copied to the other devices at a time, while they are in the cache.
pub(crate) const CHUNK_BYTES: usize = 1 << 15;
/// Shares begin at multiples of a cache line, so that two devices never write the same line.
const CACHE_LINE_BYTES: usize = 64;

/// Copies bytes. Fails if the sizes differ.
fn fill(what: &str, from: &[u8], to: &mut [u8]) -> Result<(), Failure> {
    if from.len() != to.len() {
        return Err(format!("{what}: {} bytes were sent, {} are expected", from.len(), to.len()).into());
    }
    to.copy_from_slice(from);
    Ok(())
}

/// Returns the size of this device's group at a collective, and its position in the group.
fn place(comm: &dyn Communicator, site: usize) -> Option<(usize, usize)> {
    let (group, place) = comm.table().place(site, comm.device())?;
    Some((group.len(), place))
}

/// Returns the byte range of one member's piece in an array of the pieces of all members.
fn piece(whole: usize, members: usize, member: usize) -> Range<usize> {
    let bytes = whole / members;
    member * bytes..(member + 1) * bytes
}

/// Joins a part that all members have sent, in the order of the members.
fn join(
    name: &str,
    members: usize,
    incoming: &dyn Parts<'_>,
    part: usize,
    whole: &mut [u8],
) -> Result<(), Failure> {
    for member in 0..members {
        let to = piece(whole.len(), members, member);
        fill(name, incoming.part(member, part), &mut whole[to])?;
    }
    Ok(())
}

/// `all-gather` (semantics, "AllGather"): each result is the concatenation of the operands of all members.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`], or an error if the operands have different sizes.
pub fn all_gather(
    comm: &dyn Communicator,
    site: usize,
    operands: &[&[u8]],
    results: &mut [&mut [u8]],
) -> Result<(), Failure> {
    let Some((members, _)) = place(comm, site) else { return Ok(()) };
    let name = comm.table().name(site);
    let outgoing = |_: usize, part: usize| operands[part];
    comm.exchange(site, operands.len(), &outgoing, &mut |incoming| {
        results.iter_mut().enumerate().try_for_each(|(part, to)| join(name, members, incoming, part, to))
    })
}

/// `all-to-all` (semantics, "AllToAll") along a dimension: the operand is split into one piece per member,
/// and the result is the concatenation of the pieces for this member.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`], or an error if the operands have different sizes.
pub fn all_to_all(
    comm: &dyn Communicator,
    site: usize,
    operand: &[u8],
    result: &mut [u8],
) -> Result<(), Failure> {
    let Some((members, _)) = place(comm, site) else { return Ok(()) };
    let name = comm.table().name(site);
    let outgoing = |member: usize, _: usize| &operand[piece(operand.len(), members, member)];
    comm.exchange(site, 1, &outgoing, &mut |incoming| join(name, members, incoming, 0, result))
}

/// `all-to-all` of a tuple: one operand for each member, and one result from each.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`], or an error if the operands have different sizes.
pub fn all_to_all_tuple(
    comm: &dyn Communicator,
    site: usize,
    operands: &[&[u8]],
    results: &mut [&mut [u8]],
) -> Result<(), Failure> {
    if place(comm, site).is_none() {
        return Ok(());
    }
    let name = comm.table().name(site);
    let outgoing = |member: usize, _: usize| operands.get(member).copied().unwrap_or_default();
    comm.exchange(site, 1, &outgoing, &mut |incoming| {
        results.iter_mut().enumerate().try_for_each(|(member, to)| fill(name, incoming.part(member, 0), to))
    })
}

/// `collective-broadcast` (semantics, "CollectiveBroadcast"): each value of the member that its root names.
/// There is one root per value, or one for all values.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`], or an error if a value has no root or the root is not a
/// member.
pub fn broadcast(
    comm: &dyn Communicator,
    site: usize,
    roots: &[i64],
    operands: &[&[u8]],
    results: &mut [&mut [u8]],
) -> Result<(), Failure> {
    let Some((members, own)) = place(comm, site) else { return Ok(()) };
    let name = comm.table().name(site);
    let sender = |part: usize| {
        let root = if let [root] = roots { root } else { roots.get(part)? };
        Some(usize::try_from(*root).ok().filter(|&r| r < members).ok_or(root))
    };
    let senders = (0..operands.len()).map(|part| match sender(part) {
        Some(Ok(member)) => Ok(member),
        Some(Err(root)) => {
            Err(Failure::Local(format!("{name}: member {root} is to send, but its group has {members}")))
        }
        None => Err(Failure::Local(format!("{name}: there is no root for value {part}"))),
    });
    let senders = senders.collect::<Result<Vec<usize>, Failure>>()?;
    let outgoing = |_: usize, part: usize| if own == senders[part] { operands[part] } else { &[] };
    comm.exchange(site, operands.len(), &outgoing, &mut |incoming| {
        let mut values = senders.iter().zip(results.iter_mut()).enumerate();
        values.try_for_each(|(part, (&sender, to))| fill(name, incoming.part(sender, part), to))
    })
}

/// `collective-permute` (semantics, "CollectivePermute"): receives the values of the device whose target is
/// this device. Returns whether there is such a device. If not, the results are not changed.
///
/// `target` and `source` are the devices that this one sends to and receives from.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`], or an error if the operands have different sizes.
pub fn permute(
    comm: &dyn Communicator,
    site: usize,
    (target, source): (Option<usize>, Option<usize>),
    operands: &[&[u8]],
    results: &mut [&mut [u8]],
) -> Result<bool, Failure> {
    let Some((group, _)) = comm.table().place(site, comm.device()) else { return Ok(false) };
    let name = comm.table().name(site);
    let place = |device: Option<usize>| group.iter().position(|&d| Some(d) == device);
    let (target, source) = (place(target), place(source));
    let outgoing = |member: usize, part: usize| if Some(member) == target { operands[part] } else { &[] };
    comm.exchange(site, operands.len(), &outgoing, &mut |incoming| {
        let Some(source) = source else { return Ok(()) };
        results.iter_mut().enumerate().try_for_each(|(part, to)| fill(name, incoming.part(source, part), to))
    })?;
    Ok(source.is_some())
}

/// `reduce-scatter` (semantics, "ReduceScatter"): each operand is split into one piece per member. The result
/// is the combination of all members' pieces for this member, in the order of the group.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`] and of `combine`, or an error if the operands have different
/// sizes.
pub fn reduce_scatter(
    comm: &dyn Communicator,
    site: usize,
    operands: &[&[u8]],
    results: &mut [&mut [u8]],
    combine: &mut Combine<'_>,
) -> Result<(), Failure> {
    let Some((members, _)) = place(comm, site) else { return Ok(()) };
    let name = comm.table().name(site);
    let outgoing = |member: usize, part: usize| &operands[part][piece(operands[part].len(), members, member)];
    comm.exchange(site, operands.len(), &outgoing, &mut |incoming| {
        combined(name, members, incoming, results, combine)
    })
}

/// Combines each part that all members have sent.
///
/// # Errors
/// A part has another size than its result, or `combine` returns an error.
pub fn combined(
    name: &str,
    members: usize,
    incoming: &dyn Parts<'_>,
    results: &mut [&mut [u8]],
    combine: &mut Combine<'_>,
) -> Result<(), Failure> {
    let mut pieces = Vec::with_capacity(members);
    for (part, result) in results.iter_mut().enumerate() {
        pieces.clear();
        pieces.extend((0..members).map(|member| incoming.part(member, part)));
        if let Some(other) = pieces.iter().find(|p| p.len() != result.len()) {
            return Err(
                format!("{name}: {} bytes were sent, {} are expected", other.len(), result.len()).into()
            );
        }
        combine(part, &pieces, result)?;
    }
    Ok(())
}

/// The rows that a `ragged-all-to-all` transfers.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The array that rows are read from.
    pub input: &'a [u8],
    /// The number of rows of the input and of the output.
    pub counts: [usize; 2],
    /// Number of bytes of a row.
    pub row_bytes: usize,
    /// The start rows of the pieces in `input`, member by member, with the same number of pieces for each
    /// member.
    pub input_offsets: &'a [i64],
    /// The number of rows of each piece.
    pub send_sizes: &'a [i64],
    /// The start rows of the pieces in the member's output.
    pub output_offsets: &'a [i64],
    /// The number of rows received from each member, piece by piece.
    pub receive_sizes: &'a [i64],
}

/// `ragged-all-to-all` (semantics, "RaggedAllToAll"): each member sends pieces of its input to each member,
/// and specifies their positions in the output there. `output` initially contains this device's own values.
/// Rows that no piece replaces are not changed.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`], or an error if a piece is not within its array or its size
/// differs from the size that the receiver specifies.
pub fn ragged_all_to_all(
    comm: &dyn Communicator,
    site: usize,
    rows: Rows<'_>,
    output: &mut [u8],
) -> Result<(), Failure> {
    let Some((members, own)) = place(comm, site) else { return Ok(()) };
    let name = comm.table().name(site);
    let pieces = rows.input_offsets.len() / members;
    let [source, target] = rows.counts;
    for (n, (&from, &size)) in rows.input_offsets.iter().zip(rows.send_sizes).enumerate() {
        within(name, "the send size", n, size, source)?;
        within(name, "the input offset", n, from, source - size as usize)?;
    }
    // Two parts per piece: a header with its position and number of rows, and the rows.
    let headers: Vec<[u8; 16]> =
        rows.output_offsets.iter().zip(rows.send_sizes).map(|(&to, &size)| header(to, size)).collect();
    let outgoing = |member: usize, part: usize| -> &[u8] {
        let piece = member * pieces + part / 2;
        if part.is_multiple_of(2) {
            return &headers[piece];
        }
        let at = rows.input_offsets[piece] as usize * rows.row_bytes;
        &rows.input[at..at + rows.send_sizes[piece] as usize * rows.row_bytes]
    };
    comm.exchange(site, 2 * pieces, &outgoing, &mut |incoming| {
        for member in 0..members {
            for piece in 0..pieces {
                let (header, sent) = (incoming.part(member, 2 * piece), incoming.part(member, 2 * piece + 1));
                let n = member * pieces + piece;
                let (to, size) = read_header(header).ok_or_else(|| format!("{name}: no output offset"))?;
                if size != rows.receive_sizes[n] {
                    let found = rows.receive_sizes[n];
                    return Err(format!(
                        "{name}: member {member} sends {size} rows to member {own}, which receives {found}"
                    )
                    .into());
                }
                let size = within(name, "the send size", n, size, target)?;
                let to = within(name, "the output offset", n, to, target - size)? * rows.row_bytes;
                fill(name, sent, &mut output[to..to + size * rows.row_bytes])?;
            }
        }
        Ok(())
    })
}

/// Returns the header of a piece: its position and its number of rows.
fn header(to: i64, size: i64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&to.to_le_bytes());
    bytes[8..].copy_from_slice(&size.to_le_bytes());
    bytes
}

fn read_header(bytes: &[u8]) -> Option<(i64, i64)> {
    let number = |bytes: &[u8]| Some(i64::from_le_bytes(bytes.try_into().ok()?));
    Some((number(bytes.get(..8)?)?, number(bytes.get(8..)?)?))
}

/// Checks that a number of piece `n` is at most the number of rows.
fn within(name: &str, what: &str, n: usize, number: i64, rows: usize) -> Result<usize, Failure> {
    let fits = usize::try_from(number).ok().filter(|&number| number <= rows);
    fits.ok_or_else(|| format!("{name}: {what} {number} of piece {n} is not within the {rows} rows").into())
}

/// Returns the byte range of an array that the member at a position combines for all members. It consists of
/// whole elements, and of whole cache lines if these contain whole elements.
pub(crate) fn share_of(bytes: usize, element_bytes: usize, members: usize, place: usize) -> Range<usize> {
    let unit = CACHE_LINE_BYTES.max(element_bytes);
    let share = bytes.div_ceil(unit).div_ceil(members.max(1)) * unit;
    let begin = share.saturating_mul(place).min(bytes);
    begin..share.saturating_mul(place + 1).min(bytes)
}

/// Implements [`Communicator::all_reduce`] by exchanges, for communicators without a better implementation.
/// Each member combines its share of the elements and sends the result to all members. Small arrays are
/// combined completely by each member. The bits are the same in both cases, because each element is combined
/// separately, in the order of the group.
///
/// # Errors
/// Returns the errors of [`Communicator::exchange`] and of `combine`, or an error if the arrays of a member have
/// another size.
pub fn all_reduce(
    comm: &dyn Communicator,
    site: usize,
    arrays: &mut [Reduced<'_>],
    combine: &mut Combine<'_>,
) -> Result<(), Failure> {
    let Some((group, own)) = comm.table().place(site, comm.device()) else { return Ok(()) };
    let members = group.len();
    let name = comm.table().name(site);
    let bytes: usize = arrays.iter().map(|a| a.operand.len()).sum();
    let operands: Vec<&[u8]> = arrays.iter().map(|a| a.operand).collect();
    let shares = |place: usize| {
        let share = |a: &Reduced<'_>| {
            if bytes <= MAX_FULL_REDUCE_BYTES || members == 1 {
                0..a.operand.len()
            } else {
                share_of(a.operand.len(), a.element_bytes.max(1), members, place)
            }
        };
        arrays.iter().map(share).collect::<Vec<_>>()
    };
    let shares: Vec<Vec<Range<usize>>> = (0..members).map(shares).collect();
    let outgoing = |member: usize, part: usize| &operands[part][shares[member][part].clone()];
    comm.exchange(site, operands.len(), &outgoing, &mut |incoming| {
        for (part, array) in arrays.iter_mut().enumerate() {
            let share = shares[own][part].clone();
            if let Some(other) = (0..members).find(|&m| incoming.part(m, part).len() != share.len()) {
                return Err(format!("{name}: device {} has arrays of other sizes", group[other]).into());
            }
            let mut pieces: Vec<&[u8]> = Vec::with_capacity(members);
            let Some(result) = array.result.get_mut(share.clone()) else {
                return Err("internal error: a result is smaller than its operand".to_string().into());
            };
            for (n, result) in result.chunks_mut(CHUNK_BYTES).enumerate() {
                pieces.clear();
                let chunk = n * CHUNK_BYTES..n * CHUNK_BYTES + result.len();
                pieces.extend((0..members).map(|m| &incoming.part(m, part)[chunk.clone()]));
                combine(part, &pieces, result)?;
            }
        }
        Ok(())
    })?;
    if bytes <= MAX_FULL_REDUCE_BYTES || members == 1 {
        return Ok(());
    }
    // Sends copies, because the results of the other members are written to the same array.
    let combined: Vec<Vec<u8>> =
        arrays.iter().zip(&shares[own]).map(|(a, share)| a.result[share.clone()].to_vec()).collect();
    let outgoing = |member: usize, part: usize| if member == own { &[][..] } else { &combined[part][..] };
    comm.exchange(site, combined.len(), &outgoing, &mut |incoming| {
        for (part, array) in arrays.iter_mut().enumerate() {
            for member in (0..members).filter(|&m| m != own) {
                fill(name, incoming.part(member, part), &mut array.result[shares[member][part].clone()])?;
            }
        }
        Ok(())
    })
}
