//! Collectives: operations that the devices of a run perform together, through the communicators of their
//! contexts. A device that is in no group of a collective gets zeros.

use hlo_communicator::collective::{self, Rows};
use hlo_communicator::{Communicator, Failure, Reduced};
use hlo_runtime_core::{Combiner, Context, Exchange, RowsDesc};

/// The operands and results of a call.
struct Arrays<'a> {
    operands: Vec<&'a [u8]>,
    results: Vec<&'a mut [u8]>,
}

/// Returns `count` bytes at `address`. If `count` is 0, the address may be invalid.
///
/// # Safety
/// There must be `count` bytes at `address`, which no other code writes.
unsafe fn bytes<'a>(address: *const u8, count: i64) -> &'a [u8] {
    match usize::try_from(count) {
        // SAFETY: guaranteed by the caller.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(address, count) },
        _ => &[],
    }
}

/// Returns `count` writable bytes at `address`. If `count` is 0, the address may be invalid.
///
/// # Safety
/// There must be `count` bytes at `address`, which no other code reads or writes.
unsafe fn bytes_mut<'a>(address: *mut u8, count: i64) -> &'a mut [u8] {
    match usize::try_from(count) {
        // SAFETY: guaranteed by the caller.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts_mut(address, count) },
        _ => &mut [],
    }
}

impl Arrays<'_> {
    /// # Safety
    /// `sizes` must have a word for each operand, followed by a word for each result. The lists must have
    /// their addresses.
    unsafe fn new(
        (operand_count, result_count): (i64, i64),
        sizes: *const i64,
        operands: *const *const u8,
        results: *const *mut u8,
    ) -> Self {
        let (operand_count, result_count) = (operand_count.max(0) as usize, result_count.max(0) as usize);
        // SAFETY: guaranteed by the caller.
        unsafe {
            let operand = |n: usize| bytes(*operands.add(n), *sizes.add(n));
            let result = |n: usize| bytes_mut(*results.add(n), *sizes.add(operand_count + n));
            Self {
                operands: (0..operand_count).map(operand).collect(),
                results: (0..result_count).map(result).collect(),
            }
        }
    }

    fn zero(&mut self) {
        self.results.iter_mut().for_each(|r| r.fill(0));
    }
}

/// Returns whether this device takes part in a collective.
fn participates(communicator: &dyn Communicator, site: usize) -> bool {
    communicator.table().group(site, communicator.device()).is_some()
}

/// Writes `device / divisor % modulus` for the device of this run as a `u32`: the number of its replica or
/// partition. Always returns 0.
///
/// # Safety
/// `ctx` must point to a live [`Context`], and `to` to four writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_device_id(
    ctx: *const Context,
    divisor: i64,
    modulus: i64,
    to: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let device = unsafe { &*ctx }.device() as i64;
    let id = (device / divisor.max(1) % modulus.max(1)) as u32;
    // SAFETY: guaranteed by the caller.
    unsafe { to.cast::<u32>().write_unaligned(id) };
    0
}

/// Exchanges arrays. The first word of the descriptor is the [`Exchange`]. The following words are the number
/// of operands, the number of results, the size of a root in bytes, and the size of each operand and result
/// in bytes. The roots are the last operand of a broadcast: the positions of the members that send. The size
/// of a root is negative if roots are signed, and 0 if there are none. Returns 0, or 1 with the failure in
/// the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to such a descriptor. The lists must have the addresses
/// of arrays of these sizes. No result may overlap another array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_exchange(
    ctx: *const Context,
    site: i64,
    desc: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, [kind, operand_count, result_count, root_bytes]) = unsafe { (&*ctx, *desc.cast::<[i64; 4]>()) };
    // SAFETY: guaranteed by the caller.
    let mut arrays = unsafe { Arrays::new((operand_count, result_count), desc.add(4), operands, results) };
    let site = site as usize;
    ctx.communicate(site, |comm| {
        if !participates(comm, site) {
            arrays.zero();
            return Ok(());
        }
        let Arrays { operands, results } = &mut arrays;
        let missing = || Failure::Local("internal error: an exchange without arrays".into());
        match Exchange::from_number(kind) {
            Some(Exchange::AllGather) => collective::all_gather(comm, site, operands, results),
            Some(Exchange::AllToAll) => {
                let (operand, result) = operands.first().zip(results.first_mut()).ok_or_else(missing)?;
                collective::all_to_all(comm, site, operand, result)
            }
            Some(Exchange::AllToAllTuple) => collective::all_to_all_tuple(comm, site, operands, results),
            Some(Exchange::Broadcast) => {
                let roots: Vec<i64> = match (root_bytes.unsigned_abs() as usize, operands.split_last()) {
                    (size @ 1.., Some((roots, _))) => integers(roots, size, root_bytes < 0),
                    _ => vec![0],
                };
                collective::broadcast(comm, site, &roots, &operands[..results.len()], results)
            }
            Some(Exchange::Permute) => {
                let ends = comm.table().ends(site, comm.device());
                if !collective::permute(comm, site, ends, operands, results)? {
                    arrays.zero();
                }
                Ok(())
            }
            None => Err(missing()),
        }
    })
}

/// Reads integers of `size` bytes each.
fn integers(bytes: &[u8], size: usize, is_signed: bool) -> Vec<i64> {
    bytes.chunks_exact(size).map(|number| integer(number, is_signed)).collect()
}

