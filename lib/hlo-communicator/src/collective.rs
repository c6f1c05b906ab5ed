//! The collectives of the operation semantics, on [`Communicator::exchange`]. All work on bytes: arrays lie row-major, or
//! otherwise so that the dimension which is put together or cut is the outermost.
//!
//! A device that is in no group neither gives nor gets anything; its results stay as they are.

use crate::{Combine, Communicator, Failure, Parts, Reduced};
use std::ops::Range;

/// Up to so many bytes each device combines everything for itself: to hand on what others need would take longer.
pub(crate) const SMALL: usize = 4096;
/// So many bytes are combined, and copied to the other devices, at a time: they are in the cache still.
pub(crate) const CHUNK: usize = 1 << 15;
/// Shares begin at multiples of a cache line, so that no two devices write the same.
const LINE: usize = 64;

/// Copies bytes that have to be as many.
fn fill(what: &str, from: &[u8], to: &mut [u8]) -> Result<(), Failure> {
    if from.len() != to.len() {
        return Err(format!("{what}: {} bytes were sent, {} are expected", from.len(), to.len()).into());
    }
    to.copy_from_slice(from);
    Ok(())
}

/// The group of this device at a collective, and its place there.
fn place(comm: &dyn Communicator, site: usize) -> Option<(usize, usize)> {
    let (group, place) = comm.table().place(site, comm.device())?;
    Some((group.len(), place))
}

/// The bytes of one member's piece, where pieces of all members lie one after the other.
fn piece(whole: usize, members: usize, member: usize) -> Range<usize> {
    let bytes = whole / members;
    member * bytes..(member + 1) * bytes
}

/// Puts a part of what the members have sent together, one after the other.
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

/// `all-gather` (semantics, "AllGather"): each result is the operands of all members, one after the other.
///
/// # Errors
/// As [`Communicator::exchange`]; operands of other sizes.
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

/// `all-to-all` (semantics, "AllToAll") along a dimension: the operand is cut into a piece for each member, and the result
/// is the pieces for this one, one after the other.
///
/// # Errors
/// As [`Communicator::exchange`]; operands of other sizes.
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

/// `all-to-all` of a tuple: an operand for each member, and a result from each.
///
/// # Errors
/// As [`Communicator::exchange`]; operands of other sizes.
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

/// `collective-broadcast` (semantics, "CollectiveBroadcast"): each value of the member that its root names. There is a
/// root for each value, or one for all.
///
/// # Errors
/// As [`Communicator::exchange`]; a value without a root, or a root that is no member.
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
            Err(Failure::Here(format!("{name}: member {root} is to send, but its group has {members}")))
        }
        None => Err(Failure::Here(format!("{name}: there is no root for value {part}"))),
    });
    let senders = senders.collect::<Result<Vec<usize>, Failure>>()?;
    let outgoing = |_: usize, part: usize| if own == senders[part] { operands[part] } else { &[] };
    comm.exchange(site, operands.len(), &outgoing, &mut |incoming| {
        let mut values = senders.iter().zip(results.iter_mut()).enumerate();
        values.try_for_each(|(part, (&sender, to))| fill(name, incoming.part(sender, part), to))
    })
}

/// `collective-permute` (semantics, "CollectivePermute"): what the device that has this one as its target sends. Returns
/// whether there is one: if not, the results stay as they are.
///
/// `target` and `source` are the devices that this one sends to and gets values from.
///
/// # Errors
/// As [`Communicator::exchange`]; operands of other sizes.
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

/// `reduce-scatter` (semantics, "ReduceScatter"): each operand is cut into a piece for each member; the result is the
/// combination of all members' pieces for this one, in the order of the group.
///
/// # Errors
/// As [`Communicator::exchange`]; operands of other sizes; what `combine` says.
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

/// Combines each part of what all members have sent.
///
/// # Errors
/// A part has another size than its result; what `combine` says.
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

/// The rows that a `ragged-all-to-all` moves.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The array that rows are taken from.
    pub input: &'a [u8],
    /// The rows that it has, and those of the output.
    pub counts: [usize; 2],
    /// The bytes of a row.
    pub row_bytes: usize,
    /// Where the pieces begin in `input`, in rows: as many pieces for each member, member by member.
    pub input_offsets: &'a [i64],
    /// How many rows the pieces have.
    pub send_sizes: &'a [i64],
    /// Where the pieces go in the member's output.
    pub output_offsets: &'a [i64],
    /// How many rows come from each member, piece by piece.
    pub receive_sizes: &'a [i64],
}

/// `ragged-all-to-all` (semantics, "RaggedAllToAll"): each member sends pieces of its input to each, and says where they go in
/// the output there. `output` holds this device's own at first; what is not replaced stays.
///
/// # Errors
/// As [`Communicator::exchange`]; a piece does not lie within its array, or has another size than the receiver says.
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
    // Two parts a piece: where it goes and how many rows it has, and these.
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

/// Where a piece goes, and how many rows it has.
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

/// Checks that a number of piece `n` is not more than the rows that there are.
fn within(name: &str, what: &str, n: usize, number: i64, rows: usize) -> Result<usize, Failure> {
    let fits = usize::try_from(number).ok().filter(|&number| number <= rows);
    fits.ok_or_else(|| format!("{name}: {what} {number} of piece {n} is not within the {rows} rows").into())
}

/// The bytes of an array that the member at a place combines for all: whole elements, and whole cache lines if these hold
/// whole elements.
pub(crate) fn share_of(bytes: usize, element_bytes: usize, members: usize, place: usize) -> Range<usize> {
    let unit = LINE.max(element_bytes);
    let share = bytes.div_ceil(unit).div_ceil(members.max(1)) * unit;
    let begin = share.saturating_mul(place).min(bytes);
    begin..share.saturating_mul(place + 1).min(bytes)
}

/// [`Communicator::all_reduce`] by exchanges, for communicators that have nothing better: each member combines its share of
/// the elements and hands it to all; of small arrays each combines everything for itself. The bits are those of any other
/// way, for every element is combined by itself, in the order of the group.
///
/// # Errors
/// As [`Communicator::exchange`]; a member has arrays of other sizes; what `combine` says.
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
        let share = |a: &Reduced<'_>| match bytes <= SMALL || members == 1 {
            true => 0..a.operand.len(),
            false => share_of(a.operand.len(), a.element_bytes.max(1), members, place),
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
            for (n, result) in result.chunks_mut(CHUNK).enumerate() {
                pieces.clear();
                let chunk = n * CHUNK..n * CHUNK + result.len();
                pieces.extend((0..members).map(|m| &incoming.part(m, part)[chunk.clone()]));
                combine(part, &pieces, result)?;
            }
        }
        Ok(())
    })?;
    if bytes <= SMALL || members == 1 {
        return Ok(());
    }
    // Sent from copies: what the others have combined is written beside them.
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