/// Reads an integer of up to eight bytes. An unsigned integer that does not fit an `i64` becomes negative.
fn integer(bytes: &[u8], is_signed: bool) -> i64 {
    let mut word = [0u8; 8];
    let count = bytes.len().min(8);
    word[..count].copy_from_slice(&bytes[..count]);
    let value = i64::from_le_bytes(word);
    let unused = 64 - 8 * count as u32;
    match (is_signed, unused) {
        (true, 1..64) => value << unused >> unused,
        _ => value,
    }
}

/// Combines the arrays of all members of the group and stores the result on each member. The descriptor
/// contains the size of an element in bytes, the number of arrays, and the size of each operand and of each
/// result in bytes. Returns 0, or 1 with the failure in the context.
///
/// # Safety
/// As for [`hlo_rt_exchange`]. `combine` must combine elements of the size in the descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_all_reduce(
    ctx: *const Context,
    site: i64,
    desc: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
    combine: Combiner,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, [element_bytes, count]) = unsafe { (&*ctx, *desc.cast::<[i64; 2]>()) };
    // SAFETY: guaranteed by the caller.
    let mut arrays = unsafe { Arrays::new((count, count), desc.add(2), operands, results) };
    let (site, element_bytes) = (site as usize, element_bytes.max(1) as usize);
    ctx.communicate(site, |comm| {
        if !participates(comm, site) {
            arrays.zero();
            return Ok(());
        }
        let pairs = arrays.operands.iter().zip(&mut arrays.results);
        let reduced = pairs.map(|(operand, result)| Reduced { operand, result, element_bytes });
        let mut reduced: Vec<Reduced<'_>> = reduced.collect();
        comm.all_reduce(site, &mut reduced, &mut |_, members, result| {
            // SAFETY: guaranteed by the caller; the communicator passes parts of equal size.
            unsafe { combined(combine, members, result, element_bytes) };
            Ok(())
        })
    })
}

/// Combines the pieces that all members have for this member. The descriptor is that of
/// [`hlo_rt_all_reduce`]. Returns 0, or 1 with the failure in the context.
///
/// # Safety
/// As for [`hlo_rt_all_reduce`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_reduce_scatter(
    ctx: *const Context,
    site: i64,
    desc: *const i64,
    operands: *const *const u8,
    results: *const *mut u8,
    combine: Combiner,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, [element_bytes, count]) = unsafe { (&*ctx, *desc.cast::<[i64; 2]>()) };
    // SAFETY: guaranteed by the caller.
    let mut arrays = unsafe { Arrays::new((count, count), desc.add(2), operands, results) };
    let (site, element_bytes) = (site as usize, element_bytes.max(1) as usize);
    ctx.communicate(site, |comm| {
        if !participates(comm, site) {
            arrays.zero();
            return Ok(());
        }
        let Arrays { operands, results } = &mut arrays;
        collective::reduce_scatter(comm, site, operands, results, &mut |_, members, result| {
            // SAFETY: guaranteed by the caller; the pieces have equal size.
            unsafe { combined(combine, members, result, element_bytes) };
            Ok(())
        })
    })
}

/// Combines pieces of equal size.
///
/// # Safety
/// `combine` must combine elements of `element_bytes` bytes.
unsafe fn combined(combine: Combiner, members: &[&[u8]], result: &mut [u8], element_bytes: usize) {
    if let [one] = members {
        return result.copy_from_slice(one);
    }
    let elements = (result.len() / element_bytes) as i64;
    let addresses: Vec<*const u8> = members.iter().map(|m| m.as_ptr()).collect();
    // SAFETY: each member has `elements` elements, and the result is another array.
    unsafe { combine(addresses.as_ptr(), addresses.len() as i64, result.as_mut_ptr(), elements) };
}

/// Replaces rows of `to` by rows of the members' inputs: `ragged-all-to-all`. The operands are the input, its
/// offsets, the send sizes, the offsets in the output, and the receive sizes. `to` already contains the
/// initial output. Returns 0, or 1 with the failure in the context.
///
/// # Safety
/// `ctx` must point to a live [`Context`] and `desc` to a descriptor. The list must have the addresses of
/// arrays with the rows and pieces of the descriptor. None of them may overlap `to`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hlo_rt_exchange_rows(
    ctx: *const Context,
    site: i64,
    desc: *const RowsDesc,
    operands: *const *const u8,
    to: *mut u8,
) -> i32 {
    // SAFETY: guaranteed by the caller.
    let (ctx, d, operands) = unsafe { (&*ctx, &*desc, *operands.cast::<[*const u8; 5]>()) };
    let site = site as usize;
    ctx.communicate(site, |comm| {
        let pieces = d.pieces.max(0) as usize;
        let size = d.index_bytes.clamp(1, 8) as usize;
        let numbers = |n: usize| -> Vec<i64> {
            // SAFETY: guaranteed by the caller.
            integers(unsafe { bytes(operands[n], (pieces * size) as i64) }, size, d.signed != 0)
        };
        let [from, sizes, offsets, received] = [1, 2, 3, 4].map(numbers);
        // SAFETY: guaranteed by the caller.
        let (input, output) = unsafe {
            (bytes(operands[0], d.from_rows * d.row_bytes), bytes_mut(to, d.to_rows * d.row_bytes))
        };
        let rows = Rows {
            input,
            counts: [d.from_rows.max(0) as usize, d.to_rows.max(0) as usize],
            row_bytes: d.row_bytes.max(0) as usize,
            input_offsets: &from,
            send_sizes: &sizes,
            output_offsets: &offsets,
            receive_sizes: &received,
        };
        collective::ragged_all_to_all(comm, site, rows, output)
    })
}
